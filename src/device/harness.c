/* SPDX-License-Identifier: Apache-2.0 */
#include "device/device_internal.h"

void harness_free(ridge_device *device)
{
    (void)device;
}
