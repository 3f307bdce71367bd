#include "embedded/embedded.h"

#include <errno.h>
#include <string.h>

#define ZLIB_CONST /* makes next_in of z_stream const */
#include <zlib.h>

#include "base/xalloc.h"

/* In the manual: first and last of the bytes that begin a line whose indentation is new. */
#define INDENT_0 14
#define INDENT_17 31
#define GZIP 16 /* added to inflateInit2()'s windowBits: expect a gzip header and checksum */

/* Defined in files.S. */
extern const unsigned char jtool_agent_gz[], jtool_manual_gz[], jtool_flamegraph_gz[],
	jtool_views_gz[];
extern const size_t jtool_agent_gz_len, jtool_manual_gz_len, jtool_flamegraph_gz_len,
	jtool_views_gz_len;

/* Returns the uncompressed length, which a gzip file has in its last 4 bytes (RFC 1952). */
static size_t uncompressed_len(const unsigned char *gz, size_t gz_len)
{
	const unsigned char *at = gz + gz_len - 4;

	return (size_t)at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 | (size_t)at[3] << 24;
}

static int decompress(const unsigned char *gz, size_t gz_len, struct buf *out)
{
	size_t len = uncompressed_len(gz, gz_len);
	z_stream z = {
		.next_in = gz,
		.avail_in = (uInt)gz_len,
		.next_out = (Bytef *)buf_reserve(out, len),
		.avail_out = (uInt)len,
	};
	int rc;

	if (inflateInit2(&z, MAX_WBITS + GZIP) != Z_OK)
		xalloc_die();
	rc = inflate(&z, Z_FINISH);
	(void)inflateEnd(&z); /* frees memory; cannot fail after inflateInit2() */
	if (rc != Z_STREAM_END || z.avail_out > 0)
		return -EBADMSG;
	out->len += len;
	return 0;
}

/*
 * Restores the distances in the agent's call instructions: packaging/static/absolute-calls has
 * replaced them by the addresses of the functions, because equal calls compress better.
 */
static void restore_calls(struct buf *agent)
{
#ifdef AGENT_CALLS_ARE_ABSOLUTE
	const unsigned char call = 0xe8; /* x86: followed by 4 bytes, relative to the next byte */

	for (uint32_t i = 0, n; i + 5 <= agent->len; i++) {
		if ((unsigned char)agent->data[i] != call)
			continue;
		memcpy(&n, agent->data + i + 1, sizeof(n));
		n -= i + 5;
		memcpy(agent->data + i + 1, &n, sizeof(n));
		i += sizeof(n);
	}
#else
	(void)agent;
#endif
}

int embedded_agent(struct buf *agent, struct err *err)
{
	if (decompress(jtool_agent_gz, jtool_agent_gz_len, agent) < 0)
		return err_set(err, EXIT_AGENT,
			       "cannot unpack the agent: this copy of jtool is damaged; install "
			       "it again");
	restore_calls(agent);
	return 0;
}

/* Appends the `len` bytes of a page, with the spaces that scripts/manual-text has encoded. */
static void add_page(struct buf *text, const char *at, size_t len)
{
	const char *end = at + len;
	size_t indent = 0;

	for (bool begins = true; at < end; at++) {
		if (*at >= INDENT_0 && *at <= INDENT_17) {
			indent = (size_t)*at - INDENT_0;
			continue;
		}
		if (begins && *at != '\n') {
			memset(buf_reserve(text, indent), ' ', indent);
			text->len += indent;
		}
		begins = *at == '\n';
		buf_addc(text, *at);
	}
}

/*
 * The manual has one part for each page: a form feed, the page's name, a line feed, and its text.
 */
int embedded_page(const char *name, struct buf *text)
{
	_cleanup_buf_ struct buf manual = BUF_INIT;
	size_t len = strlen(name);

	if (decompress(jtool_manual_gz, jtool_manual_gz_len, &manual) < 0)
		return -EBADMSG;
	for (const char *at = strchr(buf_str(&manual), '\f'); at; at = strchr(at, '\f')) {
		at++;
		if (strncmp(at, name, len) == 0 && at[len] == '\n') {
			at += len + 1;
			add_page(text, at, strcspn(at, "\f"));
			return 0;
		}
	}
	return -ENOENT;
}

int embedded_flamegraph(struct buf *parts, struct err *err)
{
	if (decompress(jtool_flamegraph_gz, jtool_flamegraph_gz_len, parts) < 0)
		return err_set(err, EXIT_PARTIAL,
			       "cannot unpack the page of the flame graph: this copy of jtool is "
			       "damaged; install it again");
	return 0;
}

int embedded_views(struct buf *text)
{
	return decompress(jtool_views_gz, jtool_views_gz_len, text);
}
