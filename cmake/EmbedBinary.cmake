# SPDX-License-Identifier: Apache-2.0
# cmake -D OUTPUT=FILE.h -D NAME=IDENTIFIER [-D INPUT=FILE] -P EmbedBinary.cmake
# Writes a file as an array of bytes, aligned to 16, and its size; without INPUT the size is 0.
set(bytes "0")
set(size 0)
if(INPUT)
    file(READ ${INPUT} hex HEX)
    string(LENGTH "${hex}" digits)
    math(EXPR size "${digits} / 2")
    string(REGEX REPLACE "(................................)" "\\1\n    " hex "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
endif()
file(WRITE ${OUTPUT}.new "/* Made from device code by cmake/EmbedBinary.cmake. */
#include <stddef.h>

static _Alignas(16) const unsigned char ${NAME}[] = {
    ${bytes}};
static const size_t ${NAME}_bytes = ${size};
")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
file(REMOVE ${OUTPUT}.new)
file(TOUCH_NOCREATE ${OUTPUT})
