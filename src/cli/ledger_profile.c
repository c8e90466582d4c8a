/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge ledger add-profile: what a profile says of a build, filed as metrics. The build is the code
 * that the report carries; the open step gets it when it has none. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger_views.h"
#include "ridge/diagnose.h"
#include "ridge/image.h"
#include "ridge/profile.h"

struct filing {
    ridge_ledger *ledger;
    const char *path; /* of the ledger */
    const struct cli_profile_request *request;
    const ridge_report *report;
    const ridge_report_kernel_info *info;
    const ridge_diagnosis *diagnosis;
    char build[LEDGER_ID_BYTES], kase[LEDGER_ID_BYTES], env[LEDGER_ID_BYTES];
    char artefact[LEDGER_ID_BYTES], source[160];
    size_t metric_count;
    int step;             /* that is open; 0: none */
    bool has_other_build; /* it had another one, and keeps it */
    ridge_error err;
};

/* -- the file ---------------------------------------------------------------------------------- */

/* The whole file; *out is new, free(). */
static int read_file(const char *path, void **out, size_t *size)
{
    FILE *const stream = fopen(path, "rb");
    long length = -1;
    int status = CLI_DONE;

    *out = NULL;
    if (stream != NULL && fseek(stream, 0, SEEK_END) == 0)
        length = ftell(stream);
    if (length >= 0 && fseek(stream, 0, SEEK_SET) == 0)
        *out = malloc((size_t)length + 1);
    if (*out == NULL || fread(*out, 1, (size_t)length, stream) != (size_t)length) {
        cli_message(path, "cannot be read: %s", strerror(errno));
        free(*out);
        *out = NULL;
        status = ridge_status_exit(RIDGE_ERR_IO);
    }
    *size = length >= 0 ? (size_t)length : 0;
    if (stream != NULL)
        fclose(stream);
    return status;
}

/* -- rows -------------------------------------------------------------------------------------- */

static ridge_status add_environment(struct filing *filing)
{
    const ridge_session *const session = ridge_report_session(filing->report);
    char gpu[LEDGER_ID_BYTES];
    ridge_status status;

    if (filing->info->gpu_name == NULL)
        return RIDGE_OK;
    {
        const ridge_ledger_member members[] = {
            {"name", filing->info->gpu_name, NAN},
            {"sm", NULL, filing->info->cc_major * 10 + filing->info->cc_minor},
            {"sm_count", NULL, filing->info->sm_count > 0 ? filing->info->sm_count : (double)NAN},
        };

        status = ridge_ledger_add(filing->ledger, "gpu", members, 3, gpu, &filing->err);
    }
    if (status == RIDGE_OK) {
        const ridge_ledger_member members[] = {
            {"gpu_id", gpu, NAN},
            {"driver", session != NULL ? session->driver_version : NULL, NAN},
            {"cuda_runtime", session != NULL ? session->cuda_version : NULL, NAN},
        };

        status = ridge_ledger_add(filing->ledger, "env", members, 3, filing->env, &filing->err);
    }
    return status;
}

/* The build of a step of the campaign begun last. */
static ridge_status find_step_build(struct filing *filing)
{
    static const char sql[] = "SELECT s.build_id FROM step s WHERE s.seq = ?1 AND s.campaign_id = "
                              "(SELECT id FROM campaign ORDER BY created DESC, id LIMIT 1)";
    char number[24];
    const char *const values[] = {number};
    ridge_ledger_rows *rows;
    bool has_row = false;
    ridge_status status;

    snprintf(number, sizeof(number), "%zu", filing->request->step);
    status = ridge_ledger_query(filing->ledger, sql, values, 1, &rows, &filing->err);
    if (status != RIDGE_OK)
        return status;
    status = ridge_ledger_rows_next(rows, &has_row, &filing->err);
    if (status == RIDGE_OK && has_row && ridge_ledger_rows_text(rows, 0) != NULL)
        snprintf(filing->build, sizeof(filing->build), "%s", ridge_ledger_rows_text(rows, 0));
    ridge_ledger_rows_free(rows);
    if (status == RIDGE_OK && filing->build[0] == '\0') {
        snprintf(filing->err.text, sizeof(filing->err.text), "%s %s%s",
                 has_row ? "step" : "there is no step", number,
                 has_row ? " has no build: ridge step build gives it one" : "");
        status = filing->err.status = RIDGE_ERR_INVALID_ARGUMENT;
    }
    return status;
}

