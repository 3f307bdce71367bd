/* Profiles of flight recordings: which events count, with which value, by which stack. */
#include <check.h>

#include "base/xalloc.h"
#include "model/jfr/profile/jfr_profile.h"
#include "render/profile/collapsed.h"
#include "unit/support/jfr_profile_writer.h"

static int read_bytes(struct buf *bytes, const struct jfr_profile_request *req, struct profile *p)
{
	struct jfr_reader *r = jfr_reader_new(w_read, bytes, bytes->len, 64u << 20);
	struct err err = { .code = EXIT_DONE };
	int rc = jfr_profile_read(r, req, p, &err);

	jfr_reader_free(r);
	return rc;
}

/* Reads the complete recording, and compares the stacks. */
static void read_profile(struct jfr_writer *w, const struct jfr_profile_request *req,
			 struct profile *p, const char *stacks)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	p_end(w);
	ck_assert_int_eq(read_bytes(&w->file, req, p), 0);
	call_tree_sum(&p->tree);
	collapsed_add(&out, &p->tree, 0);
	ck_assert_str_eq(buf_str(&out), stacks);
	w_release(w);
}

static void read_kind(struct jfr_writer *w, enum profile_kind kind, struct profile *p,
		      const char *stacks)
{
	const struct jfr_profile_request req = { .kind = kind };

	read_profile(w, &req, p, stacks);
}

START_TEST(execution_samples_count_one_each)
{
	struct jfr_writer w = { .major = 2 };
	struct profile p;

	p_begin(&w);
	P_EVENT(&w, P_EXECUTION, P_MAIN, P_PAY, P_RUNNABLE);
	P_EVENT(&w, P_EXECUTION, P_WORKER, P_PAY, P_RUNNABLE);
	P_EVENT(&w, P_EXECUTION, P_MAIN, P_TAX, P_RUNNABLE);
	P_EVENT(&w, P_NATIVE, P_MAIN, P_TAX, P_RUNNABLE);
	P_EVENT(&w, P_NATIVE, P_MAIN, P_POLL, P_RUNNABLE); /* waits */
	p_setting(&w, P_EXECUTION, "period", "20 ms");
	p_setting(&w, P_NATIVE, "period", "40 ms");
	p_setting(&w, P_EXECUTION, "enabled", "true");
	read_kind(&w, PROFILE_CPU, &p,
		  "a.b.Shop.main:12;a.b.Shop.pay:30 2\n"
		  "a.b.Shop.main:12;a.b.Shop.pay:31;a.b.Shop.tax:40 2\n");
	ck_assert_str_eq(p.source, "jdk.ExecutionSample");
	ck_assert_str_eq(p.tree.units[0], "samples");
	ck_assert_ptr_null(p.tree.units[1]);
	ck_assert_uint_eq(p.samples, 4);
	ck_assert_uint_eq(p.interval_ns, 20000000);
	ck_assert_int_eq(p.duration_ns, 2000000000);
	ck_assert_uint_eq(p.gaps[PROFILE_IDLE], 1);
	ck_assert_uint_eq(p.gaps[PROFILE_FEW_THREADS], 1);
	ck_assert_uint_eq(p.gaps[PROFILE_NO_NATIVE], 1);
	ck_assert_uint_eq(p.gaps[PROFILE_TRUNCATED], 0);
	profile_release(&p);
}
END_TEST

START_TEST(samples_of_sleeping_threads_are_only_in_wall)
{
	static const char both[] = "a.b.Shop.main:12;a.b.Shop.pay:30 2000000\n";

	for (int i = 0; i < 2; i++) {
		struct jfr_writer w = { .major = 2 };
		struct profile p;

		p_begin(&w);
		P_EVENT(&w, P_EXECUTION, P_MAIN, P_PAY, P_RUNNABLE);
		P_EVENT(&w, P_EXECUTION, P_MAIN, P_PAY, P_SLEEPING);
		p_setting(&w, P_EXECUTION, "interval", "1000000");
		read_kind(&w, i == 0 ? PROFILE_CPU : PROFILE_WALL, &p,
			  i == 0 ? "a.b.Shop.main:12;a.b.Shop.pay:30 1\n" : both);
		profile_release(&p);
	}
}
END_TEST

