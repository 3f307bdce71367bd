/* Views of the application's activity: allocation, contention, exceptions, I/O. */
#include "base/util.h"
#include "model/jfr/query/jfr_views_internal.h"

static const struct jfr_query allocation_by_class_tlab = {
	.name = "allocation-by-class-tlab",
	.title = "Allocation by class",
	JFR_SOURCES(
		{ "jdk.ObjectAllocationInNewTLAB", 'I', NULL, NULL },
		{ "jdk.ObjectAllocationOutsideTLAB", 'O', NULL, NULL }
	),
	.group = { "objectClass" },
	JFR_COLUMNS(
		{ "class", "objectClass", JFR_ANY, false },
		{ "bytes_in_tlabs", "I:tlabSize", JFR_SUM_OF, false },
		{ "bytes_outside_tlabs", "O:allocationSize", JFR_SUM_OF, false }
	),
	.order = { -2, -3 },
	.limit = 25,
};

static const struct jfr_query allocation_by_class = {
	.name = "allocation-by-class",
	.title = "Allocation by class",
	JFR_SOURCES(
		{ "jdk.ObjectAllocationSample", 0, NULL, NULL }
	),
	.group = { "objectClass" },
	JFR_COLUMNS(
		{ "class", "objectClass", JFR_ANY, false },
		{ "pressure", "weight", JFR_SUM_OF, true }
	),
	.order = { -2 },
	.limit = 25,
	.instead = &allocation_by_class_tlab,
};

static const struct jfr_query allocation_by_thread_tlab = {
	.name = "allocation-by-thread-tlab",
	.title = "Allocation by thread",
	JFR_SOURCES(
		{ "jdk.ObjectAllocationInNewTLAB", 'I', NULL, NULL },
		{ "jdk.ObjectAllocationOutsideTLAB", 'O', NULL, NULL }
	),
	.group = { "eventThread" },
	JFR_COLUMNS(
		{ "thread", "eventThread", JFR_ANY, false },
		{ "bytes_in_tlabs", "I:tlabSize", JFR_SUM_OF, false },
		{ "bytes_outside_tlabs", "O:allocationSize", JFR_SUM_OF, false }
	),
	.order = { -2, -3 },
	.limit = 25,
};

static const struct jfr_query allocation_by_thread = {
	.name = "allocation-by-thread",
	.title = "Allocation by thread",
	JFR_SOURCES(
		{ "jdk.ObjectAllocationSample", 0, NULL, NULL }
	),
	.group = { "eventThread" },
	JFR_COLUMNS(
		{ "thread", "eventThread", JFR_ANY, false },
		{ "pressure", "weight", JFR_SUM_OF, true }
	),
	.order = { -2 },
	.limit = 25,
	.instead = &allocation_by_thread_tlab,
};

static const struct jfr_query allocation_by_site_tlab = {
	.name = "allocation-by-site-tlab",
	.title = "Allocation by site",
	JFR_SOURCES(
		{ "jdk.ObjectAllocationInNewTLAB", 'I', NULL, NULL },
		{ "jdk.ObjectAllocationOutsideTLAB", 'O', NULL, NULL }
	),
	.group = { "stackTrace.topFrame" },
	JFR_COLUMNS(
		{ "method", "stackTrace.topFrame", JFR_ANY, false },
		{ "bytes_in_tlabs", "I:tlabSize", JFR_SUM_OF, false },
		{ "bytes_outside_tlabs", "O:allocationSize", JFR_SUM_OF, false }
	),
	.order = { -2, -3 },
	.limit = 25,
};

static const struct jfr_query allocation_by_site = {
	.name = "allocation-by-site",
	.title = "Allocation by site",
	JFR_SOURCES(
		{ "jdk.ObjectAllocationSample", 0, NULL, NULL }
	),
	.group = { "stackTrace.topFrame" },
	JFR_COLUMNS(
		{ "method", "stackTrace.topFrame", JFR_ANY, false },
		{ "pressure", "weight", JFR_SUM_OF, true }
	),
	.order = { -2 },
	.limit = 25,
	.instead = &allocation_by_site_tlab,
};

