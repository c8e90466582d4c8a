/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules of the memory side: what a busy memory unit is busy with, useful work or waste. */
#include <math.h>
#include <string.h>

#include "diagnose/diagnose_internal.h"
#include "ridge/banks.h"

/* Whether a wall decides the verdict, at it or near it. */
static bool at_wall(const struct verdict *verdict, ridge_wall wall)
{
    return verdict->wall == wall && (verdict->cls == RIDGE_CLASS_MEMORY);
}

/* Better access shortens the work of both caches, not only of the one that is full. */
#define L1_AND_L2 (WALL_BIT(RIDGE_WALL_L1) | WALL_BIT(RIDGE_WALL_L2))

/* The part of device memory's bytes that local memory moves, at least: what global accesses cannot
 * account for, as far as there are local sectors (TMA moves bytes that neither counts); 0: unknown. */
static double local_dram_frac(const struct facts *facts)
{
    const double local_sectors =
        (HAS(facts, LOCAL_LOAD_SECTORS) ? VALUE(facts, LOCAL_LOAD_SECTORS) : 0) +
        (HAS(facts, LOCAL_STORE_SECTORS) ? VALUE(facts, LOCAL_STORE_SECTORS) : 0);

    if (!(facts->dram_bytes > 0) || isnan(facts->sectors))
        return 0;
    return fmin(fmax(0, 1 - facts->sectors * 32 / facts->dram_bytes),
                local_sectors * 32 / facts->dram_bytes);
}

/* The time ratio bound when a part of the work at a wall goes away: what is left, or the next
 * unit that the change does not relieve (bits WALL_BIT), whichever takes longer. */
static double waste_bound(const struct facts *facts, ridge_wall wall, unsigned relieved,
                          double waste_frac, ridge_wall *next)
{
    const double busy_frac = facts_wall_pct(facts, wall) / 100;
    const double next_frac = facts_next_wall(facts, relieved | WALL_BIT(wall), next);
    const double after = busy_frac > 0 ? next_frac / busy_frac : 0;

    if (1 - waste_frac > after) {
        *next = wall;
        return 1 / (1 - waste_frac);
    }
    return after > 0 ? 1 / after : NAN;
}

/* Rows count the sectors of global accesses; where local memory is the traffic these are no place
 * to start. */
static void places_of_sectors(struct facts *facts, ridge_finding *finding)
{
    if (facts->local_frac > 0.5)
        return;
    finding_places(facts, finding, PLACE_SECTORS, RIDGE_STALL_COUNT, NULL,
                   facts->local_frac > SPILL_FRAC ? "L2 sectors of global accesses" : "L2 sectors");
}

/* -- device memory ----------------------------------------------------------------------------- */

static void judge_memory_bandwidth(struct facts *facts, const struct verdict *verdict,
                                   struct judgement *out)
{
    ridge_finding *const finding = &out->finding;
    const double dram_pct = facts_wall_pct(facts, RIDGE_WALL_DRAM);

    if (!at_wall(verdict, RIDGE_WALL_DRAM))
        return;
    out->weight = WEIGHT_PRIMARY;
    finding->sentence = facts_text(
        facts, "Device memory is busy %.1f %% of the time%s.", dram_pct,
        verdict->saturated ? "; a good copy reaches about 92 %, so this is the limit" : "");
    finding->advice =
        verdict->saturated
            ? "Only fewer bytes help: fuse with the neighbouring kernels, recompute instead of "
              "reading, store in a narrower type, keep reused data in L2."
            : "Fewer bytes first: fuse, recompute, narrower types. Then the last part of the "
              "bandwidth: 16-byte accesses, more bytes in flight, no read-write turn-around.";
    finding_evidence(facts, finding, RIDGE_MEANING_DRAM_PCT);
    finding_evidence(facts, finding, RIDGE_MEANING_DRAM_BYTES_PER_S);
    finding_number(finding, "ridge:dram_bytes", "bytes moved", facts->dram_bytes, "byte");
    finding_evidence(facts, finding, RIDGE_MEANING_L2_HIT_PCT);
    finding_bound(finding, fmax(1, DRAM_TARGET_PCT / dram_pct), RIDGE_WALL_DRAM);
    places_of_sectors(facts, finding);
}

static void judge_repeated_reads(struct facts *facts, const struct verdict *verdict,
                                 struct judgement *out)
{
    ridge_finding *const finding = &out->finding;
    const double compulsory = facts->options.compulsory_bytes;
    const double ratio = compulsory > 0 ? facts->dram_bytes / compulsory : NAN;