START_TEST(cpu_time_samples_replace_execution_samples)
{
	struct jfr_writer w = { .major = 2 };
	struct profile p;

	p_begin(&w);
	P_EVENT(&w, P_EXECUTION, P_MAIN, P_PAY, P_RUNNABLE);
	P_EVENT(&w, P_CPU_TIME, P_PAY, P_MAIN, false, 20000000, false);
	P_EVENT(&w, P_CPU_TIME, P_PAY, P_MAIN, false, 10000000, true);
	P_EVENT(&w, P_CPU_TIME, P_NO_STACK, P_MAIN, true, 10000000, false);
	P_EVENT(&w, P_CPU_LOST, 7, P_MAIN);
	P_EVENT(&w, P_CPU_LOST, 5, P_WORKER);
	P_EVENT(&w, P_DATA_LOSS, 4096);
	read_kind(&w, PROFILE_CPU, &p,
		  "(lost samples) 120000000\n"
		  "(unknown stack) 10000000\n"
		  "a.b.Shop.main:12;a.b.Shop.pay:30 30000000\n");
	ck_assert_str_eq(p.source, "jdk.CPUTimeSample");
	ck_assert_uint_eq(p.samples, 15);
	ck_assert_uint_eq(p.interval_ns, 10000000);
	ck_assert_uint_eq(p.gaps[PROFILE_FAILED], 1);
	ck_assert_uint_eq(p.gaps[PROFILE_BIASED], 1);
	ck_assert_uint_eq(p.gaps[PROFILE_LOST_SAMPLES], 12);
	ck_assert_uint_eq(p.gaps[PROFILE_LOST_BYTES], 4096);
	ck_assert_uint_eq(p.gaps[PROFILE_FEW_THREADS], 0);
	profile_release(&p);
}
END_TEST

START_TEST(lost_samples_count_for_their_thread)
{
	const struct jfr_profile_request req = { .kind = PROFILE_CPU, .by_thread = true };
	struct jfr_writer w = { .major = 2 };
	struct profile p;

	p_begin(&w);
	P_EVENT(&w, P_CPU_TIME, P_PAY, P_MAIN, false, 10000000, false);
	P_EVENT(&w, P_CPU_LOST, 2, P_MAIN);
	P_EVENT(&w, P_CPU_LOST, 3, P_WORKER);
	p_end(&w);
	p_begin(&w);
	P_EVENT(&w, P_CPU_LOST, 4, P_WORKER);
	P_EVENT(&w, P_CPU_LOST, -1, P_MAIN); /* less than 0 */
	read_profile(&w, &req, &p,
		     "[main];(lost samples) 20000000\n"
		     "[main];a.b.Shop.main:12;a.b.Shop.pay:30 10000000\n"
		     "[worker];(lost samples) 70000000\n");
	ck_assert_uint_eq(p.samples, 10);
	profile_release(&p);
}
END_TEST

START_TEST(lost_samples_of_cpu_time_concern_no_other_profile)
{
	struct jfr_writer w = { .major = 2 };
	struct profile p;

	p_begin(&w);
	P_EVENT(&w, P_EXECUTION, P_MAIN, P_PAY, P_RUNNABLE);
	P_EVENT(&w, P_CPU_LOST, 2, P_MAIN);
	read_kind(&w, PROFILE_CPU, &p, "a.b.Shop.main:12;a.b.Shop.pay:30 1\n");
	ck_assert_uint_eq(p.gaps[PROFILE_LOST_SAMPLES], 0);
	profile_release(&p);
}
END_TEST

START_TEST(profile_may_have_lost_samples_only)
{
	struct jfr_writer w = { .major = 2 };
	struct profile p;

	p_begin(&w);
	P_EVENT(&w, P_CPU_LOST, 2, P_MAIN);
	read_kind(&w, PROFILE_CPU, &p, "(lost samples) 40000000\n");
	ck_assert_str_eq(p.source, "jdk.CPUTimeSample");
	ck_assert_uint_eq(p.samples, 2);
	profile_release(&p);
}
END_TEST

