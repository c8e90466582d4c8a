/* SPDX-License-Identifier: Apache-2.0
 *
 * Decodes one SASS instruction of sm_70 and later: 128 bits, little endian.
 *
 *   0..11    opcode; 9..11 say what the operands are
 *   12..15   guard predicate and its negation
 *   16..23   destination            24..31   source A
 *   32..63   source B, immediate, constant or address offset
 *   64..71   source C               72..104  modifiers
 *   105..108 stall cycles, 109 yield, 110..112 write scoreboard, 113..115 read scoreboard,
 *   116..121 scoreboards waited for, 122..125 operand reuse
 *
 * The layout and the modifier fields were found by comparing words with nvdisasm's text (see
 * sass_table.c); the shapes and types of matrix instructions also by compiling one kernel for each
 * PTX form. */
#include <assert.h>
#include <string.h>

#include "binary/binary_internal.h"

enum {
    ALWAYS = 7,      /* guard predicate PT */
    NO_BARRIER = 7,  /* scoreboard field that names none */
    RZ = 255,        /* the register that reads as zero */
    OPCODE_FORM = 9, /* first of the three bits that say what the operands are */
    FORM_REGISTERS = 1,
    OP_LOAD_256 = 0x97e,
    OP_STORE_256 = 0x97f,
    LOW_LD = 0x180,
    LOW_STAS = 0x1bd, /* low 9 bits of an opcode */
    LOW_ATOMS = 0x18c,
    LOW_ATOMS_CAS = 0x18d,
    BRANCH_LONG_SM = 90,     /* from here on a branch offset has eight more bits */
    LDGSTS_SHIFTED_SM = 100, /* from here on the width of LDGSTS stands a bit higher */
};

/* The 128 bits, and a reader of bit fields that do not cross the middle. */
typedef struct sass_word {
    uint64_t low, high;
} sass_word;

static uint64_t load_u64(const uint8_t *bytes)
{
    uint64_t value = 0;
    int i;

    for (i = 7; i >= 0; i--)
        value = value << 8 | bytes[i];
    return value;
}

/* Bits first..last, counted from 0 in the whole word. */
static unsigned bits(sass_word word, unsigned first, unsigned last)
{
    const uint64_t half = first < 64 ? word.low >> first : word.high >> (first - 64);

    assert(last - first < 32 && first / 64 == last / 64);
    return (unsigned)(half & ((UINT64_C(1) << (last - first + 1)) - 1));
}

static bool bit(sass_word word, unsigned index)
{
    return bits(word, index, index) != 0;
}

/* How many registers each field spans. */
typedef struct operand_counts {
    unsigned d, a, b, c;
} operand_counts;

static ridge_registers registers(sass_word word, unsigned first_bit, unsigned count)
{
    ridge_registers range = {RIDGE_SASS_NO_REGISTER, 0};
    const unsigned first = bits(word, first_bit, first_bit + 7);

    if (first != RZ) {
        range.first = (uint8_t)first;
        /* A damaged word may name a range past the last register. */
        range.count = (uint8_t)(count < RZ - first ? count : RZ - first);
    }
    return range;
}

/* ---- memory ---- */

static unsigned access_width_bytes(sass_word word, unsigned opcode)
{
    static const uint8_t widths[] = {1, 1, 2, 2, 4, 8, 16, 16}; /* U8 S8 U16 S16 32 64 128 U.128 */

    if (opcode == OP_LOAD_256 || opcode == OP_STORE_256)
        return 32;
    return widths[bits(word, 73, 75)];
}

static unsigned ldgsts_width_bytes(sass_word word, int sm)
{
    const unsigned code = sm >= LDGSTS_SHIFTED_SM ? bits(word, 74, 75) : bits(word, 73, 74);

    return code < 3 ? 4u << code : 0;
}

static unsigned matrix_count(sass_word word)
{
    const unsigned code = bits(word, 72, 73);

    return code < 3 ? 1u << code : 0;
}

/* A global address is a pair of registers with .E, unless a uniform register carries the base
 * (bit 91) and the general one is a 32-bit offset (bit 90 clear). */
static unsigned address_count(sass_word word, const sass_op *op)
{
    if ((op->opcode & 0x1ff) == LOW_STAS)
        return 2;
    if (op->cls != RIDGE_SASS_GLOBAL || !bit(word, 72))
        return 1;
    return bit(word, 91) && !bit(word, 90) ? 1 : 2;
}

