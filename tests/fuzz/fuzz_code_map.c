/* Parses the agent's frames of compiled code, and prints the map: rows never overlap. */
#include <stdlib.h>

#include "model/profile/code_map.h"
#include "wire/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_rows(const struct code_map *map)
{
	for (size_t i = 0; i + 1 < map->n; i++) {
		if (map->rows[i].size > map->rows[i + 1].address - map->rows[i].address)
			abort();
	}
}

/* The number of lines depends only on the rows, not on their names. */
static void count_lines(const struct code_map *map, const struct buf *out)
{
	size_t lines = 0, want = 0;

	for (size_t i = 0; i < map->n; i++)
		want += map->rows[i].size > 0;
	for (size_t i = 0; i < out->len; i++)
		lines += out->data[i] == '\n';
	if (lines != want)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct code_map map = { .n = 0 };
	struct wire_header header;
	int rc = 0;

	while (rc == 0 && size >= WIRE_HEADER_LEN && wire_header_read(data, &header) &&
	       header.len <= size - WIRE_HEADER_LEN) {
		struct wire_reader payload = wire_reader_init(data + WIRE_HEADER_LEN, header.len);

		rc = code_map_take(&map, header.type, &payload);
		data += WIRE_HEADER_LEN + header.len;
		size -= WIRE_HEADER_LEN + header.len;
	}
	code_map_sort(&map);
	check_rows(&map);
	code_map_add(&out, &map);
	count_lines(&map, &out);
	code_map_release(&map);
	return 0;
}
