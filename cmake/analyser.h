/* SPDX-License-Identifier: Apache-2.0
 *
 * Included before every file by the static analyser (./test --lint), which does not look into other
 * files: tells it that ridge_fail() returns the status it is given, so that it does not follow the
 * path on which a call failed with RIDGE_OK. */
#include "ridge/status.h"
#define ridge_fail(err, status, ...) (ridge_fail(err, status, __VA_ARGS__), (status))