    if (!(ratio > 1.25))
        return;
    out->weight = at_wall(verdict, RIDGE_WALL_DRAM) ? WEIGHT_PRIMARY + 10 : WEIGHT_SHARED;
    finding->sentence = facts_text(
        facts, "Device memory moves %.2f times the bytes that the work needs (%.1f of %.1f MiB).",
        ratio, facts->dram_bytes / 0x1p20, compulsory / 0x1p20);
    finding->advice =
        "Read each input once: keep the row or tile in registers or shared memory between the "
        "passes, order blocks so that neighbours share what is in L2, or merge the passes.";
    finding_number(finding, "ridge:dram_bytes", "bytes moved", facts->dram_bytes, "byte");
    finding_number(finding, "ridge:compulsory_bytes", "bytes needed", compulsory, "byte");
    finding_evidence(facts, finding, RIDGE_MEANING_L2_HIT_PCT);
    if (at_wall(verdict, RIDGE_WALL_DRAM)) {
        ridge_wall next;
        const double bound = waste_bound(facts, RIDGE_WALL_DRAM, 0, 1 - 1 / ratio, &next);

        finding_bound(finding, bound, next);
    }
    places_of_sectors(facts, finding);
}

/* -- local memory ------------------------------------------------------------------------------ */

#define UNROLL_ARRAY                                                                               \
    "unroll the loops that index it with compile-time bounds, so that it stays in registers; or "  \
    "put it in shared memory."

static void judge_register_spill(struct facts *facts, const struct verdict *verdict,
                                 struct judgement *out)
{
    ridge_finding *const finding = &out->finding;
    const ridge_function *const function = facts->profile->function;
    const bool is_recorded = function != NULL && function->spill_store_bytes >= 0;
    const bool is_array =
        is_recorded && function->spill_store_bytes == 0 && function->spill_load_bytes == 0;
    const bool is_spill = is_recorded && !is_array;
    const double accesses = (double)(facts->code.local_accesses + facts->code.global_accesses +
                                     facts->code.shared_accesses);
    const double local_access_frac =
        accesses > 0 ? (double)facts->code.local_accesses / accesses : 1;
    /* Local memory that does not fit the caches is what device memory moves. */
    const unsigned relieved =
        L1_AND_L2 | (local_dram_frac(facts) > 0.5 ? WALL_BIT(RIDGE_WALL_DRAM) : 0);

    if (!(facts->local_frac > SPILL_FRAC))
        return;
    /* Where shared memory fills the pipe, a large part of little global traffic is little. */
    if (verdict->wall == RIDGE_WALL_L1 && local_access_frac < LOCAL_ACCESS_FRAC)
        out->weight = WEIGHT_SHARED;
    else
        out->weight = verdict->cls == RIDGE_CLASS_MEMORY ? WEIGHT_PRIMARY + 8 : WEIGHT_SHARED + 15;
    finding->sentence = facts_text(
        facts, "%.0f %% of the L1 traffic is local memory: %s.", facts->local_frac * 100,
        is_array   ? "an array that is indexed at run time (the compiler spilled nothing)"
        : is_spill ? facts_text(facts, "registers spilled (%d bytes stored, %d loaded a thread)",
                                function->spill_store_bytes, function->spill_load_bytes)
                   : "spilled registers or an array that is indexed at run time");
    finding->advice =
        is_array ? "An array: " UNROLL_ARRAY
        : is_spill && VALUE(facts, REGISTERS) >= 254
            ? "The kernel has all 255 registers a thread can have. Keep less alive: smaller "
              "tiles, recomputation, fewer unrolled iterations, more threads for the same tile."
        : is_spill ? "Give the kernel more registers (__launch_bounds__ with fewer blocks, a "
                     "smaller block), or keep less alive: smaller tiles, recomputation, fewer "
                     "unrolled iterations."
                   : "Registers that spill: more of them (__launch_bounds__ with fewer blocks) or "
                     "less alive. An array: " UNROLL_ARRAY;
    finding_number(finding, "ridge:local_frac", "local part of the L1 sectors", facts->local_frac,
                   "frac");
    finding_evidence(facts, finding, RIDGE_MEANING_LOCAL_LOAD_SECTORS);
    finding_evidence(facts, finding, RIDGE_MEANING_LOCAL_STORE_SECTORS);
    if (VALUE(facts, SPILL_REQUESTS) > 0)
        finding_evidence(facts, finding, RIDGE_MEANING_SPILL_REQUESTS);
    finding_evidence(facts, finding, RIDGE_MEANING_REGISTERS);
    if (verdict->wall == RIDGE_WALL_L1 || verdict->wall == RIDGE_WALL_L2) {
        ridge_wall next;
        const double bound = waste_bound(
            facts, verdict->wall, relieved,
            verdict->wall == RIDGE_WALL_L1 ? local_access_frac : facts->local_frac, &next);

        finding_bound(finding, bound, next);
    } else if (verdict->wall == RIDGE_WALL_DRAM) {
        ridge_wall next;
        const double bound = waste_bound(facts, RIDGE_WALL_DRAM, relieved,
                                         fmax(facts->local_frac, local_dram_frac(facts)), &next);

        finding_bound(finding, bound, next);
    }
    finding_places(facts, finding, PLACE_LOCAL, RIDGE_STALL_COUNT, row_is_local, "local accesses");
}

