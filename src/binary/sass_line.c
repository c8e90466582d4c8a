/* SPDX-License-Identifier: Apache-2.0
 *
 * An instruction as a line: guard, name with modifiers, operands. Fields were found by comparing
 * words with nvdisasm's text; what is printed here agrees with every recorded row, what is not
 * known is left out.
 *
 * The three bits above the instruction's nine say where the operand stands that is no general
 * register: 2 immediate, 3 constant, 7 uniform register in place of C, and B moved to the field of
 * C; 4, 5, 6 the same in place of B. */
#include <stdio.h>
#include <string.h>

#include "binary/binary_internal.h"

enum { RZ = 255, URZ = 63, PT = 7, ALWAYS = 7 };

/* What is written to. */
typedef struct line {
    char *text;
    size_t size;
    bool has_operand;
} line;

static unsigned field(const uint8_t *word, unsigned first, unsigned last)
{
    unsigned value = 0;
    unsigned i;

    for (i = last + 1; i-- > first;)
        value = value << 1 | ((unsigned)word[i / 8] >> i % 8 & 1u);
    return value;
}

static void put(line *out, const char *text)
{
    const size_t used = strlen(out->text);

    snprintf(out->text + used, out->size - used, "%s%s", out->has_operand ? ", " : " ", text);
    out->has_operand = true;
}

/* "R4:7" where the decoder knows how many belong together. */
static void put_register(line *out, const ridge_sass *sass, unsigned first)
{
    unsigned count = sass->dest.first == first ? sass->dest.count : 0;
    char text[24];
    int i;

    for (i = 0; i < RIDGE_SASS_SOURCES; i++)
        if (sass->source[i].count > 0 && sass->source[i].first == first && count == 0)
            count = sass->source[i].count;
    if (first == RZ)
        snprintf(text, sizeof(text), "RZ");
    else if (count > 1)
        snprintf(text, sizeof(text), "R%u:%u", first, first + count - 1);
    else
        snprintf(text, sizeof(text), "R%u", first);
    put(out, text);
}

static void put_uniform(line *out, unsigned number)
{
    char text[24];

    snprintf(text, sizeof(text), "UR%u", number);
    put(out, number == URZ ? "URZ" : text);
}

static void put_predicate(line *out, unsigned number, bool is_negated)
{
    char text[24];

    if (number == PT && !is_negated)
        return;
    snprintf(text, sizeof(text), "%sP%u", is_negated ? "!" : "", number);
    put(out, number == PT ? "!PT" : text);
}

/* first: the bit that its offset begins with. */
static void put_constant(line *out, const uint8_t *word, unsigned first)
{
    char text[32];

    snprintf(text, sizeof(text), "c[0x%x][0x%x]", field(word, 54, 58), field(word, first, 53));
    put(out, text);
}

/* ---- immediates ---- */

typedef enum immediate { IMM_NONE, IMM_INT, IMM_FLOAT, IMM_DOUBLE, IMM_HALVES } immediate;

static immediate immediate_of(const char *name)
{
    static const struct {
        const char *name;
        immediate kind;
    } kinds[] = {
        {"IADD", IMM_INT},     {"IADD3", IMM_INT},    {"IMAD", IMM_INT},     {"IMNMX", IMM_INT},
        {"ISETP", IMM_INT},    {"LEA", IMM_INT},      {"LOP3", IMM_INT},     {"MOV", IMM_INT},
        {"PRMT", IMM_INT},     {"SEL", IMM_INT},      {"SHF", IMM_INT},      {"VIADD", IMM_INT},
        {"VIMNMX", IMM_INT},   {"FADD", IMM_FLOAT},   {"FMUL", IMM_FLOAT},   {"FFMA", IMM_FLOAT},
        {"FSEL", IMM_FLOAT},   {"FSETP", IMM_FLOAT},  {"FMNMX", IMM_FLOAT},  {"DADD", IMM_DOUBLE},
        {"DMUL", IMM_DOUBLE},  {"DFMA", IMM_DOUBLE},  {"DSETP", IMM_DOUBLE}, {"HADD2", IMM_HALVES},
        {"HMUL2", IMM_HALVES}, {"HFMA2", IMM_HALVES},
    };
    size_t i;

    for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return kinds[i].kind;
    return IMM_NONE;
}

