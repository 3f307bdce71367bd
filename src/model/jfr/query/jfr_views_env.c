/* The views on the environment of the JVM: recordings, settings, container, machine. */
#include "base/util.h"
#include "model/jfr/query/jfr_views_internal.h"

static const struct jfr_query active_recordings = {
	.name = "active-recordings",
	.title = "Recordings",
	JFR_SOURCES(
		{ "jdk.ActiveRecording", 0, NULL, NULL }
	),
	.group = { "id" },
	JFR_COLUMNS(
		{ "start", "recordingStart", JFR_LAST, false },
		{ "duration", "recordingDuration", JFR_LAST, false },
		{ "name", "name", JFR_LAST, false },
		{ "destination", "destination", JFR_LAST, false },
		{ "max_age", "maxAge", JFR_LAST, false },
		{ "max_size", "maxSize", JFR_LAST, false }
	),
};

static const struct jfr_query active_settings = {
	.name = "active-settings",
	.title = "Settings of events",
	JFR_SOURCES(
		{ "jdk.ActiveSetting", 'E', "name", "enabled" },
		{ "jdk.ActiveSetting", 'T', "name", "threshold" },
		{ "jdk.ActiveSetting", 'S', "name", "stackTrace" },
		{ "jdk.ActiveSetting", 'P', "name", "period" },
		{ "jdk.ActiveSetting", 'C', "name", "cutoff" },
		{ "jdk.ActiveSetting", 'U', "name", "throttle" }
	),
	.group = { "id" },
	JFR_COLUMNS(
		{ "event", "E:id", JFR_ANY, false },
		{ "enabled", "E:value", JFR_LATEST, false },
		{ "threshold", "T:value", JFR_LATEST, false },
		{ "stack_trace", "S:value", JFR_LATEST, false },
		{ "period", "P:value", JFR_LATEST, false },
		{ "cutoff", "C:value", JFR_LATEST, false },
		{ "throttle", "U:value", JFR_LATEST, false }
	),
	.order = { 1 },
};

static const struct jfr_query container_configuration = {
	.name = "container-configuration",
	.title = "Limits of the container",
	.is_form = true,
	JFR_SOURCES(
		{ "jdk.ContainerConfiguration", 0, NULL, NULL }
	),
	JFR_COLUMNS(
		{ "type", "containerType", JFR_LAST, false },
		{ "slice", "cpuSlicePeriod", JFR_LAST, false },
		{ "quota", "cpuQuota", JFR_LAST, false },
		{ "shares", "cpuShares", JFR_LAST, false },
		{ "processors", "effectiveCpuCount", JFR_LAST, false },
		{ "memory_soft_limit", "memorySoftLimit", JFR_LAST, false },
		{ "memory_limit", "memoryLimit", JFR_LAST, false },
		{ "swap_limit", "swapMemoryLimit", JFR_LAST, false },
		{ "host_memory", "hostTotalMemory", JFR_LAST, false }
	),
};

static const struct jfr_query container_cpu_usage = {
	.name = "container-cpu-usage",
	.title = "CPU time of the container",
	.is_form = true,
	JFR_SOURCES(
		{ "jdk.ContainerCPUUsage", 0, NULL, NULL }
	),
	JFR_COLUMNS(
		{ "cpu_time", "cpuTime", JFR_LAST, false },
		{ "user", "cpuUserTime", JFR_LAST, false },
		{ "system", "cpuSystemTime", JFR_LAST, false }
	),
};

static const struct jfr_query container_memory_usage = {
	.name = "container-memory-usage",
	.title = "Memory of the container",
	.is_form = true,
	JFR_SOURCES(
		{ "jdk.ContainerMemoryUsage", 0, NULL, NULL }
	),
	JFR_COLUMNS(
		{ "failures", "memoryFailCount", JFR_LAST, false },
		{ "memory", "memoryUsage", JFR_LAST, false },
		{ "swap", "swapMemoryUsage", JFR_LAST, false }
	),
};

static const struct jfr_query container_io_usage = {
	.name = "container-io-usage",
	.title = "I/O of the container",
	.is_form = true,
	JFR_SOURCES(
		{ "jdk.ContainerIOUsage", 0, NULL, NULL }
	),
	JFR_COLUMNS(
		{ "requests", "serviceRequests", JFR_LAST, false },
		{ "bytes", "dataTransferred", JFR_LAST, false }
	),
};

