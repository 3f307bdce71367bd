/* The counters of a JVM, independent of the place from which they are read. */
#ifndef JTOOL_MODEL_VM_COUNTER_SOURCE_H
#define JTOOL_MODEL_VM_COUNTER_SOURCE_H

struct counter_source {
	const void *of; /* first argument of both functions */
	/* returns the value; NAN if the counter is missing. */
	double (*number)(const void *of, const char *name);
	/* returns the value; NULL if the counter is missing. */
	const char *(*text)(const void *of, const char *name);
};

static inline double counter_number(const struct counter_source *r, const char *name)
{
	return r->number(r->of, name);
}

static inline const char *counter_text(const struct counter_source *r, const char *name)
{
	return r->text(r->of, name);
}

/* Returns the value of a counter of ticks, converted to seconds. */
static inline double counter_seconds(const struct counter_source *r, const char *name)
{
	return counter_number(r, name) / counter_number(r, "sun.os.hrt.frequency");
}

#endif
