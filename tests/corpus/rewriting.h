/*
 * A class with every method hooked, and whether that is as it should be: what jtool's own
 * verifier took before it takes afterwards, and what is refused is as it was, byte for byte.
 */
#ifndef JTOOL_TESTS_CORPUS_REWRITING_H
#define JTOOL_TESTS_CORPUS_REWRITING_H

#include "classfile/inject_sites.h"
#include "classfile/verify.h"

#define CORPUS_HOOKS "java/jtool/Hooks1"

struct rewriting {
	struct ag_mem mem;
	bool values;
	bool places;       /* hook what makes objects, instead of methods */
	bool sun_unsafe;   /* as in struct cf_sites */
	bool verbose;      /* name what is refused */
	uint32_t next_id;  /* of methods or places: they are numbered over all classes */

	size_t classes;    /* with methods or without */
	size_t rewritten;  /* of these: there is a new class file */
	size_t methods;
	size_t by_refusal[CF_MALFORMED + 1]; /* of methods, by enum cf_refusal */
	size_t whole;      /* methods of classes that are refused as a whole */
	size_t unsound;    /* classes that our verifier does not take as they are */
	size_t sites, hooked, kept; /* places, those with hooks, strings' ends */
	size_t sites_refused;    /* methods that have such places and were left as they are */
	size_t wrong;      /* classes that are not rewritten as they should be: each is told */
	size_t bytes_in, bytes_out;
	size_t by_version[UINT8_MAX + 1];
};

/* Into *out, which the caller releases; false when there is nothing new in it. */
bool rewriting_do(struct rewriting *r, const void *data, size_t len, struct cf_output *out);

/* rewriting.c and sites.c: is it right, by our verifier; what is wrong with it. */
bool rewriting_is_sound(const struct cf_class *class, struct cf_fault *fault);
void rewriting_tell(const char *what, const struct cf_class *class,
		    const struct cf_fault *fault);
/* A method that is refused has the attributes that it had: constants keep their indexes. */
bool rewriting_is_kept(const struct cf_member *old, const struct cf_member *new);
bool rewriting_sites(struct rewriting *r, const struct cf_class *class, struct cf_output *out);

/* Make its first code such as no verifier takes, and judge it again. */
bool rewriting_break(struct rewriting *r, struct cf_output *out);

/* The counts, each a line "NAME NUMBER". */
void rewriting_print(const struct rewriting *r);

#endif
