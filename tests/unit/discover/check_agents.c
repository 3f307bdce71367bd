#include <string.h>

#include "discover/agents.h"
#include "unit/support/shell.h"

/* A fake /proc with process 1; tests create files in its root. */
static struct procfs proc;
static struct jvm jvm = { .pid = 1, .nspid = 1 };
static struct agents agents;

static void setup(void)
{
	const char *top = getenv("top_srcdir");
	_cleanup_free_ char *corpus = xasprintf("%s/tests/fuzz/corpus/elf", top ? top : ".");
	_cleanup_free_ char *elf = realpath(corpus, NULL);

	ck_assert_ptr_nonnull(elf);
	ck_assert_int_eq(setenv("elf", elf, 1), 0); /* commands of shell() use $elf */
	ck_assert_ptr_nonnull(mkdtemp(dir));
	shell("mkdir -p 1/root/lib 1/map_files");
	ck_assert_int_eq(procfs_open(&proc, dir), 0);
	agents = (struct agents)AGENTS_INIT;
}

static void teardown(void)
{
	agents_release(&agents);
	procfs_close(&proc);
	shell("rm -r %s", dir);
}

static void check_agent(size_t i, const char *kind, const char *name, const char *options)
{
	ck_assert_uint_lt(i, agents.n);
	ck_assert_str_eq(agent_kind_name(agents.list[i].kind), kind);
	ck_assert_str_eq(agents.list[i].name, name);
	ck_assert_pstr_eq(agents.list[i].options, options);
}

START_TEST(flags_list_agents)
{
	agents_from_flags(&agents, "-Xmx1g -agentlib:jdwp=transport=dt_socket,server=y  "
				 "-javaagent:/a.jar -agentpath:/x/liby.so= -Dx=-agentlib:no "
				 "-agentlib: -agentlib:hprof");
	ck_assert_uint_eq(agents.n, 4);
	check_agent(0, "agentlib", "jdwp", "transport=dt_socket,server=y");
	check_agent(1, "javaagent", "/a.jar", NULL);
	check_agent(2, "agentpath", "/x/liby.so", "");
	check_agent(3, "agentlib", "hprof", NULL);
	agents_from_flags(&agents, NULL);
	agents_from_flags(&agents, "");
	agents_from_flags(&agents, "  ");
	ck_assert_uint_eq(agents.n, 4);
}
END_TEST

static void map(const char *range, const char *perms, const char *path)
{
	shell("echo '%s %s 00000000 fe:00 7   %s' >>1/maps", range, perms, path);
}

START_TEST(copy_of_the_jtool_agent_is_recognised_under_any_name)
{
	const char *top = getenv("top_builddir");
	_cleanup_free_ char *built = xasprintf("%s/agent/jtool-agent.so", top ? top : ".");
	_cleanup_free_ char *agent = realpath(built, NULL);

	ck_assert_ptr_nonnull(agent);
	shell("cp '%s' 1/root/lib/libmine.so; cp $elf/wide 1/root/lib/liba.so", agent);
	map("1000-2000", "r-xp", "/lib/libmine.so");
	map("2000-3000", "r-xp", "/lib/liba.so");
	agents_from_maps(&agents, &proc, &jvm);
	ck_assert_uint_eq(agents.n, 2);
	check_agent(0, "mapped", "/lib/libmine.so", NULL);
	ck_assert_int_eq(agents.list[0].maker, MADE_BY_JTOOL);
	check_agent(1, "mapped", "/lib/liba.so", NULL);
	ck_assert_int_eq(agents.list[1].maker, MADE_BY_OTHERS);
}
END_TEST

