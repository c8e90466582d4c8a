/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/file.h"
#include "base/memory.h"

enum { LARGE_BYTES = 300000, LIMIT_BYTES = 1 << 20 };

static char folder[] = "ridge-test-file-XXXXXX";
static char path[sizeof(folder) + 16];
static unsigned char large[LARGE_BYTES]; /* neither constant nor random */

static int enter_folder(void **state)
{
    size_t i;

    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof(path), "%s/file", folder);
    for (i = 0; i < sizeof(large); i++)
        large[i] = (unsigned char)(i * i / 7 ^ i >> 8);
    return 0;
}

static int leave_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void write_file(const void *data, size_t size)
{
    FILE *const file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void opens_a_size(size_t size)
{
    ridge_file file;

    write_file(large, size);
    assert_int_equal(ridge_file_open(path, &file, NULL), RIDGE_OK);
    assert_int_equal(file.bytes.size, size);
    if (size > 0)
        assert_memory_equal(file.bytes.data, large, size);
    assert_int_equal(ridge_file_unpack(&file, path, LIMIT_BYTES, NULL), RIDGE_OK);
    assert_int_equal(file.bytes.size, size);
    ridge_file_release(&file);
    assert_int_equal(file.bytes.size, 0);
}

static void opens(void **state)
{
    static const size_t sizes[] = {0, 1, 3, 4, 65535, 65536, LARGE_BYTES};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        opens_a_size(sizes[i]);
}

static void refuses(const char *what, const char *reason)
{
    ridge_file file;
    ridge_error err;

    assert_int_equal(ridge_file_open(what, &file, &err), RIDGE_ERR_IO);
    assert_non_null(strstr(err.text, reason));
    assert_null(file.bytes.data);
    assert_int_equal(file.bytes.size, 0);
}

static void refuses_what_is_no_file(void **state)
{
    (void)state;
    refuses(folder, "is a directory, not a regular file");
    refuses("", "cannot be opened: ");
    refuses("no/such/file", "cannot be opened: ");
    refuses("/dev/null", "is a device, not a regular file");
}

/* Must come back at once although nobody writes. */
static void refuses_a_pipe(void **state)
{
    (void)state;
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    refuses(path, "is a pipe, not a regular file");
    unlink(path);
}

static void refuses_without_permission(void **state)
{
    (void)state;
    write_file("x", 1);
    if (geteuid() == 0)
        skip(); /* root may read everything */
    assert_int_equal(chmod(path, 0), 0);
    refuses(path, "cannot be opened: ");
    unlink(path);
}

/* -- packed files ----------------------------------------------------------------------------- */

/* Appends a packed copy of data to buffer at size and returns the new size. */
typedef size_t pack_function(unsigned char *buffer, size_t size, size_t capacity, const void *data,
                             size_t data_size);

static size_t pack_zstd(unsigned char *buffer, size_t size, size_t capacity, const void *data,
                        size_t data_size)
{
    const size_t added = ZSTD_compress(buffer + size, capacity - size, data, data_size, 3);

    assert_false(ZSTD_isError(added));
    return size + added;
}

static size_t pack_gzip(unsigned char *buffer, size_t size, size_t capacity, const void *data,
                        size_t data_size)
{
    unsigned char *const copy = malloc(data_size + 1);
    z_stream stream = {0};

    assert_non_null(copy);
    memcpy(copy, data, data_size);
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
                     Z_OK);
    stream.next_in = copy;
    stream.avail_in = (uInt)data_size;
    stream.next_out = buffer + size;
    stream.avail_out = (uInt)(capacity - size);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    size = capacity - stream.avail_out;
    deflateEnd(&stream);
    free(copy);
    return size;
}

static struct packer {
    const char *name;
    pack_function *pack;
    const char *word; /* that every message has */
} packers[] = {
    {"zstd", pack_zstd, "zstd data "},
    {"gzip", pack_gzip, "gzip data "},
};

static unsigned char packed[2 * LARGE_BYTES];

static ridge_status unpack(size_t size, size_t limit, ridge_file *file, ridge_error *err)
{
    write_file(packed, size);
    assert_int_equal(ridge_file_open(path, file, err), RIDGE_OK);
    return ridge_file_unpack(file, path, limit, err);
}