/* -- L2 and the access pattern ----------------------------------------------------------------- */

static void judge_uncoalesced(struct facts *facts, const struct verdict *verdict,
                              struct judgement *out)
{
    ridge_finding *const finding = &out->finding;
    const double waste = facts->sector_waste_frac;

    if (!(waste >= WASTE_FRAC))
        return;
    if (at_wall(verdict, RIDGE_WALL_L2) || at_wall(verdict, RIDGE_WALL_DRAM))
        out->weight = WEIGHT_PRIMARY + 12;
    else if (at_wall(verdict, RIDGE_WALL_L1))
        /* The L1 data pipe moves shared memory too: who fills it comes first. */
        out->weight = facts->code.shared_accesses > facts->code.global_accesses
                          ? WEIGHT_SHARED
                          : WEIGHT_PRIMARY + 6;
    else if (verdict->wall == RIDGE_WALL_STALL || verdict->wall == RIDGE_WALL_OCCUPANCY ||
             verdict->wall == RIDGE_WALL_PARALLELISM)
        out->weight = facts->top_stall == RIDGE_STALL_LONG_SCOREBOARD ||
                              facts->top_stall == RIDGE_STALL_LG_THROTTLE
                          ? verdict->gate == 4 ? WEIGHT_PRIMARY - 4 : WEIGHT_SHARED + 16
                          : WEIGHT_SHARED;
    else {
        out->weight = 1;
        out->not_now = facts_text(facts,
                                  "%.0f %% of the L2 sectors are more than coalesced access would "
                                  "move, but %s binds",
                                  waste * 100, ridge_wall_words(verdict->wall));
        return;
    }
    finding->sentence =
        facts_text(facts,
                   "Global accesses move %.1f times the sectors that their bytes fill (%.0f %% "
                   "excess): lanes of a warp do not access neighbours.",
                   facts->sectors / fmax(1, facts->sectors_ideal), waste * 100);
    finding->advice =
        facts->atomic_frac >= ATOMIC_FRAC
            ? "Atomics at scattered addresses: sort or bin the keys first so that a warp's fall "
              "together, or give each block its own table in shared memory and add that up."
            : "Let consecutive lanes access consecutive addresses: swap the index that "
              "threadIdx.x runs over, transpose through shared memory, or store the data as a "
              "structure of arrays.";
    finding_number(finding, "ridge:sector_waste_frac", "L2 sectors above ideal", waste, "frac");
    finding_number(finding, "memory_l2_theoretical_sectors_global", "L2 sectors of global accesses",
                   facts->sectors, "sector");
    finding_number(finding, "memory_l2_theoretical_sectors_global_ideal", "the same, ideal",
                   facts->sectors_ideal, "sector");
    if (verdict->cls == RIDGE_CLASS_MEMORY) {
        ridge_wall next;
        double bound = waste_bound(facts, verdict->wall, L1_AND_L2, waste, &next);

        /* Device memory cannot be spared more than what is above the bytes needed. */
        if (verdict->wall == RIDGE_WALL_DRAM && facts->options.compulsory_bytes > 0)
            bound = fmin(bound, facts->dram_bytes / facts->options.compulsory_bytes);
        finding_bound(finding, bound, next);
    }
    finding_places(facts, finding, PLACE_SECTOR_EXCESS, RIDGE_STALL_COUNT, NULL, "excess sectors");
}

static void judge_l2_bandwidth(struct facts *facts, const struct verdict *verdict,
                               struct judgement *out)
{
    ridge_finding *const finding = &out->finding;
    ridge_wall next;
    double next_frac;

    if (!at_wall(verdict, RIDGE_WALL_L2))
        return;
    out->weight = WEIGHT_PRIMARY;
    finding->sentence = facts_text(
        facts,
        "The L2 cache is the busiest unit (%s at %.1f %%); L1 serves %.0f %% of the sectors.",
        verdict->top != NULL ? verdict->top->label : "L2", facts_wall_pct(facts, RIDGE_WALL_L2),
        HAS(facts, L1_HIT_PCT) ? VALUE(facts, L1_HIT_PCT) : 0.0);
    finding->advice = "Move fewer bytes between L1 and L2: keep reused data in shared memory or "
                      "registers, larger tiles, multicast within a cluster, narrower types.";
    finding_bar(finding, verdict->top);
    finding_evidence(facts, finding, RIDGE_MEANING_L1_HIT_PCT);
    finding_evidence(facts, finding, RIDGE_MEANING_L2_HIT_PCT);
    next_frac = facts_next_wall(facts, WALL_BIT(RIDGE_WALL_L2), &next);
    finding_bound(finding, facts_wall_pct(facts, RIDGE_WALL_L2) / 100 / fmax(0.01, next_frac),
                  next);
    places_of_sectors(facts, finding);
}