static bool atomic_is_64_bit(sass_word word)
{
    /* 0 U32, 1 S32, 2 U64, 3 F32, 4 F16x2, 5 S64, 6 F64 */
    const unsigned type = bits(word, 73, 75);

    return type == 2 || type == 5 || type == 6;
}

static operand_counts access_counts(sass_word word, const sass_op *op, ridge_sass *out)
{
    operand_counts counts = {1, 1, 1, 1};
    unsigned data;

    out->width_bytes = (uint8_t)access_width_bytes(word, op->opcode);
    out->is_store = op->name[0] == 'S';
    out->is_load = !out->is_store;
    data = out->width_bytes > 4 ? out->width_bytes / 4u : 1;
    counts.a = address_count(word, op);
    if (out->width_bytes == 32) {
        data = 4; /* two ranges of four */
        counts.a = 2;
    }
    counts.d = counts.b = counts.c = data;
    return counts;
}

static operand_counts atomic_counts(sass_word word, const sass_op *op, ridge_sass *out)
{
    const unsigned low = op->opcode & 0x1ff;
    const bool is_shared = low == LOW_ATOMS || low == LOW_ATOMS_CAS;
    const unsigned data = atomic_is_64_bit(word) ? 2 : 1;
    const operand_counts counts = {data, !is_shared && bit(word, 72) ? 2 : 1, data, data};

    out->width_bytes = (uint8_t)(4 * data);
    return counts;
}

/* ---- matrix multiply ---- */

static operand_counts hmma_counts(sass_word word)
{
    const bool is_tf32 = bit(word, 83);
    const unsigned accumulators = bit(word, 76) ? 4 : 2;
    operand_counts counts = {accumulators, 2, 1, accumulators};

    /* 16x8x8 of 16-bit and 16x8x4 of TF32 inputs are the small shapes. */
    if (bit(word, 75) || (is_tf32 && !bit(word, 78))) {
        counts.a = 4;
        counts.b = 2;
    }
    return counts;
}

/* Shapes of IMMA. The key is bits 86, 85, 75. */
static const struct imma_shape {
    const char *name;
    uint8_t a, b, c;
} imma_shapes[8] = {
    {"8816", 1, 1, 2},  {"", 1, 1, 2},      {"8832", 1, 1, 2},  {"", 1, 1, 2},
    {"16816", 2, 1, 4}, {"16832", 4, 2, 4}, {"16864", 4, 2, 4}, {"", 4, 2, 4},
};

static unsigned imma_key(sass_word word)
{
    return bits(word, 85, 86) << 1 | bits(word, 75, 75);
}

static bool imma_is_4_bit(sass_word word)
{
    return bit(word, 83);
}

static operand_counts imma_counts(sass_word word)
{
    const struct imma_shape *const shape = &imma_shapes[imma_key(word)];
    operand_counts counts = {shape->c, shape->a, shape->b, shape->c};

    if (imma_is_4_bit(word) && imma_key(word) == 5) { /* 16832 of 4-bit inputs */
        counts.a = 2;
        counts.b = 1;
    }
    return counts;
}

/* Shapes of DMMA, by bits 76..77. */
static const struct dmma_shape {
    const char *name;
    uint8_t a, b, c;
} dmma_shapes[4] = {
    {"8x8x4", 2, 2, 4}, {"16x8x4", 4, 2, 8}, {"16x8x8", 8, 4, 8}, {"16x8x16", 16, 8, 8}};

static operand_counts dmma_counts(sass_word word)
{
    const struct dmma_shape *const shape = &dmma_shapes[bits(word, 76, 77)];
    const operand_counts counts = {shape->c, shape->a, shape->b, shape->c};

    return counts;
}

/* Columns of a warpgroup's result, 64 rows high; each thread holds half of them in FP32. */
static unsigned hgmma_columns(sass_word word)
{
    return 8 * (bits(word, 53, 57) + 1);
}

static operand_counts hgmma_counts(sass_word word)
{
    const unsigned accumulators = hgmma_columns(word) / (bit(word, 75) ? 2 : 4);
    const operand_counts counts = {accumulators, 4, 1, accumulators};

    return counts;
}

/* ---- operands ---- */

