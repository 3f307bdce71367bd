#include "cmd/heap/heap_engine.h"

#define NS_PER_S 1e9

const char *const heap_engines[] = {
	[HEAP_BY_AUTO] = "auto",
	[HEAP_BY_SNAPSHOT] = "snapshot",
	[HEAP_BY_AGENT] = "agent",
	[HEAP_BY_JVMTI] = "jvmti",
	[HEAP_BY_VM] = "vm",
	[HEAP_BY_HPROF] = "hprof",
	NULL,
};

static void add_choices(struct buf *out, unsigned engines)
{
	for (unsigned i = 0; heap_engines[i]; i++) {
		if (engines & 1u << i)
			buf_addf(out, "%s%s", out->len ? ", " : "", heap_engines[i]);
	}
}

int heap_engine_check(const struct heap_engine_set *set, enum heap_engine engine, const char *file,
		      struct err *err)
{
	_cleanup_buf_ struct buf choices = BUF_INIT;

	if (!(set->engines & 1u << engine)) {
		add_choices(&choices, set->engines);
		return err_set(err, EXIT_USAGE, "--engine %s is not possible here: %s; choose from "
						"%s", heap_engines[engine],
			       set->why_not,
			       buf_str(&choices));
	}
	if (file && engine != HEAP_BY_AUTO && engine != HEAP_BY_HPROF)
		return err_set(err, EXIT_USAGE,
			       "--engine %s needs a JVM, not a dump file: omit it",
			       heap_engines[engine]);
	return 0;
}

void heap_engine_put(enum heap_engine engine, int64_t pause_ns, struct json *doc)
{
	json_put_text(doc, "engine", heap_engines[engine]);
	if (pause_ns >= 0)
		json_put_real(doc, "pause", (double)pause_ns / NS_PER_S);
	else
		json_put_null(doc, "pause");
}
