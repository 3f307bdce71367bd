#include <check.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/xalloc.h"
#include "discover/cmdline.h"
#include "proc/container.h"
#include "discover/identify.h"
#include "discover/discover.h"
#include "discover/resolve.h"
#include "unit/support/data.h"

#define DOCKER_ID "4f6f1e5f1c0b3d4a8e7a9d0c2b1e6f7a8c9d0e1f2a3b4c5d6e7f8091a2b3c4d5"

/*
 * A copy of tests/data/proc; tests create files in the roots of its processes.  PID 100 runs in a
 * container, 200 has no hsperfdata, 300 and 400 are not JVMs, 500 runs with -Xrs, 600 is starting,
 * 700 has attach disabled, 800 is OpenJ9, 900 runs from a JDK that has been upgraded since.
 */
static char dir[] = "/tmp/check_discover.XXXXXX";
static struct procfs proc;

static void shell(const char *fmt, ...) _printf_(1, 2);
static void shell(const char *fmt, ...)
{
	_cleanup_free_ char *command = NULL;
	va_list ap;

	va_start(ap, fmt);
	ck_assert_int_ge(vasprintf(&command, fmt, ap), 0);
	va_end(ap);
	ck_assert_int_eq(system(command), 0);
}

static const char *top(void)
{
	const char *path = getenv("top_srcdir");

	return path ? path : ".";
}

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	shell("cp -R %s/tests/data/proc/. %s && chmod -R u+w %s", top(), dir, dir);
	shell("sed -i 's/@UID@/%d/g; s/@GID@/%d/g' %s/*/status", (int)geteuid(),
	      (int)getegid(), dir);
	shell("cd %s && for pid in [1-9]*; do mkdir -p $pid/root/tmp; done", dir);
	ck_assert_int_eq(procfs_open(&proc, dir), 0);
}

static void teardown(void)
{
	procfs_close(&proc);
	shell("rm -rf %s", dir);
}

static struct jvm *find(pid_t pid)
{
	struct err err = { .code = EXIT_DONE };
	struct jvm *jvm = discover_pid(&proc, pid, &err);

	ck_assert_msg(jvm != NULL, "%s", err.text);
	ck_assert_int_eq(err.code, EXIT_DONE);
	return jvm;
}

static void bind_socket(const char *name)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_lt(snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/%s", dir, name),
			 (int)sizeof(addr.sun_path));
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
}

static enum attach_state state_of(pid_t pid)
{
	struct jvm *jvm = find(pid);
	enum attach_state state = discover_attach_state(&proc, jvm);

	jvm_free(jvm);
	return state;
}

START_TEST(only_jvms_are_listed)
{
	static const pid_t pids[] = { 100, 200, 500, 600, 700, 800, 900 };
	struct jvm_list list;
	struct err err = { .code = EXIT_DONE };

	ck_assert_int_eq(discover_all(&proc, false, NULL, &list, &err), 0);
	ck_assert_uint_eq(list.n, ARRAY_SIZE(pids));
	for (size_t i = 0; i < list.n; i++)
		ck_assert_int_eq(list.jvms[i]->pid, pids[i]);
	jvm_list_release(&list);
}
END_TEST

/* Of a process in the set, only /proc is read: the heap's numbers are in its hsperfdata. */
START_TEST(files_of_hung_processes_are_not_read)
{
	struct process_set hung = { 0 };
	struct jvm_list list;
	struct err err = { .code = EXIT_DONE };

	shell("cd %s/100/root/tmp && mkdir hsperfdata_app && cp %s/tests/data/perfdata/jdk17-zgc "
	      "hsperfdata_app/1", dir, top());
	process_set_add(&hung, 100, 999); /* an earlier process with this pid */
	ck_assert_int_eq(discover_all(&proc, false, &hung, &list, &err), 0);
	ck_assert(list.jvms[0]->pid == 100 && list.jvms[0]->has_perfdata);
	jvm_list_release(&list);
	process_set_add(&hung, 100, 1000);
	ck_assert_int_eq(discover_all(&proc, false, &hung, &list, &err), 0);
	ck_assert(list.jvms[0]->pid == 100 && !list.jvms[0]->has_perfdata);
	ck_assert(list.jvms[1]->pid == 200);
	jvm_list_release(&list);
}
END_TEST

