/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds and the files behind them: archived once by the hash of their content, given back as files. */
#include "ledger_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"

/* -- artefacts --------------------------------------------------------------------------------- */

static ridge_status pack(const void *bytes, size_t size_bytes, ridge_text *base64, ridge_error *err)
{
    const size_t room = ZSTD_compressBound(size_bytes);
    void *const packed = ridge_calloc(room, 1);
    size_t size;
    ridge_status status = RIDGE_OK;

    if (packed == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for an archived file");
    size = ZSTD_compress(packed, room, bytes, size_bytes, 9);
    if (ZSTD_isError(size))
        status = ridge_fail(err, RIDGE_ERR_INTERNAL, "zstd: %s", ZSTD_getErrorName(size));
    else
        ridge_base64_add(base64, packed, size);
    ridge_free(packed);
    if (status == RIDGE_OK && base64->failed)
        status = ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for an archived file");
    return status;
}

ridge_status ridge_ledger_add_artefact(ridge_ledger *ledger, const char *kind, const char *path,
                                       const void *bytes, size_t size_bytes, bool content, char *id,
                                       ridge_error *err)
{
    const char *const slash = path != NULL ? strrchr(path, '/') : NULL;
    char hash[RIDGE_HASH_TEXT];
    ridge_status status = RIDGE_OK;
    ridge_text packed;

    id[0] = '\0';
    if (size_bytes > LEDGER_CONTENT_BYTES)
        return ridge_fail(err, RIDGE_ERR_OVERFLOW,
                          "%zu bytes are too many to archive, at most 1 GiB", size_bytes);
    ridge_text_init(&packed);
    ridge_hash_text(bytes, size_bytes, hash);
    if (content)
        status = pack(bytes, size_bytes, &packed, err);
    if (status == RIDGE_OK) {
        const ridge_ledger_member members[] = {
            {"kind", kind, NAN},
            {"hash", hash, NAN},
            {"bytes", NULL, (double)size_bytes},
            {"path", slash != NULL ? slash + 1 : path, NAN},
            {"content", content ? packed.data : NULL, NAN},
        };

        status = ridge_ledger_add(ledger, "artefact", members, sizeof(members) / sizeof(members[0]),
                                  id, err);
    }
    ridge_text_release(&packed);
    return status;
}

/* -- builds ------------------------------------------------------------------------------------ */

static double known(int64_t number)
{
    return number >= 0 ? (double)number : (double)NAN;
}

/* A manifest can be launched, a bare cubin cannot, and of two manifests the later is right. */
static ridge_status prefer_manifest(ridge_ledger *ledger, const char *id, const char *artefact,
                                    const char *kind, ridge_error *err)
{
    static const char sql[] =
        "UPDATE build SET archive_artefact_id = ?1 WHERE id = ?2 AND (?3 = 'manifest' OR "
        "archive_artefact_id IS NULL OR archive_artefact_id NOT IN (SELECT id FROM artefact WHERE "
        "kind = 'manifest'))";
    const char *const values[] = {artefact, id, kind};
    sqlite3_stmt *update = NULL;
    ridge_status status = ledger_prepare_with(ledger, sql, values, 3, &update, err);

    if (status == RIDGE_OK && sqlite3_step(update) != SQLITE_DONE)
        status = ledger_fail(ledger, "write to the ledger", err);
    sqlite3_finalize(update);
    return status;
}

ridge_status ridge_ledger_add_build(ridge_ledger *ledger, const ridge_build_row *build, char *id,
                                    ridge_error *err)
{
    const bool has_hash = build->code_hash != NULL && build->code_hash[0] != '\0';
    char code_hash[16 + RIDGE_HASH_TEXT] = "opaque:", artefact[RIDGE_HASH_TEXT] = "";
    ridge_status status;
    bool is_own;

    id[0] = '\0';
    if (!has_hash && build->code == NULL && build->image == NULL)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "a build needs the hash of its code, or the file it is in");
    if (build->code != NULL)
        ridge_hash_text(build->code, build->code_size_bytes, code_hash);
    else if (!has_hash)
        ridge_hash_text(build->image, build->image_bytes, code_hash + strlen(code_hash));
    status = ledger_begin_own(ledger, &is_own, err);
    if (status != RIDGE_OK)
        return status;
    if (build->image != NULL)
        status = ridge_ledger_add_artefact(
            ledger, build->image_kind != NULL ? build->image_kind : "cubin", NULL, build->image,
            build->image_bytes, true, artefact, err);
    if (status == RIDGE_OK) {
        const ridge_ledger_member members[] = {
            {"code_hash", has_hash ? build->code_hash : code_hash, NAN},
            {"arch", build->arch, NAN},
            {"kernel", build->kernel, NAN},
            {"source_rev", build->source_rev, NAN},
            {"dirty_diff_hash", build->dirty_diff_hash, NAN},
            {"compiler", build->compiler, NAN},
            {"flags", build->flags, NAN},
            {"regs", NULL, known(build->registers_per_thread)},
            {"spill_bytes", NULL, known(build->spill_bytes)},
            {"smem_bytes", NULL, known(build->shared_bytes)},
            {"code_bytes", NULL, known(build->code_bytes)},
            {"compile_s", NULL, build->compile_s},
        };

        status = ridge_ledger_add(ledger, "build", members, sizeof(members) / sizeof(members[0]),
                                  id, err);
    }
    if (status == RIDGE_OK && artefact[0] != '\0')
        status = prefer_manifest(ledger, id, artefact, build->image_kind, err);
    status = ledger_end_own(ledger, is_own, status, err);
    if (status != RIDGE_OK)
        id[0] = '\0';
    return status;
}

