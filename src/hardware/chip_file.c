/* SPDX-License-Identifier: Apache-2.0
 *
 * A chip of one's own. Every member is optional but for a compute capability or a known chip that it
 * is like; a member that is not known is refused, since a misspelled one would leave a number
 * unknown without a word. */
#include <math.h>
#include <string.h>

#include "base/document.h"
#include "base/memory.h"
#include "ridge/hardware.h"

struct ridge_chip_file {
    ridge_arena arena; /* of the texts */
    ridge_chip chip;
    ridge_arch arch;
};

/* -- members ----------------------------------------------------------------------------------- */

/* Other spellings of the fields, in the units of data sheets. */
static const struct spelling {
    const char *key;
    ridge_chip_field field;
    double scale;
} spellings[] = {
    {"boost_mhz", RIDGE_CHIP_SM_CLOCK, 1e6},
    {"base_mhz", RIDGE_CHIP_BASE_CLOCK, 1e6},
    {"tensor_boost_mhz", RIDGE_CHIP_TENSOR_CLOCK, 1e6},
    {"mem_gb", RIDGE_CHIP_DRAM, 0x1p30},
    {"mem_bw_gbs", RIDGE_CHIP_BANDWIDTH, 1e9},
    {"mem_bus_bits", RIDGE_CHIP_BUS, 1},
};

/* Members of the object peak_dense_tflops. */
static const struct spelling peaks[] = {
    {"fp64", RIDGE_CHIP_FP64, 1e12}, {"fp64_tensor", RIDGE_CHIP_FP64_TENSOR, 1e12},
    {"fp32", RIDGE_CHIP_FP32, 1e12}, {"tf32", RIDGE_CHIP_TF32, 1e12},
    {"fp16", RIDGE_CHIP_FP16, 1e12}, {"bf16", RIDGE_CHIP_BF16, 1e12},
    {"fp8", RIDGE_CHIP_FP8, 1e12},   {"int8", RIDGE_CHIP_INT8, 1e12},
    {"fp4", RIDGE_CHIP_FP4, 1e12},
};

/* What is read by name, or only meant for people. */
static const char *const other_members[] = {
    "schema",    "like",     "id",      "name",  "compute_capability", "cc",   "source",
    "dram_type", "mem_type", "remark",  "notes", "peak_dense_tflops",  "arch", "sources",
    "unknowns",  "derived",  "aliases", "match", "not_reread",
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static bool is_member(const char *key)
{
    for (int field = 0; field < RIDGE_CHIP_FIELD_COUNT; field++)
        if (strcmp(key, ridge_chip_field_at((ridge_chip_field)field)->key) == 0)
            return true;
    for (size_t i = 0; i < COUNT(spellings); i++)
        if (strcmp(key, spellings[i].key) == 0)
            return true;
    for (size_t i = 0; i < COUNT(other_members); i++)
        if (strcmp(key, other_members[i]) == 0)
            return true;
    return false;
}

static bool is_peak(const char *key)
{
    for (size_t i = 0; i < COUNT(peaks); i++)
        if (strcmp(key, peaks[i].key) == 0)
            return true;
    return false;
}

static bool is_limit(const char *key)
{
    for (size_t i = 0; i < ridge_arch_limit_count(); i++)
        if (strcmp(key, ridge_arch_limit_at(i)->key) == 0)
            return true;
    return strcmp(key, "family") == 0 || strcmp(key, "sm") == 0;
}

static ridge_status check_members(const ridge_node *object, bool (*is_known)(const char *),
                                  const char *what, ridge_error *err)
{
    const void *at = NULL;
    const char *key;

    while (ridge_node_next(object, &at, &key) != NULL)
        if (!is_known(key))
            return ridge_fail(err, RIDGE_ERR_FORMAT,
                              "\"%s\" is no member of %s, ridge gpus NAME --json prints an example",
                              key, what);
    return RIDGE_OK;
}

/* -- numbers ----------------------------------------------------------------------------------- */

/* One number, unless it is absent; *given collects the fields that were read. */
static ridge_status read_number(const ridge_node *object, const char *key, ridge_chip_field field,
                                double scale, ridge_chip *chip, unsigned *given, ridge_error *err)
{
    const double highest = field == RIDGE_CHIP_SM_COUNT ? 4096
                           : field == RIDGE_CHIP_BUS    ? 65536
                                                        : 1e18 / scale;
    double value = NAN;
    const ridge_status status = ridge_node_get_number(object, key, 1 / scale, highest, &value, err);

    if (status != RIDGE_OK || isnan(value))
        return status;
    if (field == RIDGE_CHIP_SM_COUNT && value != floor(value))
        return ridge_fail(err, RIDGE_ERR_FORMAT, "%s is %g, expected a whole number", key, value);
    if ((*given & 1u << field) != 0)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "%s is given twice, also as %s",
                          ridge_chip_field_at(field)->key, key);
    *given |= 1u << field;
    ridge_chip_set(chip, field, value * scale);
    return RIDGE_OK;
}