START_TEST(jvm_in_a_container_is_described_from_outside)
{
	struct jvm *jvm;

	shell("cd %s/100/root/tmp && mkdir hsperfdata_app && cp %s/tests/data/perfdata/jdk17-zgc "
	      "hsperfdata_app/1", dir, top());
	jvm = find(100);
	ck_assert_int_eq(jvm->nspid, 1);
	ck_assert_uint_eq(jvm->uid, geteuid());
	ck_assert_uint_eq(jvm->start_ticks, 1000);
	ck_assert(jvm->has_perfdata && jvm->is_hotspot && jvm->initialised && !jvm->no_attach);
	ck_assert_str_eq(jvm->version, "17.0.21.0.3");
	ck_assert_str_eq(jvm->vm, "OpenJDK 64-Bit Server VM");
	ck_assert_str_eq(jvm->main, "Sleep");
	ck_assert_str_eq(jvm->args, "a b c");
	ck_assert_str_eq(jvm->container, DOCKER_ID);
	ck_assert_int_eq(jvm_feature(jvm), 17);
	ck_assert_str_eq(jvm_tmp(jvm), "/tmp");
	jvm_free(jvm);
}
END_TEST

/* As with -XX:PerfDataMemorySize=4m: the counters are at the start. */
START_TEST(start_of_a_large_hsperfdata_is_read)
{
	struct jvm *jvm;

	shell("cd %s/100/root/tmp && mkdir hsperfdata_app && cp %s/tests/data/perfdata/jdk17-zgc "
	      "hsperfdata_app/1 && truncate -s 4M hsperfdata_app/1", dir, top());
	jvm = find(100);
	ck_assert(jvm->has_perfdata && jvm->initialised);
	jvm_free(jvm);
}
END_TEST

/* A hostile target may replace its mapped hsperfdata, for example with a FIFO or a link. */
START_TEST(hostile_hsperfdata_is_ignored)
{
	static const char *const replacements[] = {
		"mkdir hsperfdata_app && mkfifo hsperfdata_app/1",
		"mkdir hsperfdata_app && mkdir hsperfdata_app/1",
		"mkdir hsperfdata_app && ln -s $file hsperfdata_app/1",
		"mkdir hsperfdata_app && cp $file real && ln -s ../real hsperfdata_app/1",
		"ln -s $(dirname $file) hsperfdata_app",
		"mkdir hsperfdata_app && cp $file hsperfdata_app/1 && "
		"{ chown 4711 hsperfdata_app/1 2>/dev/null || rm hsperfdata_app/1; }",
		"mkdir hsperfdata_app && : > hsperfdata_app/1",
		"mkdir hsperfdata_app && truncate -s 1T hsperfdata_app/1",
		"mkdir hsperfdata_app && head -c 20 $file > hsperfdata_app/1",
		":",
	};
	struct jvm *jvm;

	shell("cd %s/100/root/tmp && file=%s/tests/data/perfdata/jdk17-zgc && %s", dir, top(),
	      replacements[_i]);
	jvm = find(100);
	ck_assert(!jvm->has_perfdata);
	ck_assert_str_eq(jvm->main, "Sleep");
	ck_assert_str_eq(jvm->args, "a b c");
	ck_assert_str_eq(jvm->gc, "G1");
	ck_assert_int_eq(jvm->heap_used, -1);
	jvm_free(jvm);
}
END_TEST

START_TEST(hsperfdata_that_is_not_mapped_is_ignored)
{
	struct jvm *jvm;

	shell("cd %s/600/root/tmp && mkdir hsperfdata_app && cp %s/tests/data/perfdata/jdk17-zgc "
	      "hsperfdata_app/600", dir, top());
	jvm = find(600);
	ck_assert(!jvm->has_perfdata);
	jvm_free(jvm);
}
END_TEST

/* Cleaners of /tmp delete files that are still mapped; /proc/PID/map_files still has them. */
START_TEST(deleted_hsperfdata_is_read_through_map_files)
{
	struct jvm *jvm;

	shell("cd %s/900 && mkdir map_files && cp %s/tests/data/perfdata/jdk21-g1 "
	      "map_files/7fcbd6b05000-7fcbd6b0d000", dir, top());
	jvm = find(900);
	ck_assert(jvm->has_perfdata);
	ck_assert_str_eq(jvm->version, "21.0.13.0.3");
	jvm_free(jvm);
}
END_TEST

