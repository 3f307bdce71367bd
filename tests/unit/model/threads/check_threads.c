/* Thread dumps of every JDK: rows, owners of locks, threads that wait for others, deadlocks. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/strview.h"
#include "base/xalloc.h"
#include "model/threads/virtual_dump.h"
#include "unit/support/data.h"

#define CUTS 1500 /* bytes: each cut parses the text again */

static const int jdks[] = { 8, 11, 17, 21, 25, 27 };
static const int virtual_jdks[] = { 21, 25, 27 };
static const int nameless_jdks[] = { 17, 21 };

static struct thread_dump dump;
static struct buf text = BUF_INIT;

static void parse(const char *lines)
{
	thread_dump_release(&dump);
	thread_dump_parse(&dump, lines, strlen(lines));
	thread_dump_link(&dump);
}

static void parse_file(const char *kind, int jdk)
{
	_cleanup_free_ char *path = xasprintf("threads/%sjdk%d", kind, jdk);

	buf_reset(&text);
	read_data(path, &text);
	parse(buf_str(&text));
}

/* Parses the recorded `threaddump -le` of tests/live/victim/Locks.java with all its deadlocks. */
static void parse_recorded(int jdk)
{
	parse_file("", jdk);
}

static void teardown(void)
{
	thread_dump_release(&dump);
	buf_release(&text);
}

static const struct dump_thread *find(const char *name)
{
	for (size_t i = 0; i < dump.n; i++) {
		if (strcmp(dump.threads[i].name, name) == 0)
			return &dump.threads[i];
	}
	ck_abort_msg("there is no thread %s", name);
	return NULL;
}

static void assert_waits(const char *name, const char *state, enum thread_wait wait,
			 const char *class, const char *owner)
{
	const struct dump_thread *t = find(name);

	ck_assert_msg(strcmp(t->state, state) == 0, "%s: %s", name, t->state);
	ck_assert_msg(t->wait == wait, "%s", name);
	if (class)
		ck_assert_str_eq(t->waits_for.class, class);
	if (owner)
		ck_assert_str_eq(dump.threads[t->owner].name, owner);
	else
		ck_assert_msg(t->owner == NO_THREAD, "%s", name);
}

START_TEST(threads_of_each_jdk)
{
	static const char sync[] = "java.util.concurrent.locks.ReentrantLock$NonfairSync";
	int jdk = jdks[_i];

	parse_recorded(jdk);
	ck_assert(dump.complete);
	ck_assert(dump.has_synchronizers);
	assert_waits("spinner", "RUNNABLE", THREAD_WAITS_NOT, NULL, NULL);
	assert_waits("sleeper \"quoted\"", "TIMED_WAITING", THREAD_WAITS_NOT, NULL, NULL);
	assert_waits("waiter", "WAITING", THREAD_WAITS_FOR_NOTIFY, "java.lang.Object", NULL);
	assert_waits("parker", "WAITING", THREAD_WAITS_NOT, NULL, NULL);
	assert_waits("blocked-0", "BLOCKED", THREAD_WAITS_FOR_MONITOR, "java.lang.Object", "owner");
	assert_waits("queued", "WAITING", THREAD_WAITS_PARKED, sync, "owner");
	ck_assert_uint_eq(find("owner")->n_waiting, 4);
	ck_assert_uint_eq(find("owner")->n_holds, 2);
	ck_assert_uint_eq(find("waiter")->n_holds, 0); /* Object.wait() releases the monitor */
	ck_assert_str_eq(find("spinner")->frames[0], "Locks.spin(Locks.java:68)");
	ck_assert_str_eq(find("parker")->frames[0],
			 jdk == 8 ? "sun.misc.Unsafe.park(Native Method)" :
				    "jdk.internal.misc.Unsafe.park(Native Method)");
	ck_assert_int_gt(find("spinner")->tid, 1000);
	ck_assert_int_gt(find("spinner")->id, 7);
	ck_assert(find("spinner")->daemon);
	ck_assert(!find("main")->daemon);
	ck_assert_int_eq(find("VM Thread")->id, -1);
	ck_assert_str_eq(find("VM Thread")->state, "runnable");
	if (jdk >= 11) {
		ck_assert_double_gt(find("spinner")->cpu_s, 0.1);
		ck_assert_int_ge(find("main")->allocated, 100 * 1024);
	} else {
		ck_assert_double_lt(find("spinner")->cpu_s, 0);
		ck_assert_int_eq(find("main")->allocated, -1);
	}
}
END_TEST