/* What remains of the instructions when every narrow access is eight times as wide: arithmetic on
 * elements stays, accesses and what belongs to them become an eighth. */
static double widened_frac(const struct facts *facts)
{
    double stays = 0, all = 0;
    size_t i;

    for (i = 0; i < facts->code.opcode_count; i++) {
        const struct opcode_total *const opcode = &facts->code.opcodes[i];

        all += (double)opcode->executed;
        if (opcode->cls == RIDGE_SASS_FP16 || opcode->cls == RIDGE_SASS_FP32 ||
            opcode->cls == RIDGE_SASS_FP64 || opcode->cls == RIDGE_SASS_CONVERT ||
            opcode->cls == RIDGE_SASS_SPECIAL || opcode->cls == RIDGE_SASS_TENSOR)
            stays += (double)opcode->executed;
    }
    if (all <= 0)
        return 1;
    return 1 - fmin(1 - stays / all,
                    INSTRUCTIONS_AN_ACCESS * (double)facts->code.global_accesses / all) *
                   facts->narrow_frac * 7 / 8;
}

/* How busy the busiest unit is when accesses are wide, as a fraction, and which it is. */
static double widened_wall(const struct facts *facts, ridge_wall *next)
{
    static const ridge_wall shrink[] = {RIDGE_WALL_ISSUE, RIDGE_WALL_ALU, RIDGE_WALL_FMA};
    const double remains = widened_frac(facts);
    double most = facts_next_wall(facts,
                                  L1_AND_L2 | WALL_BIT(RIDGE_WALL_ISSUE) |
                                      WALL_BIT(RIDGE_WALL_ALU) | WALL_BIT(RIDGE_WALL_FMA),
                                  next);
    size_t i;

    for (i = 0; i < sizeof(shrink) / sizeof(shrink[0]); i++) {
        const double frac = facts_wall_pct(facts, shrink[i]) / 100 * remains;

        if (frac > most) {
            most = frac;
            *next = shrink[i];
        }
    }
    return most;
}

static void judge_narrow_access(struct facts *facts, const struct verdict *verdict,
                                struct judgement *out)
{
    ridge_finding *const finding = &out->finding;

    if (!(facts->narrow_frac >= NARROW_FRAC))
        return;
    if (verdict->wall == RIDGE_WALL_STALL && (facts->top_stall == RIDGE_STALL_LONG_SCOREBOARD ||
                                              facts->top_stall == RIDGE_STALL_LG_THROTTLE))
        out->weight = WEIGHT_PRIMARY + 6;
    else if (verdict->wall == RIDGE_WALL_OCCUPANCY || verdict->wall == RIDGE_WALL_PARALLELISM)
        out->weight = WEIGHT_PRIMARY - 2;
    else if (at_wall(verdict, RIDGE_WALL_DRAM))
        out->weight = verdict->saturated ? WEIGHT_MINOR + 10 : WEIGHT_SHARED + 10;
    else if (at_wall(verdict, RIDGE_WALL_L1) || at_wall(verdict, RIDGE_WALL_L2))
        out->weight = facts->code.shared_accesses > facts->code.global_accesses
                          ? WEIGHT_MINOR - 10
                          : WEIGHT_PRIMARY + 4;
    else if (verdict->cls == RIDGE_CLASS_COMPUTE && verdict->wall != RIDGE_WALL_TENSOR &&
             facts->code.global_accesses * 10 > facts->code.executed)
        out->weight = WEIGHT_PRIMARY + 3; /* their addresses are a good part of the rest */
    else if (verdict->cls == RIDGE_CLASS_COMPUTE && verdict->wall != RIDGE_WALL_TENSOR &&
             facts->code.global_accesses * 50 > facts->code.executed)
        out->weight = WEIGHT_SHARED;
    else
        return;
    finding->sentence = facts_text(
        facts,
        "%.0f %% of the global accesses are 1 or 2 bytes a lane: a warp moves 64 bytes an "
        "instruction where 512 fit.",
        facts->narrow_frac * 100);
    finding->advice = "Access 16 bytes a lane (uint4, or a vector of 8 bf16): a quarter to an "
                      "eighth of the instructions, and as many times more bytes in flight.";
    finding_number(finding, "ridge:narrow_frac", "global accesses of 8 or 16 bits",
                   facts->narrow_frac, "frac");
    finding_number(finding, "ridge:bytes_in_flight_per_warp", "bytes a warp loads before it waits",
                   facts->code.bytes_in_flight_per_warp, "byte");
    finding_stall(facts, finding, RIDGE_STALL_LONG_SCOREBOARD);
    finding_stall(facts, finding, RIDGE_STALL_LG_THROTTLE);
    if (at_wall(verdict, RIDGE_WALL_L1) || at_wall(verdict, RIDGE_WALL_L2)) {
        ridge_wall next;

        const double bound =
            waste_bound(facts, verdict->wall, L1_AND_L2 | WALL_BIT(RIDGE_WALL_ISSUE),
                        facts->narrow_frac * 7 / 8, &next);

        finding_bound(finding, bound, next);
    } else if (verdict->cls != RIDGE_CLASS_MEMORY) {
        ridge_wall next;
        const double after = widened_wall(facts, &next);
        const double now = verdict->cls == RIDGE_CLASS_COMPUTE ? verdict->saturation_frac
                           : next == RIDGE_WALL_DRAM           ? DRAM_TARGET_PCT / 100
                                                               : 1;

        if (after > 0)
            finding_bound(finding, now / after, next);
    }
    finding_places(facts, finding, PLACE_EXECUTED, RIDGE_STALL_COUNT, row_is_narrow,
                   "narrow accesses");
}