START_TEST(command_line_replaces_missing_hsperfdata)
{
	struct jvm *jvm;

	shell("cd %s/200/root && mkdir -p usr/lib/jvm/java-17-openjdk-amd64 && "
	      "printf 'LIBC=\"gnu\"\\nJAVA_VERSION=\"17.0.15\"\\n' > "
	      "usr/lib/jvm/java-17-openjdk-amd64/release", dir);
	jvm = find(200);
	ck_assert_str_eq(jvm->main, "/opt/my app.jar");
	ck_assert_str_eq(jvm_simple_main(jvm), "my app.jar");
	ck_assert_str_eq(jvm->args, "-x y");
	ck_assert_str_eq(jvm->flags, "-Dtool=1 -XX:-UsePerfData --add-opens="
				     "java.base/java.lang=ALL-UNNAMED -XX:+UseSerialGC");
	ck_assert_str_eq(jvm->gc, "Serial");
	ck_assert_str_eq(jvm->version, "17.0.15");
	ck_assert_int_eq(jvm->heap_max, -1);
	ck_assert_ptr_null(jvm->container);
	jvm_free(jvm);
	jvm = find(700);
	ck_assert_str_eq(jvm->main, "mod/a.b.Main");
	ck_assert_str_eq(jvm_simple_main(jvm), "Main");
	free(jvm->main);
	jvm->main = xstrdup("lib/app-1.2");
	ck_assert_str_eq(jvm_simple_main(jvm), "app-1.2");
	free(jvm->main);
	jvm->main = xstrdup("my-app.run");
	ck_assert_str_eq(jvm_simple_main(jvm), "my-app.run");
	free(jvm->main);
	jvm->main = xstrdup("app.2");
	ck_assert_str_eq(jvm_simple_main(jvm), "app.2");
	jvm_free(jvm);
	jvm = find(900);
	ck_assert_str_eq(jvm->main, "/opt/app-1.2/bin/app");
	ck_assert_str_eq(jvm_simple_main(jvm), "app");
	ck_assert_str_eq(jvm->args, "--port 1");
	jvm_free(jvm);
}
END_TEST

START_TEST(attach_state_follows_the_state_of_the_process)
{
	ck_assert_int_eq(state_of(100), ATTACH_READY);
	ck_assert_int_eq(state_of(200), ATTACH_READY);
	ck_assert_int_eq(state_of(500), ATTACH_DISABLED);
	ck_assert_int_eq(state_of(600), ATTACH_STARTING);
	ck_assert_int_eq(state_of(700), ATTACH_DISABLED);
	ck_assert_int_eq(state_of(800), ATTACH_UNSUPPORTED);
	ck_assert_int_eq(state_of(900), ATTACH_READY);
	ck_assert_str_eq(attach_state_name(ATTACH_DENIED), "denied");
}
END_TEST

START_TEST(attach_socket_counts_only_with_a_listener)
{
	/* The JVM must own the socket: JVMs in other containers use the same path. */
	bind_socket("100/root/tmp/.java_pid1");
	ck_assert_int_eq(state_of(100), ATTACH_READY);
	shell("mkdir %s/100/fd && ln -s 'socket:[20011]' %s/100/fd/4", dir, dir);
	ck_assert_int_eq(state_of(100), ATTACH_READY);
	shell("ln -s 'socket:[2001]' %s/100/fd/5", dir);
	ck_assert_int_eq(state_of(100), ATTACH_LISTENING);
	/* No process listens on the socket file of a JVM that was killed. */
	bind_socket("900/root/tmp/.java_pid900");
	ck_assert_int_eq(state_of(900), ATTACH_READY);
	shell("printf '0: 00000002 00000000 00010000 0001 01 77 /tmp/.java_pid9900.tmp\\n"
	      "0: 00000002 00000000 00000000 0001 03 78 /tmp/.java_pid900.tmp\\n"
	      "0: /tmp/.java_pid900' >> %s/900/net/unix", dir);
	ck_assert_int_eq(state_of(900), ATTACH_READY);
	shell("printf '\\n0: 00000002 00000000 00010000 0001 01 79 /x/tmp/.java_pid900\\n' >> "
	      "%s/900/net/unix", dir);
	ck_assert_int_eq(state_of(900), ATTACH_LISTENING);
	shell("cd %s/900/root/tmp && rm .java_pid900 && mkfifo .java_pid900", dir);
	ck_assert_int_eq(state_of(900), ATTACH_READY);
}
END_TEST

START_TEST(error_says_what_a_wrong_pid_is)
{
	static const struct {
		pid_t pid;
		const char *text;
	} wrong[] = {
		{ 300, "not a JVM: it is 'sleep'" },
		{ 400, "not a JVM: it is 'java'" },
		{ 4711, "no such process: 4711; jtool list shows the JVMs" },
		{ 101, "101 is a thread of process 100" },
		/* a process that exits after its status was read */
		{ 200, "process 200 (java) has exited" },
		{ 500, "cannot read the mappings of process 500 (java): Is a directory" },
	};
	struct err err = { .code = EXIT_DONE };

	shell("cp -R %s/100 %s/101", dir, dir);
	shell("cd %s && rm 200/maps 500/maps && mkdir 500/maps", dir);
	ck_assert_ptr_null(discover_pid(&proc, wrong[_i].pid, &err));
	ck_assert_int_eq(err.code, EXIT_TARGET);
	ck_assert_msg(strstr(err.text, wrong[_i].text) != NULL, "%s", err.text);
}
END_TEST

