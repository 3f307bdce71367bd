#include "model/top/vm_rates.h"

/*
 * Maximum length, in seconds, of the window, which is the time from vm_history.window_s to the last
 * reading.  If the window is longer, its length is halved, and window_bytes is halved too.
 */
#define WINDOW_S 20
/* maximum rate of allocation in bytes per second, which fits into an int64_t */
#define RATE_MAX 9e18

/*
 * `before` and `now` are values of a total in seconds.  Returns the increase as a percentage of
 * `seconds`; -1: unknown.
 */
static double share(double before, double now, double seconds)
{
	if (before < 0 || now < 0)
		return -1;
	return now > before ? (now - before) / seconds * 100 : 0;
}

/*
 * Like share(), but returns at most 100 %.  The counter grows only at the end of a pause, by the
 * complete pause.  So the increase may include time of a pause that began before the first reading.
 */
static double limited_share(double before, double now, double seconds)
{
	double percent = share(before, now, seconds);

	return percent < 100 ? percent : 100;
}

static int64_t grown(int64_t before, int64_t now)
{
	return before < 0 || now < before ? 0 : now - before;
}

static void set_allocation(struct vm_history *h, double bytes, double seconds)
{
	if (bytes < 0 || seconds <= 0)
		return;
	h->allocation = bytes / seconds < RATE_MAX ? bytes / seconds : RATE_MAX;
	h->has_allocation = true;
}

/*
 * Returns the bytes that were allocated in eden between the readings `last` and `now`.  n is the
 * number of collections between the readings.  If n > 0, the result is the sum of:
 * - the free space in eden at `last`;
 * - a full eden for each interval between two of the collections;
 * - the space in use in eden at `now`.
 */
static double through_eden(const struct vm_reading *last, const struct vm_reading *now, int64_t n)
{
	double rest = (double)(last->eden_capacity - last->eden_used);

	if (n == 0)
		return (double)grown(last->eden_used, now->eden_used);
	return (rest > 0 ? rest : 0) + (double)(n - 1) * (double)now->eden_capacity +
	       (double)now->eden_used;
}

/*
 * Updates the allocation rate of a JVM whose counter of eden changes only in a collection: Serial
 * and Parallel of JDK 25 and later (JDK-8241678).  The rate is the mean over several collections,
 * because the time of a collection is not known exactly, only the time of the reading after it.  If
 * no new collection is seen by the time that the rate predicts, the rate is reduced.
 */
static void update_lagging_eden(struct vm_history *h, const struct vm_reading *now, int64_t n)
{
	double since = now->at_s - h->collected_s, most = (double)now->eden_capacity;

	if (n > 0 && h->is_timed) {
		h->window_bytes += (double)n * (double)h->last.eden_capacity;
		set_allocation(h, h->window_bytes, now->at_s - h->window_s);
	} else if (h->has_allocation && since > 0 && h->allocation * since > most) {
		h->allocation = most / since;
	}
	if (now->at_s - h->window_s > WINDOW_S) {
		h->window_s = (h->window_s + now->at_s) / 2;
		h->window_bytes /= 2;
	}
}

static void update_allocation(struct vm_history *h, const struct vm_reading *now, double seconds)
{
	const struct vm_reading *last = &h->last;
	int64_t n = grown(last->collections, now->collections);
	int64_t all = grown(last->all_collections, now->all_collections);

	if (now->eden_used < 0 || last->eden_used < 0) {
		/*
		 * The JVM has no eden.  If there was no collection, the heap in use has grown by
		 * the allocated bytes.
		 */
		if (!now->used_lags && all == 0 && last->heap_used >= 0 &&
		    now->heap_used >= last->heap_used)
			set_allocation(h, (double)(now->heap_used - last->heap_used), seconds);
		return;
	}
	if (now->eden_used > 0)
		h->eden_moves = true;
	if (h->eden_moves)
		set_allocation(h, through_eden(last, now, n), seconds);
	else
		update_lagging_eden(h, now, n);
	if (n > 0) {
		if (!h->is_timed)
			h->window_s = now->at_s;
		h->collected_s = now->at_s;
		h->is_timed = true;
	}
}

static void update_after(struct vm_history *h, const struct vm_reading *now)
{
	bool is_new = h->has_last && grown(h->last.all_collections, now->all_collections) > 0;

	if (now->heap_after < 0 && (!is_new || now->heap_used < 0))
		return;
	h->heap_after = now->heap_after >= 0 ? now->heap_after : now->heap_used;
	h->has_after = true;
}

void vm_rates_update(struct vm_history *h, const struct vm_reading *now, struct vm_rates *out)
{
	double seconds = h->has_last ? now->at_s - h->last.at_s : 0;

	*out = (struct vm_rates){ .cpu_percent = -1, .throttled_percent = -1, .gc_percent = -1,
				  .safepoint_percent = -1, .allocation = -1, .heap_after = -1,
				  .heap_used = now->heap_used,
				  .heap_committed = now->heap_committed };
	update_after(h, now);
	if (h->has_after)
		out->heap_after = h->heap_after;
	if (seconds > 0) {
		out->seconds = seconds;
		out->cpu_percent = share(h->last.cpu_s, now->cpu_s, seconds);
		out->throttled_percent = share(h->last.throttled_s, now->throttled_s, seconds);
		out->gc_percent = limited_share(h->last.gc_s, now->gc_s, seconds);
		out->safepoint_percent =
			limited_share(h->last.safepoint_s, now->safepoint_s, seconds);
		update_allocation(h, now, seconds);
		if (h->has_allocation)
			out->allocation = h->allocation;
	}
	h->last = *now;
	h->has_last = true;
}