START_TEST(threads_split_stacks_and_depth_cuts_them)
{
	const struct jfr_profile_request req = {
		.kind = PROFILE_CPU, .by_thread = true, .depth = 2,
	};
	struct jfr_writer w = { .major = 2 };
	struct profile p;

	p_begin(&w);
	P_EVENT(&w, P_EXECUTION, P_MAIN, P_PAY, P_RUNNABLE);
	P_EVENT(&w, P_EXECUTION, P_WORKER, P_PAY, P_RUNNABLE);
	P_EVENT(&w, P_EXECUTION, P_WORKER, P_TAX, P_RUNNABLE);
	P_EVENT(&w, P_EXECUTION, P_WORKER, P_CUT, P_RUNNABLE);
	P_EVENT(&w, P_EXECUTION, 0, P_PAY, P_RUNNABLE);
	read_profile(&w, &req, &p,
		     "[main];a.b.Shop.main:12;a.b.Shop.pay:30 1\n"
		     "[unknown thread];a.b.Shop.main:12;a.b.Shop.pay:30 1\n"
		     "[worker];(2 frames or more);a.b.Shop.pay:31;a.b.Shop.tax:40 2\n"
		     "[worker];a.b.Shop.main:12;a.b.Shop.pay:30 1\n");
	ck_assert_uint_eq(p.gaps[PROFILE_TRUNCATED], 1);
	profile_release(&p);
}
END_TEST

START_TEST(parks_count_as_locks_only_at_a_lock)
{
	struct jfr_writer w = { .major = 2 };
	struct profile p;

	p_begin(&w);
	P_EVENT(&w, P_ENTER, 300, P_MAIN, P_PAY, P_LOCK);
	P_EVENT(&w, P_ENTER, 30, P_MAIN, P_PAY, P_LOCK);
	P_EVENT(&w, P_ENTER, INT64_MAX, P_MAIN, P_PAY, P_LOCK); /* PROFILE_UNFINISHED */
	P_EVENT(&w, P_PARK, 5, P_MAIN, P_PAY, P_REENTRANT);
	P_EVENT(&w, P_PARK, 7000, P_MAIN, P_PAY, P_CONDITION);
	P_EVENT(&w, P_PARK, 7000, P_MAIN, P_PAY, 0);
	read_kind(&w, PROFILE_LOCK, &p,
		  "a.b.Shop.main:12;a.b.Shop.pay:30;a.b.Lock 330\n"
		  "a.b.Shop.main:12;a.b.Shop.pay:30;"
		  "java.util.concurrent.locks.ReentrantLock$NonfairSync 5\n");
	ck_assert(p.tree.ends_in_classes);
	ck_assert_uint_eq(p.samples, 4);
	ck_assert_uint_eq(p.gaps[PROFILE_IDLE], 2);
	ck_assert_uint_eq(p.gaps[PROFILE_UNFINISHED], 1);
	profile_release(&p);
}
END_TEST

START_TEST(allocations_come_from_samples_or_else_from_tlabs)
{
	static const char *const stacks[] = {
		"a.b.Shop.main:12;a.b.Shop.pay:30;a.b.Shop 3000\n",
		"a.b.Shop.main:12;a.b.Shop.pay:30;a.b.Shop 1024\n",
	};

	for (int i = 0; i < 2; i++) {
		struct jfr_writer w = { .major = 2 };
		struct profile p;

		p_begin(&w);
		P_EVENT(&w, P_TLAB, P_MAIN, P_PAY, P_SHOP, 1024);
		if (i == 0) {
			P_EVENT(&w, P_OBJECT, P_MAIN, P_PAY, P_SHOP, 1000);
			P_EVENT(&w, P_OBJECT, P_MAIN, P_PAY, P_SHOP, 2000);
		}
		read_kind(&w, PROFILE_ALLOC, &p, stacks[i]);
		ck_assert_str_eq(p.tree.units[0], "bytes");
		profile_release(&p);
	}
}
END_TEST

START_TEST(io_counts_time_by_path)
{
	struct jfr_writer w = { .major = 2 };
	struct profile p;

	p_begin(&w);
	p_read(&w, 10, P_PAY, "/a");
	p_read(&w, 20, P_PAY, "/a");
	p_read(&w, 40, P_PAY, "/b");
	p_read(&w, 80, P_PAY, "");
	read_kind(&w, PROFILE_IO, &p,
		  "a.b.Shop.main:12;a.b.Shop.pay:30;(unknown) 80\n"
		  "a.b.Shop.main:12;a.b.Shop.pay:30;/a 30\n"
		  "a.b.Shop.main:12;a.b.Shop.pay:30;/b 40\n");
	profile_release(&p);
}
END_TEST

START_TEST(exceptions_are_counted_where_they_are_created)
{
	struct jfr_writer w = { .major = 2 };
	struct profile p;

	p_begin(&w);
	P_EVENT(&w, P_THROW, 0, P_MAIN, P_NEW, P_BOOM);
	P_EVENT(&w, P_THROW, 0, P_MAIN, P_TAX, P_BOOM);
	read_kind(&w, PROFILE_EXCEPTIONS, &p,
		  "a.b.Shop.main:12;a.b.Shop.pay:30;a.b.Boom 1\n"
		  "a.b.Shop.main:12;a.b.Shop.pay:31;a.b.Shop.tax:40;a.b.Boom 1\n");
	profile_release(&p);
}
END_TEST

