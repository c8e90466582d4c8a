/* SPDX-License-Identifier: Apache-2.0
 *
 * Chip files: whatever is read as a chip must carry a launch through the whole hardware model. */
#include <stddef.h>
#include <stdint.h>

#include "ridge/occupancy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static volatile size_t sink; /* so that the work happens */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    static const ridge_launch launch = {
        .threads_per_block = 256, .registers_per_thread = 64, .shared_bytes = 50752, .barriers = 2};
    ridge_occupancy_row rows[RIDGE_OCCUPANCY_ROWS];
    ridge_occupancy occupancy;
    ridge_block_sizes sizes;
    ridge_in_flight flight;
    ridge_chip_file *file;
    const ridge_chip *chip;

    if (ridge_chip_file_parse(data, size_bytes, &file, NULL) != RIDGE_OK)
        return 0;
    chip = ridge_chip_file_chip(file);
    (void)ridge_occupancy_of(chip->arch, &launch, &occupancy, NULL);
    (void)ridge_block_sizes_of(chip->arch, &launch, &sizes, NULL);
    ridge_in_flight_of(chip, occupancy.warps_per_sm, 2, 16, &flight);
    for (int resource = 0; resource < RIDGE_RESOURCE_COUNT; resource++)
        sink += ridge_occupancy_rows(chip->arch, &launch, (ridge_resource)resource, rows,
                                     RIDGE_OCCUPANCY_ROWS);
    for (int resource = 0; resource < RIDGE_RESOURCE_THREADS; resource++) {
        ridge_occupancy_move move;
        char text[160];

        (void)ridge_occupancy_move_of(chip->arch, &launch, (ridge_resource)resource, &move, NULL);
        ridge_occupancy_move_text(&move, occupancy.blocks_per_sm, text, sizeof(text));
        sink += (size_t)text[0];
    }
    for (int field = 0; field < RIDGE_CHIP_FIELD_COUNT; field++)
        sink += ridge_chip_source_of(chip, (ridge_chip_field)field) != NULL ? 1 : 0;
    ridge_chip_file_free(file);
    return 0;
}