START_TEST(deadlocks_of_each_jdk)
{
	static const char *const rings[][4] = {
		{ "monitors-0", "monitors-1" },
		{ "locks-0", "locks-1" },
		{ "mixed-0", "mixed-1" },
		{ "three-0", "three-1", "three-2" },
	};

	parse_recorded(jdks[_i]);
	ck_assert_uint_eq(dump.n_rings, ARRAY_SIZE(rings));
	for (size_t i = 0; i < ARRAY_SIZE(rings); i++) {
		size_t ring = find(rings[i][0])->ring;

		ck_assert_uint_gt(ring, 0);
		for (size_t k = 0; k < 4 && rings[i][k]; k++)
			ck_assert_uint_eq(find(rings[i][k])->ring, ring);
	}
	ck_assert_uint_eq(find("owner")->ring, 0);
	ck_assert_uint_eq(find("blocked-1")->ring, 0);
}
END_TEST

/* Without -l, the JVM's report is the only source for java.util.concurrent locks. */
START_TEST(deadlocks_without_synchronizers)
{
	_cleanup_buf_ struct buf without = BUF_INIT;
	struct strview rest, line;
	bool list = false;

	parse_recorded(jdks[_i]);
	rest = (struct strview){ text.data, text.data + text.len };
	while (strview_line(&rest, &line)) {
		if (strncmp(line.at, "   Locked ownable", 17) == 0)
			list = true;
		else if (*line.at == '"')
			list = false;
		if (!list || strncmp(line.at, "\t- <", 4) != 0)
			buf_addf(&without, "%.*s\n", (int)strview_len(line), line.at);
	}
	parse(buf_str(&without));
	ck_assert_uint_eq(dump.n_rings, 4);
	ck_assert_uint_eq(find("locks-0")->ring, find("locks-1")->ring);
	assert_waits("locks-0", "WAITING", THREAD_WAITS_PARKED, NULL, "locks-1");
	assert_waits("queued", "WAITING", THREAD_WAITS_PARKED, NULL, NULL);
}
END_TEST

/* A truncated dump does not have more threads than the complete one, and is not `complete`. */
START_TEST(truncated_dumps)
{
	parse_recorded(jdks[_i]);
	for (size_t len = text.len > CUTS ? text.len - CUTS : 0; len < text.len; len++) {
		struct thread_dump cut = { .n = 0 };
		char *copy = xstrndup(text.data, len);

		thread_dump_parse(&cut, copy, len);
		thread_dump_link(&cut);
		ck_assert_uint_le(cut.n, dump.n);
		thread_dump_release(&cut);
		free(copy);
	}
	for (size_t len = 0; len < CUTS; len++) {
		struct thread_dump cut = { .n = 0 };
		char *copy = xstrndup(text.data, len);

		thread_dump_parse(&cut, copy, len);
		thread_dump_link(&cut);
		ck_assert(!cut.complete);
		thread_dump_release(&cut);
		free(copy);
	}
}
END_TEST

START_TEST(names_contain_anything)
{
	parse("\"a \"b\" nid=1\" #3 prio=5 tid=0x1 nid=0x10 runnable\n"
	      "\n"
	      "\"two\n"
	      "lines\" #4 daemon prio=5 tid=0x2 nid=0x11 waiting on condition [0x7f55d05fe000]\n"
	      "   java.lang.Thread.State: WAITING (parking)\n"
	      "\n"
	      "JNI global references: 5\n");
	ck_assert_uint_eq(dump.n, 2);
	ck_assert_str_eq(dump.threads[0].name, "a \"b\" nid=1");
	ck_assert_int_eq(dump.threads[0].tid, 16);
	ck_assert_str_eq(dump.threads[1].name, "two\nlines");
	ck_assert_int_eq(dump.threads[1].id, 4);
	ck_assert_str_eq(dump.threads[1].state, "WAITING");
}
END_TEST

