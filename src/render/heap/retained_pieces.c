#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "render/heap/retained_view.h"
#include "render/units.h"

#define CLASSES 3 /* number of classes that the text names */

/* The objects of all classes of one name. */
struct piece {
	const char *class;
	/* number and bytes of the objects; number of classes that have this name */
	uint64_t n, bytes, classes;
};

/* Appends the piece: "12030 a.b.Entry (34.1 MiB)". */
static void add_piece(struct buf *out, const struct piece *piece)
{
	buf_addf(out, "%" PRIu64 " %s (", piece->n, piece->class);
	units_bytes(out, (int64_t)piece->bytes);
	if (piece->classes > 1)
		buf_addf(out, ", of %" PRIu64 " class loaders", piece->classes);
	buf_addc(out, ')');
}

static int compare_names(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return strcmp(x->class, y->class);
}

static int compare_bytes(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return strcmp(x->class, y->class);
}

/*
 * Merges the rows of `pieces` that have the same class name.  Returns an array of *n pieces, the
 * largest first, which the caller frees.
 */
static struct piece *pieces_by_name(const struct heap *h, const struct held_by_class *pieces,
				    const struct held_by_class_sum *sum, size_t *n)
{
	struct piece *list = xcalloc(sum->n_classes + 1, sizeof(*list));
	size_t last = 0;

	for (size_t i = 0; i < sum->n_classes; i++) {
		const struct held_row *row = &pieces->list[sum->first + i];

		list[i] = (struct piece){ heap_class_name(h, row->class), row->n, row->bytes, 1 };
	}
	qsort(list, sum->n_classes, sizeof(*list), compare_names);
	for (size_t i = 1; i < sum->n_classes; i++) {
		if (strcmp(list[last].class, list[i].class) != 0) {
			list[++last] = list[i];
			continue;
		}
		list[last].n += list[i].n;
		list[last].bytes += list[i].bytes;
		list[last].classes++;
	}
	*n = sum->n_classes > 0 ? last + 1 : 0;
	qsort(list, *n, sizeof(*list), compare_bytes);
	return list;
}

void retained_add_pieces(struct buf *out, const struct heap *h, const struct held_by_class *pieces,
			 const struct held_by_class_sum *sum)
{
	uint64_t n = sum->n, bytes = sum->bytes;
	size_t n_pieces;
	_cleanup_free_ struct piece *list = pieces_by_name(h, pieces, sum, &n_pieces);

	for (size_t i = 0; i < n_pieces && i < CLASSES; i++) {
		buf_adds(out, i > 0 ? ", " : "");
		add_piece(out, &list[i]);
		n -= list[i].n;
		bytes -= list[i].bytes;
	}
	if (n == 0)
		return;
	buf_adds(out, ", ");
	add_piece(out, &(struct piece){ n == 1 ? "other" : "others", n, bytes, 1 });
}

struct json *retained_pieces_json(const struct heap *h, const struct held_by_class *pieces,
				  const struct held_by_class_sum *sum)
{
	struct json *json = json_object(), *classes = json_array();

	for (size_t i = 0; i < sum->n_classes; i++) {
		const struct held_row *piece = &pieces->list[sum->first + i];
		struct json *class = json_object();

		json_put_text(class, "class", heap_class_name(h, piece->class));
		json_put_text(class, "loader", heap_class_loader(h, piece->class));
		json_put_unsigned(class, "instances", piece->n);
		json_put_unsigned(class, "retained", piece->bytes);
		json_put(classes, NULL, class);
	}
	json_put_unsigned(json, "instances", sum->n);
	json_put_unsigned(json, "retained", sum->bytes);
	json_put(json, "classes", classes);
	return json;
}
