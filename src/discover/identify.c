#include "discover/identify.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"

static char *dup_or_null(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

static bool has_prefix(const char *text, const char *prefix)
{
	return text && strncmp(text, prefix, strlen(prefix)) == 0;
}

/*
 * Returns the collector, or NULL.  `policy` is the value of the counter sun.gc.policy.name: the
 * name of G1, or the names of both generations' collectors.  Newer collectors leave this counter
 * unset; gc_of_names() identifies them.
 */
static const char *gc_of_policy(const char *policy)
{
	if (!policy)
		return NULL;
	if (strcmp(policy, "GarbageFirst") == 0)
		return "G1";
	if (has_prefix(policy, "ParScav:"))
		return "Parallel";
	if (strcmp(policy, "ParNew:CMS") == 0)
		return "CMS";
	if (has_prefix(policy, "Copy:") || has_prefix(policy, "ParNew:"))
		return "Serial";
	return NULL;
}

/*
 * Identifies, by the values of other counters, the collectors that leave sun.gc.policy.name unset:
 * - sun.gc.collector.0.name has the name of Shenandoah or of generational ZGC;
 * - sun.gc.collector.2.name has the name of ZGC without generations;
 * - if both are unset, sun.gc.generation.1.name is "old" for ZGC of JDK 11, and "Heap" for Epsilon.
 */
static const char *gc_of_names(const struct perfdata *perf)
{
	const char *first = perfdata_nonempty_text(perf, "sun.gc.collector.0.name");
	const char *third = perfdata_nonempty_text(perf, "sun.gc.collector.2.name");
	const char *space = perfdata_nonempty_text(perf, "sun.gc.generation.1.name");

	if (has_prefix(first, "Shenandoah"))
		return "Shenandoah";
	if (has_prefix(first, "Z") || has_prefix(third, "Z"))
		return "ZGC";
	if (!space || first || third)
		return NULL;
	return strcmp(space, "Heap") == 0 ? "Epsilon" : "ZGC";
}

const char *identify_gc_flag(const char *flags)
{
	static const struct {
		const char *flag, *gc;
	} collectors[] = {
		{ "UseSerialGC", "Serial" },
		{ "UseParallelGC", "Parallel" },
		{ "UseParallelOldGC", "Parallel" },
		{ "UseConcMarkSweepGC", "CMS" },
		{ "UseG1GC", "G1" },
		{ "UseZGC", "ZGC" },
		{ "UseShenandoahGC", "Shenandoah" },
		{ "UseEpsilonGC", "Epsilon" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(collectors); i++) {
		if (flags_is_on(flags, collectors[i].flag))
			return collectors[i].gc;
	}
	return NULL;
}

/*
 * Updates the clues by a thread's name.  Knows the names of the threads of JDK 8 to 27, cut to the
 * kernel's limit of 15 bytes.  The VM thread starts after the collector's threads, so the function
 * returns false for the VM thread's name.
 *
 * The name of a GC worker thread first yields the clue "Parallel", because a JVM with Parallel has
 * no other collector threads.  G1 and other collectors have worker threads of the same names, but
 * also other threads; the name of such a thread replaces the clue "Parallel".
 */
bool identify_thread(struct gc_clues *clues, const char *name)
{
	static const struct {
		const char *prefix, *gc;
	} threads[] = {
		{ "G1 ", "G1" },
		{ "CMS ", "CMS" },
		{ "Concurrent Mark", "CMS" },
		{ "ZDirector", "ZGC" },
		{ "XDirector", "ZGC" },
		{ "Shen", "Shenandoah" },
		{ "GC Thread#", "Parallel" },
		{ "GC task thread#", "Parallel" },
		{ "ParGC Thread#", "Parallel" },
	};

	clues->saw_all = strcmp(name, "VM Thread") == 0;
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
		if (has_prefix(name, threads[i].prefix) &&
		    (!clues->gc || strcmp(clues->gc, "Parallel") == 0))
			clues->gc = threads[i].gc;
	}
	return !clues->saw_all;
}

/*
 * Returns the collector that the threads imply.  Only Serial and Epsilon have no collector threads,
 * and Epsilon is used only if a flag selects it, so a JVM without collector threads and without
 * such a flag uses Serial.
 */
static const char *gc_of_clues(const struct gc_clues *clues, const char *flags)
{
	const char *gc = clues->gc ? clues->gc : identify_gc_flag(flags);

	return gc || !clues->saw_all ? gc : "Serial";
}

static int64_t space_number(const struct perfdata *perf, int generation, int space,
			    const char *what)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "sun.gc.generation.%d.space.%d.%s", generation, space,
		       what);
	return perfdata_number(perf, name, -1);
}