static const struct jfr_query container_cpu_throttling = {
	.name = "container-cpu-throttling",
	.title = "CPU throttling of the container",
	.is_form = true,
	JFR_SOURCES(
		{ "jdk.ContainerCPUThrottling", 0, NULL, NULL }
	),
	JFR_COLUMNS(
		{ "slices", "cpuElapsedSlices", JFR_LAST, false },
		{ "throttled_slices", "cpuThrottledSlices", JFR_LAST, false },
		{ "throttled_time", "cpuThrottledTime", JFR_LAST, false }
	),
};

static const struct jfr_query cpu_information = {
	.name = "cpu-information",
	.title = "Processors",
	JFR_SOURCES(
		{ "jdk.CPUInformation", 0, NULL, NULL }
	),
	JFR_COLUMNS(
		{ "cpu", "cpu", JFR_ANY, false },
		{ "sockets", "sockets", JFR_ANY, false },
		{ "cores", "cores", JFR_ANY, false },
		{ "threads", "hwThreads", JFR_ANY, false },
		{ "description", "description", JFR_ANY, false }
	),
};

static const struct jfr_query cpu_load = {
	.name = "cpu-load",
	.title = "CPU load",
	.is_form = true,
	JFR_SOURCES(
		{ "jdk.CPULoad", 0, NULL, NULL }
	),
	JFR_COLUMNS(
		{ "jvm_user_least", "jvmUser", JFR_LEAST, false },
		{ "jvm_user_average", "jvmUser", JFR_MEAN, false },
		{ "jvm_user_greatest", "jvmUser", JFR_GREATEST, false },
		{ "jvm_system_least", "jvmSystem", JFR_LEAST, false },
		{ "jvm_system_average", "jvmSystem", JFR_MEAN, false },
		{ "jvm_system_greatest", "jvmSystem", JFR_GREATEST, false },
		{ "machine_least", "machineTotal", JFR_LEAST, false },
		{ "machine_average", "machineTotal", JFR_MEAN, false },
		{ "machine_greatest", "machineTotal", JFR_GREATEST, false }
	),
};

static const struct jfr_query cpu_load_samples = {
	.name = "cpu-load-samples",
	.title = "CPU load over time",
	JFR_SOURCES(
		{ "jdk.CPULoad", 0, NULL, NULL }
	),
	JFR_COLUMNS(
		{ "time", "startTime", JFR_ANY, false },
		{ "jvm_user", "jvmUser", JFR_ANY, false },
		{ "jvm_system", "jvmSystem", JFR_ANY, false },
		{ "machine", "machineTotal", JFR_ANY, false }
	),
	.order = { 1 },
};

static const struct jfr_query cpu_tsc = {
	.name = "cpu-tsc",
	.title = "Clock of the processor",
	.is_form = true,
	JFR_SOURCES(
		{ "jdk.CPUTimeStampCounter", 0, NULL, NULL }
	),
	JFR_COLUMNS(
		{ "fast_time_auto", "fastTimeAutoEnabled", JFR_LAST, false },
		{ "fast_time", "fastTimeEnabled", JFR_LAST, false },
		{ "fast_frequency", "fastTimeFrequency", JFR_LAST, false },
		{ "os_frequency", "osFrequency", JFR_LAST, false }
	),
};

static const struct jfr_query events_by_count = {
	.name = "events-by-count",
	.title = "Events by number",
	JFR_SOURCES(
		{ NULL, '*', NULL, NULL }
	),
	.group = { "eventType.label" },
	JFR_COLUMNS(
		{ "event", "eventType.label", JFR_ANY, false },
		{ "count", "*", JFR_COUNT_OF, false }
	),
	.order = { -2 },
};

static const struct jfr_query events_by_name = {
	.name = "events-by-name",
	.title = "Events by name",
	JFR_SOURCES(
		{ NULL, '*', NULL, NULL }
	),
	.group = { "eventType.label" },
	JFR_COLUMNS(
		{ "event", "eventType.label", JFR_ANY, false },
		{ "count", "*", JFR_COUNT_OF, false }
	),
	.order = { 1 },
};

static const struct jfr_query environment_variables = {
	.name = "environment-variables",
	.title = "Environment variables",
	JFR_SOURCES(
		{ "jdk.InitialEnvironmentVariable", 0, NULL, NULL }
	),
	.group = { "key" },
	JFR_COLUMNS(
		{ "name", "key", JFR_LAST, false },
		{ "value", "value", JFR_LAST, false }
	),
	.order = { 1 },
};

