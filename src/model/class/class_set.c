#include "model/class/class_set_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/xalloc.h"
#include "classfile/read.h"

/* Limit in bytes for all files of a set. */
#define TOTAL_MAX (1024u << 20)

void class_set_release(struct class_set *set)
{
	for (size_t i = 0; i < set->n; i++) {
		free(set->files[i].name);
		free(set->files[i].where);
		buf_release(&set->files[i].bytes);
	}
	free(set->files);
	id_map_release(&set->by_name);
	*set = (struct class_set){ 0 };
}

/*
 * Returns the index of the file with this class name, or ID_MAP_NONE.  Sets *id to the file's key
 * in by_name; or if there is no such file, to the key under which it must be added.
 */
static uint32_t find(const struct class_set *set, const char *name, uint64_t *id)
{
	uint32_t number;

	*id = hash_bytes(name, strlen(name));
	while ((number = id_map_get(&set->by_name, *id)) != ID_MAP_NONE &&
	       strcmp(set->files[number].name, name) != 0)
		(*id)++;
	return number;
}

const struct class_file *class_set_find(const struct class_set *set, const char *name)
{
	uint64_t id;
	uint32_t number = find(set, name, &id);

	return number == ID_MAP_NONE ? NULL : &set->files[number];
}

/* Returns true if the file is module-info or package-info, which has no code. */
static bool is_info(const struct cf_class *class, struct cf_text name)
{
	static const char info[] = "package-info";
	const size_t len = sizeof(info) - 1;

	if (class->access & CF_ACC_MODULE)
		return true;
	return name.len >= len && memcmp(name.data + name.len - len, info, len) == 0 &&
	       (name.len == len || name.data[name.len - len - 1] == '/');
}

/*
 * Sets *name to the class's name in Java form, or to NULL for module-info and package-info.
 * Returns NULL; or, if the file is invalid, the reason.
 */
static const char *read_name(const struct buf *bytes, char **name)
{
	struct ag_mem mem = { .budget = SIZE_MAX };
	struct cf_class class;
	const char *why = cf_open(&class, bytes->data, bytes->len, &mem);
	struct cf_text text;

	*name = NULL;
	if (why)
		return why;
	text = cf_name(&class);
	if (text.len == 0 || memchr(text.data, '\0', text.len) || text.data[0] == '[') {
		why = "the class has no name";
	} else if (!is_info(&class, text)) {
		*name = xstrndup(text.data, text.len);
		for (char *p = *name; (p = strchr(p, '/'));)
			*p = '.';
	}
	cf_release(&class);
	return why;
}

int class_set_take(struct class_set *set, const char *where, struct buf *bytes, struct err *err)
{
	_cleanup_buf_ struct buf own = *bytes;
	_cleanup_free_ char *name = NULL;
	const char *why;
	uint64_t id;

	*bytes = (struct buf)BUF_INIT;
	why = read_name(&own, &name);
	if (why)
		return err_set(err, EXIT_USAGE, "'%s' is not a class file: %s", where, why);
	if (!name)
		return 0;
	set->n_seen++;
	if (find(set, name, &id) != ID_MAP_NONE || (set->wants && !set->wants(name, set->arg)))
		return 0;
	if (own.len > TOTAL_MAX - set->total)
		return err_set(err, EXIT_USAGE, "cannot read '%s': the class files exceed %u MB; "
						"give fewer at a time", where, TOTAL_MAX >> 20);
	set->total += own.len;
	(void)id_map_add(&set->by_name, id, (uint32_t)set->n);
	set->files = xgrow(set->files, set->n, &set->cap, sizeof(*set->files));
	set->files[set->n++] = (struct class_file){
		.name = TAKE_PTR(name), .where = xstrdup(where), .bytes = own
	};
	own = (struct buf)BUF_INIT;
	return 0;
}
