/*
 * The command exporter: serves the metrics of all JVMs to Prometheus.
 *
 * The HTTP server is jtool's own (src/http).  With Debian's libmicrohttpd, jtool could not be one
 * static file: libmicrohttpd links GnuTLS and p11-kit, and there is no static library of p11-kit.
 *
 * If a systemd socket unit passes the listening sockets, the service can run in an empty network
 * namespace (PrivateNetwork=yes): it only accepts connections on these sockets, which systemd has
 * opened in the host's network namespace.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>

#include "cli/command.h"
#include "cli/stop_signals.h"
#include "cmd/vm/metrics_document.h"
#include "discover/discover.h"
#include "http/http_address.h"
#include "http/http_server.h"

#define NS_PER_S 1e9
#define SOCKETS_TEXT "the sockets of systemd"

struct exporter_opts {
	const char *listen;
};

#define AT(member) offsetof(struct exporter_opts, member)

static const struct opt exporter_rows[] = {
	{ 'l', "listen", OPT_TEXT, AT(listen), "ADDR:PORT",
	  "listen there: 127.0.0.1:9404, [::1]:9404, :9404 for every address", NULL },
	OPT_END,
};

static void skip(void *arg, const struct jvm *jvm, const struct err *err)
{
	size_t *n = arg;

	(void)jvm;
	(void)err;
	(*n)++;
}

struct exporter {
	const struct cmd *cmd;
	struct process_set *hung; /* shared with the processes that write the documents */
};

/* When no process is blocked any more, inspects all JVMs again. */
static void begin(void *arg, bool has_orphans)
{
	const struct exporter *exporter = arg;

	if (!has_orphans)
		exporter->hung->n = 0;
}

/*
 * Reads all JVMs and prints one document with their metrics.  Runs in a process of its own for each
 * document, so that all memory is freed when that process ends.
 */
static int write_document(void *arg, FILE *out, struct err *err)
{
	const struct exporter *exporter = arg;
	int64_t begun_ns = monotonic_ns();
	struct openmetrics_self self = { 0 };
	struct metrics_document doc;
	struct jvm_list list;
	struct procfs proc;
	int rc = procfs_open(&proc, "/proc");

	if (rc < 0)
		return jvm_no_proc(rc, err);
	rc = discover_all(&proc, false, exporter->hung, &list, err);
	procfs_close(&proc);
	if (rc < 0)
		return -1;
	metrics_document_read(&doc, list.jvms, list.n, skip, &self.skipped);
	self.found = list.n;
	self.seconds = (double)(monotonic_ns() - begun_ns) / NS_PER_S;
	openmetrics_print(doc.jvms, doc.n, &self, out);
	metrics_document_release(&doc);
	jvm_list_release(&list);
	return 0;
}

static void report_failure(void *arg, const struct err *err)
{
	const struct exporter *exporter = arg;

	cmd_print_error(exporter->cmd, err);
}

/*
 * Opens the listening socket of --listen, or takes the listening sockets that systemd has passed.
 * Returns the number of sockets, or -1 with err set.
 */
static int open_listeners(const struct ctx *ctx, int fds[HTTP_LISTENERS_MAX], struct err *err)
{
	const struct exporter_opts *opts = ctx->opts;
	struct sockaddr_storage address;
	char text[HTTP_ADDRESS_MAX];
	int n;

	if (!opts->listen) {
		n = http_address_inherit(fds, HTTP_LISTENERS_MAX, err);
		if (n == 0)
			return err_set(err, EXIT_USAGE, "missing --listen ADDR:PORT: give an "
				       "address such as 127.0.0.1:9404");
		if (n > 0)
			cmd_print_notice(ctx->cmd, "serving /metrics on " SOCKETS_TEXT);
		return n;
	}
	fds[0] = http_address_listen(opts->listen, &address, err);
	if (fds[0] < 0)
		return -1;
	http_address_text(&address, text);
	cmd_print_notice(ctx->cmd, "serving http://%s/metrics", text);
	return 1;
}

static int check(const struct ctx *ctx, struct err *err)
{
	const struct exporter_opts *opts = ctx->opts;

	if (ctx->json)
		return err_set(err, EXIT_USAGE, "--json is not accepted here: the metrics have "
			       "Prometheus' format");
	return opts->listen ? http_address_check(opts->listen, err) : 0;
}

static int serve(const struct ctx *ctx, const int *fds, int n, int stop, struct err *err)
{
	struct process_set *hung = mmap(NULL, sizeof(*hung), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct exporter exporter = { ctx->cmd, hung };
	int rc;

	if (hung == MAP_FAILED)
		return err_set(err, EXIT_PARTIAL, "cannot allocate memory: %s; free some",
			       strerror(errno));
	rc = http_server_run(&(struct http_server){
		.listeners = fds, .n_listeners = n, .stop = stop, .timeout_ms = ctx->timeout_ms,
		.begin = begin, .write = write_document, .arg = &exporter,
		.failed = report_failure,
	}, err);
	(void)munmap(hung, sizeof(*hung));
	return rc;
}

static int run(struct ctx *ctx, struct err *err)
{
	int fds[HTTP_LISTENERS_MAX];
	_cleanup_close_ int stop = -1;
	sigset_t signals;
	int n, rc;

	stop_signals(&signals);
	(void)sigprocmask(SIG_BLOCK, &signals, NULL); /* cannot fail with these arguments */
	stop = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (stop < 0)
		return err_set(err, EXIT_USAGE,
			       "cannot receive signals: %s; free memory, or raise ulimit -n",
			       strerror(errno));
	n = open_listeners(ctx, fds, err);
	if (n < 0)
		return -1;
	rc = serve(ctx, fds, n, stop, err);
	for (int i = 0; i < n; i++)
		(void)close(fds[i]); /* a listening socket has no data that could be lost */
	return rc;
}

const struct cmd cmd_exporter = {
	.name = "exporter",
	.synopsis = "[--listen ADDR:PORT]",
	.summary = "serve metrics of all JVMs to Prometheus, over HTTP",
	.examples = (const struct example[]){
		{ "exporter --listen 127.0.0.1:9404", "serves http://127.0.0.1:9404/metrics" },
		{ "exporter --listen :9404", "serves every address of the machine" },
		{ NULL, NULL },
	},
	.details =
		"Serves what 'jtool stat all --openmetrics' prints, with the names of Kubernetes\n"
		"pods.  Attaches to nothing.  Runs until Ctrl-C.  Without --listen, a systemd\n"
		"socket unit passes the sockets.  There is no TLS and no password.\n",
	.need = NEED_NOTHING,
	.parses = true,
	.free_words = -1,
	.opts = exporter_rows,
	.opts_size = sizeof(struct exporter_opts),
	.check = check,
	.run = run,
};
