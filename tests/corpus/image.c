/*
 * The image of a JDK's modules (JDK: src/java.base/share/native/libjimage/imageFile.hpp):
 *
 *     header; redirect table; table of the offsets of locations; locations; strings; resources
 *
 * A location is attributes, each a byte (kind << 3 | length - 1) and a big-endian number.
 */
#include <stdlib.h>
#include <string.h>

#include "corpus/source.h"

enum { IMAGE_MAGIC = 0xcafedada };

enum location {
	LOCATION_END = 0,
	LOCATION_MODULE,
	LOCATION_PARENT,
	LOCATION_BASE,
	LOCATION_EXTENSION,
	LOCATION_OFFSET,
	LOCATION_COMPRESSED,
	LOCATION_UNCOMPRESSED,
	LOCATION_KINDS,
};

struct image {
	const uint8_t *locations, *strings, *resources;
	size_t locations_len, strings_len, resources_len;
};

static uint32_t native_u4(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Returns a string of the image, or "" if it is out of bounds. */
static const char *string_at(const struct image *image, uint64_t at)
{
	if (at >= image->strings_len ||
	    !memchr(image->strings + at, '\0', image->strings_len - at))
		return "";
	return (const char *)image->strings + at;
}

static bool read_location(const struct image *image, size_t at, uint64_t *values)
{
	while (at < image->locations_len && image->locations[at] >> 3 != LOCATION_END) {
		unsigned kind = image->locations[at] >> 3, n = (image->locations[at] & 7) + 1;
		uint64_t value = 0;

		if (image->locations_len - at <= n)
			return false;
		for (unsigned i = 1; i <= n; i++)
			value = value << 8 | image->locations[at + i];
		if (kind < LOCATION_KINDS)
			values[kind] = value;
		at += n + 1;
	}
	return at < image->locations_len;
}

static const char *read_resource(const struct image *image, size_t at, corpus_take *take,
				 void *arg)
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	uint64_t v[LOCATION_KINDS] = { 0 };
	struct corpus_file file;

	if (!read_location(image, at, v))
		return "a location of the image is damaged";
	if (strcmp(string_at(image, v[LOCATION_EXTENSION]), "class") != 0)
		return NULL;
	buf_addf(&path, "%s/%s.class", string_at(image, v[LOCATION_PARENT]),
		 string_at(image, v[LOCATION_BASE]));
	if (!corpus_is_class(path.data, path.len))
		return NULL;
	if (v[LOCATION_COMPRESSED] != 0)
		return "the image is compressed";
	if (v[LOCATION_OFFSET] > image->resources_len ||
	    v[LOCATION_UNCOMPRESSED] > image->resources_len - v[LOCATION_OFFSET])
		return "the image is cut short";
	file.set = string_at(image, v[LOCATION_MODULE]);
	file.path = path.data;
	file.data = image->resources + v[LOCATION_OFFSET];
	file.len = v[LOCATION_UNCOMPRESSED];
	take(arg, &file);
	return NULL;
}

const char *corpus_read_image(const uint8_t *data, size_t len, corpus_take *take, void *arg)
{
	enum { HEADER = 28 };
	struct image image;
	uint64_t n, index;

	if (len < HEADER || native_u4(data) != IMAGE_MAGIC)
		return "it is no image of modules";
	n = native_u4(data + 16);
	image.locations_len = native_u4(data + 20);
	image.strings_len = native_u4(data + 24);
	index = HEADER + 8 * n + image.locations_len + image.strings_len;
	if (index > len)
		return "the image is cut short";
	image.locations = data + HEADER + 8 * n;
	image.strings = image.locations + image.locations_len;
	image.resources = data + index;
	image.resources_len = len - index;
	for (uint64_t i = 0; i < n; i++) {
		uint32_t at = native_u4(data + HEADER + 4 * (n + i));
		const char *why = read_resource(&image, at, take, arg);

		if (why)
			return why;
	}
	return NULL;
}