static operand_counts convert_counts(sass_word word)
{
    enum { BITS_64 = 3 }; /* log2 of the bytes */
    operand_counts counts = {1, 1, 1, 1};

    if (bits(word, 75, 76) == BITS_64)
        counts.d = 2;
    if (bits(word, 84, 85) == BITS_64)
        counts.b = 2;
    return counts;
}

static operand_counts wide_counts(sass_word word)
{
    const unsigned form = bits(word, OPCODE_FORM, OPCODE_FORM + 2);
    operand_counts counts = {2, 1, 1, 2};

    /* In these forms the addend is the immediate or constant, and field C holds a factor. */
    if (form == 2 || form == 3 || form == 7)
        counts.c = 1;
    return counts;
}

static operand_counts count_operands(sass_word word, const sass_op *op, int sm, ridge_sass *out)
{
    operand_counts counts = {1, 1, 1, 1};

    switch ((sass_kind)op->kind) {
    case SASS_ACCESS:
        return access_counts(word, op, out);
    case SASS_LDGSTS:
        out->is_load = out->is_store = true;
        out->width_bytes = (uint8_t)ldgsts_width_bytes(word, sm);
        counts.a = 2;
        break;
    case SASS_MATRIX:
        out->is_load = op->name[0] == 'L';
        out->is_store = !out->is_load;
        out->width_bytes = (uint8_t)(4 * matrix_count(word));
        counts.d = counts.b = matrix_count(word);
        break;
    case SASS_ATOMIC:
        return atomic_counts(word, op, out);
    case SASS_PAIRS:
        counts.d = counts.a = counts.b = counts.c = 2;
        break;
    case SASS_WIDE:
        return wide_counts(word);
    case SASS_CONVERT:
        return convert_counts(word);
    case SASS_CS2R:
        counts.d = bit(word, 80) ? 2 : 1;
        break;
    case SASS_HMMA:
        return hmma_counts(word);
    case SASS_IMMA:
        return imma_counts(word);
    case SASS_DMMA:
        return dmma_counts(word);
    case SASS_QMMA:
        counts.d = counts.c = bit(word, 77) ? 4 : 2;
        counts.a = 4;
        counts.b = 2;
        break;
    case SASS_HGMMA:
        return hgmma_counts(word);
    case SASS_JUMP:
        counts.a = 2;
        break;
    case SASS_PLAIN:
    case SASS_MUFU:
    case SASS_BAR:
    case SASS_BRANCH:
        break;
    }
    return counts;
}

static void set_operands(sass_word word, const sass_op *op, int sm, ridge_sass *out)
{
    const operand_counts counts = count_operands(word, op, sm, out);
    unsigned operands = op->operands;
    const bool writes_d = op->kind != SASS_LDGSTS && op->opcode != OP_STORE_256;
    unsigned i = 0;

    /* The row is of another form of this instruction: only its own register form knows field B. */
    if (op->opcode != out->opcode && out->opcode >> OPCODE_FORM != FORM_REGISTERS)
        operands &= ~(unsigned)SASS_B;
    if ((operands & SASS_D) != 0 && writes_d)
        out->dest = registers(word, 16, counts.d);
    if ((operands & SASS_A) != 0)
        out->source[i++] = registers(word, 24, counts.a);
    if ((operands & SASS_B) != 0)
        out->source[i++] = registers(word, 32, counts.b);
    if ((operands & SASS_C) != 0)
        out->source[i++] = registers(word, 64, counts.c);
    if ((operands & SASS_D) != 0 && !writes_d)
        out->source[i++] = registers(word, 16, op->kind == SASS_LDGSTS ? 1 : counts.d);
    assert(i <= RIDGE_SASS_SOURCES);
    if (op->opcode == OP_LOAD_256) {
        const ridge_registers upper = registers(word, 64, counts.c);

        /* The two halves are one range in all code seen; else the lower fields stand alone. */
        if (upper.count != 0 && upper.first == out->dest.first + out->dest.count)
            out->dest.count = (uint8_t)(out->dest.count + upper.count);
    }
}

/* Two's complement number of width bits. */
static int64_t sign_extend(uint64_t value, unsigned width)
{
    const uint64_t sign = UINT64_C(1) << (width - 1);

    return (int64_t)((value ^ sign) - sign);
}