/*
 * Returns the sum of one counter over the spaces eden, s0, s1 and old; -1: there are no spaces.
 * The counter of eden has the name `eden`; the counters of s0, s1 and old have the name `what`.
 */
static int64_t heap_sum(const struct perfdata *perf, const char *eden, const char *what)
{
	int64_t sum = -1;

	for (int generation = 0; generation < 2; generation++) {
		for (int space = 0; space < 3; space++) {
			int64_t bytes = space_number(perf, generation, space,
						     generation + space ? what : eden);

			if (bytes >= 0 && __builtin_add_overflow(sum < 0 ? 0 : sum, bytes, &sum))
				return -1;
		}
	}
	return sum;
}

/*
 * Returns the maximal heap size.  If the counter sun.gc.policy.name has two names ("Copy:MSC"), the
 * generations have a fixed boundary, so their sizes are added up.  Else the heap consists of
 * regions and each generation may grow to the complete heap, so the larger size counts.  Rounds
 * down to 4 KB, because JDK 8's G1 adds a few words to each capacity (g1MonitoringSupport.hpp,
 * pad_capacity()).
 */
static int64_t heap_max(const struct perfdata *perf)
{
	const char *policy = perfdata_nonempty_text(perf, "sun.gc.policy.name");
	int64_t young = perfdata_number(perf, "sun.gc.generation.0.maxCapacity", -1);
	int64_t old = perfdata_number(perf, "sun.gc.generation.1.maxCapacity", -1);
	int64_t max = young > old ? young : old;

	if (policy && strchr(policy, ':') && young >= 0 && old >= 0 &&
	    __builtin_add_overflow(young, old, &max))
		return -1;
	return max < 0 ? -1 : max & ~(int64_t)4095;
}

/*
 * Returns the complete text of a counter.  `cut` is the counter's text, which the JVM may have cut
 * after 1,024 bytes (globals.hpp, PerfMaxStringConstLength); `complete` is the text from the
 * command line.  If `cut` was cut and `complete` starts with it, returns `complete`; else `cut`.
 */
static const char *uncut(const char *cut, const char *complete)
{
	size_t len = cut ? strlen(cut) : 0;

	return len >= 1024 && has_prefix(complete, cut) ? complete : cut;
}

/*
 * Splits sun.rt.javaCommand into main class and arguments.  `main` is the main class according to
 * the command line.  It is needed because a command such as "/opt/my app.jar -x" is ambiguous: the
 * main class may end at any space.
 */
static void split_command(struct jvm *jvm, const char *command, const char *main)
{
	size_t len = main ? strlen(main) : 0;

	if (len == 0 || strncmp(command, main, len) != 0 || (command[len] && command[len] != ' '))
		len = strcspn(command, " ");
	jvm->main = xstrndup(command, len);
	if (command[len])
		jvm->args = xstrdup(command + len + 1);
}

static char *joined(const char *a, const char *b)
{
	if (!a || !b)
		return dup_or_null(a ? a : b);
	return xasprintf("%s %s", a, b);
}

static void describe_command(struct jvm *jvm, const char *command, const struct cmdline *cmd)
{
	_cleanup_free_ char *complete = cmd->main ? joined(cmd->main, cmd->args) : NULL;

	if (command) {
		split_command(jvm, uncut(command, complete), cmd->main);
		return;
	}
	jvm->main = dup_or_null(cmd->main);
	jvm->args = dup_or_null(cmd->args);
}

/*
 * Returns whether the JVM updates eden's counter "used" periodically: Serial and Parallel before
 * JDK 25 (JDK-8241678).  Others update it less often, so all of eden may be in use.
 */
static bool samples_eden(const struct jvm *jvm, const char *gc)
{
	int feature = jvm_feature(jvm);

	return feature > 0 && feature < 25 &&
	       (has_prefix(gc, "Serial") || has_prefix(gc, "Parallel"));
}