START_TEST(virtual_threads_and_carriers)
{
	parse("\"ForkJoinPool-1-worker-1\" #31 [117] daemon prio=5 os_prio=0 cpu=1.50ms "
	      "elapsed=2.00s allocated=2M tid=0x1 nid=117 waiting on condition  [0x1]\n"
	      "   Carrying virtual thread #30\n"
	      "\tat jdk.internal.vm.Continuation.run(java.base@21.0.1/Continuation.java:248)\n"
	      "\n"
	      "   Mounted virtual thread \"v\" #30\n"
	      "\tat Main.run(Main.java:5)\n"
	      "\n");
	ck_assert_uint_eq(dump.n, 2);
	ck_assert_int_eq(dump.threads[0].carries, 30);
	ck_assert_int_eq(dump.threads[0].allocated, 2 << 20);
	ck_assert_double_eq_tol(dump.threads[0].cpu_s, 0.0015, 1e-9);
	ck_assert(dump.threads[1].virtual);
	ck_assert_str_eq(dump.threads[1].name, "v");
	ck_assert_int_eq(dump.threads[1].id, 30);
	ck_assert_str_eq(dump.threads[1].frames[0], "Main.run(Main.java:5)");
}
END_TEST

/* After Object.wait(), a thread that was notified waits for the monitor. */
START_TEST(notified_thread_waits_for_the_monitor)
{
	parse("\"a\" #1 tid=0x1 nid=0x1 in Object.wait() [0x1]\n"
	      "   java.lang.Thread.State: BLOCKED (on object monitor)\n"
	      "\tat java.lang.Object.wait(Native Method)\n"
	      "\t- waiting on <0x00000000fff719d8> (a java.lang.Object)\n"
	      "\t- locked <0x00000000fff719d8> (a java.lang.Object)\n"
	      "\n"
	      "\"b\" #2 tid=0x2 nid=0x2 runnable [0x1]\n"
	      "   java.lang.Thread.State: RUNNABLE\n"
	      "\tat A.b(A.java:1)\n"
	      "\t- locked <0x00000000fff719d8> (a java.lang.Object)\n"
	      "\t- eliminated <owner is scalar replaced> (a java.lang.Object)\n"
	      "\n");
	assert_waits("a", "BLOCKED", THREAD_WAITS_FOR_MONITOR, "java.lang.Object", "b");
	ck_assert_uint_eq(find("b")->n_holds, 1);
}
END_TEST

START_TEST(what_is_no_dump_has_no_threads)
{
	static const char *const texts[] = { "", "\n\n", "not a dump", "\"", "\"\"\n", "\"x\n\"y\n",
					     "\tat a.b(C.java:1)\n\t- locked <0x1> (a b)\n" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		parse(texts[i]);
		ck_assert_uint_eq(dump.n, 0);
		ck_assert(!dump.complete);
	}
}
END_TEST

START_TEST(nul_ends_a_text)
{
	static const char lines[] = "\"a\" #1 tid=0x1 nid=0x1 runnable\n"
				    "\tat A\0b(java.base/A.java:1)\n"
				    "\tat A.b(java\0base/A.java:1)\n\n";

	thread_dump_release(&dump);
	thread_dump_parse(&dump, lines, sizeof(lines) - 1);
	ck_assert_uint_eq(dump.n, 1);
	ck_assert_str_eq(dump.threads[0].frames[0], "A");
	ck_assert_str_eq(dump.threads[0].frames[1], "A.b(java");
}
END_TEST