/* -- L1 and shared memory ---------------------------------------------------------------------- */

/* The opcode with most excess wavefronts; NULL: none. */
static const struct opcode_total *conflict_owner(const struct facts *facts, double *share)
{
    const struct opcode_total *owner = NULL;
    double most = 0, total = 0;
    size_t i;

    for (i = 0; i < facts->code.opcode_count; i++) {
        const struct opcode_total *const opcode = &facts->code.opcodes[i];
        const double excess = opcode->wavefronts > opcode->wavefronts_ideal
                                  ? (double)(opcode->wavefronts - opcode->wavefronts_ideal)
                                  : 0;

        total += excess;
        if (excess > most) {
            most = excess;
            owner = opcode;
        }
    }
    *share = total > 0 ? most / total : 0;
    return owner;
}

/* What padding does when each lane walks its own row, from the model of the banks. The report does
 * not say the row stride, but the measured degree does up to a whole turn of the banks, and
 * padding works the same whatever the number of turns. most: the gain that the next wall leaves. "" when
 * no stride explains the degree. */
static const char *padding_advice(struct facts *facts, int element_bytes, double degree,
                                  double most)
{
    ridge_bank_padding paddings[RIDGE_BANKS_LARGEST_PADDING];
    const ridge_bank_padding *free = NULL, *aligned = NULL;
    ridge_bank_rows rows = {0};
    ridge_bank_count count;
    size_t padding_count = 0, i;
    const int wanted = (int)(degree + 0.5);

    rows.element_bytes = element_bytes;
    for (rows.stride_elements = 128 / (size_t)element_bytes; rows.stride_elements > 1;
         rows.stride_elements--)
        if (ridge_banks_rows(&rows, &count, NULL) == RIDGE_OK && count.degree == wanted)
            break;
    if (rows.stride_elements <= 1 || ridge_banks_pad(&rows, paddings, RIDGE_BANKS_LARGEST_PADDING,
                                                     &padding_count, NULL) != RIDGE_OK)
        return "";
    for (i = 0; i < padding_count; i++) {
        if (paddings[i].count.degree == 1 && free == NULL)
            free = &paddings[i];
        if (paddings[i].rows_16_aligned &&
            (aligned == NULL || paddings[i].count.degree < aligned->count.degree))
            aligned = &paddings[i];
    }
    if (free == NULL)
        return "";
    return facts_text(
        facts,
        " For rows of %d-byte elements that lanes walk side by side, pad each row by %zu "
        "element%s: no conflict%s%s",
        element_bytes, free->added_elements, free->added_elements == 1 ? "" : "s",
        free->rows_16_aligned ? "." : ", but rows are then not 16-byte aligned (no 16-byte copies)",
        free->rows_16_aligned || aligned == NULL
            ? (free->rows_16_aligned ? "" : ".")
            : facts_text(facts, "; by %zu: %d-way and aligned, up to %.2g times as fast.",
                         aligned->added_elements, aligned->count.degree,
                         fmin(degree / aligned->count.degree, most)));
}

/* What to change, by who owns the conflicts. */
static const char *conflict_advice(struct facts *facts, const struct opcode_total *owner,
                                   double degree, double most)
{
    if (owner == NULL)
        return "Pad the row stride or swizzle the layout so that the lanes of a warp touch "
               "different banks.";
    if (strncmp(owner->name, "LDSM", 4) == 0 || strncmp(owner->name, "STSM", 4) == 0 ||
        facts->code.tensor > 0)
        return facts->code.async_copies > 0
                   ? "Swizzle, writer and reader together: xor the 16-byte chunk of a row with the "
                     "row number modulo 8. The tile is filled by 16-byte cp.async, so no swizzle "
                     "finer than 16 bytes."
                   : "Swizzle, writer and reader together: xor the 16-byte chunk of a row with the "
                     "row number modulo 8; padding a row by 16 bytes works too.";
    return facts_text(facts, "Let the lanes of a warp touch different banks.%s",
                      owner->width_bytes > 0 && owner->width_bytes <= 4
                          ? padding_advice(facts, owner->width_bytes, degree, most)
                          : " Pad the row stride, swizzle, or give each lane consecutive words.");
}

