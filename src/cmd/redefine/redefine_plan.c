/* redefine: finds the classes to replace, and checks whether the JVM would accept the new code. */
#include <string.h>

#include "base/xalloc.h"
#include "cmd/redefine/redefine.h"
#include "model/class/code_diff.h"

#define CANDIDATES_MAX 500 /* limit in bytes for the names of loaders that an error lists */

void redefine_plan_release(struct redefine_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++) {
		buf_release(&plan->items[i].why);
		buf_release(&plan->items[i].notes);
	}
	free(plan->items);
	*plan = (struct redefine_plan){ 0 };
}

static void set_result(struct redefine_plan *plan, struct redefine_item *item,
		       enum redefine_result result)
{
	item->result = result;
	plan->n_of[result]++;
}

/*
 * Returns the index of the first row whose name is `name` or sorts after it.  The rows are sorted
 * by name.
 */
static size_t first_of(const struct classes *classes, const char *name)
{
	size_t low = 0, high = classes->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(classes->rows[mid].name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int refuse_several(const struct classes *classes, size_t first, size_t n, struct err *err)
{
	_cleanup_buf_ struct buf names = BUF_INIT;

	for (size_t i = first; i < first + n && names.len < CANDIDATES_MAX; i++)
		buf_addf(&names, "%s%s", i > first ? ", " : "",
			 class_origins_loader(&classes->origins, classes->rows[i].loader));
	return err_set(err, EXIT_ANSWER,
		       "%zu classes are named '%.200s', of the loaders %s; choose with --loader",
		       n, classes->rows[first].name, buf_str(&names));
}

static int match(struct redefine_plan *plan, struct redefine_item *item,
		 const struct classes *classes, struct err *err)
{
	size_t first = first_of(classes, item->file->name), n = 0;

	while (first + n < classes->n &&
	       strcmp(classes->rows[first + n].name, item->file->name) == 0)
		n++;
	if (n > 1)
		return refuse_several(classes, first, n, err);
	if (n == 1)
		item->row = &classes->rows[first];
	else
		set_result(plan, item, REDEFINE_NOT_LOADED);
	return 0;
}

/*
 * Sets the error for files of which no class is loaded, or none by `loader` if it is not NULL; the
 * index then has only the classes of that loader.  Uses class_index_select() for the first file's
 * class, because its error suggests a class with a similar name.  Returns -1.
 */
static int refuse_all(const struct ctx *ctx, const struct redefine_plan *plan,
		      struct class_index *index, const char *loader, struct err *err)
{
	char *const name[] = { plan->items[0].file->name };

	if (loader)
		return err_set(err, EXIT_ANSWER,
			       "class loader '%.100s' has loaded none of the classes in the files; "
			       "'jtool classes' lists loaded classes with their loaders", loader);
	if (class_index_select(ctx, index, name, 1, NULL, err) < 0)
		return -1;
	return err_set(err, EXIT_ANSWER,
		       "none of the classes in the files is loaded; 'jtool classes' lists loaded "
		       "classes");
}

int redefine_match(const struct ctx *ctx, struct redefine_plan *plan, const struct class_set *set,
		   struct class_index *index, const char *loader, struct err *err)
{
	plan->items = xcalloc(set->n, sizeof(*plan->items));
	plan->n = set->n;
	if (loader && class_index_select(ctx, index, NULL, 0, loader, err) < 0)
		return -1;
	for (size_t i = 0; i < set->n; i++) {
		struct redefine_item *item = &plan->items[i];
		const struct buf *bytes = &set->files[i].bytes;

		item->file = &set->files[i];
		(void)sha256_hex(bytes->data, bytes->len, item->digest);
		if (match(plan, item, &index->classes, err) < 0)
			return -1;
	}
	if (plan->n_of[REDEFINE_NOT_LOADED] < plan->n)
		return 0;
	return refuse_all(ctx, plan, index, loader, err);
}

/*
 * Returns the reason why the agent could not capture the class file that the JVM runs; or NULL if
 * the agent has captured it.
 */
static const char *capture_failure(const struct class_capture *captured)
{
	switch (captured->outcome) {
	case WIRE_CAPTURED_FILE:
		return NULL;
	case WIRE_CAPTURED_ERROR:
		return redefinition_error(captured->code);
	default:
		return "the JVM does not allow changes of this class";
	}
}

/*
 * Returns whether the JVM already runs the code of the new class file.  If so, jtool skips the new
 * file; this concerns most files of a directory or jar.  The comparison ignores line numbers,
 * annotations and constant fields.
 */
static bool is_same(const struct class_capture *captured, const struct cf_class *new)
{
	struct code_diff diff = { 0 };
	bool same = !code_diff_compare(&diff, captured, new) && diff.n == 0;

	code_diff_release(&diff);
	return same;
}

/*
 * Adds a warning about a stale class file.  Up to JDK 17, HotSpot stores the class file at the
 * first retransformation of a class.  Later retransformations start from the stored file, even if
 * the class was redefined after the file was stored.
 */
static void note_stale(const struct class_capture *captured, const struct redefinition_jvm *jvm,
		       struct buf *notes)
{
	if (jvm->release > 0 && jvm->release <= 17 && class_capture_differences(captured, NULL) > 0)
		buf_adds(notes, "another agent has redefined it, and the JVM has cached the code "
				"before that: restore will bring back the older code\n");
}

static void compare_files(struct redefine_plan *plan, struct redefine_item *item,
			  const struct class_capture *captured, const struct cf_class *running,
			  const struct cf_class *new)
{
	struct redefinition_jvm jvm = plan->jvm;

	jvm.unverified |= item->row->loader == 0 && jvm.release <= 21;
	if (captured->memory)
		jvm.pool_count = captured->pool_count;
	if (redefinition_check(running, new, &jvm, &item->why) != 0) {
		set_result(plan, item, REDEFINE_REFUSED);
	} else if (!item->file->named && is_same(captured, new)) {
		set_result(plan, item, REDEFINE_SAME);
	} else {
		redefinition_notes(running, new, &item->notes);
		note_stale(captured, &jvm, &item->notes);
		set_result(plan, item, REDEFINE_FITS);
	}
}

static void refuse(struct redefine_plan *plan, struct redefine_item *item, const char *whose,
		   const char *why)
{
	buf_addf(&item->why, "%s%s\n", whose, why);
	set_result(plan, item, REDEFINE_REFUSED);
}

static void compare(struct redefine_plan *plan, struct redefine_item *item,
		    const struct class_capture *captured)
{
	struct ag_mem mem = { .budget = SIZE_MAX };
	const struct buf *file = &item->file->bytes;
	struct cf_class running, new;
	const char *why = capture_failure(captured);

	if (why) {
		refuse(plan, item, "", why);
		return;
	}
	why = cf_open(&new, file->data, file->len, &mem);
	if (why) {
		refuse(plan, item, "not a valid class file: ", why);
		return;
	}
	why = cf_open(&running, captured->file.data, captured->file.len, &mem);
	if (why) {
		refuse(plan, item, "cannot read the running class: ", why);
	} else {
		compare_files(plan, item, captured, &running, &new);
		cf_release(&running);
	}
	cf_release(&new);
}

static int take(const struct class_row *row, struct class_capture *captured, void *arg,
		struct err *err)
{
	struct redefine_plan *plan = arg;

	(void)row, (void)err;
	while (!plan->items[plan->next].row)
		plan->next++;
	compare(plan, &plan->items[plan->next++], captured);
	return 0;
}

int redefine_compare(struct redefine_plan *plan, struct class_index *index, struct err *err)
{
	_cleanup_free_ struct class_row *rows = xcalloc(plan->n, sizeof(*rows));
	size_t n = 0;

	for (size_t i = 0; i < plan->n; i++) {
		if (plan->items[i].row)
			rows[n++] = *plan->items[i].row;
	}
	plan->next = 0;
	return class_index_capture(index, rows, n, 0, take, plan, err);
}