static ridge_status read_numbers(const ridge_node *root, ridge_chip *chip, unsigned *given,
                                 ridge_error *err)
{
    const ridge_node *const object = ridge_node_member(root, "peak_dense_tflops");
    ridge_status status = RIDGE_OK;

    for (int field = 0; field < RIDGE_CHIP_FIELD_COUNT && status == RIDGE_OK; field++)
        status = read_number(root, ridge_chip_field_at((ridge_chip_field)field)->key,
                             (ridge_chip_field)field, 1, chip, given, err);
    for (size_t i = 0; i < COUNT(spellings) && status == RIDGE_OK; i++)
        status = read_number(root, spellings[i].key, spellings[i].field, spellings[i].scale, chip,
                             given, err);
    if (status != RIDGE_OK || ridge_node_kind_of(object) == RIDGE_NODE_NULL)
        return status;
    if (ridge_node_kind_of(object) != RIDGE_NODE_OBJECT)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "peak_dense_tflops is no object");
    status = check_members(object, is_peak, "peak_dense_tflops", err);
    for (size_t i = 0; i < COUNT(peaks) && status == RIDGE_OK; i++)
        status =
            read_number(object, peaks[i].key, peaks[i].field, peaks[i].scale, chip, given, err);
    return status;
}

/* A block gets no more than what the driver leaves of an SM: less where only the SM is given. */
static ridge_status fit_block(const ridge_node *object, ridge_arch *arch, ridge_error *err)
{
    const int left = arch->shared_per_sm_bytes > arch->shared_reserved_bytes
                         ? arch->shared_per_sm_bytes - arch->shared_reserved_bytes
                         : 0;
    const ridge_node *const given = ridge_node_member(object, "shared_per_block_bytes");

    if (arch->shared_per_block_bytes <= left)
        return RIDGE_OK;
    if (ridge_node_kind_of(given) != RIDGE_NODE_NULL)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "shared_per_block_bytes is %d, an SM has %d of which %d are reserved",
                          arch->shared_per_block_bytes, arch->shared_per_sm_bytes,
                          arch->shared_reserved_bytes);
    arch->shared_per_block_bytes = left;
    return RIDGE_OK;
}

static ridge_status read_limits(const ridge_node *root, ridge_arch *arch, ridge_error *err)
{
    const ridge_node *const object = ridge_node_member(root, "arch");
    ridge_status status;

    if (ridge_node_kind_of(object) == RIDGE_NODE_NULL)
        return RIDGE_OK;
    if (ridge_node_kind_of(object) != RIDGE_NODE_OBJECT)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "arch is no object");
    status = check_members(object, is_limit, "arch", err);
    for (size_t i = 0; i < ridge_arch_limit_count() && status == RIDGE_OK; i++) {
        const ridge_arch_limit_info *const limit = ridge_arch_limit_at(i);
        int64_t value = ridge_arch_limit(arch, i);

        status =
            ridge_node_get_integer(object, limit->key, limit->lowest, limit->highest, &value, err);
        ridge_arch_set_limit(arch, i, (int)value);
    }
    return status == RIDGE_OK ? fit_block(object, arch, err) : status;
}

