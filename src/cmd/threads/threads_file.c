/*
 * threads CAPTURE.tar.gz: reads the thread dumps in an archive of `jtool capture`, and the CPU
 * times of the threads.
 */
#include <string.h>

#include "base/xalloc.h"
#include "cmd/archive.h"
#include "cmd/threads/threads.h"
#include "model/threads/virtual_dump.h"

#define DUMPS 3 /* number of thread dumps that `jtool capture` takes */

/*
 * Completes the threads in `d` with values from the archive's threads.json: the name, the CPU times
 * and the allocated bytes.  A row of threads.json belongs to the thread with the same kernel thread
 * id (tid) and the same Thread.threadId() (id).
 */
static void join_times(struct thread_dump *d, const struct json *doc)
{
	const struct json *rows = json_get(doc, "threads");

	for (size_t i = 0; i < json_length(rows); i++) {
		const struct json *row = json_at(rows, i);
		int64_t tid = json_get_number(row, "tid", -1), id = json_get_number(row, "id", -1);

		for (size_t k = 0; k < d->n; k++) {
			struct dump_thread *t = &d->threads[(i + k) % d->n];

			if (t->virtual || tid < 0 || t->tid != tid || t->id != id)
				continue;
			dump_thread_name(t, json_get_text(row, "name"));
			t->cpu_s = json_get_real(row, "cpu", -1);
			t->cpu_percent = json_get_real(row, "cpu_percent", -1);
			t->allocated = json_get_number(row, "allocated", t->allocated);
			break;
		}
	}
}

static int find_dump(const char *path, unsigned number, struct buf *text, struct err *err)
{
	_cleanup_free_ char *name = xasprintf("threads-%u.txt", number);

	return archive_find(path, name, text, err);
}

int threads_file_count(const char *path, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int n = 0, rc = 1;

	while (n < DUMPS && (rc = find_dump(path, (unsigned)n + 1, &text, err)) > 0)
		n++;
	return rc < 0 ? -1 : n;
}

int threads_file_take(const char *path, unsigned number, struct threads_sample *s,
		      struct err *err)
{
	_cleanup_free_ char *name = xasprintf("threads-%u.txt", number);
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct json *doc;
	int rc;

	if (archive_read(path, name, &s->text, err) < 0)
		return -1;
	thread_dump_parse(&s->dump, s->text.data, s->text.len);
	if (s->dump.n == 0)
		return 0;
	rc = archive_find(path, "threads.json", &text, err);
	if (rc <= 0)
		return rc;
	doc = json_parse(buf_str(&text), text.len);
	if (doc)
		join_times(&s->dump, doc);
	json_free(doc);
	return 0;
}

int threads_file_take_virtual(const char *path, struct threads_sample *s, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct thread_dump print = { .n = 0 };

	if (archive_read(path, "threads-virtual.json", &s->text, err) < 0)
		return -1;
	virtual_dump_parse(&s->dump, s->text.data, s->text.len);
	for (unsigned i = DUMPS; i > 0 && text.len == 0; i--) {
		if (find_dump(path, i, &text, err) < 0)
			return -1;
	}
	thread_dump_parse(&print, text.data, text.len);
	virtual_dump_join(&s->dump, &print);
	thread_dump_release(&print);
	return 0;
}
