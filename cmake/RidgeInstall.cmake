# SPDX-License-Identifier: Apache-2.0
# cmake --install: headers, library, command, pkg-config and CMake packages, completion, man pages.
