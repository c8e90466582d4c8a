# SPDX-License-Identifier: Apache-2.0
# cmake --install: headers, library, command, pkg-config and CMake packages, completion, man pages.
include(CMakePackageConfigHelpers)

set(RIDGE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/ridge)

install(TARGETS ridge ridge_kernels EXPORT ridgeTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS ridge_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ridge DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# find_package(ridge) gives ridge::ridge and ridge::ridge_kernels.
install(EXPORT ridgeTargets NAMESPACE ridge:: DESTINATION ${RIDGE_PACKAGE_DIR})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/ridgeConfig.cmake.in
    ${PROJECT_BINARY_DIR}/ridgeConfig.cmake INSTALL_DESTINATION ${RIDGE_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ridgeConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES
    ${PROJECT_BINARY_DIR}/ridgeConfig.cmake
    ${PROJECT_BINARY_DIR}/ridgeConfigVersion.cmake
    ${CMAKE_CURRENT_LIST_DIR}/FindZstd.cmake
    ${CMAKE_CURRENT_LIST_DIR}/FindLz4.cmake
    ${CMAKE_CURRENT_LIST_DIR}/FindJansson.cmake
    ${CMAKE_CURRENT_LIST_DIR}/FindXxhash.cmake
    DESTINATION ${RIDGE_PACKAGE_DIR})

# pkg-config --libs ridge: the library is static, so what it needs is told always. Paths are relative to where ridge.pc lies, so a tree can move.
file(RELATIVE_PATH RIDGE_PC_PREFIX
    ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${CMAKE_CURRENT_LIST_DIR}/ridge.pc.in ${PROJECT_BINARY_DIR}/ridge.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/ridge.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Printed by the command itself while building, see src/cli/CMakeLists.txt.
if(NOT CMAKE_CROSSCOMPILING)
    set(share ${PROJECT_BINARY_DIR}/src/cli/share)
    install(DIRECTORY ${share}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${share}/completion.bash RENAME ridge
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${share}/completion.zsh RENAME _ridge
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()