ridge_status ridge_ledger_find_build(ridge_ledger *ledger, const char *prefix, char *id,
                                     ridge_error *err)
{
    return ridge_ledger_find(ledger, "build", prefix, id, err);
}

/* -- back into files --------------------------------------------------------------------------- */

static ridge_status write_file(const char *path, const uint8_t *bytes, size_t size_bytes,
                               ridge_error *err)
{
    const int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    if (descriptor < 0 || !ridge_write_all(descriptor, bytes, size_bytes)) {
        ridge_fail(err, RIDGE_ERR_IO, "%.300s cannot be written: %s", path, strerror(errno));
        if (descriptor >= 0) {
            close(descriptor);
            unlink(path);
        }
        return RIDGE_ERR_IO;
    }
    if (close(descriptor) != 0)
        return ridge_fail(err, RIDGE_ERR_IO, "%.300s cannot be written: %s", path, strerror(errno));
    return RIDGE_OK;
}

/* The bytes of a zstd frame, which must be those that were archived. *out is new: ridge_free(). */
static ridge_status unpack(const void *packed, size_t packed_bytes, int64_t size_bytes,
                           const char *hash, void **out, ridge_error *err)
{
    const unsigned long long announced =
        packed != NULL ? ZSTD_getFrameContentSize(packed, packed_bytes) : ZSTD_CONTENTSIZE_ERROR;
    char found[RIDGE_HASH_TEXT];

    *out = NULL;
    if (size_bytes < 0 || size_bytes > LEDGER_CONTENT_BYTES ||
        announced != (unsigned long long)size_bytes)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "the archived file is damaged: its size is not %lld",
                          (long long)size_bytes);
    *out = ridge_calloc((size_t)size_bytes + 1, 1);
    if (*out == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for an archived file");
    if (ZSTD_decompress(*out, (size_t)size_bytes, packed, packed_bytes) == (size_t)size_bytes &&
        strcmp(ridge_hash_text(*out, (size_t)size_bytes, found), hash) == 0)
        return RIDGE_OK;
    ridge_free(*out);
    *out = NULL;
    return ridge_fail(err, RIDGE_ERR_FORMAT,
                      "the archived file is damaged: its content has changed");
}

static ridge_status extract(sqlite3_stmt *row, const char *id, const char *folder, char *path,
                            size_t path_size, ridge_error *err)
{
    const char *const kind = (const char *)sqlite3_column_text(row, 0);
    const char *const hash = (const char *)sqlite3_column_text(row, 2);
    const char *ending;
    ridge_status status;
    void *bytes;

    if (sqlite3_column_type(row, 3) == SQLITE_NULL)
        return ridge_fail(err, RIDGE_ERR_IO,
                          "build %.8s is known, its binary is not in this ledger: merge the ledger "
                          "that has it, or import an export made with --artefacts",
                          id);
    if (kind == NULL || strcspn(kind, "/\\") != strlen(kind))
        ending = "bin"; /* a kind from elsewhere is no path */
    else
        ending = strcmp(kind, "manifest") == 0 ? "json" : kind;
    if (snprintf(path, path_size, "%s/%.12s.%s", folder, id, ending) >= (int)path_size)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "the name of the folder is too long");
    status = unpack(sqlite3_column_blob(row, 3), (size_t)sqlite3_column_bytes(row, 3),
                    sqlite3_column_int64(row, 1), hash != NULL ? hash : "", &bytes, err);
    if (status != RIDGE_OK)
        return status;
    status = write_file(path, bytes, (size_t)sqlite3_column_int64(row, 1), err);
    ridge_free(bytes);
    return status;
}

ridge_status ridge_ledger_extract_build(ridge_ledger *ledger, const char *id, const char *folder,
                                        char *path, size_t path_size, ridge_error *err)
{
    const char *const values[] = {id};
    sqlite3_stmt *row = NULL;
    ridge_status status;
    int code;

    path[0] = '\0';
    status =
        ledger_prepare_with(ledger,
                            "SELECT a.kind, a.bytes, a.hash, a.content FROM build b "
                            "LEFT JOIN artefact a ON a.id = b.archive_artefact_id WHERE b.id = ?1",
                            values, 1, &row, err);
    if (status != RIDGE_OK)
        return status;
    code = sqlite3_step(row);
    if (code == SQLITE_ROW)
        status = extract(row, id, folder, path, path_size, err);
    else if (code == SQLITE_DONE)
        status = ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "no build %.32s in the ledger", id);
    else
        status = ledger_fail(ledger, "read the ledger", err);
    sqlite3_finalize(row);
    if (status != RIDGE_OK)
        path[0] = '\0';
    return status;
}