static int64_t branch_target(sass_word word, uint32_t offset, int sm)
{
    uint64_t field = word.low >> 34 | (word.high & 0x3ffff) << 30; /* bits 34..81 */
    unsigned width = 48;

    if (sm >= BRANCH_LONG_SM) {
        field = field << 8 | bits(word, 16, 23);
        width = 56;
    }
    return (int64_t)offset + SASS_BYTES + 4 * sign_extend(field, width);
}

static const ridge_sass nothing_known = {
    .name = "?",
    .cls = RIDGE_SASS_UNKNOWN,
    .dest = {RIDGE_SASS_NO_REGISTER, 0},
    .source = {{RIDGE_SASS_NO_REGISTER, 0},
               {RIDGE_SASS_NO_REGISTER, 0},
               {RIDGE_SASS_NO_REGISTER, 0}},
    .branch_target = -1,
};

static const sass_op *decode(sass_word word, uint32_t offset, int sm, ridge_sass *out)
{
    const sass_op *const op = sass_op_find(bits(word, 0, 11), sm);

    *out = nothing_known;
    out->opcode = (uint16_t)bits(word, 0, 11);
    out->guard = (uint8_t)bits(word, 12, 14);
    out->guard_negated = bit(word, 15);
    out->stall_cycles = (uint8_t)bits(word, 105, 108);
    out->yields = !bit(word, 109);
    out->reuse = (uint8_t)bits(word, 122, 125);
    out->write_barrier = (uint8_t)bits(word, 110, 112);
    out->read_barrier = (uint8_t)bits(word, 113, 115);
    out->wait_mask = (uint8_t)bits(word, 116, 121);
    if (op == NULL)
        return NULL;
    out->name = op->name;
    out->cls = (ridge_sass_class)op->cls;
    set_operands(word, op, sm, out);
    if (op->kind == SASS_BRANCH) {
        out->is_branch = true;
        out->branch_target = branch_target(word, offset, sm);
    }
    return op;
}

/* ---- text ---- */

/* What does not fit is cut. */
static void append(ridge_sass *out, const char *text)
{
    size_t length = strlen(out->text);

    while (*text != '\0' && length + 1 < sizeof(out->text))
        out->text[length++] = *text++;
    out->text[length] = '\0';
}

/* Appends ".modifier"; an empty modifier adds nothing. */
static void add(ridge_sass *out, const char *modifier)
{
    if (modifier[0] != '\0') {
        append(out, ".");
        append(out, modifier);
    }
}

static void add_access(sass_word word, ridge_sass *out)
{
    static const char *const names[] = {"U8", "S8", "U16", "S16", "", "64", "128", "U.128"};

    add(out, out->width_bytes == 32 ? "256" : names[bits(word, 73, 75)]);
}

static void add_ldgsts(sass_word word, ridge_sass *out)
{
    if (!bit(word, 81))
        add(out, "BYPASS");
    if (out->width_bytes == 8)
        add(out, "64");
    if (out->width_bytes == 16)
        add(out, "128");
}

static void add_matrix(sass_word word, ridge_sass *out)
{
    static const char *const counts[] = {"x1", "x2", "x4", ""};

    add(out, counts[bits(word, 72, 73)]);
    if (bit(word, 78))
        add(out, "T");
}

static void add_hmma(sass_word word, ridge_sass *out)
{
    static const char *const inputs[] = {"", "BF16", "TF32", ""}; /* plain: F16 */

    add(out, bit(word, 75) ? "16816" : bit(word, 78) ? "1684" : "1688");
    add(out, bit(word, 76) ? "F32" : "F16");
    add(out, inputs[bits(word, 82, 83)]);
}

static void add_imma(sass_word word, ridge_sass *out)
{
    static const char *const types[] = {"U8", "S8", "U4", "S4"};
    const unsigned narrow = imma_is_4_bit(word) ? 2 : 0;

    add(out, imma_shapes[imma_key(word)].name);
    add(out, types[narrow + bits(word, 76, 76)]);
    add(out, types[narrow + bits(word, 78, 78)]);
}

static void add_qmma(sass_word word, ridge_sass *out)
{
    add(out, "16832"); /* the one shape of 8-bit floating point */
    add(out, bit(word, 77) ? "F32" : "F16");
    add(out, bit(word, 78) ? "E5M2" : "E4M3");
    add(out, bit(word, 79) ? "E5M2" : "E4M3");
}

