/*
 * Instruments complete corpora of class files.
 *
 *      rewrite [-v] [--values | --sites [--sun-unsafe]] [-o DIR] [--hooks FILE] [--break CLASS]
 *              [--list] PATH...
 *
 * Each PATH is a jar, a directory, a class file or the module image of a JDK.  Every method of
 * every class in it is instrumented, and DIR gets a jar for each jar, directory and module.
 * Prints the numbers of classes and methods, the refusals, and the faults; exits with 1 if there
 * is a fault.  --values: also report arguments and results.  --sites: instrument allocation sites
 * instead; with --sun-unsafe as for JDK 8.  -v: name refused methods, and classes that were not
 * valid before.  --hooks: write the class of the hooks.  --break: instrument only this class
 * ("a/b/C"), and break it.  --list: only print the version of each class.
 */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "corpus/jar.h"
#include "corpus/rewriting.h"
#include "corpus/source.h"

struct corpus {
	struct rewriting rewriting;
	const char *out_dir; /* NULL: write nothing */
	const char *broken;  /* the only class to rewrite, which is then made invalid; NULL: none */
	bool found;          /* the class `broken` exists */
	bool list;
	struct jar *jars;
	size_t n_jars, cap_jars;
};

/* Modules are interleaved in an image: all jars are open until the end. */
static struct jar *jar_for(struct corpus *corpus, const char *set)
{
	_cleanup_free_ char *path = NULL;

	for (size_t i = corpus->n_jars; i-- > 0;) {
		if (strcmp(corpus->jars[i].name, set) == 0)
			return &corpus->jars[i];
	}
	corpus->jars = xgrow(corpus->jars, corpus->n_jars, &corpus->cap_jars, sizeof(struct jar));
	path = xasprintf("%s/%s.jar", corpus->out_dir, set);
	if (!jar_open(&corpus->jars[corpus->n_jars], set, path))
		err(2, "%s", path);
	return &corpus->jars[corpus->n_jars++];
}

static void close_jars(struct corpus *corpus)
{
	for (size_t i = 0; i < corpus->n_jars; i++) {
		if (!jar_close(&corpus->jars[i]))
			errx(2, "a jar could not be written");
	}
	free(corpus->jars);
}

static bool is_wanted(const struct corpus *corpus, const char *path)
{
	size_t len;

	if (!corpus->broken)
		return true;
	len = strlen(corpus->broken);
	return strncmp(path, corpus->broken, len) == 0 && strcmp(path + len, ".class") == 0;
}

static void list_version(const struct corpus_file *file)
{
	if (file->len >= 8)
		printf("%u %s\n", file->data[6] << 8u | file->data[7], file->path);
}

static void put(struct corpus *corpus, const struct corpus_file *file, const void *data,
		size_t len)
{
	if (corpus->out_dir)
		jar_add(jar_for(corpus, file->set), file->path, data, len);
}

static void take(void *arg, const struct corpus_file *file)
{
	struct corpus *corpus = arg;
	struct cf_output out;

	if (corpus->list) {
		list_version(file);
		return;
	}
	if (!is_wanted(corpus, file->path))
		return;
	if (rewriting_do(&corpus->rewriting, file->data, file->len, &out)) {
		if (corpus->broken)
			corpus->found = rewriting_break(&corpus->rewriting, &out);
		put(corpus, file, out.data, out.len);
	} else {
		put(corpus, file, file->data, file->len);
	}
	cf_output_release(&out);
}

static void write_hooks(struct corpus *corpus, const char *path)
{
	struct cf_output out = { .mem = &corpus->rewriting.mem };
	FILE *file = fopen(path, "we");

	if (!file)
		err(2, "%s", path);
	cf_hooks_class(CORPUS_HOOKS, &out);
	if (fwrite(out.data, 1, out.len, file) != out.len || fclose(file) != 0)
		err(2, "%s", path);
	cf_output_release(&out);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "break", required_argument, NULL, 'b' },
		{ "hooks", required_argument, NULL, 'h' },
		{ "list", no_argument, NULL, 'l' },
		{ "sites", no_argument, NULL, 's' },
		{ "sun-unsafe", no_argument, NULL, 'u' },
		{ "values", no_argument, NULL, 'a' },
		{ NULL, 0, NULL, 0 },
	};
	struct corpus corpus = { .rewriting.mem.budget = 256u << 20 };
	int c;

	while ((c = getopt_long(argc, argv, "o:v", options, NULL)) != -1) {
		switch (c) {
		case 'a':
			corpus.rewriting.values = true;
			break;
		case 'b':
			corpus.broken = optarg;
			break;
		case 'h':
			write_hooks(&corpus, optarg);
			break;
		case 'l':
			corpus.list = true;
			break;
		case 'o':
			corpus.out_dir = optarg;
			break;
		case 's':
			corpus.rewriting.hook_sites = true;
			break;
		case 'u':
			corpus.rewriting.sun_unsafe = true;
			break;
		case 'v':
			corpus.rewriting.verbose = true;
			break;
		default:
			return 2;
		}
	}
	for (; optind < argc; optind++) {
		const char *why = corpus_read(argv[optind], take, &corpus);

		if (why)
			errx(2, "%s: %s", argv[optind], why);
	}
	close_jars(&corpus);
	if (!corpus.list)
		rewriting_print(&corpus.rewriting);
	if (corpus.broken && !corpus.found)
		errx(2, "%s: not there to be broken", corpus.broken);
	return corpus.rewriting.wrong > 0;
}