START_TEST(wall_adds_samples_and_waits)
{
	struct jfr_writer w = { .major = 2 };
	struct profile p;

	p_begin(&w);
	P_EVENT(&w, P_EXECUTION, P_MAIN, P_PAY, P_RUNNABLE);
	P_EVENT(&w, P_NATIVE, P_MAIN, P_POLL, P_RUNNABLE);
	P_EVENT(&w, P_SLEEP, 5000, P_MAIN, P_PAY);
	P_EVENT(&w, P_PARK, 700, P_MAIN, P_PAY, P_CONDITION);
	p_setting(&w, P_EXECUTION, "period", "10 ms");
	read_kind(&w, PROFILE_WALL, &p,
		  "a.b.Shop.main:12;a.b.Shop.pay:30 10005700\n"
		  "a.b.Shop.main:13;sun.nio.ch.EPoll.wait 10000000\n");
	profile_release(&p);
}
END_TEST

START_TEST(wall_clock_samples_have_a_count)
{
	struct jfr_writer w = { .major = 2 };
	struct profile p;

	p_begin(&w);
	w.types = p_foreign_types;
	P_EVENT(&w, P_EXECUTION, P_MAIN, P_TAX, P_RUNNABLE);
	P_EVENT(&w, P_WALL, P_MAIN, P_PAY, P_SLEEPING, 12);
	P_EVENT(&w, P_WALL, P_MAIN, P_PAY, P_RUNNABLE, 1);
	read_kind(&w, PROFILE_WALL, &p, "a.b.Shop.main:12;a.b.Shop.pay:30 13\n");
	ck_assert_uint_eq(p.samples, 13); /* not the number of events */
	ck_assert_uint_eq(p.gaps[PROFILE_FEW_THREADS], 0);
	ck_assert_uint_eq(p.gaps[PROFILE_NO_NATIVE], 0);
	profile_release(&p);
}
END_TEST

static const struct {
	const char *event, *interval, *stacks;
	uint64_t ns;
} intervals[] = {
	{ "cpu", "0", "a.b.Shop.main:12;a.b.Shop.pay:30 10000000\n", 10000000 },
	{ "wall", "0", "a.b.Shop.main:12;a.b.Shop.pay:30 50000000\n", 50000000 },
	{ "wall", "5000000", "a.b.Shop.main:12;a.b.Shop.pay:30 5000000\n", 5000000 },
};

START_TEST(wall_clock_samples_of_running_threads_use_the_cpu)
{
	struct jfr_writer w = { .major = 2 };
	struct profile p;

	p_begin(&w);
	w.types = p_foreign_types;
	P_EVENT(&w, P_WALL, P_MAIN, P_PAY, P_SLEEPING, 12);
	P_EVENT(&w, P_WALL, P_MAIN, P_PAY, P_RUNNABLE, 3);
	read_kind(&w, PROFILE_CPU, &p, "a.b.Shop.main:12;a.b.Shop.pay:30 3\n");
	ck_assert_str_eq(p.source, "profiler.WallClockSample");
	ck_assert_uint_eq(p.samples, 3);
	profile_release(&p);
}
END_TEST

START_TEST(gaps_of_wall_clock_samples_count_samples)
{
	struct jfr_writer w = { .major = 2 };
	struct profile p;

	p_begin(&w);
	w.types = p_foreign_types;
	P_EVENT(&w, P_WALL, P_MAIN, P_CUT, P_SLEEPING, 20);
	P_EVENT(&w, P_WALL, P_MAIN, 0, P_SLEEPING, 7);
	P_EVENT(&w, P_WALL, P_MAIN, P_PAY, P_RUNNABLE, 1);
	read_kind(&w, PROFILE_WALL, &p,
		  "(2 frames or more);a.b.Shop.pay:31;a.b.Shop.tax:40 20\n"
		  "(unknown stack) 7\n"
		  "a.b.Shop.main:12;a.b.Shop.pay:30 1\n");
	ck_assert_uint_eq(p.samples, 28);
	ck_assert_uint_eq(p.gaps[PROFILE_TRUNCATED], 20);
	ck_assert_uint_eq(p.gaps[PROFILE_FAILED], 7);
	profile_release(&p);
}
END_TEST

