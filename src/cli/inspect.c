/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge inspect: what compiled code is made of, without NVIDIA's tools. This file holds the options;
 * inspect_walk.c goes through the files, inspect_rows.c keeps rows, the others print. */
#include "inspect.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"

static const char usage[] = "ridge inspect [options] FILE...\n"
                            "       ridge inspect [options] --diff OLD NEW";

static const char *const sort_names[] = {"name", "cost", NULL};

/* -- values of options ------------------------------------------------------------------------- */

/* Says which there are; false. */
static bool unknown_capability(const char *option, const char *name)
{
    char list[256] = "";
    size_t i;

    for (i = 0; i < ridge_arch_count(); i++) {
        const size_t used = strlen(list);

        snprintf(list + used, sizeof(list) - used, "%s%d.%d", used > 0 ? ", " : "",
                 ridge_arch_at(i)->major, ridge_arch_at(i)->minor);
    }
    cli_usage_error("%s '%s' is no known compute capability: %s", option, name, list);
    return false;
}

/* "8.0", "sm_90a", "h200" to a compute capability. */
static bool parse_target(const char *option, const char *name, struct inspect_target *target)
{
    struct gpu_choice gpu = {.name = target->name};
    bool found;

    if (strlen(name) >= sizeof(target->name)) {
        cli_usage_error("%s '%s' is no chip", option, name);
        return false;
    }
    snprintf(target->name, sizeof(target->name), "%s", name);
    if (ridge_arch_parse(name, &target->compute.major, &target->compute.minor))
        return ridge_arch_find(target->compute.major, target->compute.minor) != NULL ||
               unknown_capability(option, name);
    found = cli_find_chip(&gpu) == CLI_DONE;
    if (found) {
        target->compute.major = gpu.chip->arch->major;
        target->compute.minor = gpu.chip->arch->minor;
    }
    cli_release_chip(&gpu);
    return found;
}

/* "8.0,h200,sm_90a" to targets; prints what is wrong and returns false. */
static bool read_targets(const char *option, const char *text, struct inspect_target *targets,
                         size_t *count)
{
    const char *at = text;

    *count = 0;
    while (at != NULL) {
        const size_t length = strcspn(at, ",");
        char name[64];

        if (length == 0 || length >= sizeof(name)) {
            cli_usage_error("%s '%s' is no list of chips such as 8.0,h200", option, text);
            return false;
        }
        if (*count == INSPECT_TARGETS_MAX) {
            cli_usage_error("%s takes at most %d chips", option, INSPECT_TARGETS_MAX);
            return false;
        }
        snprintf(name, sizeof(name), "%.*s", (int)length, at);
        if (!parse_target(option, name, &targets[*count]))
            return false;
        (*count)++;
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return true;
}

/* "256", "256,48KiB", "bound", "bound,48KiB" */
static bool parse_occupancy(struct inspect_request *request, const char *text)
{
    const char *const comma = strchr(text, ',');
    char block[16];
    uint64_t bytes = 0;
    char *end;
    long threads = 0;

    if (comma != NULL && (!options_size(comma + 1, &bytes) || bytes > INT_MAX)) {
        cli_usage_error("--occupancy '%s': '%s' is no size such as 48KiB", text, comma + 1);
        return false;
    }
    snprintf(block, sizeof(block), "%.*s", (int)(comma != NULL ? comma - text : 15), text);
    if (strcmp(block, "bound") != 0) {
        threads = strtol(block, &end, 10);
        if (block[0] < '0' || block[0] > '9' || *end != '\0' || threads < 1 || threads > 1024) {
            cli_usage_error("--occupancy '%s': expected BLOCK[,SMEM] with 1 to 1024 threads, or "
                            "'bound' for the launch bound of each kernel",
                            text);
            return false;
        }
    }
    request->occupancy = true;
    request->block = (int)threads;
    request->dynamic_shared_bytes = (int)bytes;
    return true;
}

/* -- the command ------------------------------------------------------------------------------- */

struct texts {
    const char *cover, *required, *occupancy;
};

/* The options that decide what is printed: one of them at most. */
static bool check_modes(const struct inspect_request *request)
{
    const bool has_gates = inspect_has_gates(request);
    const struct {
        bool is_set;
        const char *name;
        bool has_markdown;
    } modes[] = {
        {request->manifest != NULL, "--manifest", false},
        {request->mix, "--mix", false},
        {request->sass, "--sass", false},
        {request->lines, "--lines", false},
        {request->cover_count > 0, "--cover", true},
        {request->diff, "--diff", true},
        {has_gates, "a gate or baseline", true},
    };
    const char *first = NULL;
    bool has_markdown = true;
    size_t i;

    for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (!modes[i].is_set)
            continue;
        if (first != NULL) {
            cli_usage_error("%s and %s are asked for separately", first, modes[i].name);
            return false;
        }
        first = modes[i].name;
        has_markdown = modes[i].has_markdown;
    }
    if (first != NULL && request->occupancy && !has_gates) {
        cli_usage_error("--occupancy and --gpu do not go with %s", first);
        return false;
    }
    if (first != NULL && (request->out.format == RIDGE_FORMAT_CSV ||
                          (request->out.format == RIDGE_FORMAT_MARKDOWN && !has_markdown))) {
        cli_usage_error("%s prints text%s or JSON", first, has_markdown ? ", Markdown" : "");
        return false;
    }
    if (request->cover_jit_fails && request->cover_count == 0) {
        cli_usage_error("--cover-jit-fails needs --cover");
        return false;
    }
    return true;
}

