/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of an account. */
#include "ridge/timeline.h"

typedef struct word {
    const char *name, *meaning;
} word;

static const word causes[] = {
#define WORD(name, text, meaning) {text, meaning},
    RIDGE_IDLE_LIST(WORD)};
static const word verdicts[] = {RIDGE_VERDICT_OF_TIMELINE_LIST(WORD)};
static const word faults[] = {RIDGE_TRACE_FAULT_LIST(WORD)};
#undef WORD

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

const char *ridge_idle_name(ridge_idle cause)
{
    return (size_t)cause < COUNT_OF(causes) ? causes[cause].name : "unknown";
}

const char *ridge_idle_meaning(ridge_idle cause)
{
    return (size_t)cause < COUNT_OF(causes) ? causes[cause].meaning : "";
}

const char *ridge_timeline_verdict_name(ridge_timeline_verdict verdict)
{
    return (size_t)verdict < COUNT_OF(verdicts) ? verdicts[verdict].name : "unknown";
}

const char *ridge_timeline_verdict_meaning(ridge_timeline_verdict verdict)
{
    return (size_t)verdict < COUNT_OF(verdicts) ? verdicts[verdict].meaning : "";
}

const char *ridge_pace_name(ridge_pace pace)
{
    switch (pace) {
    case RIDGE_PACE_UNKNOWN:
        break;
    case RIDGE_PACE_PREFILL:
        return "prefill-like";
    case RIDGE_PACE_DECODE:
        return "decode-like";
    }
    return "";
}

const char *ridge_trace_fault_name(ridge_trace_fault_kind kind)
{
    return (size_t)kind < COUNT_OF(faults) ? faults[kind].name : "unknown";
}

const char *ridge_trace_fault_meaning(ridge_trace_fault_kind kind)
{
    return (size_t)kind < COUNT_OF(faults) ? faults[kind].meaning : "";
}