/* Peaks of a known chip are those of its SMs: of another number of them they are not known. */
static void drop_peaks(unsigned given, int sm_count, ridge_chip *chip)
{
    unsigned dropped = 0;

    if (chip->sm_count == sm_count)
        return;
    for (size_t i = 0; i < COUNT(peaks); i++)
        if ((given & 1u << peaks[i].field) == 0) {
            ridge_chip_set(chip, peaks[i].field, NAN);
            dropped |= 1u << peaks[i].field;
        }
    memmove(&chip->unknowns[1], &chip->unknowns[0],
            (RIDGE_CHIP_UNKNOWNS - 1) * sizeof(chip->unknowns[0]));
    chip->unknowns[0] = (ridge_chip_source){dropped, "that of \"like\" is of another sm_count"};
}

/* -- texts ------------------------------------------------------------------------------------- */

/* A text by either of two names, copied; *out stays where there is neither. */
static ridge_status read_text(ridge_chip_file *file, const ridge_node *root, const char *key,
                              const char *other, const char **out, ridge_error *err)
{
    const char *text = NULL;
    ridge_status status = ridge_node_get_text(root, key, &text, err);

    if (status == RIDGE_OK && text == NULL && other != NULL)
        status = ridge_node_get_text(root, other, &text, err);
    if (status != RIDGE_OK || text == NULL)
        return status;
    *out = ridge_alloc_text(&file->arena, text, strlen(text));
    return *out != NULL ? RIDGE_OK
                        : ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for a chip");
}

/* Names are printed within a line. */
static ridge_status check_line(const char *key, const char *text, ridge_error *err)
{
    for (const char *at = text; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            return ridge_fail(err, RIDGE_ERR_FORMAT, "%s holds the control character 0x%02x", key,
                              (unsigned)*at);
    return RIDGE_OK;
}

static ridge_status check_schema(const ridge_node *root, ridge_error *err)
{
    const char *schema = NULL;
    const ridge_status status = ridge_node_get_text(root, "schema", &schema, err);

    if (status != RIDGE_OK || schema == NULL || strcmp(schema, "ridge-chip/1") == 0)
        return status;
    return ridge_fail(err, RIDGE_ERR_FORMAT, "schema is \"%s\", expected \"ridge-chip/1\"", schema);
}

/* The chip that the file starts from. */
static ridge_status read_base(ridge_chip_file *file, const ridge_node *root, ridge_error *err)
{
    const char *like = NULL, *capability = NULL;
    const ridge_chip *base = NULL;
    const ridge_arch *arch;
    int major, minor;
    ridge_status status = read_text(file, root, "like", NULL, &like, err);

    if (status == RIDGE_OK)
        status = read_text(file, root, "compute_capability", "cc", &capability, err);
    if (status != RIDGE_OK)
        return status;
    if (like == NULL && capability == NULL)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "no compute_capability (such as \"9.0\") and no like (such as \"h200\")");
    if (like != NULL) {
        base = ridge_chip_find(like);
        if (base == NULL)
            return ridge_fail(err, RIDGE_ERR_FORMAT, "like is \"%s\", which is no known chip",
                              like);
    }
    arch = base != NULL ? base->arch : NULL;
    if (capability != NULL) {
        if (!ridge_arch_parse(capability, &major, &minor))
            return ridge_fail(err, RIDGE_ERR_FORMAT,
                              "compute_capability is \"%s\", expected one such as \"9.0\"",
                              capability);
        arch = ridge_arch_find(major, minor);
        if (arch == NULL)
            return ridge_fail(err, RIDGE_ERR_FORMAT, "compute_capability %d.%d is not known", major,
                              minor);
    }
    if (base != NULL)
        file->chip = *base;
    else
        ridge_chip_init(&file->chip, arch);
    file->arch = *arch;
    file->chip.arch = &file->arch;
    return RIDGE_OK;
}