static const struct jfr_query class_loaders = {
	.name = "class-loaders",
	.title = "Class loaders",
	JFR_SOURCES(
		{ "jdk.ClassLoaderStatistics", 0, NULL, NULL }
	),
	.group = { "classLoader" },
	JFR_COLUMNS(
		{ "loader", "classLoader", JFR_ANY, false },
		{ "hidden_classes", "hiddenClassCount", JFR_LAST, false },
		{ "classes", "classCount", JFR_LAST, false }
	),
	.order = { -3 },
};

static const struct jfr_query contention_by_thread = {
	.name = "contention-by-thread",
	.title = "Contention by thread",
	JFR_SOURCES(
		{ "jdk.JavaMonitorEnter", 0, NULL, NULL }
	),
	.group = { "eventThread" },
	JFR_COLUMNS(
		{ "thread", "eventThread", JFR_ANY, false },
		{ "count", "*", JFR_COUNT_OF, false },
		{ "average", "duration", JFR_MEAN, false },
		{ "p90", "duration", JFR_P90, false },
		{ "longest", "duration", JFR_GREATEST, false }
	),
	.order = { -5 },
};

static const struct jfr_query contention_by_class = {
	.name = "contention-by-class",
	.title = "Contention by class of the lock",
	JFR_SOURCES(
		{ "jdk.JavaMonitorEnter", 0, NULL, NULL }
	),
	.group = { "monitorClass" },
	JFR_COLUMNS(
		{ "class", "monitorClass", JFR_ANY, false },
		{ "count", "*", JFR_COUNT_OF, false },
		{ "average", "duration", JFR_MEAN, false },
		{ "p90", "duration", JFR_P90, false },
		{ "longest", "duration", JFR_GREATEST, false }
	),
	.order = { -5 },
};

static const struct jfr_query contention_by_site = {
	.name = "contention-by-site",
	.title = "Contention by stack trace",
	JFR_SOURCES(
		{ "jdk.JavaMonitorEnter", 0, NULL, NULL }
	),
	.group = { "stackTrace" },
	JFR_COLUMNS(
		{ "method", "stackTrace", JFR_ANY, false },
		{ "count", "*", JFR_COUNT_OF, false },
		{ "average", "duration", JFR_MEAN, false },
		{ "longest", "duration", JFR_GREATEST, false }
	),
	.order = { -4 },
};

static const struct jfr_query contention_by_address = {
	.name = "contention-by-address",
	.title = "Contention by monitor",
	JFR_SOURCES(
		{ "jdk.JavaMonitorEnter", 0, NULL, NULL }
	),
	.group = { "monitorClass" },
	JFR_COLUMNS(
		{ "address", "address", JFR_ANY, false },
		{ "class", "monitorClass", JFR_FIRST, false },
		{ "threads", "eventThread", JFR_UNIQUE, false },
		{ "longest", "duration", JFR_GREATEST, false }
	),
	.order = { -4 },
};

static const struct jfr_query exception_by_type = {
	.name = "exception-by-type",
	.other_name = "exceptions-by-type",
	.title = "Exceptions by type",
	JFR_SOURCES(
		{ "jdk.JavaErrorThrow", 0, NULL, NULL },
		{ "jdk.JavaExceptionThrow", 0, NULL, NULL }
	),
	.group = { "thrownClass" },
	JFR_COLUMNS(
		{ "class", "thrownClass", JFR_ANY, false },
		{ "count", "*", JFR_COUNT_OF, false }
	),
	.order = { -2 },
};