/* The build that is given, or the code that the report carries, or the report itself. */
static ridge_status add_build(struct filing *filing, const void *file, size_t file_bytes)
{
    const ridge_module *const module =
        ridge_report_kernel_module(ridge_report_kernel_at(filing->report, filing->info->index));
    ridge_code code = ridge_code_unknown;
    char arch[16], name[256];
    ridge_build_row row = {.kernel = cli_short_name(filing->info, name, sizeof(name)),
                           .arch = arch,
                           .registers_per_thread = -1,
                           .spill_bytes = -1,
                           .shared_bytes = -1,
                           .code_bytes = -1,
                           .compile_s = NAN};

    if (filing->request->build != NULL) {
        const char *const given = filing->request->build;

        return ridge_ledger_find_build(filing->ledger,
                                       strncmp(given, "build:", 6) == 0 ? given + 6 : given,
                                       filing->build, &filing->err);
    }
    if (filing->request->step != OPTION_UNSET)
        return find_step_build(filing);
    snprintf(arch, sizeof(arch), "sm_%d%d", filing->info->cc_major, filing->info->cc_minor);
    if (module != NULL && module->binary != NULL && filing->info->mangled_name != NULL) {
        const ridge_status status = ridge_code_of(module->binary, module->binary_bytes,
                                                  filing->info->mangled_name, &code, &filing->err);

        if (status != RIDGE_OK)
            return status;
    }
    if (module != NULL && code.hash[0] != '\0') {
        row.code_hash = code.hash;
        row.arch = code.arch;
        row.code_bytes = code.code_bytes;
        row.registers_per_thread = code.registers_per_thread;
        row.shared_bytes = code.static_shared_bytes;
        row.spill_bytes = code.local_bytes;
        row.image = module->binary;
        row.image_bytes = module->binary_bytes;
        row.image_kind = "cubin";
    } else {
        row.image = file;
        row.image_bytes = file_bytes;
        row.image_kind = "ncu-rep";
        if (!isnan(filing->diagnosis->registers_per_thread))
            row.registers_per_thread = (int)filing->diagnosis->registers_per_thread;
    }
    return ridge_ledger_add_build(filing->ledger, &row, filing->build, &filing->err);
}

/* value or text; nothing when both are unknown. */
static ridge_status add_metric(struct filing *filing, const char *name, double value,
                               const char *unit, const char *text)
{
    const ridge_ledger_member members[] = {
        {"build_id", filing->build, NAN},
        {"kase_id", filing->kase[0] != '\0' ? filing->kase : NULL, NAN},
        {"env_id", filing->env[0] != '\0' ? filing->env : NULL, NAN},
        {"name", name, NAN},
        {"value", NULL, value},
        {"unit", isnan(value) ? NULL : unit, NAN},
        {"text", text, NAN},
        {"source", filing->source, NAN},
        {"artefact_id", filing->artefact, NAN},
    };

    if (isnan(value) && text == NULL)
        return RIDGE_OK;
    filing->metric_count++;
    return ridge_ledger_add(filing->ledger, "metric", members, sizeof(members) / sizeof(members[0]),
                            NULL, &filing->err);
}