static ridge_status read_texts(ridge_chip_file *file, const ridge_node *root, unsigned given,
                               ridge_error *err)
{
    ridge_chip *const chip = &file->chip;
    const char *source = "chip file";
    ridge_status status = read_text(file, root, "id", NULL, &chip->id, err);

    if (status == RIDGE_OK)
        status = read_text(file, root, "name", NULL, &chip->name, err);
    if (status == RIDGE_OK)
        status = check_line("id", chip->id, err);
    if (status == RIDGE_OK)
        status = check_line("name", chip->name, err);
    if (status == RIDGE_OK)
        status = read_text(file, root, "dram_type", "mem_type", &chip->dram_type, err);
    if (status == RIDGE_OK)
        status = read_text(file, root, "remark", "notes", &chip->remark, err);
    if (status == RIDGE_OK)
        status = read_text(file, root, "source", NULL, &source, err);
    if (status != RIDGE_OK || given == 0)
        return status;
    /* What the file says comes before the sources of the chip it is like. */
    memmove(&chip->sources[1], &chip->sources[0],
            (RIDGE_CHIP_SOURCES - 1) * sizeof(chip->sources[0]));
    chip->sources[0] = (ridge_chip_source){given, source};
    return RIDGE_OK;
}

/* -- the file ---------------------------------------------------------------------------------- */

static ridge_status read_chip(const ridge_document *document, ridge_chip_file **out,
                              ridge_error *err)
{
    const ridge_node *const root = document->root;
    ridge_chip_file *file = ridge_calloc(1, sizeof(*file));
    unsigned given = 0;
    ridge_status status;
    int sm_count;

    if (file == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for a chip");
    ridge_arena_init(&file->arena);
    status = check_schema(root, err);
    if (status == RIDGE_OK)
        status = check_members(root, is_member, "a chip", err);
    if (status == RIDGE_OK)
        status = read_base(file, root, err);
    sm_count = file->chip.sm_count;
    if (status == RIDGE_OK)
        status = read_numbers(root, &file->chip, &given, err);
    if (status == RIDGE_OK && sm_count > 0)
        drop_peaks(given, sm_count, &file->chip);
    if (status == RIDGE_OK)
        status = read_limits(root, &file->arch, err);
    if (status == RIDGE_OK)
        status = read_texts(file, root, given, err);
    if (status == RIDGE_OK) {
        *out = file; /* given to the caller */
        file = NULL;
    }
    ridge_chip_file_free(file);
    return status;
}

ridge_status ridge_chip_file_parse(const void *text, size_t size_bytes, ridge_chip_file **out,
                                   ridge_error *err)
{
    ridge_document document;
    ridge_status status;

    *out = NULL;
    status = ridge_document_parse(text, size_bytes, &document, err);
    if (status == RIDGE_OK)
        status = read_chip(&document, out, err);
    ridge_document_release(&document);
    return status;
}

ridge_status ridge_chip_file_read(const char *path, ridge_chip_file **out, ridge_error *err)
{
    ridge_document document;
    ridge_status status;

    *out = NULL;
    status = ridge_document_open(path, &document, err);
    if (status == RIDGE_OK)
        status = read_chip(&document, out, err);
    ridge_document_release(&document);
    return status;
}

const ridge_chip *ridge_chip_file_chip(const ridge_chip_file *file)
{
    return &file->chip;
}

void ridge_chip_file_free(ridge_chip_file *file)
{
    if (file == NULL)
        return;
    ridge_arena_release(&file->arena);
    ridge_free(file);
}
