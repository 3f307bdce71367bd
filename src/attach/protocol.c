#include "attach/protocol.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define V1_VERSION "1"
#define V2_VERSION "2"

/* Option of a version 2 request: the reply is not streamed (JDK-8354460). */
#define NOT_STREAMED " streaming=0"

static void add_string(struct buf *out, const char *s)
{
	buf_add(out, s, strlen(s) + 1);
}

static int check_v1(const struct attach_request *req, struct err *err)
{
	if (strlen(req->op) > ATTACH_V1_NAME_MAX)
		return err_set(err, EXIT_USAGE,
			       "operation '%.40s' is too long: this JVM accepts at most %d bytes",
			       req->op, ATTACH_V1_NAME_MAX);
	if (req->n_args > ATTACH_V1_ARGS)
		return err_set(err, EXIT_USAGE,
			       "too many arguments (%zu): this JVM accepts at most %d; give fewer",
			       req->n_args, ATTACH_V1_ARGS);
	for (size_t i = 0; i < req->n_args; i++) {
		size_t len = strlen(req->args[i]);

		if (len > ATTACH_V1_ARG_MAX)
			return err_set(err, EXIT_USAGE,
				       "argument %zu of '%s' has %zu bytes: this JVM accepts at "
				       "most %d; use a file for long values if the command can",
				       i + 1, req->op, len, ATTACH_V1_ARG_MAX);
	}
	return 0;
}

static int request_v1(struct buf *out, const struct attach_request *req, struct err *err)
{
	if (check_v1(req, err) < 0)
		return -1;
	add_string(out, V1_VERSION);
	add_string(out, req->op);
	for (size_t i = 0; i < ATTACH_V1_ARGS; i++)
		add_string(out, i < req->n_args ? req->args[i] : "");
	return 0;
}

static int request_v2(struct buf *out, const struct attach_request *req, bool streaming,
		      struct err *err)
{
	_cleanup_buf_ struct buf body = BUF_INIT;

	/*
	 * In version 2, the JVM reads the text after a space in the operation's name as options,
	 * so a name must not contain a space.
	 */
	if (strchr(req->op, ' '))
		return err_set(err, EXIT_USAGE,
			       "invalid operation '%.40s': it contains a space; give each "
			       "argument separately", req->op);
	buf_adds(&body, req->op);
	if (streaming)
		buf_adds(&body, NOT_STREAMED);
	buf_addc(&body, '\0');
	for (size_t i = 0; i < req->n_args; i++)
		add_string(&body, req->args[i]);
	if (body.len > ATTACH_V2_MAX)
		return err_set(err, EXIT_USAGE,
			       "the attach request has %zu bytes: this JVM accepts at most %d; "
			       "give fewer or shorter arguments", body.len, ATTACH_V2_MAX);
	add_string(out, V2_VERSION);
	buf_addf(out, "%zu", body.len);
	buf_addc(out, '\0');
	buf_add(out, body.data, body.len);
	return 0;
}

int attach_protocol_request(struct buf *out, const struct attach_request *req,
			    struct attach_version version, struct err *err)
{
	if (version.version >= 2)
		return request_v2(out, req, version.streaming, err);
	return request_v1(out, req, err);
}

/*
 * Parses an integer at the start of the text.  Returns the integer's length in bytes; or 0 if the
 * text does not begin with a number, or the number does not fit in an int.
 */
static size_t parse_int(const char *s, size_t len, int *out)
{
	bool negative = len > 0 && s[0] == '-';
	size_t start = negative ? 1 : 0, i = start;
	long long n = 0;

	for (; i < len && s[i] >= '0' && s[i] <= '9'; i++) {
		n = n * 10 + (s[i] - '0');
		if (n > (long long)INT_MAX + 1)
			return 0;
	}
	if (i == start)
		return 0;
	if (negative)
		n = -n;
	if (n > INT_MAX)
		return 0;
	*out = (int)n;
	return i;
}

ssize_t attach_protocol_status(const char *data, size_t len, int *code)
{
	size_t digits;
	int n;

	if (len == 0)
		return -ENODATA;
	digits = parse_int(data, len, &n);
	if (digits == 0 || digits == len || data[digits] != '\n')
		return -EPROTO;
	*code = n;
	return (ssize_t)digits + 1;
}

/* Returns true if the text contains this word.  Words end at spaces and line ends. */
static bool has_word(const char *s, size_t len, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i < len;) {
		size_t end = i;

		while (end < len && s[end] != ' ' && s[end] != '\n')
			end++;
		if (end - i == n && memcmp(s + i, word, n) == 0)
			return true;
		i = end + 1;
	}
	return false;
}

struct attach_version attach_protocol_version(const char *data, size_t len)
{
	struct attach_version v = { .version = 1 };
	int code, version;
	ssize_t at = attach_protocol_status(data, len, &code);
	size_t digits;

	if (at < 0 || code != 0)
		return v;
	data += at;
	len -= (size_t)at;
	digits = parse_int(data, len, &version);
	if (digits == 0 || version < 2)
		return v;
	v.version = 2; /* a version later than 2 includes 2, the newest that jtool knows */
	v.streaming = has_word(data + digits, len - digits, "streaming");
	return v;
}

/* Returns true, with the number in *out, if the text is only `prefix`, a number and line ends. */
static bool only_number(const char *s, size_t len, const char *prefix, int *out)
{
	size_t skip = strlen(prefix), digits;

	if (len < skip || memcmp(s, prefix, skip) != 0)
		return false;
	digits = parse_int(s + skip, len - skip, out);
	if (digits == 0)
		return false;
	for (size_t i = skip + digits; i < len; i++) {
		if (s[i] != '\n')
			return false;
	}
	return true;
}

struct load_result attach_protocol_load(int status, const char *output, size_t len)
{
	struct load_result result = { .loaded = false };

	if (status != 0)
		return result;
	/* JDK 9 and later print "return code: N", JDK 8 prints the number alone. */
	result.has_code = only_number(output, len, "return code: ", &result.code) ||
			  only_number(output, len, "", &result.code);
	/* From JDK 21 on the status is always 0; only the text has the result (JDK-8325530). */
	result.loaded = result.has_code && result.code == 0;
	return result;
}
