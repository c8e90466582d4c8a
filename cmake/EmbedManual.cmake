# SPDX-License-Identifier: Apache-2.0
# cmake -D OUTPUT=FILE.c -D FOLDER=docs/manual -D PAGES=a,b,c -P EmbedManual.cmake
# Writes the manual pages as arrays of bytes: no limit on their length, nothing to escape.
string(REPLACE "," ";" PAGES "${PAGES}")
set(arrays "")
set(rows "")
foreach(page IN LISTS PAGES)
    file(READ ${FOLDER}/${page}.md hex HEX)
    string(REGEX REPLACE "(................................)" "\\1\n    " hex "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(MAKE_C_IDENTIFIER ${page} identifier)
    string(APPEND arrays "static const unsigned char text_${identifier}[] = {\n    ${bytes}};\n\n")
    string(APPEND rows "    {\"${page}\", text_${identifier}, sizeof(text_${identifier})},\n")
endforeach()
file(WRITE ${OUTPUT}.new "/* Made from docs/manual by cmake/EmbedManual.cmake. */
#include \"manual.h\"

${arrays}const struct manual_page manual_pages[] = {
${rows}    {NULL, NULL, 0},
};
")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
file(REMOVE ${OUTPUT}.new)
file(TOUCH_NOCREATE ${OUTPUT})
