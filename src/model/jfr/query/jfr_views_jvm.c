/* Views of the JVM. */
#include "base/util.h"
#include "model/jfr/query/jfr_views_internal.h"

static const struct jfr_query class_modifications = {
	.name = "class-modifications",
	.title = "Changed classes",
	JFR_SOURCES(
		{ "jdk.RetransformClasses", 0, NULL, NULL },
		{ "jdk.RedefineClasses", 0, NULL, NULL }
	),
	JFR_COLUMNS(
		{ "duration", "duration", JFR_ANY, false },
		{ "method", "stackTrace.topApplicationFrame", JFR_ANY, false },
		{ "operation", "eventType.label", JFR_ANY, false },
		{ "class", "classCount", JFR_ANY, false }
	),
	.order = { -1 },
};

static const struct jfr_query compiler_configuration = {
	.name = "compiler-configuration",
	.title = "Configuration of the compiler",
	.is_form = true,
	JFR_SOURCES(
		{ "jdk.CompilerConfiguration", 0, NULL, NULL }
	),
	JFR_COLUMNS(
		{ "threads", "threadCount", JFR_LAST, false },
		{ "dynamic_threads", "dynamicCompilerThreadCount", JFR_LAST, false },
		{ "tiered", "tieredCompilation", JFR_LAST, false }
	),
};

static const struct jfr_query compiler_statistics = {
	.name = "compiler-statistics",
	.title = "Compilations",
	.is_form = true,
	JFR_SOURCES(
		{ "jdk.CompilerStatistics", 0, NULL, NULL }
	),
	JFR_COLUMNS(
		{ "compilations", "compileCount", JFR_LAST, false },
		{ "longest", "peakTimeSpent", JFR_LAST, false },
		{ "total_time", "totalTimeSpent", JFR_LAST, false },
		{ "bailouts", "bailoutCount", JFR_LAST, false },
		{ "osr", "osrCompileCount", JFR_LAST, false },
		{ "standard", "standardCompileCount", JFR_LAST, false },
		{ "osr_bytes", "osrBytesCompiled", JFR_LAST, false },
		{ "standard_bytes", "standardBytesCompiled", JFR_LAST, false },
		{ "code_size", "nmethodsSize", JFR_LAST, false },
		{ "instructions_size", "nmethodCodeSize", JFR_LAST, false }
	),
};

static const struct jfr_query compiler_phases = {
	.name = "compiler-phases",
	.title = "Phases of compilations",
	JFR_SOURCES(
		{ "jdk.CompilerPhase", 0, NULL, NULL }
	),
	.group = { "phase" },
	JFR_COLUMNS(
		{ "level", "phaseLevel", JFR_ANY, false },
		{ "phase", "phase", JFR_ANY, false },
		{ "average", "duration", JFR_MEAN, false },
		{ "p95", "duration", JFR_P95, false },
		{ "longest", "duration", JFR_GREATEST, false },
		{ "count", "*", JFR_COUNT_OF, false },
		{ "total", "duration", JFR_SUM_OF, false }
	),
	.order = { 1, -7 },
};

static const struct jfr_query deoptimizations_by_reason = {
	.name = "deoptimizations-by-reason",
	.title = "Deoptimizations by reason",
	JFR_SOURCES(
		{ "jdk.Deoptimization", 0, NULL, NULL }
	),
	.group = { "reason" },
	JFR_COLUMNS(
		{ "reason", "reason", JFR_ANY, false },
		{ "count", "*", JFR_COUNT_OF, false }
	),
	.order = { -2 },
};

static const struct jfr_query deoptimizations_by_site = {
	.name = "deoptimizations-by-site",
	.title = "Deoptimizations by site",
	JFR_SOURCES(
		{ "jdk.Deoptimization", 0, NULL, NULL }
	),
	.group = { "method" },
	JFR_COLUMNS(
		{ "method", "method", JFR_ANY, false },
		{ "line", "lineNumber", JFR_ANY, false },
		{ "bci", "bci", JFR_ANY, false },
		{ "count", "*", JFR_COUNT_OF, false }
	),
	.order = { -4 },
};

static const struct jfr_query longest_compilations = {
	.name = "longest-compilations",
	.title = "Longest compilations",
	JFR_SOURCES(
		{ "jdk.Compilation", 0, NULL, NULL }
	),
	JFR_COLUMNS(
		{ "time", "startTime", JFR_ANY, false },
		{ "duration", "duration", JFR_ANY, false },
		{ "method", "method", JFR_ANY, false },
		{ "level", "compileLevel", JFR_ANY, false },
		{ "succeeded", "succeded", JFR_ANY, false }
	),
	.order = { -2 },
	.limit = 25,
};

