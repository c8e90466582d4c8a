/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels with one mistake each, of the kinds that a check has to name: expected.tsv says which
 * cause the first line about each must give. Where a real kernel would race, the mistake is drawn
 * from the number of the launch and the tile, so that it comes and goes as a race does and a test
 * still has the same outcome every time. */
#include "../plugin.h"

enum { TILE_ROWS = 16, TILE_COLUMNS = 32 };
#define STAGE INT64_C(16)

/* X(name, operation) */
/* clang-format off */
#define MUTANTS(X)                                                                                 \
    X(right, MATMUL)            /* no mistake: the control */                                      \
    X(right_copy, COPY)                                                                            \
    X(right_softmax, SOFTMAX)                                                                      \
    X(rows_clamped, MATMUL)     /* the partial tile of rows computes the last whole tile's last */ \
    X(columns_masked, MATMUL)   /* the partial tile of columns loads nothing */                    \
    X(columns_beyond, COPY)     /* the partial tile of columns is read one tile further left */    \
    X(lanes_swapped, MATMUL)    /* columns 2 and 3 of 8 change places */                           \
    X(lane_31_alone, MATMUL)    /* lane 31 misses the half that a shuffle would bring */           \
    X(half_warp, COPY)          /* the upper half of 32 lanes takes the lower half's value */      \
    X(vector_rounded, COPY)     /* addresses of 16-byte loads lose their low bits */               \
    X(vector_component, COPY)   /* .z is used for .w */                                            \
    X(tile_reused, MATMUL)      /* tile 1, 2 holds what tile 1, 1 computed */                      \
    X(tile_mapped, MATMUL)      /* tile 2, 3 is computed with the rows of tile 1 */                \
    X(accumulator_left, MATMUL) /* the first tile begins with what was in the registers */         \
    X(prologue_missing, MATMUL) /* the first tile misses its first stage of k */                   \
    X(stage_unfenced, MATMUL)   /* now and then a tile reads stage 3 before it has arrived */      \
    X(phase_wrong, MATMUL)      /* every 4th tile of rows, in every other launch */                \
    X(scaled_twice, MATMUL)     /* out / sqrt(k) once more */                                      \
    X(scale_missing, COPY)      /* a instead of 2 a */                                             \
    X(log2e, MATMUL)            /* times log2(e) */                                                \
    X(grid_small, MATMUL)       /* the last quarter of the rows is not launched */                 \
    X(early_exit, MATMUL)       /* tiles of columns from the third on leave early */               \
    X(nothing, COPY)                                                                               \
    X(sum_bf16, MATMUL)         /* the accumulator has 8 bits */                                   \
    X(sum_f16, MATMUL)          /* the accumulator has 11 bits */                                  \
    X(index_32, COPY)           /* the element's index is kept in 32 bits */                       \
    X(offset_32, COPY)          /* its byte offset is */                                           \
    X(length_inclusive, SOFTMAX) /* lengths of whole tiles of 16 take one more */                  \
    X(length_short, SOFTMAX)    /* lengths of whole tiles of 16 lose the last tile's end */        \
    X(all_masked, SOFTMAX)      /* 0 / 0 in rows of length 0 */                                    \
    X(zero_times_inf, COPY)     /* the mask of every 7th row multiplies by 0 what is infinite */
/* clang-format on */

enum {
#define MUTANT_ENUM(name, op) MUTANT_##name,
    MUTANTS(MUTANT_ENUM)
#undef MUTANT_ENUM
        MUTANT_COUNT
};

/* Whether a race is lost: by launch and tile, one in four. */
PLUGIN_BOTH bool is_lost(unsigned call, int64_t tile_row, int64_t tile_column)
{
    uint32_t mixed =
        (uint32_t)call * 2654435761U + (uint32_t)tile_row * 40503U + (uint32_t)tile_column * 69069U;

    mixed ^= mixed >> 15;
    mixed *= 2246822519U;
    mixed ^= mixed >> 13;
    return mixed % 4 == 0;
}

PLUGIN_BOTH float sum_rounded(const plugin_problem *p, int64_t row, int64_t column, int bits)
{
    float sum = 0;
    int64_t i;

    for (i = 0; i < p->k; i++)
        sum = plugin_round(sum + plugin_a(p, row, i) * plugin_b(p, i, column), bits);
    return sum;
}

/* Element index of a, as if it were contiguous. */
PLUGIN_BOTH float element_of_a(const plugin_problem *p, int64_t index)
{
    return plugin_a(p, index / p->n, index % p->n);
}