static const struct {
	const char *file, *gc;
	int64_t max_mb;
} heaps[] = {
	{ "jdk8-serial", "Serial", 64 },      { "jdk8-parallel", "Parallel", 64 },
	{ "jdk8-g1", "G1", 64 },              { "jdk8-cms", "CMS", 64 },
	{ "jdk11-cms", "CMS", 64 },           { "jdk11-epsilon", "Epsilon", 64 },
	{ "jdk11-zgc", "ZGC", 256 },          { "jdk17-shenandoah", "Shenandoah", 64 },
	{ "jdk17-zgc", "ZGC", 64 },           { "jdk21-g1", "G1", 64 },
	{ "jdk25-zgc", "ZGC", 64 },           { "jdk25-parallel", "Parallel", 64 },
	{ "jdk27-serial", "Serial", 64 },     { "jdk27-shenandoah", "Shenandoah", 64 },
	{ "jdk27-epsilon", "Epsilon", 64 },
};

START_TEST(collector_is_identified_by_its_counters)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	_cleanup_free_ char *path = xasprintf("perfdata/%s", heaps[_i].file);
	const struct cmdline cmd = { 0 };
	struct perfdata perf;
	struct jvm *jvm = xcalloc(1, sizeof(*jvm));

	read_data(path, &bytes);
	ck_assert_int_eq(perfdata_parse(&bytes, &perf), 0);
	identify_perfdata(jvm, &perf, &cmd);
	ck_assert_str_eq(jvm->gc, heaps[_i].gc);
	ck_assert_int_eq(jvm->heap_max, heaps[_i].max_mb << 20);
	ck_assert_int_ge(jvm->heap_used, 8 << 20);
	ck_assert_int_le(jvm->heap_used, jvm->heap_max);
	perfdata_release(&perf);
	jvm_free(jvm);
}
END_TEST

/* The name of a counter, and its length, in a struct perf_entry. */
#define NAME(text) .name = (text), .name_len = sizeof(text) - 1

static const struct {
	const char *version, *policy;
	bool lags;
} edens[] = {
	{ "1.8.0_392", "ParScav:MSC", false }, { "17.0.15", "Copy:MSC", false },
	{ "24.0.1", "Copy:MSC", false },       { "25", "ParScav:MSC", true },
	{ "27.0.1", "Copy:MSC", true },	       { "17.0.15", "GarbageFirst", true },
	{ "", "Copy:MSC", true },
};

START_TEST(all_of_eden_counts_if_its_counter_lags)
{
	char version[16], policy[16];
	struct perf_entry entries[] = {
		{ NAME("java.property.java.version"), .text = version },
		{ NAME("sun.gc.policy.name"), .text = policy },
		{ NAME("sun.gc.generation.0.space.0.capacity"), .number = 1000 },
		{ NAME("sun.gc.generation.0.space.0.used"), .number = 10 },
		{ NAME("sun.gc.generation.1.space.0.capacity"), .number = 5000 },
		{ NAME("sun.gc.generation.1.space.0.used"), .number = 200 },
	};
	const struct perfdata perf = { .entries = entries, .n = ARRAY_SIZE(entries) };
	const struct cmdline cmd = { 0 };
	struct jvm *jvm = xcalloc(1, sizeof(*jvm));

	(void)strlcpy(version, edens[_i].version, sizeof(version));
	(void)strlcpy(policy, edens[_i].policy, sizeof(policy));
	identify_perfdata(jvm, &perf, &cmd);
	ck_assert_int_eq(jvm->heap_used, 210);
	ck_assert_int_eq(jvm->heap_bound, edens[_i].lags ? 1200 : 210);
	jvm_free(jvm);
}
END_TEST

/* Identifies a JVM from the command in hsperfdata and the command line; the caller frees it. */
static struct jvm *identified(const char *command, const char *words, size_t len)
{
	char text[2048];
	struct perf_entry entry = { NAME("sun.rt.javaCommand"), .text = text };
	const struct perfdata perf = { .entries = &entry, .n = 1 };
	struct cmdline cmd;
	struct jvm *jvm = xcalloc(1, sizeof(*jvm));

	(void)strlcpy(text, command, sizeof(text));
	cmdline_parse(words, len, &cmd);
	identify_perfdata(jvm, &perf, &cmd);
	cmdline_release(&cmd);
	return jvm;
}

