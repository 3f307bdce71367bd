#include "session/embedded_agent.h"

#define ZLIB_CONST /* makes next_in const */
#include <zlib.h>

#include "base/xalloc.h"

#define GZIP 16 /* inflateInit2: expect a gzip header and checksum */

/* agent_gz.S */
extern const unsigned char jtool_agent_gz[];
extern const size_t jtool_agent_gz_len;

/* Returns the uncompressed length, which a gzip file has in its last 4 bytes (RFC 1952). */
static size_t uncompressed_len(void)
{
	const unsigned char *at = jtool_agent_gz + jtool_agent_gz_len - 4;

	return (size_t)at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 | (size_t)at[3] << 24;
}

int embedded_agent(struct buf *agent, struct err *err)
{
	size_t len = uncompressed_len();
	z_stream z = {
		.next_in = jtool_agent_gz,
		.avail_in = (uInt)jtool_agent_gz_len,
		.next_out = (Bytef *)buf_reserve(agent, len),
		.avail_out = (uInt)len,
	};
	int rc;

	if (inflateInit2(&z, MAX_WBITS + GZIP) != Z_OK)
		xalloc_die();
	rc = inflate(&z, Z_FINISH);
	(void)inflateEnd(&z); /* frees memory, cannot fail here */
	if (rc != Z_STREAM_END || z.avail_out > 0)
		return err_set(err, EXIT_AGENT,
			       "cannot unpack the agent: this copy of jtool is damaged; install "
			       "it again");
	agent->len += len;
	return 0;
}