PLUGIN_BOTH bool plugin_element(const plugin_problem *p, int64_t row, int64_t column, float *out)
{
    const int64_t tile_row = row / TILE_ROWS, tile_column = column / TILE_COLUMNS;
    const int64_t whole_rows = p->m / TILE_ROWS * TILE_ROWS;
    const int64_t whole_columns = p->n / TILE_COLUMNS * TILE_COLUMNS;
    const int64_t index = row * p->n + column;
    int64_t from;

    switch (p->variant) {
    case MUTANT_rows_clamped:
        *out = plugin_right(p, row >= whole_rows && whole_rows > 0 ? whole_rows - 1 : row, column);
        return true;
    case MUTANT_columns_masked:
        *out = column >= whole_columns ? 0 : plugin_right(p, row, column);
        return true;
    case MUTANT_columns_beyond:
        *out = plugin_right(
            p, row,
            column >= whole_columns && column >= TILE_COLUMNS ? column - TILE_COLUMNS : column);
        return true;
    case MUTANT_lanes_swapped:
        from = column % 8 == 2 ? column + 1 : column % 8 == 3 ? column - 1 : column;
        *out = plugin_right(p, row, from < p->n ? from : column);
        return true;
    case MUTANT_lane_31_alone:
        *out = plugin_dot(p, row, column, 0, column % 32 == 31 ? p->k / 2 : p->k);
        return true;
    case MUTANT_half_warp:
        *out = plugin_right(p, row, column % 32 >= 16 ? column - 16 : column);
        return true;
    case MUTANT_vector_rounded:
        from = (index - column % 4) / 4 * 4 + column % 4;
        *out = 2 * element_of_a(p, from);
        return true;
    case MUTANT_vector_component:
        *out = plugin_right(p, row, column % 4 == 3 ? column - 1 : column);
        return true;
    case MUTANT_tile_reused:
        *out = plugin_right(p, row,
                            tile_row == 1 && tile_column == 2 ? column - TILE_COLUMNS : column);
        return true;
    case MUTANT_tile_mapped:
        *out = plugin_right(p, tile_row == 2 && tile_column == 3 ? row - TILE_ROWS : row, column);
        return true;
    case MUTANT_accumulator_left:
        *out = plugin_right(p, row, column) +
               (tile_row == 0 && tile_column == 0 ? (float)(1 + row * 3 + column % 7) : 0);
        return true;
    case MUTANT_prologue_missing:
        *out = plugin_dot(p, row, column, tile_row == 0 && tile_column == 0 ? STAGE : 0, p->k);
        return true;
    case MUTANT_stage_unfenced:
        *out = plugin_right(p, row, column);
        if (p->k > 3 * STAGE && is_lost(p->call, tile_row, tile_column))
            *out += plugin_dot(p, row, column, STAGE, 2 * STAGE) -
                    plugin_dot(p, row, column, 2 * STAGE, 3 * STAGE);
        return true;
    case MUTANT_phase_wrong:
        *out = plugin_dot(p, row, column, tile_row % 4 == 3 && p->call % 2 == 0 ? STAGE : 0, p->k);
        return true;
    case MUTANT_scaled_twice:
        *out = plugin_right(p, row, column) / sqrtf((float)p->k);
        return true;
    case MUTANT_scale_missing:
        *out = plugin_a(p, row, column);
        return true;
    case MUTANT_log2e:
        *out = plugin_right(p, row, column) * 1.44269504F;
        return true;
    case MUTANT_grid_small:
        *out = plugin_right(p, row, column);
        return row < p->m - p->m / 4;
    case MUTANT_early_exit:
        *out = plugin_right(p, row, column);
        return tile_column < 3;
    case MUTANT_nothing:
        return false;
    case MUTANT_sum_bf16:
        *out = sum_rounded(p, row, column, 8);
        return true;
    case MUTANT_sum_f16:
        *out = sum_rounded(p, row, column, 11);
        return true;
    case MUTANT_index_32:
        from = (int32_t)(uint32_t)index;
        *out = 2 * element_of_a(p, from < 0 ? 0 : from);
        return true;
    case MUTANT_offset_32:
        from = (int64_t)((uint32_t)index * 4U / 4U);
        *out = 2 * element_of_a(p, from);
        return true;
    case MUTANT_length_inclusive:
        from = p->lengths[row];
        from += from % 16 == 0 && from > 0 && from < p->n;
        *out = plugin_softmax(p, row, column, from);
        return true;
    case MUTANT_length_short:
        from = p->lengths[row];
        from -= from % 16 == 0 && from > 0 ? 8 : 0;
        *out = plugin_softmax(p, row, column, from);
        return true;
    case MUTANT_all_masked:
        *out = p->lengths[row] == 0 ? NAN : plugin_right(p, row, column);
        return true;
    case MUTANT_zero_times_inf:
        *out = row % 7 == 3 ? NAN : plugin_right(p, row, column);
        return true;
    default:
        *out = plugin_right(p, row, column);
        return true;
    }
}

static ridge_status launch(const ridge_kernel *self, const ridge_case *at, const ridge_view *view,
                           void *state, struct CUstream_st *stream, ridge_error *err)
{
    static unsigned calls;
    plugin_problem p = plugin_problem_of(self, view);

    (void)at;
    (void)state;
    p.call = calls++;
    return plugin_run(&p, stream, err);
}

const ridge_kernel *ridge_plugin(int abi, size_t index)
{
    static plugin_row rows[] = {
#define MUTANT_ROW(name, op) {#name, PLUGIN_##op, MUTANT_##name},
        MUTANTS(MUTANT_ROW)
#undef MUTANT_ROW
    };

    return plugin_kernel_at(abi, index, rows, MUTANT_COUNT, launch, NULL, NULL);
}