/* A chain of 100,000 threads, each of which waits for the next, takes no stack and little time. */
START_TEST(long_chains_of_waiting_threads)
{
	_cleanup_buf_ struct buf chain = BUF_INIT;
	const unsigned n = 100000;

	for (unsigned i = 1; i <= n; i++)
		buf_addf(&chain,
			 "\"t%u\" #%u tid=0x1 nid=%u runnable\n\tat A.b(C)\n"
			 "\t- waiting to lock <0x%x> (a A)\n\t- locked <0x%x> (a A)\n",
			 i, i, i, i + 1, i);
	parse(buf_str(&chain));
	ck_assert_uint_eq(dump.n, n);
	ck_assert_uint_eq(dump.threads[n - 1].n_waiting, n - 1);
	ck_assert_uint_eq(dump.n_rings, 0);
}
END_TEST

/* A hostile report of deadlocks: a search of all threads for each pair of claims takes too long. */
START_TEST(long_reports_of_deadlocks)
{
	_cleanup_buf_ struct buf hostile = BUF_INIT;
	const unsigned n = 50000, half = 500;

	for (unsigned i = 0; i < n; i++)
		buf_adds(&hostile, "\"a\" #1 tid=0x1 nid=1 runnable\n");
	for (unsigned i = 1; i <= half; i++)
		buf_addf(&hostile, "\"t%u\" #1 tid=0x1 nid=1 runnable\n"
				   "\t- waiting to lock <0x%x> (a A)\n", i, i);
	buf_adds(&hostile, "JNI global refs: 1\n");
	for (unsigned i = 1; i <= half; i++)
		buf_addf(&hostile, "\"t%u\":\n  waiting to lock monitor 0x1 (object 0x%x, a A),\n"
				   "  which is held by \"x\"\n", i, i);
	for (unsigned i = 1; i <= half; i++)
		buf_adds(&hostile, "\"x\":\n  waiting to lock monitor 0x1 (object 0xffff, a A),\n");
	parse(buf_str(&hostile));
	ck_assert_uint_eq(dump.n, n + half);
	ck_assert_uint_eq(dump.n_claims, 2 * half);
	ck_assert_uint_eq(dump.n_rings, 0);
}
END_TEST

/* A comparison of each lock with all earlier ones takes longer than the test may. */
START_TEST(locks_of_one_thread_are_listed_once)
{
	_cleanup_buf_ struct buf locks = BUF_INIT;
	const unsigned n = 300000;

	buf_adds(&locks, "\"t\" #1 tid=0x1 nid=1 runnable\n\tat A.b(C)\n");
	for (unsigned i = 0; i < 2 * n; i++)
		buf_addf(&locks, "\t- locked <0x%x> (a A)\n", 1 + i % n);
	parse(buf_str(&locks));
	ck_assert_uint_eq(dump.n, 1);
	ck_assert_uint_eq(dump.threads[0].n_holds, n);
	for (unsigned i = 0; i < n; i++)
		ck_assert_uint_eq(dump.threads[0].holds[i].object, 1 + i);
}
END_TEST

/*
 * Carrier threads have neither nid= nor a state in a dump.  JDK 23 and later also list the virtual
 * threads that they run.
 */
START_TEST(carriers_of_each_jdk)
{
	int jdk = virtual_jdks[_i];
	const struct dump_thread *carrier = NULL, *mounted = NULL;

	parse_file("carriers-", jdk);
	for (size_t i = 0; i < dump.n; i++) {
		if (dump.threads[i].carries >= 0)
			carrier = &dump.threads[i];
		if (dump.threads[i].virtual)
			mounted = &dump.threads[i];
	}
	ck_assert_ptr_nonnull(carrier);
	ck_assert_int_eq(strncmp(carrier->name, "ForkJoinPool-1-worker-", 22), 0);
	ck_assert_int_gt(carrier->tid, 1000);
	ck_assert_str_eq(carrier->state, "RUNNABLE");
	ck_assert_str_eq(carrier->frames[0],
			 jdk == 25 ? "jdk.internal.vm.Continuation.run(Continuation.java:251)" :
				     "jdk.internal.vm.Continuation.run(Continuation.java:248)");
	ck_assert_uint_eq(dump.unknown.len, 0);
	if (jdk == 21)
		return;
	ck_assert_ptr_nonnull(mounted);
	ck_assert_int_eq(mounted->id, carrier->carries);
	ck_assert_int_eq(mounted->carrier, carrier->id);
	ck_assert_str_eq(mounted->frames[0], "Virt.spin(Virt.java:7)");
}
END_TEST