static void put_immediate(line *out, const uint8_t *word, immediate kind)
{
    const uint32_t bits = field(word, 32, 63);
    const uint64_t wide = (uint64_t)bits << 32; /* the upper half of a double */
    char text[40];
    float single;
    double number;

    memcpy(&single, &bits, sizeof(single));
    memcpy(&number, &wide, sizeof(number));
    if (kind == IMM_FLOAT)
        snprintf(text, sizeof(text), "%.9g", (double)single);
    else if (kind == IMM_DOUBLE)
        snprintf(text, sizeof(text), "%.9g", number);
    else
        snprintf(text, sizeof(text), "0x%x", bits);
    if (kind != IMM_NONE)
        put(out, text);
}

/* ---- kinds of instructions ---- */

static void put_other(line *out, const uint8_t *word, unsigned form, const char *name)
{
    if (form == 2 || form == 4)
        put_immediate(out, word, immediate_of(name));
    else if (form == 3 || form == 5)
        put_constant(out, word, 38);
    else if (form == 6 || form == 7)
        put_uniform(out, field(word, 32, 37));
}

static bool is_setp(const char *name)
{
    return strcmp(name, "ISETP") == 0 || strcmp(name, "FSETP") == 0 || strcmp(name, "DSETP") == 0;
}

static void add_comparison(line *out, const uint8_t *word, bool is_integer)
{
    static const char *const names[16] = {"F",   "LT",  "EQ",  "LE",  "GT",  "NE",  "GE",  "NUM",
                                          "NAN", "LTU", "EQU", "LEU", "GTU", "NEU", "GEU", "MAX"};
    const size_t used = strlen(out->text);

    snprintf(out->text + used, out->size - used, ".%s",
             names[field(word, 76, is_integer ? 78 : 79)]);
}

/* Instructions whose third source is there in some of their variants only. */
static bool may_lack_c(const ridge_sass *sass)
{
    return sass->cls == RIDGE_SASS_CONVERT || strcmp(sass->name, "LEA") == 0;
}

static void put_arithmetic(line *out, const uint8_t *word, const ridge_sass *sass,
                           const sass_op *op)
{
    const unsigned form = sass->opcode >> 9;
    const bool c_is_other = form == 2 || form == 3 || form == 7;
    const bool b_is_other = form == 4 || form == 5 || form == 6;

    if (is_setp(sass->name)) {
        add_comparison(out, word, sass->name[0] == 'I');
        put_predicate(out, field(word, 81, 83), false);
        put_predicate(out, field(word, 84, 86), false);
    }
    if ((op->operands & SASS_D) != 0)
        put_register(out, sass, field(word, 16, 23));
    if ((op->operands & SASS_A) != 0 &&
        (field(word, 24, 31) != RZ || sass->cls != RIDGE_SASS_CONVERT))
        put_register(out, sass, field(word, 24, 31));
    if (b_is_other)
        put_other(out, word, form, sass->name);
    else if (!c_is_other && (op->operands & SASS_B) != 0)
        put_register(out, sass, field(word, 32, 39));
    if ((op->operands & SASS_C) != 0 && (field(word, 64, 71) != RZ || !may_lack_c(sass)))
        put_register(out, sass, field(word, 64, 71));
    if (c_is_other)
        put_other(out, word, form, sass->name);
    if (is_setp(sass->name))
        put_predicate(out, field(word, 87, 89), field(word, 90, 90) != 0);
}

/* "[R4:5+0x10]", with a uniform register in it where bit 91 says so (not of a descriptor, which
 * global accesses have from sm_80 on). */
static void put_address(line *out, const uint8_t *word, const ridge_sass *sass, const sass_op *op)
{
    /* A store whose data stands in C has the offset lower. */
    const unsigned raw = (op->operands & SASS_C) != 0 ? field(word, 32, 55) : field(word, 40, 63);
    const int offset = (raw & 0x800000) != 0 ? (int)raw - 0x1000000 : (int)raw;
    const unsigned first = field(word, 24, 31);
    const bool has_uniform = sass->cls == RIDGE_SASS_SHARED && field(word, 91, 91) != 0;
    char text[80] = "[";
    line part = {text, sizeof(text), false};

    put_register(&part, sass, first); /* leaves "[ R4:5" */
    memmove(text + 1, text + 2, strlen(text + 1));
    if (has_uniform) {
        const unsigned uniform = sass->is_load ? field(word, 32, 37) : field(word, 64, 69);

        snprintf(text + strlen(text), sizeof(text) - strlen(text), "+UR%u", uniform);
    }
    if (offset != 0)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s0x%x", offset < 0 ? "-" : "+",
                 (unsigned)(offset < 0 ? -offset : offset));
    strcat(text, "]");
    put(out, text);
}

