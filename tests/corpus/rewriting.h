/*
 * Instruments every method of a class, and checks the result: a class that jtool's verifier
 * accepted before is accepted after, and refused methods are unchanged, byte for byte.
 */
#ifndef JTOOL_TESTS_CORPUS_REWRITING_H
#define JTOOL_TESTS_CORPUS_REWRITING_H

#include "classfile/inject/inject_sites.h"
#include "classfile/verify/verify.h"

#define CORPUS_HOOKS "java/jtool/Hooks1"

struct rewriting {
	struct ag_mem mem;
	bool values;
	bool hook_sites;   /* instrument allocation sites instead of methods */
	bool sun_unsafe;   /* as in struct cf_sites */
	bool verbose;      /* name refused methods */
	uint32_t next_id;  /* next id of a method or allocation site; unique among all classes */

	size_t classes;    /* all classes */
	size_t rewritten;  /* classes with a new class file */
	size_t methods;
	size_t by_refusal[CF_NOT_COMPILED + 1]; /* methods, by enum cf_refusal */
	size_t in_refused; /* methods of classes that are refused completely */
	size_t unsound;    /* classes that jtool's verifier rejects unmodified */
	size_t sites, hooked, string_ends; /* allocation sites, those with hooks, ends of strings */
	size_t sites_refused;    /* methods with allocation sites that are unchanged */
	size_t wrong;      /* classes whose new class file has a fault; each is printed */
	size_t bytes_in, bytes_out;
	size_t by_version[UINT8_MAX + 1];
};

/* Writes the new class to *out, which the caller releases. Returns false if it is unchanged. */
bool rewriting_do(struct rewriting *r, const void *data, size_t len, struct cf_output *out);

/* Returns whether jtool's verifier accepts the class; if not, sets *fault. */
bool rewriting_is_sound(const struct cf_class *class, struct cf_fault *fault);
void rewriting_report(const char *what, const struct cf_class *class,
		    const struct cf_fault *fault);
/* Returns whether a method that was refused still has its original attributes, byte for byte. */
bool rewriting_is_kept(const struct cf_member *old, const struct cf_member *new);
bool rewriting_sites(struct rewriting *r, const struct cf_class *class, struct cf_output *out);

/* Makes the first code invalid for every verifier, and checks the class again. */
bool rewriting_break(struct rewriting *r, struct cf_output *out);

/* Prints the counts, one "NAME NUMBER" per line. */
void rewriting_print(const struct rewriting *r);

#endif
