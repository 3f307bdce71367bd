#include "model/vm/jstat.h"

#include <math.h>

static double sum(const struct jstat_column *column, const struct counter_source *r, double missing)
{
	double total = 0;

	for (size_t i = 0; i < 3 && column->counters[i]; i++) {
		double n = counter_number(r, column->counters[i]);

		total += isnan(n) ? missing : n;
	}
	return total;
}

/*
 * Returns a percentage, computed with the same operations as in jstat, so that rounding is the
 * same.
 */
static double percent(double capacity, double used)
{
	return (1 - (capacity - used) / capacity) * 100;
}

static double compute(const struct jstat_column *column, const struct counter_source *r)
{
	double ticks = counter_number(r, "sun.os.hrt.frequency");

	switch (column->kind) {
	case JSTAT_PERCENT:
		return percent(counter_number(r, column->counters[0]),
			       counter_number(r, column->counters[1]));
	case JSTAT_KILO:
		return sum(column, r, NAN) / 1024;
	case JSTAT_COUNT:
		return sum(column, r, NAN);
	case JSTAT_SECONDS:
		return sum(column, r, NAN) / ticks;
	case JSTAT_TOTAL:
		return sum(column, r, 0) / ticks;
	case JSTAT_TEXT:
		break;
	}
	return NAN;
}

double jstat_number(const struct jstat_column *column, const struct counter_source *r)
{
	double n = compute(column, r);

	return isfinite(n) ? n : NAN; /* n is infinite or NAN if the capacity is 0 */
}

const char *jstat_text(const struct jstat_column *column, const struct counter_source *r)
{
	return counter_text(r, column->counters[0]);
}

/*
 * Computes the time since the VM's start by the JVM's own clock if the JVM publishes it (JDK 21
 * does, every 50 ms; JDK 25 does not).  Otherwise uses the time of day at which the VM was created.
 */
double jstat_timestamp(const struct counter_source *r, double now_ms)
{
	double ticks = counter_seconds(r, "sun.os.hrt.ticks");
	double began_ms = counter_number(r, "sun.rt.createVmBeginTime");
	double since = (now_ms - began_ms) / 1000;

	if (isfinite(ticks))
		return ticks;
	return began_ms > 0 && since >= 0 ? since : NAN;
}
