/*
 * What a JVM has counted, for who reckons with it and need not know where it is read.
 */
#ifndef JTOOL_MODEL_READINGS_H
#define JTOOL_MODEL_READINGS_H

struct readings {
	const void *of; /* handed to both */
	double (*number)(const void *of, const char *name);     /* NAN: there is none */
	const char *(*text)(const void *of, const char *name);  /* NULL: there is none */
};

static inline double readings_number(const struct readings *r, const char *name)
{
	return r->number(r->of, name);
}

static inline const char *readings_text(const struct readings *r, const char *name)
{
	return r->text(r->of, name);
}

/* Seconds, from a counter of ticks. */
static inline double readings_seconds(const struct readings *r, const char *name)
{
	return readings_number(r, name) / readings_number(r, "sun.os.hrt.frequency");
}

#endif