START_TEST(every_line_of_each_jdk_is_known)
{
	parse_recorded(jdks[_i]);
	ck_assert_msg(dump.unknown.len == 0, "%s", buf_str(&dump.unknown));
}
END_TEST

/* The sampler of the flight recorder has a line without a name, which begins with os_prio=. */
START_TEST(nameless_thread_of_each_jdk)
{
	struct dump_thread *sampler;

	parse_file("sampler-", nameless_jdks[_i]);
	ck_assert_msg(dump.unknown.len == 0, "%s", buf_str(&dump.unknown));
	sampler = &dump.threads[find("VM Thread") - dump.threads - 1];
	if (nameless_jdks[_i] == 17)
		ck_assert_int_eq(sampler->tid, 0x1a47d5);
	else
		ck_assert_int_eq(sampler->tid, 1722672);
	ck_assert_int_eq(sampler->id, -1);
	ck_assert_str_eq(sampler->state, "runnable");
	ck_assert_double_gt(sampler->cpu_s, 0);
	ck_assert_str_eq(sampler->name, "");
	dump_thread_name(sampler, "JFR Thread Samp");
	dump_thread_name(sampler, "another");
	ck_assert_str_eq(sampler->name, "JFR Thread Samp");
}
END_TEST

/* No line is lost, and no thread gets the frames of another one. */
START_TEST(unknown_lines_are_kept)
{
	static const char unknown[] = "\"b\" of a form to come\n"
				      "   java.lang.Thread.State: RUNNABLE\n"
				      "\tat B.b(B.java:1)\n"
				      "something else\n"
				      "\t- dreams of <0x1> (a C)\n";
	_cleanup_free_ char *lines = xasprintf("\"a\" #1 tid=0x1 nid=0x1 runnable\n"
					       "\tat A.a(A.java:1)\n\n%.*s\n"
					       "something else\n"
					       "\"c\" #2 tid=0x1 nid=0x1 runnable\n"
					       "\t- dreams of <0x1> (a C)\n",
					       (int)(strstr(unknown, "something") - unknown),
					       unknown);

	parse(lines);
	ck_assert_uint_eq(dump.n, 2);
	ck_assert_uint_eq(dump.threads[0].n_frames, 1);
	ck_assert_str_eq(buf_str(&dump.unknown), unknown);
}
END_TEST

/* Only thread a is counted: a ReentrantLock has an owner, but a CountDownLatch has none. */
START_TEST(unowned_locks_are_counted)
{
	parse("\"a\" #1 tid=0x1 nid=0x1 waiting on condition [0x1]\n"
	      "\t- parking to wait for  <0x10> "
	      "(a java.util.concurrent.locks.ReentrantLock$FairSync)\n"
	      "\"b\" #2 tid=0x1 nid=0x2 waiting on condition [0x1]\n"
	      "\t- parking to wait for  <0x20> (a java.util.concurrent.CountDownLatch$Sync)\n"
	      "\n");
	ck_assert_uint_eq(thread_dump_count_unowned(&dump), 1);
	for (size_t i = 0; i < ARRAY_SIZE(jdks); i++) {
		parse_recorded(jdks[i]); /* with -l */
		ck_assert_uint_eq(thread_dump_count_unowned(&dump), 0);
	}
}
END_TEST

/* Parses the recorded Thread.dump_to_file and Thread.print of one JVM, and joins them. */
static void parse_virtual(int jdk)
{
	_cleanup_free_ char *json = xasprintf("threads/virtual-jdk%d.json", jdk);
	_cleanup_free_ char *path = xasprintf("threads/carriers-jdk%d", jdk);
	struct thread_dump print = { .n = 0 };

	thread_dump_release(&dump);
	buf_reset(&text);
	read_data(path, &text);
	thread_dump_parse(&print, buf_str(&text), text.len);
	buf_reset(&text);
	read_data(json, &text);
	virtual_dump_parse(&dump, buf_str(&text), text.len);
	virtual_dump_join(&dump, &print);
	thread_dump_link(&dump);
	thread_dump_release(&print);
}