START_TEST(mapped_library_with_entry_points_is_an_agent)
{
	shell("cp $elf/wide 1/root/lib/liba.so; cp $elf/narrow 1/root/lib/libjdwp.so;"
	      "head -c 300 $elf/wide >1/root/lib/libcut.so; echo text >1/root/lib/libtext.so");
	map("1000-2000", "r-xp", "/lib/liba.so");
	map("2000-3000", "r-xp", "/lib/liba.so");
	map("3000-4000", "r--p", "/lib/libdata.so");
	map("4000-5000", "r-xp", "/lib/libcut.so");
	map("5000-6000", "r-xp", "/lib/libtext.so");
	map("6000-7000", "r-xp", "/lib/libgone.so");
	map("7000-8000", "r-xp", "/lib/libjdwp.so");
	agents_from_maps(&agents, &proc, &jvm);
	ck_assert(agents.mapped_known);
	ck_assert_uint_eq(agents.n, 2);
	check_agent(0, "mapped", "/lib/liba.so", NULL);
	ck_assert_int_eq(agents.list[0].maker, MADE_BY_OTHERS);
	check_agent(1, "mapped", "/lib/libjdwp.so", NULL);
	ck_assert_int_eq(agents.list[1].maker, MADE_BY_JDK);
}
END_TEST

START_TEST(deleted_libraries_are_read_through_map_files)
{
	shell("cp $elf/wide 1/map_files/1000-2000");
	map("1000-2000", "r-xp", "/tmp/libprofiler.so (deleted)");
	map("2000-3000", "r-xp", "/tmp/libother.so (deleted)");
	map("3000-4000", "r-xp", "/tmp/.jtool-0-1/jtool-agent-0123.so (deleted)");
	agents_from_maps(&agents, &proc, &jvm);
	ck_assert_uint_eq(agents.n, 2);
	check_agent(0, "mapped", "/tmp/libprofiler.so", NULL);
	check_agent(1, "mapped", "/tmp/.jtool-0-1/jtool-agent-0123.so", NULL);
	ck_assert_int_eq(agents.list[1].maker, MADE_BY_JTOOL);
}
END_TEST

/* A hostile target may replace a mapped library, for example with a FIFO or a link. */
START_TEST(non_regular_and_empty_files_are_ignored)
{
	static const char *const replacements[] = {
		"mkfifo liba.so", "mkdir liba.so", "ln -s $elf/wide liba.so",
		"cp $elf/wide real && ln -s real liba.so", "truncate -s 1T liba.so", ": >liba.so",
	};

	shell("cd 1/root/lib && { %s; }", replacements[_i]);
	map("1000-2000", "r-xp", "/lib/liba.so");
	agents_from_maps(&agents, &proc, &jvm);
	ck_assert(agents.mapped_known);
	ck_assert_uint_eq(agents.n, 0);
}
END_TEST

START_TEST(malformed_answers_of_the_worker_are_rejected)
{
	static const char good[] = "\1\0/lib/liba.so\0\2/x/jtool-agent.so";
	static const char *const bad[] = { "", "\2", "\1\3/x", "\1\1x", "\1\1" };

	ck_assert(agents_parse(&agents, good, sizeof(good)));
	ck_assert(agents.mapped_known);
	ck_assert_uint_eq(agents.n, 2);
	ck_assert_str_eq(agents.list[0].name, "/lib/liba.so");
	ck_assert_int_eq(agents.list[1].maker, MADE_BY_JTOOL);
	for (size_t len = 0; len < sizeof(good); len++) {
		/* Only complete entries are accepted. */
		bool ok = len == 1 || len == 15;
		struct agents cut = AGENTS_INIT;

		ck_assert_int_eq(agents_parse(&cut, good, len), ok);
		agents_release(&cut);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct agents none = AGENTS_INIT;

		ck_assert(!agents_parse(&none, bad[i], strlen(bad[i])));
		agents_release(&none);
	}
}
END_TEST

START_TEST(unreadable_maps_leave_agents_unknown)
{
	agents_from_maps(&agents, &proc, &(struct jvm){ .pid = 2 });
	ck_assert(!agents.mapped_known);
	ck_assert_uint_eq(agents.n, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("discover/agents");
	TCase *tc = tcase_create("discover/agents");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, flags_list_agents);
	tcase_add_test(tc, mapped_library_with_entry_points_is_an_agent);
	tcase_add_test(tc, copy_of_the_jtool_agent_is_recognised_under_any_name);
	tcase_add_test(tc, deleted_libraries_are_read_through_map_files);
	tcase_add_loop_test(tc, non_regular_and_empty_files_are_ignored, 0, 6);
	tcase_add_test(tc, malformed_answers_of_the_worker_are_rejected);
	tcase_add_test(tc, unreadable_maps_leave_agents_unknown);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
