/* Parses dumps of platform and virtual threads: untrusted, any process may pose as a JVM. */
#include "model/threads/virtual_dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each owner exists, and each thread of a deadlock waits for another thread of this deadlock. */
static void check(const struct thread_dump *d)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct dump_thread *t = &d->threads[i];

		if (t->owner != NO_THREAD && (t->owner >= d->n || t->owner == i))
			__builtin_trap();
		if (t->ring > d->n_rings ||
		    (t->ring > 0 && (t->owner == NO_THREAD ||
				     d->threads[t->owner].ring != t->ring)))
			__builtin_trap();
		if (t->n_waiting >= d->n)
			__builtin_trap();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct thread_dump dump = { .n = 0 }, virtual = { .n = 0 };

	virtual_dump_parse(&virtual, (const char *)data, size);
	thread_dump_parse(&dump, (const char *)data, size);
	thread_dump_link(&dump);
	check(&dump);
	virtual_dump_join(&virtual, &dump);
	thread_dump_link(&virtual);
	check(&virtual);
	thread_dump_release(&virtual);
	thread_dump_release(&dump);
	return 0;
}