START_TEST(virtual_threads_of_each_jdk)
{
	static const char sync[] = "java.util.concurrent.locks.ReentrantLock$NonfairSync";
	int jdk = virtual_jdks[_i];
	size_t n = 0;

	parse_virtual(jdk);
	ck_assert(dump.complete);
	for (size_t i = 0; i < dump.n; i++)
		n += dump.threads[i].virtual;
	ck_assert_uint_eq(n, 9);
	ck_assert(!find("main")->virtual);
	ck_assert_int_gt(find("main")->tid, 1000);
	ck_assert(find("vspin \"q\\")->virtual);
	ck_assert_str_eq(find("vowner")->state, "TIMED_WAITING");
	ck_assert_str_eq(find("vqueued")->state, "WAITING");
	ck_assert_str_eq(find("vqueued")->frames[0],
			 jdk == 21 ? "java.lang.VirtualThread.park(VirtualThread.java:596)" :
			 jdk == 25 ? "java.lang.VirtualThread.park(VirtualThread.java:745)" :
				     "java.lang.VirtualThread.park(VirtualThread.java:765)");
	if (jdk == 21) { /* vowner is pinned; only Thread.print has its carrier */
		ck_assert_int_eq(find("vowner")->carrier, find("ForkJoinPool-1-worker-1")->id);
		ck_assert_int_eq(find("vqueued")->carrier, -1);
		return;
	}
	ck_assert_int_gt(find("vspin \"q\\")->carrier, 20);
	ck_assert_str_eq(find("vspin \"q\\")->state, "RUNNABLE");
	assert_waits("vqueued", "WAITING", THREAD_WAITS_PARKED, sync, "vowner");
	assert_waits("vblocked", "BLOCKED", THREAD_WAITS_FOR_MONITOR, "java.lang.Object", "vowner");
	ck_assert_uint_eq(find("vowner")->n_waiting, 2);
}
END_TEST

START_TEST(truncated_virtual_dumps)
{
	_cleanup_free_ char *path = xasprintf("threads/virtual-jdk%d.json", virtual_jdks[_i]);
	_cleanup_buf_ struct buf whole = BUF_INIT;

	read_data(path, &whole);
	while (whole.len > 0 && whole.data[whole.len - 1] != '}')
		whole.len--;
	for (size_t len = 0; len < whole.len; len += len < CUTS ? 1 : 13) {
		char *cut = xcalloc(len + 1, 1);

		memcpy(cut, whole.data, len);
		thread_dump_release(&dump);
		virtual_dump_parse(&dump, cut, len);
		thread_dump_link(&dump);
		ck_assert(!dump.complete);
		free(cut);
	}
}
END_TEST

START_TEST(frames_of_hidden_classes_and_modules)
{
	static const char json[] =
		"{\"threadDump\":{\"threadContainers\":[{\"threads\":[{\"tid\":\"7\","
		"\"name\":\"\\u0041\\n\",\"stack\":[\"app//a.B.c(B.java:1)\","
		"\"l/m@1.0/a.B$$Lambda/0x00007f.run(Unknown Source)\",\"a.B.d(x/y.java:2)\","
		"3]}]}]}}";

	thread_dump_release(&dump);
	virtual_dump_parse(&dump, json, sizeof(json) - 1);
	ck_assert_uint_eq(dump.n, 1);
	ck_assert_str_eq(dump.threads[0].name, "A\n");
	ck_assert_int_eq(dump.threads[0].id, 7);
	ck_assert_uint_eq(dump.threads[0].n_frames, 3);
	ck_assert_str_eq(dump.threads[0].frames[0], "a.B.c(B.java:1)");
	ck_assert_str_eq(dump.threads[0].frames[1], "a.B$$Lambda/0x00007f.run(Unknown Source)");
	ck_assert_str_eq(dump.threads[0].frames[2], "a.B.d(x/y.java:2)");
}
END_TEST

