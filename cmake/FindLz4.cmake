# SPDX-License-Identifier: Apache-2.0
# Finds liblz4 and defines Lz4::Lz4. Debian 12 ships no CMake package for it.
find_path(Lz4_INCLUDE_DIR lz4.h)
find_library(Lz4_LIBRARY NAMES lz4)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Lz4 REQUIRED_VARS Lz4_LIBRARY Lz4_INCLUDE_DIR)
if(Lz4_FOUND AND NOT TARGET Lz4::Lz4)
    add_library(Lz4::Lz4 UNKNOWN IMPORTED)
    set_target_properties(Lz4::Lz4 PROPERTIES
        IMPORTED_LOCATION ${Lz4_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${Lz4_INCLUDE_DIR})
endif()
mark_as_advanced(Lz4_INCLUDE_DIR Lz4_LIBRARY)
