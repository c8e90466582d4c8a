/* SPDX-License-Identifier: Apache-2.0 */
#include "report/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct naming {
    const char *name;
    const char *unit;
} namings[] = {
    /* roll-ups */
    {"dram__bytes_read.sum", "byte"},
    {"dram__bytes_read.sum.per_second", "byte/s"},
    {"dram__bytes_read.sum.pct_of_peak_sustained_elapsed", "%"},
    {"dram__bytes.sum.peak_sustained", "byte/cycle"},
    {"lts__t_sectors.sum", "sector"},
    {"lts__t_sectors.sum.per_second", "sector/s"},
    {"lts__t_sectors.avg.per_cycle_elapsed", "sector/cycle"},
    {"lts__t_sectors.avg.peak_sustained", "sector/cycle"},
    {"sm__cycles_elapsed.avg.per_second", "hz"},
    {"sm__cycles_active.avg", "cycle"},
    {"sm__inst_executed.avg.per_cycle_active", "inst/cycle"},
    {"sm__ops_path_tensor_src_fp16.sum.peak_sustained_elapsed.per_second", ""},
    {"smsp__cycles_active.avg.peak_sustained_elapsed", "cycle"},
    {"gpu__time_duration.sum", "ns"},
    {"l1tex__t_sector_hit_rate.pct", "%"},
    /* what a warp does */
    {"sm__warps_active.avg.per_cycle_active", "warp"},
    {"smsp__warps_eligible.avg.per_cycle_active", "warp"},
    {"smsp__warps_launched.sum", "warp"},
    {"sm__ctas_launched.sum", "block"},
    {"smsp__issue_active.avg.per_cycle_active", ""},
    {"smsp__thread_inst_executed_per_inst_executed.ratio", ""},
    {"smsp__average_warp_latency_per_inst_issued.ratio", "cycle"},
    {"smsp__average_warps_active_per_inst_executed.ratio", "cycle"},
    {"smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", "inst"},
    {"smsp__average_warp_latency_issue_stalled_branch_resolving.ratio", "inst/warp"},
    {"smsp__average_inst_executed_per_warp.ratio", "inst/warp"},
    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", "byte/sector"},
    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.max_rate", "byte/sector"},
    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", "%"},
    {"lrc__average_ilc_input_sector_compression_rate.ratio", ""},
    {"smsp__pcsamp_warps_issue_stalled_wait", "warp"},
    {"smsp__pcsamp_warps_issue_stalled_branch_resolving", "branches"},
    {"smsp__pcsamp_warps_issue_stalled_no_instructions_not_issued", "inst"},
    {"smsp__pcsamp_sample_count", ""},
    {"smsp__sass_branch_targets_threads_divergent.avg", "branches"},
    {"sm__maximum_warps_per_active_cycle_pct", "%"},
    {"smsp__maximum_warps_avg_per_active_cycle", "warp"},
    /* where requests are counted */
    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", ""},
    {"lts__t_requests_srcunit_tex.sum", "request"},
    {"syslts__t_requests.sum", "request"},
    {"gcc__cache_requests_type_constant.sum", "request"},
    {"smsp__imc_requests.sum", "cycle"},
    {"sm__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts.sum", ""},
    {"gcc__xbar2gcc_sectors.sum", ""},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", ""},
    {"l1tex__lsu_writeback_active_mem_lgds.avg.peak_sustained", ""},
    /* scopes */
    {"breakdown:sm__throughput.avg.pct_of_peak_sustained_elapsed", "%"},
    {"pmsampling:dram__bytes_read.sum", "byte"},
    {"group:memory__chart", ""},
    {"TPC.TriageCompute.sm__inst_executed_realtime.avg.per_cycle_active", "inst/cycle"},
    {"pmsampling:TPC.TriageCompute.sm__cycles_active.avg", "cycle"},
    {"GPC_B.TriageCompute.gpc__cgas_launched.sum", ""},
    /* no counters */
    {"launch__registers_per_thread", "register/thread"},
    {"launch__shared_mem_per_block_static", "byte/block"},
    {"launch__shared_mem_config_size", "byte"},
    {"launch__occupancy_limit_warps", "block"},
    {"launch__waves_per_multiprocessor", ""},
    {"launch__of_the_future", ""},
    {"device__attribute_l2_cache_size", ""},
    {"derived__memory_l2_theoretical_sectors_global_excessive", "sector"},
    {"derived__memory_l1_wavefronts_shared_excessive", ""},
    {"derived__pct_occupancy_per_register_count", "%/register"},
    {"derived__lts__lts2xbar_bytes.sum.per_second", "byte"},
    {"derived__lts__lts2xbar_bytes.sum.pct_of_peak_sustained_elapsed", "%"},
    {"memory_l1_wavefronts_shared", "sectors"},
    {"memory_access_type", ""},
    {"inst_executed", "inst"},
    {"thread_inst_executed_true", "inst"},
    {"sass__inst_executed_per_opcode", ""},
    {"profiler__replayer_passes", "pass"},
    /* unknown */
    {"", "?"},
    {".", "?"},
    {"_", "?"},
    {"__", "?"},
    {"frobnicated", "?"},
    {"sm__frobnications.sum", "?"},
    {"sm__frobnications.sum.pct_of_peak_sustained_elapsed", "%"},
    {"sm__a_word_that_is_longer_than_all_known_ones_together.sum", "?"},
    {"sm__frobnications.sum.", "?"},
};

static void by_rule(void **state)
{
    for (size_t i = 0; i < sizeof namings / sizeof *namings; i++)
        if (strcmp(ridge_metric_unit(namings[i].name), namings[i].unit) != 0)
            fail_msg("%s: \"%s\", expected \"%s\"", namings[i].name,
                     ridge_metric_unit(namings[i].name), namings[i].unit);
    (void)state;
}

static void as_the_vendors_reader(void **state)
{
    FILE *const file = fopen(RIDGE_SOURCE_DIR "/tests/data/units.tsv", "r");
    size_t compared = 0, different = 0;
    char line[512];

    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        char *const unit = strchr(line, '\t');

        if (line[0] == '#')
            continue;
        assert_non_null(unit);
        *unit = '\0';
        unit[1 + strcspn(unit + 1, "\n")] = '\0';
        compared++;
        if (strcmp(ridge_metric_unit(line), unit + 1) == 0)
            continue;
        print_error("%s: \"%s\", expected \"%s\"\n", line, ridge_metric_unit(line), unit + 1);
        different++;
    }
    fclose(file);
    assert_int_equal(compared, 2249);
    assert_int_equal(different, 0);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_rule),
        cmocka_unit_test(as_the_vendors_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
