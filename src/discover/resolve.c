#include "discover/resolve.h"

#include <limits.h>
#include <string.h>

#include "base/printable.h"
#include "discover/discover.h"

static bool is_number(const char *spec)
{
	spec += *spec == '-';
	return *spec && strspn(spec, "0123456789") == strlen(spec);
}

/*
 * Returns true if `spec` is a part of the JVM's name.  An exact name has no precedence, because any
 * process can choose such a name, and would then be the target of commands that were meant for
 * another JVM.
 */
static bool matches(const struct jvm *jvm, const char *spec)
{
	return jvm->main && strstr(jvm->main, spec);
}

static void print_candidate(const struct jvm *jvm, FILE *out)
{
	_cleanup_free_ char *user = jvm_user_name(jvm->uid);
	_cleanup_free_ char *name = printable_add_str(jvm->main ? jvm->main : "-");

	fprintf(out, "%7d  %-8s  %s\n", (int)jvm->pid, user, name);
}

/* Prints the JVMs that match `spec`, or all JVMs if spec is NULL. */
static void print_matches(const struct jvm_list *list, const char *spec, FILE *out)
{
	for (size_t i = 0; i < list->n; i++) {
		if (!spec || matches(list->jvms[i], spec))
			print_candidate(list->jvms[i], out);
	}
}

struct jvm *resolve_among(struct jvm_list *list, const char *spec, FILE *candidates,
			  struct err *err)
{
	size_t n = 0, found = 0;

	for (size_t i = 0; i < list->n; i++) {
		if (matches(list->jvms[i], spec)) {
			found = i;
			n++;
		}
	}
	if (n == 1)
		return TAKE_PTR(list->jvms[found]);
	if (n > 1) {
		print_matches(list, spec, candidates);
		(void)err_set(err, EXIT_TARGET, "'%s' matches %zu JVMs: give a pid; jtool "
			      "list -m shows their arguments", spec, n);
		return NULL;
	}
	print_matches(list, NULL, candidates);
	(void)err_set(err, EXIT_TARGET, "no JVM matches '%s'; running: %s", spec,
		      list->n ? "those listed above" : "none visible");
	return NULL;
}

static struct jvm *by_pid(const struct procfs *proc, const char *spec, struct err *err)
{
	const char *problem;
	pid_t pid = (pid_t)strtonum(spec, 1, INT_MAX, &problem);

	if (!problem)
		return discover_pid(proc, pid, err);
	(void)err_set(err, EXIT_TARGET, "no such process: %s; jtool list shows the JVMs", spec);
	return NULL;
}

static struct jvm *by_name(const struct procfs *proc, const char *spec, FILE *candidates,
			   struct err *err)
{
	struct jvm_list list;
	struct jvm *jvm;

	if (discover_all(proc, false, NULL, &list, err) < 0)
		return NULL;
	jvm = resolve_among(&list, spec, candidates, err);
	jvm_list_release(&list);
	return jvm;
}

struct jvm *resolve_target(const char *spec, FILE *candidates, struct err *err)
{
	struct procfs proc;
	struct jvm *jvm;
	int rc;

	if (!*spec) { /* an empty text is a part of every name, so it would match all JVMs */
		(void)err_set(err, EXIT_USAGE, "TARGET is empty: give a pid or a name");
		return NULL;
	}
	rc = procfs_open(&proc, "/proc");
	if (rc < 0) {
		(void)jvm_no_proc(rc, err);
		return NULL;
	}
	jvm = is_number(spec) ? by_pid(&proc, spec, err) : by_name(&proc, spec, candidates, err);
	procfs_close(&proc);
	return jvm;
}

int resolve_all(struct jvm_list *list, struct err *err)
{
	struct procfs proc;
	int rc = procfs_open(&proc, "/proc");

	if (rc < 0)
		return jvm_no_proc(rc, err);
	rc = discover_all(&proc, false, NULL, list, err);
	procfs_close(&proc);
	if (rc < 0 || list->n > 0)
		return rc;
	jvm_list_release(list);
	return err_set(err, EXIT_TARGET,
		       "no JVM is visible: run jtool as root on the host, or where the JVM runs");
}