static void unpacks(void **state)
{
    const struct packer *const row = *state;
    ridge_file file;
    size_t size = row->pack(packed, 0, sizeof(packed), large, sizeof(large));

    assert_int_equal(unpack(size, LIMIT_BYTES, &file, NULL), RIDGE_OK);
    assert_int_equal(file.bytes.size, sizeof(large));
    assert_memory_equal(file.bytes.data, large, sizeof(large));
    ridge_file_release(&file);

    /* A second member or frame is a continuation; one may be empty. */
    size = row->pack(packed, size, sizeof(packed), "", 0);
    size = row->pack(packed, size, sizeof(packed), "tail", 4);
    assert_int_equal(unpack(size, LIMIT_BYTES, &file, NULL), RIDGE_OK);
    assert_int_equal(file.bytes.size, sizeof(large) + 4);
    assert_memory_equal(file.bytes.data + sizeof(large), "tail", 4);
    ridge_file_release(&file);
}

static void unpacks_up_to_the_limit(void **state)
{
    const struct packer *const row = *state;
    const size_t size = row->pack(packed, 0, sizeof(packed), large, sizeof(large));
    ridge_file file;
    ridge_error err;

    assert_int_equal(unpack(size, sizeof(large), &file, NULL), RIDGE_OK);
    assert_int_equal(file.bytes.size, sizeof(large));
    ridge_file_release(&file);

    assert_int_equal(unpack(size, sizeof(large) - 1, &file, &err), RIDGE_ERR_FORMAT);
    assert_string_equal(err.text, "unpacks to more than 299999 bytes");
    ridge_file_release(&file);
    assert_int_equal(unpack(size, 0, &file, &err), RIDGE_ERR_FORMAT);
    ridge_file_release(&file);
}

static void refuses_every_cut(void **state)
{
    const struct packer *const row = *state;
    const size_t size = row->pack(packed, 0, sizeof(packed), large, 500);
    size_t cut;

    for (cut = 4; cut < size; cut++) {
        ridge_file file;
        ridge_error err;

        assert_int_equal(unpack(cut, LIMIT_BYTES, &file, &err), RIDGE_ERR_FORMAT);
        assert_non_null(strstr(err.text, row->word));
        assert_int_equal(file.bytes.size, cut); /* as it was */
        ridge_file_release(&file);
    }
}

/* A flipped bit is found or harmless; what is unpacked never passes the limit. */
static void survives_flipped_bits(void **state)
{
    const struct packer *const row = *state;
    const size_t size = row->pack(packed, 0, sizeof(packed), large, 500);
    size_t bit;

    for (bit = 32; bit < size * 8; bit += 13) {
        ridge_file file;
        ridge_error err;
        ridge_status status;

        packed[bit / 8] ^= (unsigned char)(1 << bit % 8);
        status = unpack(size, 100000, &file, &err);
        packed[bit / 8] ^= (unsigned char)(1 << bit % 8);
        if (status == RIDGE_OK)
            assert_in_range(file.bytes.size, 0, 100000);
        else
            assert_int_equal(status, RIDGE_ERR_FORMAT);
        ridge_file_release(&file);
    }
}

static void survives_failing_allocations(void **state)
{
    const struct packer *const row = *state;
    const size_t size = row->pack(packed, 0, sizeof(packed), large, 500);
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    size_t nth;

    write_file(packed, size);
    for (nth = 1; status == RIDGE_ERR_OUT_OF_MEMORY; nth++) {
        ridge_file file;

        ridge_memory_fail_at(nth);
        status = ridge_file_open(path, &file, NULL);
        if (status == RIDGE_OK)
            status = ridge_file_unpack(&file, path, LIMIT_BYTES, NULL);
        ridge_memory_fail_at(0);
        ridge_file_release(&file);
        assert_true(nth < 20);
    }
    assert_int_equal(status, RIDGE_OK);
    assert_true(nth > 2);
}

int main(void)
{
    static cases list;
    static char names[10][32];
    size_t i;

    cases_add(&list, "opens", opens, NULL);
    cases_add(&list, "refuses what is no file", refuses_what_is_no_file, NULL);
    cases_add(&list, "refuses a pipe", refuses_a_pipe, NULL);
    cases_add(&list, "refuses without permission", refuses_without_permission, NULL);
    for (i = 0; i < sizeof(packers) / sizeof(packers[0]); i++) {
        static const struct {
            const char *name;
            CMUnitTestFunction function;
        } checks[] = {
            {"unpacks", unpacks},
            {"limit", unpacks_up_to_the_limit},
            {"cuts", refuses_every_cut},
            {"flipped bits", survives_flipped_bits},
            {"failing allocations", survives_failing_allocations},
        };
        size_t k;

        for (k = 0; k < 5; k++) {
            char *const name = names[i * 5 + k];

            snprintf(name, sizeof(names[0]), "%s: %s", packers[i].name, checks[k].name);
            cases_add(&list, name, checks[k].function, &packers[i]);
        }
    }
    return _cmocka_run_group_tests("file", list.tests, list.count, enter_folder, leave_folder);
}
