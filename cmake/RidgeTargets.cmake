# SPDX-License-Identifier: Apache-2.0
# What every target of the tree has in common.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(ridge_options INTERFACE)
target_compile_definitions(ridge_options INTERFACE _POSIX_C_SOURCE=200809L)
if(APPLE)
    target_compile_definitions(ridge_options INTERFACE _DARWIN_C_SOURCE)
endif()
target_compile_options(ridge_options INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
    -Wcast-qual -Wwrite-strings -Wvla -Wundef -Wformat=2
    # Rows of tables leave trailing fields zero on purpose.
    -Wno-missing-field-initializers
    # Results are the same, bit for bit, on every machine.
    -ffp-contract=off)
if(RIDGE_WERROR)
    target_compile_options(ridge_options INTERFACE -Werror)
endif()
if(RIDGE_FUZZ)
    # The whole library is instrumented; only the targets link libFuzzer's main.
    target_compile_options(ridge_options INTERFACE -fsanitize=fuzzer-no-link)
    target_link_options(ridge_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(RIDGE_SANITIZE)
    target_compile_options(ridge_options INTERFACE
        -fsanitize=${RIDGE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(ridge_options INTERFACE -fsanitize=${RIDGE_SANITIZE})
endif()
if(RIDGE_COVERAGE)
    target_compile_options(ridge_options INTERFACE --coverage)
    target_link_options(ridge_options INTERFACE --coverage)
endif()

# ridge_part(FOLDER SOURCE...): one folder of src/ as an object library ridge_FOLDER. Which folder
# may include which is checked by tests/layers.
function(ridge_part folder)
    add_library(ridge_${folder} OBJECT ${ARGN})
    target_include_directories(ridge_${folder} PRIVATE
        ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(ridge_${folder} PRIVATE ridge_options)
endfunction()