static ridge_status add_metrics(struct filing *filing)
{
    const ridge_diagnosis *const diagnosis = filing->diagnosis;
    const struct {
        const char *name;
        double value;
        const char *unit, *text;
    } rows[] = {
        {"gpu__time_duration.sum", diagnosis->duration_ns, "ns", NULL},
        {"ridge:dram_bytes", diagnosis->dram_bytes, "byte", NULL},
        {"ridge:registers_per_thread", diagnosis->registers_per_thread, "", NULL},
        {"ridge:shared_bytes_per_block", diagnosis->shared_bytes_per_block, "byte", NULL},
        {"ridge:occupancy_theoretical", diagnosis->occupancy_theoretical_frac, "frac", NULL},
        {"ridge:occupancy_achieved", diagnosis->occupancy_achieved_frac, "frac", NULL},
        {"ridge:verdict", NAN, NULL, diagnosis->verdict.sentence},
        {"ridge:wall", NAN, NULL, ridge_wall_name(diagnosis->verdict.wall)},
        {"ridge:finding", NAN, NULL,
         diagnosis->finding_count > 0 ? diagnosis->findings[0].id : NULL},
        {"ridge:clocks_locked", diagnosis->clocks_locked ? 1 : 0, "", NULL},
    };
    ridge_status status = RIDGE_OK;
    char name[64];
    size_t i;

    for (i = 0; status == RIDGE_OK && i < sizeof(rows) / sizeof(rows[0]); i++)
        status = add_metric(filing, rows[i].name, rows[i].value, rows[i].unit, rows[i].text);
    for (i = 0; status == RIDGE_OK && i < diagnosis->bar_count; i++)
        status = add_metric(filing, diagnosis->bars[i].metric, diagnosis->bars[i].busy_frac, "frac",
                            diagnosis->bars[i].label);
    for (i = 0; status == RIDGE_OK && i < diagnosis->stall_count; i++) {
        snprintf(name, sizeof(name), "ridge:stall_%s",
                 ridge_stall_name(diagnosis->stalls[i].stall));
        status = add_metric(filing, name, diagnosis->stalls[i].share_frac, "frac", NULL);
    }
    return status;
}

/* The open step takes the build, when it has none. */
static ridge_status give_to_step(struct filing *filing)
{
    char build[LEDGER_ID_BYTES];
    const ridge_status status = cli_open_step(filing->ledger, &filing->step, build, &filing->err);

    filing->has_other_build = build[0] != '\0' && strcmp(build, filing->build) != 0;
    if (status == RIDGE_OK && filing->step > 0 && build[0] == '\0')
        return ridge_ledger_step_build(filing->ledger, filing->build, &filing->err);
    return status;
}

static ridge_status file_rows(struct filing *filing, const void *file, size_t file_bytes)
{
    ridge_status status = ridge_ledger_begin(filing->ledger, &filing->err);

    if (status != RIDGE_OK)
        return status;
    if (filing->request->kase != NULL)
        status = ridge_ledger_find(filing->ledger, "kase", filing->request->kase, filing->kase,
                                   &filing->err);
    if (status == RIDGE_OK)
        status = add_environment(filing);
    if (status == RIDGE_OK)
        status = ridge_ledger_add_artefact(filing->ledger, "ncu-rep", filing->request->path, file,
                                           file_bytes, false, filing->artefact, &filing->err);
    if (status == RIDGE_OK)
        status = add_build(filing, file, file_bytes);
    if (status == RIDGE_OK)
        status = add_metrics(filing);
    if (status == RIDGE_OK && filing->request->build == NULL &&
        filing->request->step == OPTION_UNSET)
        status = give_to_step(filing);
    if (status == RIDGE_OK)
        return ridge_ledger_commit(filing->ledger, &filing->err);
    ridge_ledger_rollback(filing->ledger);
    return status;
}

/* -- what was filed ---------------------------------------------------------------------------- */