START_TEST(async_profiler_has_defaults_of_its_own)
{
	struct jfr_writer w = { .major = 2 };
	struct profile p;

	p_begin(&w);
	w.types = p_foreign_types;
	P_EVENT(&w, P_EXECUTION, P_MAIN, P_PAY, P_RUNNABLE);
	p_setting(&w, P_RECORDING, "event", intervals[_i].event);
	p_setting(&w, P_EXECUTION, "interval", intervals[_i].interval);
	read_kind(&w, PROFILE_WALL, &p, intervals[_i].stacks);
	ck_assert_uint_eq(p.interval_ns, intervals[_i].ns);
	profile_release(&p);
}
END_TEST

static const struct {
	const char *version, *arguments;
	uint64_t inexact;
} jvms[] = {
	{ "OpenJDK 64-Bit Server VM (25.492-b01) for linux-amd64 JRE (1.8.0_492-b01)", "", 2 },
	{ "OpenJDK 64-Bit Server VM (17.0.1+12) for linux-amd64 JRE (17.0.1+12)", "-Xmx1g", 1 },
	{ "OpenJDK 64-Bit Server VM (17.0.1+12) for linux-amd64 JRE (17.0.1+12)",
	  "-XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints", 0 },
	{ "OpenJDK 64-Bit Server VM (25+36) for linux-amd64 JRE (25+36)", "", 0 },
	{ "another", "", 0 },
};

START_TEST(samples_of_old_jvms_are_inexact)
{
	struct jfr_writer w = { .major = 2 };
	struct profile p;

	p_begin(&w);
	P_EVENT(&w, P_EXECUTION, P_MAIN, P_PAY, P_RUNNABLE);
	p_jvm(&w, jvms[_i].version, jvms[_i].arguments);
	read_kind(&w, PROFILE_CPU, &p, "a.b.Shop.main:12;a.b.Shop.pay:30 1\n");
	ck_assert_uint_eq(p.gaps[PROFILE_INEXACT], jvms[_i].inexact);
	profile_release(&p);
}
END_TEST

START_TEST(recording_without_such_events_is_empty)
{
	struct jfr_writer w = { .major = 2 };
	struct profile p;

	p_begin(&w);
	P_EVENT(&w, P_EXECUTION, P_MAIN, P_TAX, P_RUNNABLE);
	read_kind(&w, PROFILE_LOCK, &p, "");
	ck_assert_ptr_null(p.source);
	for (int gap = 0; gap < N_PROFILE_GAPS; gap++)
		ck_assert_uint_eq(p.gaps[gap], 0);
	profile_release(&p);
}
END_TEST

START_TEST(keys_are_those_of_their_chunk)
{
	struct jfr_writer w = { .major = 2 };
	struct profile p;

	p_begin(&w);
	P_EVENT(&w, P_EXECUTION, P_MAIN, P_TAX, P_RUNNABLE);
	p_end(&w);
	p_begin(&w);
	P_EVENT(&w, P_EXECUTION, P_MAIN, P_PAY, P_RUNNABLE);
	P_EVENT(&w, P_EXECUTION, P_MAIN, P_TAX, P_RUNNABLE);
	read_kind(&w, PROFILE_CPU, &p,
		  "a.b.Shop.main:12;a.b.Shop.pay:30 1\n"
		  "a.b.Shop.main:12;a.b.Shop.pay:31;a.b.Shop.tax:40 2\n");
	ck_assert_int_eq(p.duration_ns, 4000000000);
	profile_release(&p);
}
END_TEST

/* Reads what remains of a recording of every kind. */
static void read_all_kinds(struct buf *bytes)
{
	for (int kind = 0; kind < N_PROFILE_KINDS; kind++) {
		const struct jfr_profile_request req = {
			.kind = (enum profile_kind)kind, .by_thread = true,
		};
		struct profile p;

		(void)read_bytes(bytes, &req, &p); /* the input is damaged */
		ck_assert_uint_le(p.samples, 4);
		profile_release(&p);
	}
}

static void write_some(struct jfr_writer *w)
{
	p_begin(w);
	P_EVENT(w, P_EXECUTION, P_MAIN, P_TAX, P_RUNNABLE);
	P_EVENT(w, P_CPU_TIME, P_PAY, P_MAIN, false, 20000000, false);
	P_EVENT(w, P_PARK, 700, P_MAIN, P_CUT, P_REENTRANT);
	P_EVENT(w, P_OBJECT, P_MAIN, P_PAY, P_SHOP, 1000);
	p_read(w, 10, P_PAY, "/a");
	p_setting(w, P_EXECUTION, "period", "10 ms");
	p_end(w);
}

