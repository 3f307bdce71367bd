#include "model/hprof/hprof_names.h"

#include <string.h>

#include "base/strview.h"
#include "base/printable.h"
#include "base/xalloc.h"

void hprof_names_release(struct hprof_names *n)
{
	for (size_t i = 0; i < n->n; i++)
		free(n->names[i].text);
	for (size_t i = 0; i < n->n_texts; i++)
		free(n->texts[i]);
	free(n->names);
	free(n->texts);
	id_map_release(&n->tids);
	id_map_release(&n->by_tid);
	id_map_release(&n->threads);
	id_map_release(&n->strings);
	id_map_release(&n->arrays);
	*n = (struct hprof_names){ 0 };
}

/*
 * Returns the position of the last `" #` in a line: the end of the thread's name and the start of
 * its number.  Returns NULL if there is none.
 */
static const char *find_tid(struct strview line)
{
	const char *found = NULL;

	for (const char *at = line.at; line.end - at > 3; at++) {
		if (memcmp(at, "\" #", 3) == 0)
			/* take the last match, because a thread's name may contain `" #` too */
			found = at;
	}
	return found;
}

/* Parses a line such as: "main" #1 prio=5 os_prio=0 cpu=… */
static void take_line(struct hprof_names *n, struct strview line)
{
	const char *name_end;
	uint32_t tid = 0;

	if (strview_len(line) < 4 || line.at[0] != '"')
		return;
	line.at++;
	name_end = find_tid(line);
	if (!name_end)
		return;
	for (const char *at = name_end + 3; at < line.end && *at >= '0' && *at <= '9'; at++)
		tid = tid * 10 + (uint32_t)(*at - '0');
	if (id_map_add(&n->by_tid, tid, (uint32_t)n->n_texts) < n->n_texts)
		return;
	n->texts = xgrow(n->texts, n->n_texts, &n->cap_texts, sizeof(*n->texts));
	n->texts[n->n_texts++] = xstrndup(line.at, (size_t)(name_end - line.at));
}

void hprof_names_parse_threads(struct hprof_names *n, const char *text, size_t len)
{
	struct strview all = { text, text + len }, line;

	while (strview_line(&all, &line))
		take_line(n, line);
}

void hprof_names_thread(struct hprof_names *n, uint64_t thread, uint64_t string, uint64_t tid)
{
	uint32_t number;

	if (tid > 0 && tid < ID_MAP_NONE)
		(void)id_map_add(&n->tids, thread, (uint32_t)tid);
	if (id_map_get(&n->threads, thread) != ID_MAP_NONE)
		return;
	number = id_map_add(&n->strings, string, (uint32_t)n->n);
	(void)id_map_add(&n->threads, thread, number);
	if (number < n->n)
		return;
	n->names = xgrow(n->names, n->n, &n->cap, sizeof(*n->names));
	n->names[n->n++] = (struct hprof_name){ 0 };
}

void hprof_names_string(struct hprof_names *n, uint64_t string, uint64_t array, bool utf16)
{
	uint32_t number = id_map_get(&n->strings, string);

	if (number == ID_MAP_NONE || n->names[number].array)
		return;
	n->names[number].array = array;
	n->names[number].is_utf16 = utf16;
	(void)id_map_add(&n->arrays, array, number);
}

void hprof_names_array(struct hprof_names *n, uint64_t array, const uint8_t *data, size_t len,
		       bool big_endian)
{
	uint32_t number = id_map_get(&n->arrays, array);
	struct buf text = BUF_INIT;

	if (number == ID_MAP_NONE || n->names[number].text)
		return;
	if (big_endian || n->names[number].is_utf16) {
		utf8_add_utf16(&text, data, len, big_endian);
	} else {
		for (size_t i = 0; i < len; i++)
			utf8_add_char(&text, data[i]);
	}
	n->names[number].text = buf_take(&text);
}

static const char *name_by_tid(const struct hprof_names *n, uint64_t thread)
{
	const uint32_t tid = id_map_get(&n->tids, thread);
	const uint32_t number = tid == ID_MAP_NONE ? ID_MAP_NONE : id_map_get(&n->by_tid, tid);

	return number == ID_MAP_NONE ? NULL : n->texts[number];
}

const char *hprof_names_of(const struct hprof_names *n, uint64_t thread)
{
	uint32_t number = id_map_get(&n->threads, thread);

	/*
	 * If several Strings share an array, n->arrays maps the array to the entry of the first
	 * String, and only this entry has the text.
	 */
	if (number != ID_MAP_NONE)
		number = id_map_get(&n->arrays, n->names[number].array);
	/* In a redacted dump, the text begins with NUL and is not a name. */
	if (number != ID_MAP_NONE && n->names[number].text && n->names[number].text[0])
		return n->names[number].text;
	return name_by_tid(n, thread);
}

bool hprof_names_incomplete(const struct hprof_names *n)
{
	for (size_t i = 0; i < n->n; i++) {
		uint32_t number = id_map_get(&n->arrays, n->names[i].array);

		if (number == ID_MAP_NONE || !n->names[number].text)
			return true;
	}
	return false;
}