static const struct jfr_query network_utilization = {
	.name = "network-utilization",
	.title = "Use of the network",
	JFR_SOURCES(
		{ "jdk.NetworkUtilization", 0, NULL, NULL }
	),
	.group = { "networkInterface" },
	JFR_COLUMNS(
		{ "interface", "networkInterface", JFR_ANY, false },
		{ "read_average", "readRate", JFR_MEAN, false },
		{ "read_greatest", "readRate", JFR_GREATEST, false },
		{ "write_average", "writeRate", JFR_MEAN, false },
		{ "write_greatest", "writeRate", JFR_GREATEST, false }
	),
};

static const struct jfr_query native_libraries = {
	.name = "native-libraries",
	.title = "Native libraries",
	JFR_SOURCES(
		{ "jdk.NativeLibrary", 0, NULL, NULL }
	),
	.group = { "name" },
	JFR_COLUMNS(
		{ "name", "name", JFR_ANY, false },
		{ "from", "baseAddress", JFR_ANY, false },
		{ "to", "topAddress", JFR_ANY, false }
	),
	.order = { 1 },
};

static const struct jfr_query native_library_failures = {
	.name = "native-library-failures",
	.title = "Native libraries that failed to load or unload",
	JFR_SOURCES(
		{ "jdk.NativeLibraryLoad", 0, "success", "false" },
		{ "jdk.NativeLibraryUnload", 0, "success", "false" }
	),
	JFR_COLUMNS(
		{ "operation", "eventType.label", JFR_ANY, false },
		{ "library", "name", JFR_ANY, false },
		{ "message", "errorMessage", JFR_ANY, false }
	),
	.order = { 1 },
};

static const struct jfr_query recording = {
	.name = "recording",
	.title = "Recording",
	.is_form = true,
	JFR_SOURCES(
		{ NULL, '*', NULL, NULL },
		{ "jdk.Shutdown", 'S', NULL, NULL }
	),
	JFR_COLUMNS(
		{ "events", "*:*", JFR_COUNT_OF, false },
		{ "first", "*:startTime", JFR_FIRST, false },
		{ "last", "*:startTime", JFR_LAST, false },
		{ "length", "*:startTime", JFR_DIFFERENCE, false },
		{ "dump_reason", "S:reason", JFR_LAST, false }
	),
};

static const struct jfr_query system_information = {
	.name = "system-information",
	.title = "System",
	.is_form = true,
	JFR_SOURCES(
		{ "jdk.CPUInformation", 0, NULL, NULL },
		{ "jdk.PhysicalMemory", 0, NULL, NULL },
		{ "jdk.OSInformation", 0, NULL, NULL },
		{ "jdk.VirtualizationInformation", 0, NULL, NULL }
	),
	JFR_COLUMNS(
		{ "memory", "totalSize", JFR_LAST, false },
		{ "os", "osVersion", JFR_LAST, false },
		{ "virtualization", "name", JFR_LAST, false },
		{ "cpu", "cpu", JFR_LAST, false },
		{ "cores", "cores", JFR_LAST, false },
		{ "threads", "hwThreads", JFR_LAST, false },
		{ "sockets", "sockets", JFR_LAST, false },
		{ "cpu_description", "description", JFR_LAST, false }
	),
};

static const struct jfr_query system_processes = {
	.name = "system-processes",
	.title = "Processes of the machine",
	JFR_SOURCES(
		{ "jdk.SystemProcess", 0, NULL, NULL }
	),
	.group = { "pid" },
	JFR_COLUMNS(
		{ "first", "startTime", JFR_FIRST, false },
		{ "last", "startTime", JFR_LAST, false },
		{ "pid", "pid", JFR_FIRST, false },
		{ "command", "commandLine", JFR_FIRST, false }
	),
	.order = { -4 },
};

static const struct jfr_query system_properties = {
	.name = "system-properties",
	.title = "System properties at the start",
	JFR_SOURCES(
		{ "jdk.InitialSystemProperty", 0, NULL, NULL }
	),
	.group = { "key" },
	JFR_COLUMNS(
		{ "name", "key", JFR_ANY, false },
		{ "value", "value", JFR_ANY, false }
	),
	.order = { 1 },
};

const struct jfr_query *const jfr_views_env[] = {
	&active_recordings, &active_settings, &container_configuration, &container_cpu_usage,
	&container_memory_usage, &container_io_usage, &container_cpu_throttling, &cpu_information,
	&cpu_load, &cpu_load_samples, &cpu_tsc, &events_by_count, &events_by_name,
	&environment_variables, &network_utilization, &native_libraries, &native_library_failures,
	&recording, &system_information, &system_processes, &system_properties,
	NULL,
};