START_TEST(truncated_command_is_completed_from_the_command_line)
{
	static const char with_space[] = "java\0-jar\0/opt/my app.jar\0a";
	char words[2048] = "java\0Main\0", cut[1025] = "Main ";
	struct jvm *jvm = identified("/opt/my app.jar a", with_space, sizeof(with_space));

	ck_assert_str_eq(jvm->main, "/opt/my app.jar");
	ck_assert_str_eq(jvm->args, "a");
	jvm_free(jvm);
	jvm = identified("real.Main x y", with_space, sizeof(with_space)); /* read from an @file */
	ck_assert_str_eq(jvm->main, "real.Main");
	ck_assert_str_eq(jvm->args, "x y");
	jvm_free(jvm);
	jvm = identified("/opt/my", with_space, sizeof(with_space));
	ck_assert_str_eq(jvm->main, "/opt/my");
	ck_assert_ptr_null(jvm->args);
	jvm_free(jvm);
	memset(words + 10, 'x', 2000);
	memset(cut + 5, 'x', 1019);
	jvm = identified(cut, words, 2011);
	ck_assert_uint_eq(strlen(jvm->args), 2000);
	jvm_free(jvm);
	words[500] = 'y';
	jvm = identified(cut, words, 2011);
	ck_assert_uint_eq(strlen(jvm->args), 1019);
	jvm_free(jvm);
}
END_TEST