static void judge_bank_conflict(struct facts *facts, const struct verdict *verdict,
                                struct judgement *out)
{
    ridge_finding *const finding = &out->finding;
    const double waste = facts->shared_waste_frac;
    const double l1_pct = facts_wall_pct(facts, RIDGE_WALL_L1);
    const double shared_stalls = facts_stall(facts, RIDGE_STALL_SHORT_SCOREBOARD) +
                                 facts_stall(facts, RIDGE_STALL_MIO_THROTTLE);
    const struct opcode_total *owner;
    double degree, owner_share, bound;
    ridge_wall next;

    if (!(waste >= WASTE_FRAC))
        return;
    if (at_wall(verdict, RIDGE_WALL_L1) || (verdict->wall == RIDGE_WALL_TENSOR && verdict->between))
        out->weight = WEIGHT_PRIMARY + 14;
    else if ((verdict->wall == RIDGE_WALL_STALL || verdict->wall == RIDGE_WALL_OCCUPANCY ||
              verdict->wall == RIDGE_WALL_BARRIER) &&
             l1_pct >= 40 && shared_stalls >= 0.3)
        out->weight = WEIGHT_PRIMARY + 2;
    else {
        out->weight = 1;
        out->not_now = facts_text(facts,
                                  "%.0f %% of the shared-memory wavefronts are conflicts, but the "
                                  "data pipe is at %.0f %% and "
                                  "%s binds",
                                  waste * 100, l1_pct, ridge_wall_words(verdict->wall));
        return;
    }
    degree = facts->wavefronts / fmax(1, facts->wavefronts_ideal);
    owner = conflict_owner(facts, &owner_share);
    if (owner != NULL)
        degree = (double)owner->wavefronts / fmax(1, (double)owner->wavefronts_ideal);
    finding->sentence = facts_text(
        facts, "Bank conflicts: %.0f %% of the shared-memory wavefronts are replays%s.",
        waste * 100,
        owner != NULL ? facts_text(facts, "; %s takes %.1f times the wavefronts it needs%s",
                                   owner->name, degree,
                                   owner_share > 0.95
                                       ? ""
                                       : facts_text(facts, " (%.0f %% of them)", owner_share * 100))
                      : "");
    finding_number(finding, "ridge:shared_waste_frac", "wavefronts above ideal", waste, "frac");
    finding_number(finding, "ridge:wavefronts_per_ideal", "measured over ideal wavefronts", degree,
                   "ratio");
    finding_number(finding, "memory_l1_wavefronts_shared", "shared wavefronts", facts->wavefronts,
                   "wavefront");
    finding_number(finding, "memory_l1_wavefronts_shared_ideal", "the same, ideal",
                   facts->wavefronts_ideal, "wavefront");
    finding_evidence(facts, finding, RIDGE_MEANING_L1_DATA_PIPE_PCT);
    finding_stall(facts, finding, RIDGE_STALL_SHORT_SCOREBOARD);
    finding_stall(facts, finding, RIDGE_STALL_MIO_THROTTLE);
    bound = waste_bound(facts, RIDGE_WALL_L1, 0, waste, &next);
    finding_bound(finding, bound, next);
    finding->advice = conflict_advice(facts, owner, degree, bound);
    finding_places(facts, finding, PLACE_SHARED_EXCESS, RIDGE_STALL_COUNT, NULL,
                   "excess wavefronts");
}

/* The counter of conflicts also counts arbitration between the units that share the pipe; what is
 * above the excess of the instructions no padding can remove. */
static void judge_arbitration(struct facts *facts, const struct verdict *verdict,
                              struct judgement *out)
{
    const double counted = VALUE(facts, SHARED_CONFLICTS);
    char all[48], own[48];
    double excess;

    (void)verdict;
    if (!facts->has_shared_counters || !HAS(facts, SHARED_CONFLICTS))
        return;
    excess = facts->wavefronts - facts->wavefronts_ideal;
    if (counted < 1000 || excess > 0.1 * counted)
        return;
    out->weight = 1;
    out->not_now = facts_text(
        facts,
        "the profiler counts %s bank conflicts, the instructions account for %s: the rest is "
        "arbitration, which padding cannot remove",
        ridge_number_text(counted, RIDGE_UNIT_COUNT, all, sizeof(all)),
        ridge_number_text(fmax(0, excess), RIDGE_UNIT_COUNT, own, sizeof(own)));
}

static void judge_shared_traffic(struct facts *facts, const struct verdict *verdict,
                                 struct judgement *out)
{
    ridge_finding *const finding = &out->finding;
    const struct opcode_total *busiest = NULL;
    size_t i;
    ridge_wall next;
    double next_frac;