static const struct jfr_query jvm_information = {
	.name = "jvm-information",
	.title = "JVM",
	.is_form = true,
	JFR_SOURCES(
		{ "jdk.JVMInformation", 0, NULL, NULL }
	),
	JFR_COLUMNS(
		{ "pid", "pid", JFR_LAST, false },
		{ "start", "jvmStartTime", JFR_LAST, false },
		{ "name", "jvmName", JFR_LAST, false },
		{ "version", "jvmVersion", JFR_LAST, false },
		{ "jvm_arguments", "jvmArguments", JFR_LAST, false },
		{ "arguments", "javaArguments", JFR_LAST, false }
	),
};

static const struct jfr_query jvm_flags = {
	.name = "jvm-flags",
	.title = "Flags of the JVM",
	JFR_SOURCES(
		{ "jdk.IntFlag", 0, NULL, NULL },
		{ "jdk.UnsignedIntFlag", 0, NULL, NULL },
		{ "jdk.BooleanFlag", 0, NULL, NULL },
		{ "jdk.LongFlag", 0, NULL, NULL },
		{ "jdk.UnsignedLongFlag", 0, NULL, NULL },
		{ "jdk.DoubleFlag", 0, NULL, NULL },
		{ "jdk.StringFlag", 0, NULL, NULL },
		{ "jdk.IntFlagChanged", 0, NULL, NULL },
		{ "jdk.UnsignedIntFlagChanged", 0, NULL, NULL },
		{ "jdk.BooleanFlagChanged", 0, NULL, NULL },
		{ "jdk.LongFlagChanged", 0, NULL, NULL },
		{ "jdk.UnsignedLongFlagChanged", 0, NULL, NULL },
		{ "jdk.DoubleFlagChanged", 0, NULL, NULL },
		{ "jdk.StringFlagChanged", 0, NULL, NULL }
	),
	.group = { "name" },
	JFR_COLUMNS(
		{ "name", "name", JFR_ANY, false },
		{ "value", "value", JFR_LAST, false }
	),
	.order = { 1 },
};

static const struct jfr_query native_memory_committed = {
	.name = "native-memory-committed",
	.title = "Committed native memory",
	JFR_SOURCES(
		{ "jdk.NativeMemoryUsage", 0, NULL, NULL }
	),
	.group = { "type" },
	JFR_COLUMNS(
		{ "type", "type", JFR_ANY, false },
		{ "first", "committed", JFR_FIRST, false },
		{ "average", "committed", JFR_MEAN, false },
		{ "last", "committed", JFR_LAST, false },
		{ "greatest", "committed", JFR_GREATEST, false }
	),
	.order = { -5 },
};

static const struct jfr_query native_memory_reserved = {
	.name = "native-memory-reserved",
	.title = "Reserved native memory",
	JFR_SOURCES(
		{ "jdk.NativeMemoryUsage", 0, NULL, NULL }
	),
	.group = { "type" },
	JFR_COLUMNS(
		{ "type", "type", JFR_ANY, false },
		{ "first", "reserved", JFR_FIRST, false },
		{ "average", "reserved", JFR_MEAN, false },
		{ "last", "reserved", JFR_LAST, false },
		{ "greatest", "reserved", JFR_GREATEST, false }
	),
	.order = { -5 },
};

static const struct jfr_query safepoints = {
	.name = "safepoints",
	.title = "Safepoints",
	JFR_SOURCES(
		{ "jdk.SafepointBegin", 'B', NULL, NULL },
		{ "jdk.SafepointEnd", 'E', NULL, NULL },
		{ "jdk.SafepointStateSynchronization", 'S', NULL, NULL }
	),
	.group = { "safepointId" },
	JFR_COLUMNS(
		{ "time", "B:startTime", JFR_ANY, false },
		{ "duration", "BE:startTime", JFR_DIFFERENCE, false },
		{ "synchronization", "S:duration", JFR_ANY, false },
		{ "jni_critical_threads", "jniCriticalThreadCount", JFR_ANY, false },
		{ "threads", "totalThreadCount", JFR_ANY, false }
	),
	.order = { 1 },
};

static const struct jfr_query vm_operations = {
	.name = "vm-operations",
	.title = "Operations of the VM thread",
	JFR_SOURCES(
		{ "jdk.ExecuteVMOperation", 0, NULL, NULL }
	),
	.group = { "operation" },
	JFR_COLUMNS(
		{ "operation", "operation", JFR_ANY, false },
		{ "average", "duration", JFR_MEAN, false },
		{ "longest", "duration", JFR_GREATEST, false },
		{ "count", "*", JFR_COUNT_OF, false },
		{ "total", "duration", JFR_SUM_OF, false }
	),
	.order = { -5 },
};

const struct jfr_query *const jfr_views_jvm[] = {
	&class_modifications, &compiler_configuration, &compiler_statistics, &compiler_phases,
	&deoptimizations_by_reason, &deoptimizations_by_site, &longest_compilations,
	&jvm_information, &jvm_flags, &native_memory_committed, &native_memory_reserved,
	&safepoints, &vm_operations,
	NULL,
};