START_TEST(collector_is_identified_by_its_threads)
{
	static const struct {
		const char *names[5], *flags, *gc;
	} jvms[] = {
		{ { "java", "VM Thread" }, "", "Serial" },
		{ { "java" }, "", NULL },
		{ { "java", "VM Thread" }, "-XX:+UseEpsilonGC", "Epsilon" },
		{ { "java", "GC task thread#", "VM Thread" }, "", "Parallel" },
		{ { "java", "GC Thread#0", "GC Thread#1", "VM Thread" }, "", "Parallel" },
		{ { "GC Thread#0", "G1 Main Marker", "G1 Conc#0", "VM Thread" }, "", "G1" },
		{ { "Gang worker#0 (", "G1 Main Concurr", "Gang worker#0 (" }, "", "G1" },
		{ { "GC Thread#0", "CMS Main Thread" }, "", "CMS" },
		{ { "Gang worker#0 (", "Concurrent Mark" }, "", "CMS" },
		{ { "XWorker#0", "XDriver", "XDirector", "XStat" }, "", "ZGC" },
		{ { "ZDriverMinor", "ZDriverMajor", "ZDirector" }, "", "ZGC" },
		{ { "Shenandoah GC T", "Shenandoah Cont" }, "", "Shenandoah" },
		{ { "ShenWorker#0", "ShenControl" }, "", "Shenandoah" },
		{ { "java", "VM Thread", "G1 of my app" }, "", "Serial" },
		{ { NULL }, "-XX:+UseG1GC -Xmx3g", "G1" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(jvms); i++) {
		struct gc_clues clues = { NULL, false };
		_cleanup_free_ char *flags = xstrdup(jvms[i].flags);
		const struct cmdline cmd = { .flags = flags };
		struct jvm *jvm = xcalloc(1, sizeof(*jvm));
		const char *const *name = jvms[i].names;

		while (*name && identify_thread(&clues, *name))
			name++;
		identify_cmdline(jvm, &cmd, NULL, 0, &clues);
		ck_assert_pstr_eq(jvm->gc, jvms[i].gc);
		ck_assert_int_eq(jvm->heap_max, strstr(flags, "-Xmx3g") ? 3LL << 30 : -1);
		jvm_free(jvm);
	}
}
END_TEST

START_TEST(maximum_of_the_heap_follows_from_flags)
{
	static const struct {
		const char *version, *flags, *env;
		int64_t max;
	} jvms[] = {
		{ "17.0.1", "-Xmx3g", "JDK_JAVA_OPTIONS=-Xmx1g", 3LL << 30 },
		{ "17.0.1", "-XX:MaxHeapSize=3G", "A=b", 3LL << 30 },
		{ "17.0.1", "-XX:MaxHeapSize=4096", "A=b", 4096 },
		{ "17.0.1", "-Xmx3g -XX:MaxHeapSize=4096", "A=b", 4096 },
		{ "17.0.1", "-XX:MaxHeapSize=4096 -Xmx3g", "A=b", 3LL << 30 },
		{ "17.0.1", NULL, "JDK_JAVA_OPTIONS=-Xmx1g", 1LL << 30 },
		{ NULL, NULL, "JDK_JAVA_OPTIONS=-Xmx1g", 1LL << 30 },
		{ "1.8.0_402", NULL, "JDK_JAVA_OPTIONS=-Xmx1g", -1 },
		{ "1.8.0_402", NULL, "JAVA_TOOL_OPTIONS=-Xmx1g", 1LL << 30 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(jvms); i++) {
		const struct cmdline cmd = { .flags = (char *)(uintptr_t)jvms[i].flags };
		const struct gc_clues clues = { NULL, false };
		struct jvm *jvm = xcalloc(1, sizeof(*jvm));

		jvm->version = jvms[i].version ? xstrdup(jvms[i].version) : NULL;
		identify_cmdline(jvm, &cmd, jvms[i].env, strlen(jvms[i].env), &clues);
		ck_assert_int_eq(jvm->heap_max, jvms[i].max);
		jvm_free(jvm);
	}
}
END_TEST

START_TEST(container_ids_are_parsed_from_cgroups)
{
	static const struct {
		const char *cgroup, *id;
	} cases[] = {
		{ "", NULL },
		{ "0::/\n", NULL },
		{ "nonsense\n:\n::\n", NULL },
		{ "0::/user.slice/user-1000.slice/session-2.scope\n", NULL },
		{ "0::/system.slice/tomcat.service\n", NULL },
		{ "4:memory:/api/0be0820c843d972562e55f5e29397019\n", NULL },
		{ "12:cpu:/\n11:memory:/docker/" DOCKER_ID "\n", DOCKER_ID },
		{ "0::/system.slice/docker-" DOCKER_ID ".scope", DOCKER_ID },
		{ "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/"
		  "cri-containerd-" DOCKER_ID ".scope\n", DOCKER_ID },
		{ "0::/kubepods/besteffort/pod8e/" DOCKER_ID "\n", DOCKER_ID },
		{ "0::/kubepods.slice/crio-" DOCKER_ID ".scope/container\n", DOCKER_ID },
		{ "0::/machine.slice/libpod-" DOCKER_ID ".scope/container\n", DOCKER_ID },
		{ "0::/../" DOCKER_ID "\n", DOCKER_ID },
		{ "0::/docker/" DOCKER_ID "0\n", NULL },
		{ "0::/lxc.payload.web-1/init.scope\n", "web-1" },
		{ "0::/lxc/web/system.slice/a.service\n", "web" },
		{ "0::/machine.slice/machine-my\\x2dbox.scope/payload\n", "my-box" },
		{ "0::/machine.slice/systemd-nspawn@box.service/payload\n", "box" },
		{ "0::/lxc.payload.vm/docker/" DOCKER_ID "\n", DOCKER_ID },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *id = container_id(cases[i].cgroup);

		ck_assert_msg(id ? cases[i].id && strcmp(id, cases[i].id) == 0 : !cases[i].id,
			      "%s: %s", cases[i].cgroup, id ? id : "none");
	}
}
END_TEST

#define POD_UID "6c2d1f3e-0b5a-4f7d-9e8c-1a2b3c4d5e6f"
#define POD_SLICE "6c2d1f3e_0b5a_4f7d_9e8c_1a2b3c4d5e6f.slice"
#define STATIC_UID "0be0820c843d972562e55f5e29397019"

START_TEST(pod_uids_are_parsed_from_cgroups)
{
	static const struct {
		const char *cgroup, *uid;
	} cases[] = {
		{ "", NULL },
		{ "0::/\n", NULL },
		{ "nonsense\n:\n::\n", NULL },
		{ "0::/docker/" DOCKER_ID "\n", NULL },
		{ "4:memory:/kubepods/besteffort/pod" POD_UID "/" DOCKER_ID "\n",
		  POD_UID },
		{ "1:x:/\n0::/kubepods/pod" POD_UID "/" DOCKER_ID, POD_UID },
		{ "0::/kubepods.slice/kubepods-pod" POD_SLICE "/crio-" DOCKER_ID ".scope",
		  POD_UID },
		{ "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_SLICE
		  "/cri-containerd-" DOCKER_ID ".scope\n", POD_UID },
		{ "0::/../../kubepods-besteffort-pod" POD_SLICE "/cri-containerd-" DOCKER_ID
		  ".scope", POD_UID },
		{ "0::/kubelet.slice/kubelet-kubepods.slice/kubepods-burstable-pod" STATIC_UID
		  ".slice/x", STATIC_UID },
		{ "0::/machine.slice/machine-libpod_pod_" DOCKER_ID ".slice/x", NULL },
		{ "0::/kubepods/pod6c2d1f3e/x\n", NULL },
		{ "0::/podium/pods/pod\n", NULL },
		{ "0::/kubepods/pod6C2D1F3E-0B5A-4F7D-9E8C-1A2B3C4D5E6F\n", NULL },
		{ "0::/kubepods/pod6c2d1f3e0b5a-4f7d-9e8c-1a2b3c4d5e6f\"\n", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *uid = container_pod_uid(cases[i].cgroup);

		ck_assert_msg(uid ? cases[i].uid && strcmp(uid, cases[i].uid) == 0 : !cases[i].uid,
			      "%s: %s", cases[i].cgroup, uid ? uid : "none");
	}
}
END_TEST

#define OTHER_ID "1111111111111111111111111111111111111111111111111111111111111111"

START_TEST(container_of_a_pod_is_below_the_pod)
{
	static const struct {
		const char *cgroup, *id;
	} cases[] = {
		{ "", NULL },
		{ "0::/docker/" DOCKER_ID "\n", NULL },
		{ "4:memory:/kubepods/besteffort/pod" POD_UID "/" DOCKER_ID "\n", DOCKER_ID },
		{ "1:x:/\n0::/../../pod" POD_UID "/" DOCKER_ID, DOCKER_ID },
		{ "0::/kubepods.slice/kubepods-pod" POD_SLICE "/crio-" DOCKER_ID ".scope\n",
		  DOCKER_ID },
		{ "0::/kubepods/pod" POD_UID "/" DOCKER_ID "/docker/" OTHER_ID, DOCKER_ID },
		{ "0::/kubepods/pod" POD_UID "/" DOCKER_ID "/pod" POD_UID "/" OTHER_ID,
		  DOCKER_ID },
		{ "0::/kubepods/pod" POD_UID "/x/" DOCKER_ID, NULL },
		{ "0::/kubepods/pod" POD_UID, NULL },
		{ "0::/user.slice/user-1.slice/kubepods-pod" POD_SLICE "/a-" DOCKER_ID ".scope",
		  NULL },
		{ "0::/user.slice/user-1.slice/" DOCKER_ID ".scope", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *id = container_of_pod(cases[i].cgroup);

		ck_assert_msg(id ? cases[i].id && strcmp(id, cases[i].id) == 0 : !cases[i].id,
			      "%s: %s", cases[i].cgroup, id ? id : "none");
	}
}
END_TEST

START_TEST(command_lines_are_split_into_main_args_and_flags)
{
	static const struct {
		const char words[80];
		const char *main, *args, *flags;
	} lines[] = {
		{ "java\0Main", "Main", NULL, NULL },
		{ "java\0-version", NULL, NULL, "-version" },
		{ "/x/java\0-Xmx1g\0-cp\0a:b\0p.Main\0-cp\0z", "p.Main", "-cp z", "-Xmx1g" },
		{ "java\0-classpath\0a\0--class-path=b\0@args\0Main\0@x", "Main", "@x", NULL },
		{ "java\0-p\0m\0--module\0a/b.C", "a/b.C", NULL, "--module-path=m" },
		{ "java\0--module=a/b.C\0x", "a/b.C", "x", NULL },
		{ "java\0--add-modules\0ALL\0-jar\0x.jar", "x.jar", NULL, "--add-modules=ALL" },
		{ "java\0-cp", NULL, NULL, NULL },
		{ "java\0-jar", NULL, NULL, NULL },
		{ "jsvc.exec\0-java-home\0/x", "jsvc.exec", "-java-home /x", NULL },
		{ "", "", NULL, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct cmdline c;
		size_t len = sizeof(lines[i].words);

		while (len > 1 && lines[i].words[len - 2] == '\0')
			len--;
		cmdline_parse(lines[i].words, len, &c);
		ck_assert_pstr_eq(c.main, lines[i].main);
		ck_assert_pstr_eq(c.args, lines[i].args);
		ck_assert_pstr_eq(c.flags, lines[i].flags);
		cmdline_release(&c);
		for (; len > 0; len--) {
			_cleanup_free_ char *cut = xmalloc(len);

			memcpy(cut, lines[i].words, len);
			cmdline_parse(cut, len, &c);
			cmdline_release(&c);
		}
	}
}
END_TEST

START_TEST(last_flag_wins)
{
	_cleanup_free_ char *tmp = flags_value("-Xtmp=/a -Xtmp=/b", "-Xtmp=");

	ck_assert_str_eq(tmp, "/b");
	ck_assert_ptr_null(flags_value(NULL, "-X"));
	ck_assert(flags_is_on("-XX:+A", "A"));
	ck_assert(!flags_is_on("-XX:+A -XX:-A", "A"));
	ck_assert(flags_is_on("-XX:-A  -XX:+A -XX:+AB", "A"));
	ck_assert(!flags_is_on("-XX:+AB", "A"));
	ck_assert(!flags_is_on(NULL, "A"));
}
END_TEST

static struct jvm *new_jvm(pid_t pid, const char *main)
{
	struct jvm *jvm = xcalloc(1, sizeof(*jvm));

	jvm->pid = pid;
	jvm->main = main ? xstrdup(main) : NULL;
	return jvm;
}

START_TEST(ambiguous_names_match_no_jvm)
{
	static const struct {
		const char *spec;
		pid_t pid;         /* 0: no JVM is chosen */
		int n_candidates;
	} specs[] = {
		{ "org.acme.Shop", 0, 2 },   { "Shop", 0, 2 },      { "acme.Shop", 0, 2 },
		{ "ShopAdmin", 2, 0 },       { "shop.jar", 3, 0 },  { "/srv/shop.jar", 3, 0 },
		{ "srv", 3, 0 },             { "acme", 0, 2 },      { "nosuch", 0, 5 },
		{ "evil", 4, 0 },
	};
	struct jvm *jvms[] = {
		new_jvm(1, "org.acme.Shop"),   new_jvm(2, "org.acme.ShopAdmin"),
		new_jvm(3, "/srv/shop.jar"),   new_jvm(4, "evil\n\033[2J"),
		new_jvm(5, NULL),
	};
	struct jvm_list list = { jvms, ARRAY_SIZE(jvms) };

	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		struct err err = { .code = EXIT_DONE };
		char text[512] = "";
		FILE *out = fmemopen(text, sizeof(text), "w");
		struct jvm *jvm = resolve_among(&list, specs[i].spec, out, &err);
		int lines = 0;

		ck_assert_int_eq(fclose(out), 0);
		for (const char *p = text; *p; p++) {
			lines += *p == '\n';
			ck_assert_int_ne(*p, '\033');
		}
		ck_assert_int_eq(lines, specs[i].n_candidates);
		ck_assert_int_eq(err.code, specs[i].pid ? EXIT_DONE : EXIT_TARGET);
		ck_assert_int_eq(jvm ? jvm->pid : 0, specs[i].pid);
		if (jvm) {
			ck_assert_ptr_null(jvms[jvm->pid - 1]);
			jvms[jvm->pid - 1] = jvm;
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(jvms); i++)
		jvm_free(jvms[i]);
}
END_TEST

START_TEST(feature_release_is_parsed_from_the_version)
{
	static const struct {
		const char *version;
		int feature;
	} versions[] = { { "1.8.0_392", 8 }, { "17.0.15", 17 }, { "27-ea", 27 }, { "x", 0 },
			 { "99999999999999", 999999 } };

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		char version[32];
		struct jvm jvm = { .version = version };

		(void)strlcpy(version, versions[i].version, sizeof(version));
		ck_assert_int_eq(jvm_feature(&jvm), versions[i].feature);
	}
}
END_TEST

START_TEST(proc_without_processes_is_an_error)
{
	struct jvm_list list;
	struct err err = { .code = EXIT_DONE };

	shell("rm -rf %s/*", dir);
	ck_assert_int_eq(discover_all(&proc, false, NULL, &list, &err), -1);
	ck_assert_int_eq(err.code, EXIT_PERMISSION);
	err.code = EXIT_DONE;
	ck_assert_ptr_null(discover_pid(&proc, 100, &err));
	ck_assert_int_eq(err.code, EXIT_PERMISSION);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("discover");
	TCase *tree = tcase_create("discover/proc"), *texts = tcase_create("discover/parsing");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tree);
	tcase_add_checked_fixture(tree, setup, teardown);
	tcase_add_test(tree, only_jvms_are_listed);
	tcase_add_test(tree, files_of_hung_processes_are_not_read);
	tcase_add_test(tree, proc_without_processes_is_an_error);
	tcase_add_test(tree, jvm_in_a_container_is_described_from_outside);
	tcase_add_test(tree, start_of_a_large_hsperfdata_is_read);
	tcase_add_loop_test(tree, hostile_hsperfdata_is_ignored, 0, 10);
	tcase_add_test(tree, hsperfdata_that_is_not_mapped_is_ignored);
	tcase_add_test(tree, deleted_hsperfdata_is_read_through_map_files);
	tcase_add_test(tree, command_line_replaces_missing_hsperfdata);
	tcase_add_test(tree, attach_state_follows_the_state_of_the_process);
	tcase_add_test(tree, attach_socket_counts_only_with_a_listener);
	tcase_add_loop_test(tree, error_says_what_a_wrong_pid_is, 0, 6);
	suite_add_tcase(s, texts);
	tcase_add_loop_test(texts, collector_is_identified_by_its_counters, 0,
			    (int)ARRAY_SIZE(heaps));
	tcase_add_loop_test(texts, all_of_eden_counts_if_its_counter_lags, 0,
			    (int)ARRAY_SIZE(edens));
	tcase_add_test(texts, truncated_command_is_completed_from_the_command_line);
	tcase_add_test(texts, collector_is_identified_by_its_threads);
	tcase_add_test(texts, maximum_of_the_heap_follows_from_flags);
	tcase_add_test(texts, container_ids_are_parsed_from_cgroups);
	tcase_add_test(texts, pod_uids_are_parsed_from_cgroups);
	tcase_add_test(texts, container_of_a_pod_is_below_the_pod);
	tcase_add_test(texts, command_lines_are_split_into_main_args_and_flags);
	tcase_add_test(texts, last_flag_wins);
	tcase_add_test(texts, ambiguous_names_match_no_jvm);
	tcase_add_test(texts, feature_release_is_parsed_from_the_version);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
