#include "model/hprof_names.h"

#include <string.h>

#include "base/slice.h"
#include "base/text.h"
#include "base/xalloc.h"

void hprof_names_release(struct hprof_names *n)
{
	for (size_t i = 0; i < n->n; i++)
		free(n->names[i].text);
	for (size_t i = 0; i < n->n_texts; i++)
		free(n->texts[i]);
	free(n->names);
	free(n->texts);
	idmap_release(&n->tids);
	idmap_release(&n->told);
	idmap_release(&n->threads);
	idmap_release(&n->strings);
	idmap_release(&n->arrays);
	*n = (struct hprof_names){ 0 };
}

/* Where its identifier stands behind a name, `" #12 `; NULL: nowhere. */
static const char *find_tid(struct slice line)
{
	const char *found = NULL;

	for (const char *at = line.at; line.end - at > 3; at++) {
		if (memcmp(at, "\" #", 3) == 0)
			found = at; /* the last one: the name may have anything in it */
	}
	return found;
}

/* "main" #1 prio=5 os_prio=0 cpu=… */
static void take_line(struct hprof_names *n, struct slice line)
{
	const char *name_end;
	uint32_t tid = 0;

	if (slice_len(line) < 4 || line.at[0] != '"')
		return;
	line.at++;
	name_end = find_tid(line);
	if (!name_end)
		return;
	for (const char *at = name_end + 3; at < line.end && *at >= '0' && *at <= '9'; at++)
		tid = tid * 10 + (uint32_t)(*at - '0');
	if (idmap_add(&n->told, tid, (uint32_t)n->n_texts) < n->n_texts)
		return;
	n->texts = xgrow(n->texts, n->n_texts, &n->cap_texts, sizeof(*n->texts));
	n->texts[n->n_texts++] = xstrndup(line.at, (size_t)(name_end - line.at));
}

void hprof_names_print(struct hprof_names *n, const char *text, size_t len)
{
	struct slice all = { text, text + len }, line;

	while (slice_line(&all, &line))
		take_line(n, line);
}

void hprof_names_thread(struct hprof_names *n, uint64_t thread, uint64_t string, uint64_t tid)
{
	uint32_t number;

	if (tid > 0 && tid < IDMAP_NONE)
		(void)idmap_add(&n->tids, thread, (uint32_t)tid);
	if (idmap_get(&n->threads, thread) != IDMAP_NONE)
		return;
	number = idmap_add(&n->strings, string, (uint32_t)n->n);
	(void)idmap_add(&n->threads, thread, number);
	if (number < n->n)
		return;
	n->names = xgrow(n->names, n->n, &n->cap, sizeof(*n->names));
	n->names[n->n++] = (struct hprof_name){ 0 };
}

void hprof_names_string(struct hprof_names *n, uint64_t string, uint64_t array, bool utf16)
{
	uint32_t number = idmap_get(&n->strings, string);

	if (number == IDMAP_NONE || n->names[number].array)
		return;
	n->names[number].array = array;
	n->names[number].is_utf16 = utf16;
	(void)idmap_add(&n->arrays, array, number);
}

void hprof_names_array(struct hprof_names *n, uint64_t array, const uint8_t *data, size_t len,
		       bool big_endian)
{
	uint32_t number = idmap_get(&n->arrays, array);
	struct buf text = BUF_INIT;

	if (number == IDMAP_NONE || n->names[number].text)
		return;
	if (big_endian || n->names[number].is_utf16) {
		text_add_utf16(&text, data, len, big_endian);
	} else {
		for (size_t i = 0; i < len; i++)
			text_add_char(&text, data[i]);
	}
	n->names[number].text = buf_take(&text);
}

static const char *told_of(const struct hprof_names *n, uint64_t thread)
{
	const uint32_t tid = idmap_get(&n->tids, thread);
	const uint32_t number = tid == IDMAP_NONE ? IDMAP_NONE : idmap_get(&n->told, tid);

	return number == IDMAP_NONE ? NULL : n->texts[number];
}

const char *hprof_names_of(const struct hprof_names *n, uint64_t thread)
{
	uint32_t number = idmap_get(&n->threads, thread);

	/* Two Strings can share an array, and the second was told that it is the first's. */
	if (number != IDMAP_NONE)
		number = idmap_get(&n->arrays, n->names[number].array);
	if (number != IDMAP_NONE && n->names[number].text)
		return n->names[number].text;
	return told_of(n, thread);
}

bool hprof_names_lacking(const struct hprof_names *n)
{
	for (size_t i = 0; i < n->n; i++) {
		uint32_t number = idmap_get(&n->arrays, n->names[i].array);

		if (number == IDMAP_NONE || !n->names[number].text)
			return true;
	}
	return false;
}
