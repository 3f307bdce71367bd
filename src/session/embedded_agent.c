#include "session/embedded.h"

#define ZLIB_CONST /* what it reads is const */
#include <zlib.h>

#include "base/xalloc.h"

#define GZIP 16 /* inflateInit2: with gzip's header and check sum around it */

/* agent_gz.S */
extern const unsigned char jtool_agent_gz[];
extern const size_t jtool_agent_gz_len;

/* What gzip says at its end of how long it was (RFC 1952). */
static size_t whole_len(void)
{
	const unsigned char *at = jtool_agent_gz + jtool_agent_gz_len - 4;

	return (size_t)at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 | (size_t)at[3] << 24;
}

int embedded_agent(struct buf *agent, struct err *err)
{
	size_t len = whole_len();
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
	(void)inflateEnd(&z); /* it is but freed */
	if (rc != Z_STREAM_END || z.avail_out > 0)
		return err_set(err, EXIT_AGENT, "this copy of jtool is damaged: get another one");
	agent->len += len;
	return 0;
}
