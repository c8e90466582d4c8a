# SPDX-License-Identifier: Apache-2.0
# Read by ctest before the tests: none of them sees what their caller has set, see environment.sh.
execute_process(COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/environment.sh OUTPUT_VARIABLE names)
string(REGEX MATCHALL "[^\n]+" names "${names}")
foreach(name IN LISTS names)
    unset(ENV{${name}})
endforeach()
set(ENV{LC_ALL} C)
set(ENV{TERM} dumb)