    if (!at_wall(verdict, RIDGE_WALL_L1) || !facts->has_shared_counters ||
        facts->code.shared_accesses < facts->code.global_accesses)
        return;
    if (facts->shared_waste_frac >= WASTE_FRAC)
        return;
    out->weight = WEIGHT_PRIMARY + 5;
    for (i = 0; i < facts->code.opcode_count; i++)
        if (facts->code.opcodes[i].wavefronts > 0 &&
            (busiest == NULL || facts->code.opcodes[i].wavefronts > busiest->wavefronts))
            busiest = &facts->code.opcodes[i];
    finding->sentence = facts_text(
        facts,
        "Shared memory is full of useful work: the data pipe is at %.1f %%, and %.0f %% of its "
        "wavefronts are conflicts%s.",
        facts_wall_pct(facts, RIDGE_WALL_L1), facts->shared_waste_frac * 100,
        busiest != NULL ? facts_text(facts, "; most are %s", busiest->name) : "");
    finding->advice =
        facts->code.tensor > 0
            ? busiest != NULL && busiest->is_store
                  ? "Fill the tiles without passing them through registers (cp.async, TMA), and "
                    "keep operands that one warp uses in registers."
                  : "Feed the tensor cores with fewer shared reads: larger warp tiles, "
                    "ldmatrix.x4, operands kept in registers, wgmma with operands in "
                    "shared memory."
            : "Read each shared value once for several results: give each thread a "
              "tile of outputs (register blocking), read 8 or 16 bytes at a time, exchange "
              "within a warp by shuffles (reductions).";
    finding_evidence(facts, finding, RIDGE_MEANING_L1_DATA_PIPE_PCT);
    finding_evidence(facts, finding, RIDGE_MEANING_LSU_INSTRUCTION_PCT);
    finding_number(finding, "ridge:shared_accesses_frac", "shared accesses of all instructions",
                   (double)facts->code.shared_accesses / fmax(1, (double)facts->code.executed),
                   "frac");
    finding_stall(facts, finding, RIDGE_STALL_MIO_THROTTLE);
    finding_stall(facts, finding, RIDGE_STALL_SHORT_SCOREBOARD);
    next_frac = facts_next_wall(facts, WALL_BIT(RIDGE_WALL_L1), &next);
    finding_bound(finding, facts_wall_pct(facts, RIDGE_WALL_L1) / 100 / fmax(0.01, next_frac),
                  next);
    finding_places(facts, finding, PLACE_SHARED, RIDGE_STALL_COUNT, NULL, "shared wavefronts");
}

static void judge_l1_traffic(struct facts *facts, const struct verdict *verdict,
                             struct judgement *out)
{
    ridge_finding *const finding = &out->finding;

    if (!at_wall(verdict, RIDGE_WALL_L1) || facts->code.global_accesses == 0 ||
        facts->code.shared_accesses >= facts->code.global_accesses)
        return;
    out->weight = WEIGHT_PRIMARY;
    finding->sentence = facts_text(
        facts, "The load/store path into L1 is full (%s at %.1f %%), with global accesses.",
        verdict->top != NULL ? verdict->top->label : "L1", facts_wall_pct(facts, RIDGE_WALL_L1));
    finding->advice = "Fewer and wider accesses: 16 bytes a lane, reuse in registers or shared "
                      "memory, __ldg or constant memory for what all lanes share.";
    finding_bar(finding, verdict->top);
    finding_evidence(facts, finding, RIDGE_MEANING_LSU_REQUEST_PCT);
    finding_evidence(facts, finding, RIDGE_MEANING_GLOBAL_LOAD_REQUESTS);
    finding_evidence(facts, finding, RIDGE_MEANING_GLOBAL_LOAD_SECTORS);
    finding_evidence(facts, finding, RIDGE_MEANING_L1_HIT_PCT);
    finding_places(facts, finding, PLACE_EXECUTED, RIDGE_STALL_COUNT, row_is_global,
                   "global accesses");
}

/* -- atomics ----------------------------------------------------------------------------------- */