static void put_access(line *out, const uint8_t *word, const ridge_sass *sass, const sass_op *op)
{
    if (sass->is_load)
        put_register(out, sass, field(word, 16, 23));
    put_address(out, word, sass, op);
    if (!sass->is_load)
        put_register(out, sass,
                     (op->operands & SASS_B) != 0 ? field(word, 32, 39) : field(word, 64, 71));
}

/* LDC R4, c[0x0][R6+0x210] */
static void put_constant_load(line *out, const uint8_t *word, const ridge_sass *sass)
{
    const unsigned index = field(word, 24, 31);
    char text[48];

    put_register(out, sass, field(word, 16, 23));
    if (index == RZ && field(word, 38, 53) != 0) {
        put_constant(out, word, 38);
        return;
    }
    if (index == RZ)
        snprintf(text, sizeof(text), "c[0x%x][RZ]", field(word, 54, 58));
    else if (field(word, 38, 53) == 0)
        snprintf(text, sizeof(text), "c[0x%x][R%u]", field(word, 54, 58), index);
    else
        snprintf(text, sizeof(text), "c[0x%x][R%u+0x%x]", field(word, 54, 58), index,
                 field(word, 38, 53));
    put(out, text);
}

/* General registers, in the order in which they are written and read. */
static void put_registers(line *out, const ridge_sass *sass)
{
    int i;

    if (sass->dest.count > 0)
        put_register(out, sass, sass->dest.first);
    for (i = 0; i < RIDGE_SASS_SOURCES; i++)
        if (sass->source[i].count > 0)
            put_register(out, sass, sass->source[i].first);
}

static bool is_arithmetic(const ridge_sass *sass, const sass_op *op)
{
    if (sass->opcode != op->opcode || op->kind == SASS_CS2R || op->kind == SASS_ATOMIC)
        return false;
    switch (sass->cls) {
    case RIDGE_SASS_FP16:
    case RIDGE_SASS_FP32:
    case RIDGE_SASS_FP64:
    case RIDGE_SASS_INT:
        return true;
    case RIDGE_SASS_CONVERT:
    case RIDGE_SASS_SPECIAL:
    case RIDGE_SASS_MOVE:
        return strcmp(sass->name, "MOV") == 0 || strcmp(sass->name, "SEL") == 0 ||
               strcmp(sass->name, "PRMT") == 0 || strcmp(sass->name, "MUFU") == 0 ||
               sass->cls == RIDGE_SASS_CONVERT;
    default:
        return false;
    }
}

static void put_operands(line *out, const uint8_t *word, int sm, const ridge_sass *sass)
{
    const sass_op *const op = sass_op_find(sass->opcode, sm);
    const bool is_access = sass->cls == RIDGE_SASS_GLOBAL || sass->cls == RIDGE_SASS_SHARED ||
                           sass->cls == RIDGE_SASS_LOCAL;

    if (op == NULL)
        return;
    if (is_access && sass->width_bytes < 32 &&
        (op->kind == SASS_ACCESS || op->kind == SASS_MATRIX) && sass->name[2] != 'A')
        put_access(out, word, sass, op);
    else if (strcmp(sass->name, "LDC") == 0)
        put_constant_load(out, word, sass);
    else if (strcmp(sass->name, "ULDC") == 0) {
        put_uniform(out, field(word, 16, 21));
        put_constant(out, word, 38);
    } else if (strcmp(sass->name, "LDCU") == 0) {
        put_uniform(out, field(word, 16, 21));
        if (field(word, 24, 29) == URZ)
            put_constant(out, word, 37);
    } else if (is_arithmetic(sass, op))
        put_arithmetic(out, word, sass, op);
    else
        put_registers(out, sass);
}

char *ridge_sass_line(const uint8_t word[SASS_BYTES], uint32_t offset, int sm, char *buffer,
                      size_t size)
{
    line out = {buffer, size, false};
    ridge_sass sass;

    ridge_sass_decode(word, offset, sm, &sass);
    buffer[0] = '\0';
    if (sass.guard != ALWAYS)
        snprintf(buffer, size, "@%sP%u ", sass.guard_negated ? "!" : "", sass.guard);
    else if (sass.guard_negated)
        snprintf(buffer, size, "@!PT ");
    snprintf(buffer + strlen(buffer), size - strlen(buffer), "%s", sass.text);
    put_operands(&out, word, sm, &sass);
    return buffer;
}