/* Reads what the option texts say. */
static int prepare(struct inspect_request *request, const struct texts *texts)
{
    if (texts->cover != NULL &&
        !read_targets("--cover", texts->cover, request->cover, &request->cover_count))
        return CLI_USAGE;
    if (texts->required != NULL && !read_targets("--require-arch", texts->required,
                                                 request->required, &request->required_count))
        return CLI_USAGE;
    if (texts->occupancy != NULL && !parse_occupancy(request, texts->occupancy))
        return CLI_USAGE;
    if (cli_has_chip(&request->gpu)) {
        const int status = cli_find_chip(&request->gpu);

        if (status != CLI_DONE)
            return status;
        request->occupancy = true;
    }
    if (request->min_blocks != OPTION_UNSET)
        request->occupancy = true;
    if (request->diff && request->path_count != 2)
        return cli_usage_error("--diff: expected OLD and NEW, got %zu", request->path_count);
    if (request->path_count == 0)
        return cli_usage_error("expected FILE...");
    if (request->manifest != NULL && request->path_count != 1)
        return cli_usage_error("--manifest: expected one FILE, got %zu", request->path_count);
    return check_modes(request) ? CLI_DONE : CLI_USAGE;
}

static int run(const struct inspect_request *request)
{
    if (request->manifest != NULL)
        return inspect_manifest(request);
    if (request->mix || request->sass || request->lines)
        return inspect_code(request);
    if (request->cover_count > 0)
        return inspect_cover(request);
    if (request->diff)
        return inspect_diff(request);
    if (inspect_has_gates(request))
        return inspect_gates(request);
    return inspect_table(request);
}

int cmd_inspect(int argc, char **argv)
{
    struct inspect_request request = {.max_registers = OPTION_UNSET,
                                      .max_spill_bytes = OPTION_UNSET,
                                      .max_local_bytes = OPTION_UNSET,
                                      .min_blocks = OPTION_UNSET};
    struct texts texts = {0};
    const struct option options[] = {
        OPT_STRING('k', "kernel", &request.pattern, "REGEX", "only kernels whose name matches"),
        OPT_STRING(0, "arch", &request.arch, "ARCH",
                   "only code for sm_90, or sm_90a, or PTX for compute_90"),
        OPT_FLAG('a', "all", &request.all, "every row, however many"),
        OPT_FLAG(0, "functions", &request.functions,
                 "also device functions with code of their own"),
        OPT_CHOICE(0, "sort", &request.sort, "name|cost", sort_names,
                   "by name, or by spills, local memory and registers"),
        OPT_STRING('o', "occupancy", &texts.occupancy, "BLOCK[,SMEM]",
                   "blocks and warps per SM with so many threads and so much dynamic shared "
                   "memory; BLOCK may be 'bound'"),
        OPT_GPU(&request.gpu),
        OPT_FLAG('m', "mix", &request.mix, "instructions by kind, in all and inside loops"),
        OPT_FLAG('s', "sass", &request.sass, "the machine code with its control codes"),
        OPT_FLAG(0, "lines", &request.lines, "instructions by source line"),
        OPT_STRING('c', "cover", &texts.cover, "CHIP,...",
                   "which kernels run there natively, by JIT or not at all; exit 1 on a hole"),
        OPT_FLAG(0, "cover-jit-fails", &request.cover_jit_fails, "exit 1 also when one needs JIT"),
        OPT_STRING(0, "manifest", &request.manifest, "KERNEL",
                   "how it is launched, as JSON to be filled in"),
        OPT_FLAG('d', "diff", &request.diff, "what changed from OLD to NEW"),
        OPT_COUNT(0, "max-regs", &request.max_registers, "N", "fail when a kernel uses more"),
        OPT_COUNT(0, "max-spill-bytes", &request.max_spill_bytes, "N",
                  "fail when a kernel stores and loads more for spills"),
        OPT_COUNT(0, "max-local", &request.max_local_bytes, "N",
                  "fail when a kernel has a larger stack frame"),
        OPT_COUNT(0, "min-blocks", &request.min_blocks, "N",
                  "fail when fewer blocks fit an SM; with --occupancy or the launch bound"),
        OPT_STRING(0, "require-arch", &texts.required, "CHIP,...",
                   "fail when a kernel has no machine code for one of them"),
        OPT_STRING(0, "baseline", &request.baseline, "FILE",
                   "fail when a kernel became worse than recorded there"),
        OPT_STRING(0, "write-baseline", &request.write_baseline, "FILE",
                   "record the kernels there"),
        OPT_FLAG('f', "force", &request.force, "replace the file of --write-baseline"),
        OPT_TABLE(&request.out),
        OPT_COMMON(&request.out),
        OPT_END,
    };
    int status;

    if (!options_parse(&argc, argv, usage, options, &status))
        return status;
    request.paths = (const char *const *)(argv + 1);
    request.path_count = (size_t)(argc - 1);
    status = prepare(&request, &texts);
    if (status == CLI_DONE && request.pattern != NULL)
        status = cli_compile_pattern(request.pattern, &request.expression);
    if (status == CLI_DONE) {
        status = run(&request);
        if (request.pattern != NULL)
            regfree(&request.expression);
    }
    cli_release_chip(&request.gpu);
    return status;
}