void identify_perfdata(struct jvm *jvm, const struct perfdata *perf, const struct cmdline *cmd)
{
	const char *capabilities = perfdata_nonempty_text(perf, "sun.rt.jvmCapabilities");
	const char *gc = gc_of_policy(perfdata_nonempty_text(perf, "sun.gc.policy.name"));
	const char *args = perfdata_nonempty_text(perf, "java.rt.vmArgs");

	jvm->has_perfdata = true;
	jvm->version = dup_or_null(perfdata_nonempty_text(perf, "java.property.java.version"));
	jvm->vm = dup_or_null(perfdata_nonempty_text(perf, "java.property.java.vm.name"));
	jvm->gc = dup_or_null(gc ? gc : gc_of_names(perf));
	jvm->heap_used = heap_sum(perf, "used", "used");
	jvm->heap_bound = heap_sum(perf, samples_eden(jvm, gc) ? "used" : "capacity", "used");
	jvm->heap_committed = heap_sum(perf, "capacity", "capacity");
	jvm->heap_max = heap_max(perf);
	jvm->classes = perfdata_number(perf, "java.cls.loadedClasses", -1);
	if (jvm->classes >= 0) /* the classes of class data sharing have a separate counter */
		jvm->classes += perfdata_number(perf, "java.cls.sharedLoadedClasses", 0);
	jvm->flags = joined(perfdata_nonempty_text(perf, "java.rt.vmFlags"),
			    uncut(args, cmd->flags));
	describe_command(jvm, perfdata_nonempty_text(perf, "sun.rt.javaCommand"), cmd);
	/*
	 * The first of the 64 digits of sun.rt.jvmCapabilities is 1 if the JVM permits attaching
	 * (runtimeService.cpp).
	 */
	jvm->no_attach = capabilities && capabilities[0] == '0';
	jvm->initialised = perfdata_number(perf, "sun.rt.vmInitDoneTime", 0) != 0;
}

static void add_flags(struct buf *all, const char *flags)
{
	if (flags && *flags)
		buf_addf(all, "%s%s", all->len ? " " : "", flags);
}

/* Returns the bytes of the last -Xmx or -XX:MaxHeapSize; -1 if none is set. */
static int64_t max_of_flags(const char *flags)
{
	_cleanup_free_ char *text = flags_value_of_two(flags, "-Xmx", "-XX:MaxHeapSize=");
	static const char units[] = "kmgt";
	const char *unit;
	char *end;
	unsigned long long n;

	if (!text || *text < '0' || *text > '9')
		return -1;
	n = strtoull(text, &end, 10);
	unit = *end ? strchr(units, *end | 0x20) : NULL;
	for (ptrdiff_t i = unit ? unit - units + 1 : 0; i > 0; i--) {
		if (__builtin_mul_overflow(n, 1024, &n))
			return -1;
	}
	return n > INT64_MAX ? -1 : (int64_t)n;
}

void identify_cmdline(struct jvm *jvm, const struct cmdline *cmd, const char *env, size_t len,
		      const struct gc_clues *clues)
{
	/*
	 * A later flag overrides an earlier one, so the flags are joined in the order in which the
	 * JVM reads them: `tool`, `jdk`, cmd->flags, `last`.  JDK 8 does not read `jdk`.
	 */
	_cleanup_free_ char *tool = environ_value(env, len, "JAVA_TOOL_OPTIONS");
	_cleanup_free_ char *jdk = environ_value(env, len, "JDK_JAVA_OPTIONS");
	_cleanup_free_ char *last = environ_value(env, len, "_JAVA_OPTIONS");
	_cleanup_buf_ struct buf flags = BUF_INIT;

	add_flags(&flags, tool);
	if (jvm_feature(jvm) != 8)
		add_flags(&flags, jdk);
	add_flags(&flags, cmd->flags);
	add_flags(&flags, last);
	if (flags.len)
		jvm->flags = buf_take(&flags);
	jvm->gc = dup_or_null(gc_of_clues(clues, jvm->flags));
	jvm->heap_max = max_of_flags(jvm->flags);
	jvm->no_attach = flags_is_on(jvm->flags, "DisableAttachMechanism");
	describe_command(jvm, NULL, cmd);
}

char *identify_release(const char *text)
{
	static const char key[] = "JAVA_VERSION=\"";

	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		if (strncmp(line, key, sizeof(key) - 1) == 0)
			return xstrndup(line + sizeof(key) - 1,
					strcspn(line + sizeof(key) - 1, "\"\n"));
	}
	return NULL;
}