static const struct jfr_query exception_by_message = {
	.name = "exception-by-message",
	.other_name = "exceptions-by-message",
	.title = "Exceptions by message",
	JFR_SOURCES(
		{ "jdk.JavaErrorThrow", 0, NULL, NULL },
		{ "jdk.JavaExceptionThrow", 0, NULL, NULL }
	),
	.group = { "message" },
	JFR_COLUMNS(
		{ "message", "message", JFR_ANY, false },
		{ "count", "*", JFR_COUNT_OF, false }
	),
	.order = { -2 },
};

static const struct jfr_query exception_by_site = {
	.name = "exception-by-site",
	.other_name = "exceptions-by-site",
	.title = "Exceptions by site",
	JFR_SOURCES(
		{ "jdk.JavaErrorThrow", 0, NULL, NULL },
		{ "jdk.JavaExceptionThrow", 0, NULL, NULL }
	),
	.group = { "stackTrace.topNotInitFrame" },
	JFR_COLUMNS(
		{ "method", "stackTrace.topNotInitFrame", JFR_ANY, false },
		{ "count", "*", JFR_COUNT_OF, false }
	),
	.order = { -2 },
};

static const struct jfr_query exception_count = {
	.name = "exception-count",
	.title = "Exceptions thrown",
	.is_form = true,
	JFR_SOURCES(
		{ "jdk.ExceptionStatistics", 0, NULL, NULL }
	),
	JFR_COLUMNS(
		{ "thrown", "throwables", JFR_DIFFERENCE, false }
	),
};

static const struct jfr_query file_reads_by_path = {
	.name = "file-reads-by-path",
	.other_name = "file-reads",
	.title = "File reads by path",
	JFR_SOURCES(
		{ "jdk.FileRead", 0, NULL, NULL }
	),
	.group = { "path" },
	JFR_COLUMNS(
		{ "path", "path", JFR_ANY, false },
		{ "reads", "*", JFR_COUNT_OF, false },
		{ "bytes", "bytesRead", JFR_SUM_OF, false }
	),
	.order = { -3 },
};

static const struct jfr_query socket_reads_by_host = {
	.name = "socket-reads-by-host",
	.other_name = "socket-reads",
	.title = "Socket reads by host",
	JFR_SOURCES(
		{ "jdk.SocketRead", 0, NULL, NULL }
	),
	.group = { "host" },
	JFR_COLUMNS(
		{ "host", "host", JFR_ANY, false },
		{ "reads", "*", JFR_COUNT_OF, false },
		{ "bytes", "bytesRead", JFR_SUM_OF, false }
	),
	.order = { -3 },
};

static const struct jfr_query file_writes_by_path = {
	.name = "file-writes-by-path",
	.other_name = "file-writes",
	.title = "File writes by path",
	JFR_SOURCES(
		{ "jdk.FileWrite", 0, NULL, NULL }
	),
	.group = { "path" },
	JFR_COLUMNS(
		{ "path", "path", JFR_ANY, false },
		{ "writes", "*", JFR_COUNT_OF, false },
		{ "bytes", "bytesWritten", JFR_SUM_OF, false }
	),
	.order = { -3 },
};

static const struct jfr_query socket_writes_by_host = {
	.name = "socket-writes-by-host",
	.other_name = "socket-writes",
	.title = "Socket writes by host",
	JFR_SOURCES(
		{ "jdk.SocketWrite", 0, NULL, NULL }
	),
	.group = { "host" },
	JFR_COLUMNS(
		{ "host", "host", JFR_ANY, false },
		{ "writes", "*", JFR_COUNT_OF, false },
		{ "bytes", "bytesWritten", JFR_SUM_OF, false }
	),
	.order = { -3 },
};

const struct jfr_query *const jfr_views_app[] = {
	&allocation_by_class, &allocation_by_thread, &allocation_by_site, &class_loaders,
	&contention_by_thread, &contention_by_class, &contention_by_site, &contention_by_address,
	&exception_by_type, &exception_by_message, &exception_by_site, &exception_count,
	&file_reads_by_path, &socket_reads_by_host, &file_writes_by_path, &socket_writes_by_host,
	NULL,
};
