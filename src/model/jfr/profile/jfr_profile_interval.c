/* The interval of the sampler, from the settings in a recording. */
#include <stdlib.h>
#include <string.h>

#include "model/jfr/jfr_names.h"
#include "model/jfr/profile/jfr_profile_internal.h"

#define NS_PER_MS 1000000

struct settings {
	struct jfr_path id, name, value;
	uint64_t interval_ns; /* value of the last such setting; 0: none */
	struct buf text;
};

static bool find_fields(struct settings *s, const struct jfr_type *type)
{
	return strcmp(type->name, "jdk.ActiveSetting") == 0 &&
	       jfr_path_find(type, "id", &s->id) && jfr_path_find(type, "name", &s->name) &&
	       jfr_path_find(type, "value", &s->value);
}

static void begin(void *arg, const struct jfr_chunk *chunk)
{
	for (size_t i = 0; i < chunk->metadata.n; i++) {
		struct jfr_type *type = &chunk->metadata.types[i];

		type->user = find_fields(arg, type);
		type->is_skipped = !type->user;
	}
}

/* Returns the ns in a text such as "20 ms"; 0 if it is not a time. */
static uint64_t parse_time(const char *text)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", NS_PER_MS }, { "s", 1000 * NS_PER_MS },
	};
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	if (end == text || n > UINT32_MAX)
		return 0;
	end += strspn(end, " ");
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(end, units[i].unit) == 0)
			return n * units[i].ns;
	}
	return *end ? 0 : n; /* async-profiler writes ns without a unit */
}

static int take(void *arg, const struct jfr_event *e, struct err *err)
{
	struct settings *s = arg;
	const struct jfr_type *type;
	struct jfr_datum id;
	const char *name;
	uint64_t ns;

	(void)err;
	if (!e->type->user)
		return 0;
	jfr_get(e, &s->id, &id);
	type = id.kind == JFR_INTEGER ? jfr_type_by_id(&e->chunk->metadata, id.integer) : NULL;
	if (!type || strcmp(type->name, "jdk.ExecutionSample") != 0)
		return 0;
	name = jfr_profile_text(&s->text, e, &s->name);
	if (strcmp(name, "period") != 0 && strcmp(name, "interval") != 0)
		return 0;
	ns = parse_time(jfr_profile_text(&s->text, e, &s->value));
	if (ns > 0)
		s->interval_ns = ns;
	return 0;
}

int jfr_profile_interval(const struct jfr_profile_file *file, uint64_t *interval_ns,
			 struct err *err)
{
	struct settings s = { .text = BUF_INIT };
	const struct jfr_consumer c = {
		.arg = &s, .begin = begin, .event = take, .from_ns = INT64_MIN,
	};
	int rc = jfr_profile_scan(file, &c, err);

	*interval_ns = s.interval_ns;
	buf_release(&s.text);
	return rc;
}
