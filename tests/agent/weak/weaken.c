/* Weakens the memory order of each site in turn, and expects that a test fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/weak/weak_internal.h"

enum part { NONE, ACQUIRE, RELEASE, SEQ_CST, FAILED_ACQUIRE };
static const char *const part_names[] = { "", "acquire", "release", "seq_cst",
					  "acquire if it fails" };

/* The linker's symbols for the section weak_sites. */
extern const struct weak_site *const __start_weak_sites[], *const __stop_weak_sites[];

static struct {
	const struct weak_site *site;
	enum part part; /* the part of its order that is removed */
} weakened;

static size_t n_sites(void)
{
	return (size_t)(__stop_weak_sites - __start_weak_sites);
}

static bool is_same_site(const struct weak_site *a, const struct weak_site *b)
{
	return strcmp(a->function, b->function) == 0 && strcmp(a->what, b->what) == 0;
}

int weak_order(const struct weak_site *site, bool failed)
{
	int order = failed ? site->failed : site->order;

	if (!weakened.site || !is_same_site(site, weakened.site))
		return order;
	if (failed && weakened.part == FAILED_ACQUIRE && order == __ATOMIC_ACQUIRE)
		return __ATOMIC_RELAXED;
	if (weakened.part == SEQ_CST && order == __ATOMIC_SEQ_CST)
		return strncmp(site->what, "load", 4) == 0 ? __ATOMIC_ACQUIRE : __ATOMIC_ACQ_REL;
	if (failed)
		return order;
	if (weakened.part == ACQUIRE && order == __ATOMIC_ACQUIRE)
		return __ATOMIC_RELAXED;
	if (weakened.part == RELEASE && order == __ATOMIC_RELEASE)
		return __ATOMIC_RELAXED;
	if (order == __ATOMIC_ACQ_REL && weakened.part == ACQUIRE)
		return __ATOMIC_RELEASE;
	if (order == __ATOMIC_ACQ_REL && weakened.part == RELEASE)
		return __ATOMIC_ACQUIRE;
	return order;
}

static bool has_part(const struct weak_site *site, enum part part)
{
	switch (part) {
	case ACQUIRE:
		return site->order == __ATOMIC_ACQUIRE || site->order == __ATOMIC_ACQ_REL;
	case RELEASE:
		return site->order == __ATOMIC_RELEASE || site->order == __ATOMIC_ACQ_REL;
	case SEQ_CST:
		return site->order == __ATOMIC_SEQ_CST;
	case FAILED_ACQUIRE:
		return strncmp(site->what, "compare", 7) == 0 && site->failed == __ATOMIC_ACQUIRE;
	default:
		return false;
	}
}

static const struct weak_excuse *excuse_of(const struct weak_excuse *excuses, const char *name)
{
	for (; excuses && excuses->site; excuses++) {
		if (strcmp(excuses->site, name) == 0)
			return excuses;
	}
	return NULL;
}

static bool is_verbose(void)
{
	return getenv("WEAK_VERBOSE") != NULL;
}

/* Returns a bit for each test that runs the site, or another site with the same name. */
static uint64_t tests_of(const struct weak_site *site)
{
	uint64_t tests = 0;

	for (size_t i = 0; i < n_sites(); i++) {
		if (is_same_site(__start_weak_sites[i], site))
			tests |= *__start_weak_sites[i]->tests;
	}
	return tests;
}

/* Returns 0 if a test needs a part of a site's order, or if there is an excuse. */
static int check_part(const struct weak_test *tests, const struct weak_excuse *excuses,
		      const struct weak_site *site, enum part part)
{
	uint64_t run_by = tests_of(site);
	const struct weak_test *finds = NULL;
	char name[256];
	bool excused;

	(void)snprintf(name, sizeof(name), "%s %s: %s", site->function, site->what,
		       part_names[part]);
	excused = excuse_of(excuses, name) != NULL;
	weakened.site = site;
	weakened.part = part;
	for (unsigned i = 0; tests[i].name && !finds; i++) {
		if (run_by >> i & 1 && !weak_search(tests, i))
			finds = &tests[i];
	}
	weakened.site = NULL;
	if (is_verbose() || (finds != NULL) == excused)
		printf("%s: %s without %s%s%s\n", (finds != NULL) == excused ? "not ok" : "ok",
		       finds ? finds->name : "no test fails", name, finds ? ": " : "",
		       finds ? weak_what() : "");
	return (finds != NULL) == excused ? 1 : 0;
}

static bool is_repeated(size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (is_same_site(__start_weak_sites[k], __start_weak_sites[i]))
			return true;
	}
	return false;
}

static int check_site(const struct weak_test *tests, const struct weak_excuse *excuses, size_t i)
{
	const struct weak_site *site = __start_weak_sites[i];
	char name[256];
	int rc = 0;

	if (site->order == __ATOMIC_RELAXED || is_repeated(i))
		return 0;
	(void)snprintf(name, sizeof(name), "%s %s", site->function, site->what);
	if (tests_of(site) == 0) {
		if (excuse_of(excuses, name))
			return 0;
		printf("not ok: no test runs %s (%s:%d)\n", name, site->file, site->line);
		return 1;
	}
	if (excuse_of(excuses, name)) {
		printf("not ok: a test runs %s\n", name);
		return 1;
	}
	for (enum part part = ACQUIRE; part <= FAILED_ACQUIRE; part++) {
		if (has_part(site, part))
			rc |= check_part(tests, excuses, site, part);
	}
	return rc;
}

int weak_run(const struct weak_test *tests, const struct weak_excuse *excuses)
{
	int rc = 0;

	for (unsigned i = 0; tests[i].name; i++) {
		bool holds = weak_search(tests, i);

		printf("%s - %s: %s\n", holds ? "ok" : "not ok", tests[i].name, weak_summary());
		if (holds)
			continue;
		printf("  %s\n", weak_what());
		(void)fflush(stdout);
		weak_print_order();
		return 1;
	}
	for (size_t i = 0; i < n_sites(); i++)
		rc |= check_site(tests, excuses, i);
	return rc;
}