static void judge_atomics(struct facts *facts, const struct verdict *verdict, struct judgement *out)
{
    ridge_finding *const finding = &out->finding;
    const bool shared = facts->code.shared_atomics * 5 > facts->code.shared_accesses &&
                        facts->code.shared_atomics > facts->code.global_atomics;
    const double unit_pct = facts_wall_pct(facts, RIDGE_WALL_ATOMICS);
    double hottest_pct = NAN;
    const bool waits_for_shared = facts->top_stall == RIDGE_STALL_SHORT_SCOREBOARD ||
                                  facts->top_stall == RIDGE_STALL_MIO_THROTTLE;

    if (!shared && !(facts->atomic_frac >= ATOMIC_FRAC))
        return;
    if (verdict->wall == RIDGE_WALL_ATOMICS)
        out->weight = WEIGHT_PRIMARY + 15;
    else if (shared && (at_wall(verdict, RIDGE_WALL_L1) ||
                        (verdict->wall == RIDGE_WALL_STALL && waits_for_shared)))
        out->weight = WEIGHT_PRIMARY + 15;
    else if (!shared && (at_wall(verdict, RIDGE_WALL_L2) || at_wall(verdict, RIDGE_WALL_DRAM)))
        out->weight = WEIGHT_SHARED + 20;
    else if (verdict->cls == RIDGE_CLASS_LATENCY)
        out->weight = waits_for_shared ? WEIGHT_PRIMARY - 5 : WEIGHT_SHARED + 12;
    else
        return;
    finding->sentence =
        shared
            ? facts_text(facts, "%.0f %% of the shared-memory accesses are atomics.",
                         100.0 * (double)facts->code.shared_atomics /
                             fmax(1, (double)facts->code.shared_accesses))
            : facts_text(facts,
                         "%.0f %% of the global accesses are atomics, and the atomic unit of L2 is "
                         "at %.1f %%.",
                         facts->atomic_frac * 100, unit_pct);
    /* One hot slice is what contention looks like; the average over slices hides it. */
    if (!shared)
        (void)ridge_report_kernel_number(
            facts->kernel,
            "lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_"
            "elapsed",
            &hottest_pct);
    finding->advice = shared
                          ? "Let lanes that hit the same address combine first (__match_any_sync, "
                            "__reduce_add_sync), or give each warp its own copy of the table."
                          : "Combine before the atomic: in the warp (__reduce_add_sync, "
                            "__match_any_sync), then in the "
                            "block through shared memory, then one atomic a block and address.";
    if (shared) {
        finding_number(finding, "ridge:shared_atomics", "shared-memory atomics of warps",
                       (double)facts->code.shared_atomics, "inst");
        finding_number(finding, "ridge:shared_accesses", "shared-memory accesses of warps",
                       (double)facts->code.shared_accesses, "inst");
    } else {
        finding_number(finding, "ridge:atomic_frac", "atomics of global accesses",
                       facts->atomic_frac, "frac");
        finding_number(finding, "ridge:l2_atomic_pct", "L2 atomic unit busy", unit_pct, "%");
        finding_number(finding,
                       "lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_elapsed",
                       "in the busiest slice of L2", hottest_pct, "%");
        finding_evidence(facts, finding, RIDGE_MEANING_REDUCTION_REQUESTS);
        finding_evidence(facts, finding, RIDGE_MEANING_ATOMIC_REQUESTS);
    }
    finding_places(facts, finding, PLACE_EXECUTED, RIDGE_STALL_COUNT,
                   shared ? row_is_shared_atomic : row_is_atomic, "atomics");
}

/* -- other memories ---------------------------------------------------------------------------- */

static void judge_system_memory(struct facts *facts, const struct verdict *verdict,
                                struct judgement *out)
{
    ridge_finding *const finding = &out->finding;
    const double system =
        (HAS(facts, SYSTEM_MISS_SECTORS) ? VALUE(facts, SYSTEM_MISS_SECTORS) : 0) +
        (HAS(facts, PEER_MISS_SECTORS) ? VALUE(facts, PEER_MISS_SECTORS) : 0);
    const double duration_s = VALUE(facts, DURATION_NS) * 1e-9;
    const double bytes_per_s = system * 32 / duration_s;

    (void)verdict;
    /* A tenth of what a x16 link of generation 4 carries: less is not what the kernel waits for. */
    if (!(bytes_per_s > 2.5e9))
        return;
    out->weight = verdict->saturated ? WEIGHT_SHARED : WEIGHT_PRIMARY + 18;
    finding->sentence = facts_text(facts,
                                   "%.1f MiB of L2 misses go over PCIe or NVLink, to memory that "
                                   "is not this GPU's (%.3g GB/s).",
                                   system * 32 / 0x1p20, bytes_per_s / 1e9);
    finding->advice = "Copy the data to device memory first, or overlap the transfer with work: "
                      "the link is tens of times slower than device memory.";
    finding_evidence(facts, finding, RIDGE_MEANING_SYSTEM_MISS_SECTORS);
    finding_evidence(facts, finding, RIDGE_MEANING_PEER_MISS_SECTORS);
}

const struct rule memory_rules[] = {
    {"memory_bandwidth", judge_memory_bandwidth},
    {"repeated_reads", judge_repeated_reads},
    {"register_spill", judge_register_spill},
    {"uncoalesced_access", judge_uncoalesced},
    {"l2_bandwidth", judge_l2_bandwidth},
    {"narrow_access", judge_narrow_access},
    {"shared_bank_conflict", judge_bank_conflict},
    {"shared_bank_conflict", judge_arbitration},
    {"shared_traffic", judge_shared_traffic},
    {"l1_traffic", judge_l1_traffic},
    {"atomic_contention", judge_atomics},
    {"remote_memory", judge_system_memory},
    {NULL, NULL},
};