#define HOLDS(id, lock) \
	"{\"tid\":" #id ",\"name\":\"t" #id "\",\"monitorsOwned\":[{\"locks\":[\"" lock "\"]}]}"
#define BLOCKED_ON(id, lock) \
	"{\"tid\":" #id ",\"name\":\"t" #id "\",\"blockedOn\":\"" lock "\"}"

static void parse_threads(const char *threads)
{
	_cleanup_free_ char *json =
		xasprintf("{\"threadDump\":{\"threadContainers\":[{\"threads\":[%s]}]}}", threads);

	thread_dump_release(&dump);
	virtual_dump_parse(&dump, json, strlen(json));
	thread_dump_link(&dump);
	ck_assert(dump.complete);
}

START_TEST(locks_of_two_classes_may_have_one_hash_code)
{
	static const char both[] = "{\"tid\":3,\"name\":\"t3\",\"blockedOn\":\"a.B@1f\","
				   "\"monitorsOwned\":[{\"locks\":[\"a.C@1f\"]}]}";
	_cleanup_free_ char *threads = xasprintf("%s,%s,%s,%s", HOLDS(1, "a.A@1f"),
						 HOLDS(2, "a.B@1f"), both, BLOCKED_ON(4, "a.C@1f"));

	parse_threads(threads);
	ck_assert_str_eq(dump.threads[find("t3")->owner].name, "t2");
	ck_assert_uint_eq(find("t3")->n_holds, 1);
	ck_assert_str_eq(dump.threads[find("t4")->owner].name, "t3");
	ck_assert_uint_eq(dump.n_rings, 0);
}
END_TEST

/* Two locks of one class have the same hash code: each of two threads holds one of them. */
START_TEST(owner_is_unknown_if_two_threads_hold_the_lock)
{
	parse_threads(HOLDS(1, "a.A@1f") "," HOLDS(2, "a.A@1f") "," BLOCKED_ON(3, "a.A@1f"));
	ck_assert_uint_eq(find("t3")->owner, NO_THREAD);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model/threads");
	TCase *tc = tcase_create("model/threads");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, threads_of_each_jdk, 0, ARRAY_SIZE(jdks));
	tcase_add_loop_test(tc, deadlocks_of_each_jdk, 0, ARRAY_SIZE(jdks));
	tcase_add_loop_test(tc, deadlocks_without_synchronizers, 0, ARRAY_SIZE(jdks));
	tcase_add_loop_test(tc, truncated_dumps, 0, ARRAY_SIZE(jdks));
	tcase_add_loop_test(tc, every_line_of_each_jdk_is_known, 0, ARRAY_SIZE(jdks));
	tcase_add_loop_test(tc, nameless_thread_of_each_jdk, 0, ARRAY_SIZE(nameless_jdks));
	tcase_add_loop_test(tc, carriers_of_each_jdk, 0, ARRAY_SIZE(virtual_jdks));
	tcase_add_loop_test(tc, virtual_threads_of_each_jdk, 0, ARRAY_SIZE(virtual_jdks));
	tcase_add_loop_test(tc, truncated_virtual_dumps, 0, ARRAY_SIZE(virtual_jdks));
	tcase_add_test(tc, frames_of_hidden_classes_and_modules);
	tcase_add_test(tc, locks_of_two_classes_may_have_one_hash_code);
	tcase_add_test(tc, owner_is_unknown_if_two_threads_hold_the_lock);
	tcase_add_test(tc, unknown_lines_are_kept);
	tcase_add_test(tc, unowned_locks_are_counted);
	tcase_add_test(tc, names_contain_anything);
	tcase_add_test(tc, virtual_threads_and_carriers);
	tcase_add_test(tc, notified_thread_waits_for_the_monitor);
	tcase_add_test(tc, what_is_no_dump_has_no_threads);
	tcase_add_test(tc, nul_ends_a_text);
	tcase_add_test(tc, long_chains_of_waiting_threads);
	tcase_add_test(tc, long_reports_of_deadlocks);
	tcase_add_test(tc, locks_of_one_thread_are_listed_once);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
