/* The interval of the sampler, from the settings in a recording. */
#include <stdlib.h>
#include <string.h>

#include "model/jfr/jfr_names.h"
#include "model/jfr/profile/jfr_profile_internal.h"

#define NS_PER_MS 1000000
/* Default intervals of async-profiler: DEFAULT_INTERVAL in arguments.h; WallClock::start(). */
#define FOREIGN_NS (10 * NS_PER_MS)
#define FOREIGN_WALL_NS (50 * NS_PER_MS)

bool jfr_profile_find_setting(struct jfr_profile_interval *s, const struct jfr_type *type)
{
	return strcmp(type->name, "jdk.ActiveSetting") == 0 &&
	       jfr_path_find(type, "id", &s->id) && jfr_path_find(type, "name", &s->name) &&
	       jfr_path_find(type, "value", &s->value);
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

void jfr_profile_take_setting(struct jfr_profile_interval *s, const struct jfr_event *e,
			      struct buf *text)
{
	const struct jfr_type *type;
	struct jfr_datum id;
	const char *name;
	uint64_t ns;

	jfr_get(e, &s->id, &id);
	type = id.kind == JFR_INTEGER ? jfr_type_by_id(&e->chunk->metadata, id.integer) : NULL;
	if (!type)
		return;
	name = jfr_profile_text(text, e, &s->name);
	if (strcmp(type->name, "jdk.ActiveRecording") == 0 && strcmp(name, "event") == 0)
		s->is_wall = strcmp(jfr_profile_text(text, e, &s->value), "wall") == 0;
	if (strcmp(type->name, "jdk.ExecutionSample") != 0)
		return;
	if (strcmp(name, "period") != 0 && strcmp(name, "interval") != 0)
		return;
	ns = parse_time(jfr_profile_text(text, e, &s->value));
	if (ns > 0)
		s->ns = ns;
}

uint64_t jfr_profile_interval_ns(const struct jfr_profile_interval *s, bool foreign)
{
	if (s->ns > 0 || !foreign)
		return s->ns;
	return s->is_wall ? FOREIGN_WALL_NS : FOREIGN_NS;
}