static void append_decimal(ridge_sass *out, unsigned value)
{
    char digits[12];
    char *first = digits + sizeof(digits) - 1;

    *first = '\0';
    do
        *--first = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    append(out, first);
}

/* HGMMA.64x128x16.F32.BF16; the depth is 32 bytes of input. */
static void add_hgmma(sass_word word, ridge_sass *out)
{
    const bool is_fp8 = out->name[0] == 'Q';
    const unsigned type = bits(word, 75, 77); /* bit 0: FP32 result */
    enum { TYPE_BF16 = 3, TYPE_TF32 = 5 };    /* 0 and 1: F16 */

    add(out, "64x");
    append_decimal(out, hgmma_columns(word));
    append(out, is_fp8 ? "x32" : type == TYPE_TF32 ? "x8" : "x16");
    add(out, (type & 1) != 0 ? "F32" : "F16");
    if (is_fp8) {
        add(out, (type & 2) != 0 ? "E5M2" : "E4M3");
        add(out, (type & 4) != 0 ? "E5M2" : "E4M3");
    } else if (type == TYPE_BF16 || type == TYPE_TF32) {
        add(out, type == TYPE_BF16 ? "BF16" : "TF32");
    }
}

static void add_mufu(sass_word word, ridge_sass *out)
{
    static const char *const functions[16] = {"COS",    "SIN",    "EX2",  "LG2",  "RCP", "RSQ",
                                              "RCP64H", "RSQ64H", "SQRT", "TANH", "",    "",
                                              "",       "",       "",     ""};

    add(out, functions[bits(word, 74, 77)]);
}

static void add_bar(sass_word word, ridge_sass *out)
{
    static const struct bar_kind {
        unsigned code;
        const char *name;
    } kinds[] = {
        {0, "SYNC"}, {8, "ARV"}, {16, "RED.POPC"}, {17, "RED.AND"}, {18, "RED.OR"},
    };
    const unsigned code = bits(word, 74, 78);
    size_t i;

    for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (kinds[i].code == code)
            add(out, kinds[i].name);
}

static void add_modifiers(sass_word word, const sass_op *op, ridge_sass *out)
{
    switch ((sass_kind)op->kind) {
    case SASS_ACCESS:
        add_access(word, out);
        break;
    case SASS_LDGSTS:
        add_ldgsts(word, out);
        break;
    case SASS_MATRIX:
        add_matrix(word, out);
        break;
    case SASS_ATOMIC:
        if (out->width_bytes == 8)
            add(out, "64");
        break;
    case SASS_WIDE:
        add(out, "WIDE");
        break;
    case SASS_HMMA:
        add_hmma(word, out);
        break;
    case SASS_IMMA:
        add_imma(word, out);
        break;
    case SASS_DMMA:
        add(out, dmma_shapes[bits(word, 76, 77)].name);
        break;
    case SASS_QMMA:
        add_qmma(word, out);
        break;
    case SASS_HGMMA:
        add_hgmma(word, out);
        break;
    case SASS_MUFU:
        add_mufu(word, out);
        break;
    case SASS_BAR:
        add_bar(word, out);
        break;
    case SASS_PLAIN:
    case SASS_PAIRS:
    case SASS_CONVERT:
    case SASS_CS2R:
    case SASS_BRANCH:
    case SASS_JUMP:
        break;
    }
}

/* ---- public ---- */

void sass_decode_fields(const uint8_t word[SASS_BYTES], uint32_t offset, int sm, ridge_sass *out)
{
    const sass_word halves = {load_u64(word), load_u64(word + 8)};

    decode(halves, offset, sm, out);
}

void ridge_sass_decode(const uint8_t word[SASS_BYTES], uint32_t offset, int sm, ridge_sass *out)
{
    const sass_word halves = {load_u64(word), load_u64(word + 8)};
    const sass_op *const op = decode(halves, offset, sm, out);

    append(out, out->name);
    if (op != NULL)
        add_modifiers(halves, op, out);
}

const char *ridge_sass_class_name(ridge_sass_class cls)
{
    static const char *const names[] = {
#define CLASS_TEXT(name, text) text,
        RIDGE_SASS_CLASS_LIST(CLASS_TEXT)
#undef CLASS_TEXT
    };

    return (unsigned)cls < RIDGE_SASS_CLASS_COUNT ? names[cls] : "unknown";
}
