#include <stdint.h>

#include "attach/protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Parses the answers of a JVM or of another process in its place; builds requests from any
 * words. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *reply = (const char *)data;
	_cleanup_buf_ struct buf text = BUF_INIT, out = BUF_INIT;
	struct err err = { .code = EXIT_DONE };
	const char *args[1];
	struct attach_request req = { .args = args, .n_args = ARRAY_SIZE(args) };
	struct attach_version version = attach_protocol_version(reply, len);
	int code;
	ssize_t at = attach_protocol_status(reply, len, &code);

	if (at >= 0)
		(void)attach_protocol_load(code, reply + at, len - (size_t)at);
	buf_add(&text, data, len);
	req.op = buf_str(&text);
	args[0] = req.op;
	if (attach_protocol_request(&out, &req, version, &err) == 0 && out.len == 0)
		__builtin_trap();
	return 0;
}