START_TEST(damaged_recordings_are_read_without_harm)
{
	struct jfr_writer w = { .major = 2 };

	write_some(&w);
	for (size_t len = 0; len < w.file.len; len++) {
		struct buf cut = { .data = w.file.data, .len = len };

		read_all_kinds(&cut);
	}
	for (size_t i = 0; i < w.file.len; i++) {
		w.file.data[i] = (char)~w.file.data[i];
		read_all_kinds(&w.file);
		w.file.data[i] = (char)~w.file.data[i];
	}
	w_release(&w);
}
END_TEST

static const struct {
	enum profile_kind kind;
	int release;
	uint64_t ns;
	const char *has, *lacks;
} settings[] = {
	{ PROFILE_CPU, 25, 10000000, "<setting name=\"throttle\">10 ms</setting>",
	  "jdk.ExecutionSample" },
	{ PROFILE_CPU, 8, 1500000, "<setting name=\"period\">1500 us</setting>",
	  "jdk.CPUTimeSample" },
	{ PROFILE_CPU, 0, 10000000, "jdk.CPUTimeSample", "ThreadPark" },
	{ PROFILE_CPU, 0, 10000000, "jdk.ExecutionSample", "ThreadPark" },
	{ PROFILE_WALL, 25, 10000000, "jdk.ThreadSleep", "jdk.CPUTimeSample" },
	{ PROFILE_LOCK, 17, 1000001, "<setting name=\"threshold\">1000001 ns</setting>", "Sleep" },
	{ PROFILE_ALLOC, 17, 1, "jdk.ObjectAllocationSample", "TLAB" },
	{ PROFILE_ALLOC, 11, 1, "jdk.ObjectAllocationInNewTLAB", "ObjectAllocationSample" },
	{ PROFILE_IO, 11, 1, "jdk.SocketRead", "jdk.ThreadPark" },
	{ PROFILE_EXCEPTIONS, 22, 1, "<setting name=\"throttle\">off</setting>", "JavaError" },
};

START_TEST(settings_have_the_events_of_the_kind)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	jfr_profile_settings(&out, settings[_i].kind, settings[_i].release, settings[_i].ns);
	ck_assert_ptr_nonnull(strstr(buf_str(&out), settings[_i].has));
	ck_assert_ptr_null(strstr(buf_str(&out), settings[_i].lacks));
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "jdk.ActiveSetting"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model/jfr/profile/jfr_profile");
	TCase *t = tcase_create("model/jfr/profile/jfr_profile");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_test(t, execution_samples_count_one_each);
	tcase_add_test(t, samples_of_sleeping_threads_are_only_in_wall);
	tcase_add_test(t, cpu_time_samples_replace_execution_samples);
	tcase_add_test(t, lost_samples_count_for_their_thread);
	tcase_add_test(t, lost_samples_of_cpu_time_concern_no_other_profile);
	tcase_add_test(t, profile_may_have_lost_samples_only);
	tcase_add_test(t, threads_split_stacks_and_depth_cuts_them);
	tcase_add_test(t, parks_count_as_locks_only_at_a_lock);
	tcase_add_test(t, allocations_come_from_samples_or_else_from_tlabs);
	tcase_add_test(t, io_counts_time_by_path);
	tcase_add_test(t, exceptions_are_counted_where_they_are_created);
	tcase_add_test(t, wall_adds_samples_and_waits);
	tcase_add_test(t, wall_clock_samples_have_a_count);
	tcase_add_test(t, gaps_of_wall_clock_samples_count_samples);
	tcase_add_test(t, wall_clock_samples_of_running_threads_use_the_cpu);
	tcase_add_loop_test(t, async_profiler_has_defaults_of_its_own, 0,
			    (int)ARRAY_SIZE(intervals));
	tcase_add_loop_test(t, samples_of_old_jvms_are_inexact, 0, ARRAY_SIZE(jvms));
	tcase_add_test(t, recording_without_such_events_is_empty);
	tcase_add_test(t, keys_are_those_of_their_chunk);
	tcase_add_test(t, damaged_recordings_are_read_without_harm);
	tcase_add_loop_test(t, settings_have_the_events_of_the_kind, 0, ARRAY_SIZE(settings));
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed > 0;
}
