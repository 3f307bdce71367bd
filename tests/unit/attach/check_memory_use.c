/* How each operation of the attach protocol lets the JVM's memory grow. */
#include <check.h>

#include "attach/memory_use.h"

static const struct {
	const char *op, *args[3];
	enum memory_use use;
} cases[] = {
	{ "properties", { NULL }, MEMORY_AGENT },
	{ "jcmd", { "VM.system_properties" }, MEMORY_AGENT },
	{ "threaddump", { "-l" }, MEMORY_REQUEST },
	{ "jcmd", { "VM.version" }, MEMORY_REQUEST },
	{ "jcmd", { NULL }, MEMORY_REQUEST },
	{ "jcmd", { "help GC.heap_dump" }, MEMORY_REQUEST },
	{ "jcmd", { "GC.heap_info" }, MEMORY_REQUEST },
	{ "jcmd", { "GC.class_histogram" }, MEMORY_COLLECT },
	{ "jcmd", { "  GC.class_histogram" }, MEMORY_COLLECT },
	{ "jcmd", { "GC.class_histogram -all" }, MEMORY_REQUEST },
	{ "jcmd", { "GC.class_histogram_x" }, MEMORY_REQUEST },
	{ "jcmd", { "GC.heap_dump /tmp/x" }, MEMORY_COLLECT },
	{ "jcmd", { "GC.heap_dump -gz=1 -all /tmp/x" }, MEMORY_DUMP },
	{ "jcmd", { "GC.heap_dump /tmp/x -all" }, MEMORY_DUMP },
	{ "jcmd", { "GC.heap_dump \"/tmp/x y\" -all" }, MEMORY_DUMP },
	{ "jcmd", { "GC.heap_dump /tmp/x-all" }, MEMORY_COLLECT },
	{ "jcmd", { "GC.heap_dump -all=false /tmp/x" }, MEMORY_COLLECT },
	{ "jcmd", { "GC.heap_dump -allx /tmp/x" }, MEMORY_COLLECT },
	{ "jcmd", { "GC.heap_dump \"/tmp/x -all\"" }, MEMORY_COLLECT },
	{ "jcmd", { "GC.heap_dump '/tmp/\" -all y'" }, MEMORY_COLLECT },
	{ "jcmd", { "GC.run" }, MEMORY_COLLECT },
	{ "jcmd", { "Thread.dump_to_file -format=json x" }, MEMORY_JAVA },
	{ "jcmd", { "Thread.print -l" }, MEMORY_REQUEST },
	{ "jcmd", { "GC.run_finalization" }, MEMORY_REQUEST },
	{ "jcmd", { "JFR.start name=x" }, MEMORY_JAVA },
	{ "jcmd", { "ManagementAgent.start_local" }, MEMORY_JAVA },
	{ "jcmd", { "JVMTI.agent_load x" }, MEMORY_JAVA },
	{ "jcmd", { "JVMTI.data_dump" }, MEMORY_REQUEST },
	{ "inspectheap", { NULL }, MEMORY_COLLECT },
	{ "inspectheap", { "-live" }, MEMORY_COLLECT },
	{ "inspectheap", { "-all" }, MEMORY_REQUEST },
	{ "dumpheap", { "/tmp/x" }, MEMORY_COLLECT },
	{ "dumpheap", { "/tmp/x", "-live" }, MEMORY_COLLECT },
	{ "dumpheap", { "/tmp/x", "-all" }, MEMORY_DUMP },
	{ "load", { "/tmp/x.so", "true" }, MEMORY_AGENT },
	{ "load", { "instrument", "false", "x.jar" }, MEMORY_JAVA },
};

START_TEST(use_of_each_operation)
{
	size_t n = 0;

	while (n < 3 && cases[_i].args[n])
		n++;
	ck_assert_int_eq(attach_memory_use(&(struct attach_request){ cases[_i].op, cases[_i].args,
								     n }),
			 cases[_i].use);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attach/memory_use");
	TCase *tc = tcase_create("attach/memory_use");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_loop_test(tc, use_of_each_operation, 0, ARRAY_SIZE(cases));
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
