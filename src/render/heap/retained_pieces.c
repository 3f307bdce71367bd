#include <inttypes.h>

#include "render/heap/retained_view.h"
#include "render/units.h"

#define CLASSES 3 /* number of classes that the text names */

/* Appends the objects of one class: "12030 a.b.Entry (34.1 MiB)". */
static void add_piece(struct buf *out, const char *class, uint64_t n, uint64_t bytes)
{
	buf_addf(out, "%" PRIu64 " %s (", n, class);
	units_bytes(out, (int64_t)bytes);
	buf_addc(out, ')');
}

void retained_add_pieces(struct buf *out, const struct heap *h, const struct held_by_class *pieces,
			 const struct held_by_class_sum *sum)
{
	uint64_t n = sum->n, bytes = sum->bytes;

	for (size_t i = 0; i < sum->n_classes && i < CLASSES; i++) {
		const struct held_row *piece = &pieces->list[sum->first + i];

		buf_adds(out, i > 0 ? ", " : "");
		add_piece(out, heap_class_name(h, piece->class), piece->n, piece->bytes);
		n -= piece->n;
		bytes -= piece->bytes;
	}
	if (n == 0)
		return;
	buf_adds(out, ", ");
	add_piece(out, n == 1 ? "other" : "others", n, bytes);
}

struct json *retained_pieces_json(const struct heap *h, const struct held_by_class *pieces,
				  const struct held_by_class_sum *sum)
{
	struct json *json = json_object(), *classes = json_array();

	for (size_t i = 0; i < sum->n_classes; i++) {
		const struct held_row *piece = &pieces->list[sum->first + i];
		struct json *class = json_object();

		json_put_text(class, "class", heap_class_name(h, piece->class));
		json_put_unsigned(class, "instances", piece->n);
		json_put_unsigned(class, "retained", piece->bytes);
		json_put(classes, NULL, class);
	}
	json_put_unsigned(json, "instances", sum->n);
	json_put_unsigned(json, "retained", sum->bytes);
	json_put(json, "classes", classes);
	return json;
}
