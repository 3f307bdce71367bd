/* The counters of a JVM, independent of where they are read from. */
#ifndef JTOOL_MODEL_VM_COUNTER_SOURCE_H
#define JTOOL_MODEL_VM_COUNTER_SOURCE_H

struct counter_source {
	const void *of; /* passed to both functions */
	double (*number)(const void *of, const char *name);     /* NAN if missing */
	const char *(*text)(const void *of, const char *name);  /* NULL if missing */
};

static inline double counter_number(const struct counter_source *r, const char *name)
{
	return r->number(r->of, name);
}

static inline const char *counter_text(const struct counter_source *r, const char *name)
{
	return r->text(r->of, name);
}

/* Converts a counter of ticks to seconds. */
static inline double counter_seconds(const struct counter_source *r, const char *name)
{
	return counter_number(r, name) / counter_number(r, "sun.os.hrt.frequency");
}

#endif
