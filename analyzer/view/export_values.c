/*
 * See export_values.h.
 */
#include "view/export_values.h"

#include <math.h>

const struct export_value export_values[EXPORT_VALUES] = {
    {"live_bytes", "Live bytes", METRIC_LIVE, false},
    {"live_count", "Live blocks", METRIC_LIVE, true},
    {"allocated_bytes", "Allocated bytes", METRIC_ALLOCATED, false},
    {"allocated_count", "Allocations", METRIC_ALLOCATED, true},
    {"freed_bytes", "Freed bytes", METRIC_FREED, false},
    {"freed_count", "Frees", METRIC_FREED, true},
    {"peak_bytes", "Bytes at the peak", METRIC_PEAK, false},
    {"peak_count", "Blocks at the peak", METRIC_PEAK, true},
    {"temporary_bytes", "Temporary bytes", METRIC_TEMPORARY, false},
    {"temporary_count", "Temporary allocations", METRIC_TEMPORARY, true},
};

double export_value(const struct tally *tally, unsigned value)
{
	return number_value(&tally->of[export_values[value].metric], export_values[value].by_count);
}

double export_error(const struct tally *tally, unsigned value)
{
	return number_error(&tally->of[export_values[value].metric], export_values[value].by_count);
}

uint64_t export_whole(const struct tally *tally, unsigned value)
{
	double number = round(export_value(tally, value));

	return number > 0 ? (uint64_t)number : 0;
}

void export_print(FILE *out, double value)
{
	if (value == round(value) && fabs(value) < 9e15)
		fprintf(out, "%.0f", value);
	else
		fprintf(out, "%.17g", value);
}