static int print_filing(const struct filing *filing)
{
    const struct cli_output *const out = &filing->request->out;
    ridge_output *output;
    char name[256], time[32];

    if (filing->request->is_aside) {
        char step[32] = "";

        if (filing->step > 0 && !filing->has_other_build)
            snprintf(step, sizeof(step), " of step %d", filing->step);
        cli_message(NULL, "filed in %s: %zu metrics, build %.8s%s", filing->path,
                    filing->metric_count, filing->build, step);
        return CLI_DONE;
    }
    output = cli_open(out);
    cli_short_name(filing->info, name, sizeof(name));
    if (out->format == RIDGE_FORMAT_JSON) {
        ridge_json *const json = ridge_json_create(output);

        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "schema", "ridge-ledger-profile/1");
        ridge_json_text(json, "kernel", name);
        ridge_json_text(json, "build_id", filing->build);
        ridge_json_text(json, "artefact_id", filing->artefact);
        ridge_json_count(json, "metric_count", filing->metric_count);
        if (filing->step > 0 && !filing->has_other_build)
            ridge_json_integer(json, "step", filing->step);
        else
            ridge_json_null(json, "step");
        ridge_json_number(json, "duration_ns", filing->diagnosis->duration_ns);
        ridge_json_text(json, "verdict", filing->diagnosis->verdict.sentence);
        ridge_json_end_object(json);
        ridge_json_free(json);
        return cli_close(output, CLI_DONE);
    }
    ridge_output_format(
        output, "%s: %s, %zu metrics, build %.8s", name,
        ridge_number_text(filing->diagnosis->duration_ns, RIDGE_UNIT_NS, time, sizeof(time)),
        filing->metric_count, filing->build);
    if (filing->step > 0 && !filing->has_other_build)
        ridge_output_format(output, " of step %d", filing->step);
    ridge_output_text(output, "\n");
    if (filing->has_other_build)
        ridge_output_format(output,
                            "  step %d has another build: ridge step build %.8s replaces it\n",
                            filing->step, filing->build);
    cli_labelled(output, 11, "verdict", filing->diagnosis->verdict.sentence);
    return cli_close(output, CLI_DONE);
}

/* -- the subcommand ---------------------------------------------------------------------------- */

static int file_kernel(struct filing *filing)
{
    ridge_diagnosis *diagnosis = NULL;
    size_t size_bytes;
    void *file = NULL;
    int status = read_file(filing->request->path, &file, &size_bytes);

    if (status == CLI_DONE && ridge_diagnose(filing->report, filing->info->index, NULL, &diagnosis,
                                             &filing->err) != RIDGE_OK)
        status = cli_fail(filing->request->path, &filing->err);
    if (status == CLI_DONE) {
        filing->diagnosis = diagnosis;
        snprintf(filing->source, sizeof(filing->source), "%.120s launch %zu",
                 cli_base_name(filing->request->path), filing->info->index);
        if (file_rows(filing, file, size_bytes) != RIDGE_OK)
            status = cli_fail(filing->path, &filing->err);
    }
    if (status == CLI_DONE)
        status = print_filing(filing);
    ridge_diagnosis_free(diagnosis);
    free(file);
    return status;
}

int cli_ledger_add_profile(ridge_ledger *ledger, const char *path,
                           const struct cli_profile_request *request)
{
    const struct kernel_filter filter = {request->kernel, request->launch};
    struct filing filing = {.ledger = ledger, .path = path, .request = request};
    const ridge_report_kernel **kernels = NULL;
    ridge_report *report = NULL;
    size_t count = 0;
    int status = cli_open_metrics(request->path, &report);

    if (report != NULL)
        status = cli_select_kernels(report, request->path, &filter, &kernels, &count);
    if (status == CLI_DONE && count > 1) {
        cli_message(request->path,
                    "%zu launches: --launch N or --kernel REGEX chooses one, see ridge "
                    "kernels",
                    count);
        status = CLI_USAGE;
    }
    if (status == CLI_DONE && kernels != NULL) {
        filing.report = report;
        filing.info = ridge_report_kernel_get_info(kernels[0]);
        status = file_kernel(&filing);
    }
    free(kernels);
    ridge_report_free(report);
    return status;
}
