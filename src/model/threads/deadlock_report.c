/*
 * Parses the report of deadlocks that the JVM writes at the end of a thread dump
 * (DeadlockCycle::print_on_with).
 */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/threads/thread_list.h"

static const char *find(struct strview s, const char *text)
{
	return memmem(s.at, strview_len(s), text, strlen(text));
}

/*
 * Parses one line of an entry (struct thread_claim).  A line has the thread; or the lock that the
 * thread waits for, in one of two forms; or the lock's owner:
 *     "A":
 *       waiting to lock monitor 0x… (object 0x…, a Lock),
 *       waiting for ownable synchronizer 0x…, (a Lock),
 *       which is held by "B"
 */
static void take_claim(struct thread_dump *d, struct strview line)
{
	static const char owner[] = "  which is held by \"";
	struct thread_claim *last = d->n_claims > 0 ? &d->claims[d->n_claims - 1] : NULL;
	const char *end = memrchr(line.at, '"', strview_len(line)), *object;

	if (strview_starts_with(line, "\"") && end > line.at) {
		d->claims = xgrow(d->claims, d->n_claims, &d->cap_claims, sizeof(*d->claims));
		d->claims[d->n_claims++] = (struct thread_claim){
			.name = xstrndup(line.at + 1, (size_t)(end - line.at - 1)),
		};
		return;
	}
	if (!last || !strview_starts_with(line, "  ")) {
		thread_dump_add_unknown(d, line);
		return;
	}
	object = find(line, "(object 0x");
	if (object)
		last->object = strtoull(object + strlen("(object "), NULL, 16);
	object = find(line, "ownable synchronizer 0x");
	if (object)
		last->object = strtoull(object + strlen("ownable synchronizer "), NULL, 16);
	if (strview_starts_with(line, owner) && end >= line.at + sizeof(owner) - 1 && !last->owner)
		last->owner = xstrndup(line.at + sizeof(owner) - 1,
				       (size_t)(end - line.at) - (sizeof(owner) - 1));
}

void deadlock_report_parse(struct thread_dump *d, struct strview report)
{
	struct strview line;
	/* true in the part that repeats the stacks of threads from the thread dump */
	bool repeats = false;

	while (strview_line(&report, &line)) {
		if (strview_starts_with(line, "Java stack information"))
			repeats = true;
		else if (strview_starts_with(line, "Found ")) /* "Found one Java-level deadlock:" */
			repeats = false;
		else if (strview_len(line) > 0 && !repeats && !strview_starts_with(line, "==="))
			take_claim(d, line);
	}
}
