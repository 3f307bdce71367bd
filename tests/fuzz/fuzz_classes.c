/* Parses the agent's frames, frame by frame, into a class list and into one class. */
#include "model/class/classes.h"
#include "model/class/class_info.h"
#include "wire/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(struct classes *c)
{
	char *words[] = { (char *)(uintptr_t) "*a?", (char *)(uintptr_t) "p/B" };
	char text[96];
	bool idle[2];

	classes_sort(c);
	for (size_t i = 0; i < c->n; i++) {
		(void)class_kind(&c->rows[i]);
		(void)class_modifiers(&c->rows[i], text, sizeof(text));
	}
	(void)classes_select(c, words, 2, "app", idle);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct classes c = { 0 };
	struct class_info info = { 0 };
	struct wire_header header;
	bool listed = false;
	int rc = 0;

	while (rc >= 0 && size >= WIRE_HEADER_LEN && wire_header_read(data, &header) &&
	       header.len <= size - WIRE_HEADER_LEN) {
		struct wire_reader payload = wire_reader_init(data + WIRE_HEADER_LEN, header.len);

		rc = listed ? class_info_take(&info, &c.origins, header.type, &payload)
			    : classes_take(&c, header.type, &payload);
		listed |= rc == 1;
		data += WIRE_HEADER_LEN + header.len;
		size -= WIRE_HEADER_LEN + header.len;
	}
	look_at(&c);
	class_info_release(&info);
	classes_release(&c);
	return 0;
}
