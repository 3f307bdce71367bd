#include "session/loaded_agents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "attach/target_query.h"
#include "discover/agents.h"
#include "discover/discover.h"
#include "fileio/io.h"
#include "proc/inroot.h"
#include "session/session.h"

/*
 * Limit for the number of agent images in one target; further images are ignored.  A target has one
 * image for each build of jtool that has inspected it, so only a hostile target has more.
 */
#define IMAGES_MAX 32
#define RECORD_MAX (IMAGES_MAX * 8192u) /* bytes; suffices even if each path has PATH_MAX bytes */

/*
 * Limits in bytes for the size of the code of any jtool agent.  A copy of an agent under another
 * name is recognised by its content, for which the file must be opened; a library whose code size
 * is outside of these limits need not be opened.
 */
#define CODE_MIN ((uint64_t)96 << 10)
#ifndef CODE_MAX /* scripts/coverage sets it: counters enlarge the code */
#define CODE_MAX ((uint64_t)512 << 10)
#endif
/* maximum number of libraries to open; about five in a JVM have CODE_MIN to CODE_MAX bytes */
#define OPENED_MAX 100

#define STEM "jtool-agent-"
#define SUFFIX ".so"
#define HASH_LEN 16

void loaded_agents_release(struct loaded_agents *images)
{
	for (size_t i = 0; i < images->n; i++)
		free(images->list[i].path);
	free(images->list);
	*images = (struct loaded_agents){ 0 };
}

static const char *name_of(const char *path)
{
	return strrchr(path, '/') + 1; /* paths in maps are absolute */
}

static bool is_image(const char *name)
{
	size_t stem = strlen(STEM);

	return strncmp(name, STEM, stem) == 0 &&
	       strspn(name + stem, "0123456789abcdef") == HASH_LEN &&
	       strcmp(name + stem + HASH_LEN, SUFFIX) == 0;
}

/* Returns true for the name of musl's loader, which may be a link to musl's libc.so. */
static bool is_musl(const char *name)
{
	return strncmp(name, "ld-musl-", 8) == 0 || strcmp(name, "libc.so") == 0;
}

struct search {
	struct loaded_agents *images;
	const struct target_ns *ns;
	const char *root; /* where the link /proc/PID/root leads to; NULL: unreadable */
	const struct buf *agent; /* content of this build's agent */
	const char *name;        /* file name of this build's agent when it is staged */
	unsigned opened;
};

/* Parses the range "START-END" of a mapping, sets *start, and returns the length in bytes. */
static uint64_t parse_range(const char *range, uint64_t *start)
{
	char *end = NULL;

	*start = strtoull(range, &end, 16);
	return *end == '-' ? strtoull(end + 1, NULL, 16) - *start : 0;
}

static bool has_content(int fd, const struct buf *agent)
{
	_cleanup_buf_ struct buf found = BUF_INIT;

	return io_slurp(fd, &found, agent->len) == 0 && found.len == agent->len &&
	       memcmp(found.data, agent->data, found.len) == 0;
}

/*
 * Returns true if the mapped file is an agent of jtool under another name.  Sets *this_build to
 * true if the agent is of this build.  Only root can open a mapped file that was deleted or
 * replaced.  If such a file cannot be opened, returns true if its name begins with "jtool-agent",
 * and leaves *this_build false, because the build is unknown.
 */
static bool is_copy(struct search *s, const struct proc_map *map, uint64_t len, bool *this_build)
{
	_cleanup_close_ int fd = -1;

	if (len < CODE_MIN || len > CODE_MAX || s->opened++ >= OPENED_MAX)
		return false;
	fd = agents_open_mapped(&s->ns->proc, s->ns->jvm->pid, s->ns->root_fd, s->root, map);
	if (fd < 0)
		return map->deleted && strncmp(name_of(map->path), STEM, strlen(STEM) - 1) == 0;
	*this_build = has_content(fd, s->agent);
	return *this_build || agents_is_jtools(fd);
}

static bool visit(const struct proc_map *map, void *arg)
{
	struct search *s = arg;
	struct loaded_agents *images = s->images;
	const char *path = inroot_path(map->path, s->root), *name = name_of(path);
	struct loaded_agent image = { .at_startup = !agents_is_staged(path) };
	uint64_t len = parse_range(map->range, &image.address);

	images->musl |= is_musl(name);
	if (loaded_agents_at(images, path) || images->n == IMAGES_MAX)
		return true;
	if (is_image(name))
		image.this_build = strcmp(name, s->name) == 0;
	else if (!is_copy(s, map, len, &image.this_build))
		return true;
	image.path = xstrdup(path);
	images->list = xgrow(images->list, images->n, &images->cap, sizeof(*images->list));
	images->list[images->n++] = image;
	return true;
}

int loaded_agents_inspect(const struct target_ns *ns, const struct buf *agent,
			  struct loaded_agents *images, struct err *err)
{
	const struct jvm *jvm = ns->jvm;
	_cleanup_free_ char *root = procfs_readlink(&ns->proc, jvm->pid, "root");
	_cleanup_free_ char *name = session_agent_name(agent);
	struct loaded_agents found = { 0 };
	struct search s = { &found, ns, root, agent, name, 0 };
	int rc = procfs_code_maps(&ns->proc, jvm->pid, visit, &s);

	if (rc == 0) {
		*images = found;
		return 0;
	}
	loaded_agents_release(&found);
	if (rc == -ESRCH || rc == -ENOENT)
		return jvm_gone(jvm, err);
	if (rc == -EACCES || rc == -EPERM)
		return err_set(err, EXIT_AGENT,
			       "the kernel does not show which libraries JVM %d has mapped, "
			       "because it has capabilities that jtool lacks, and jtool has no "
			       "CAP_SYS_PTRACE: add SYS_PTRACE, or use kubectl debug "
			       "--profile=general", (int)jvm->pid);
	return err_set(err, EXIT_AGENT, "cannot read the mappings of JVM %d: %s; try again",
		       (int)jvm->pid, strerror(-rc));
}

/* An image in the record that a worker sends: this head, and then `len` bytes of path. */
struct image_head {
	uint64_t address;
	uint32_t len;
	uint8_t this_build, at_startup;
};

void loaded_agents_add_record(struct buf *out, const struct loaded_agents *images)
{
	buf_addc(out, images->musl);
	for (size_t i = 0; i < images->n; i++) {
		const struct loaded_agent *image = &images->list[i];
		struct image_head head;

		/* Clear the padding too, because it is sent with the members. */
		memset(&head, 0, sizeof(head));
		head.address = image->address;
		head.len = (uint32_t)strlen(image->path);
		head.this_build = image->this_build;
		head.at_startup = image->at_startup;
		buf_add(out, &head, sizeof(head));
		buf_add(out, image->path, head.len);
	}
}

/*
 * Parses one image of a worker's record, and adds it to `images`.  Returns how many bytes the image
 * has in the record; 0 if the data is malformed.
 */
static size_t parse_image(const char *data, size_t len, struct loaded_agents *images)
{
	struct loaded_agent image;
	struct image_head head;

	if (len < sizeof(head))
		return 0;
	memcpy(&head, data, sizeof(head));
	data += sizeof(head);
	if (head.len == 0 || head.len > len - sizeof(head) || memchr(data, '\0', head.len) ||
	    *data != '/' || head.this_build > 1 || head.at_startup > 1)
		return 0;
	image = (struct loaded_agent){
		.path = xstrndup(data, head.len), .address = head.address,
		.this_build = head.this_build, .at_startup = head.at_startup,
	};
	images->list = xgrow(images->list, images->n, &images->cap, sizeof(*images->list));
	images->list[images->n++] = image;
	return sizeof(head) + head.len;
}

bool loaded_agents_parse(const char *data, size_t len, struct loaded_agents *images)
{
	struct loaded_agents found = { 0 };
	bool ok = len > 0 && (unsigned char)*data <= 1;

	found.musl = ok && *data == 1;
	for (size_t at = 1, n; ok && at < len; at += n) {
		n = parse_image(data + at, len - at, &found);
		ok = n > 0 && found.n <= IMAGES_MAX;
	}
	if (!ok)
		loaded_agents_release(&found);
	*images = found;
	return ok;
}

static int answer_agents(const struct target_ns *ns, const void *agent, struct buf *answer,
			 struct err *err)
{
	struct loaded_agents found = { 0 };

	if (loaded_agents_inspect(ns, agent, &found, err) < 0)
		return -1;
	loaded_agents_add_record(answer, &found);
	loaded_agents_release(&found);
	return 0;
}

int loaded_agents_find(const struct jvm *jvm, const struct buf *agent,
		       struct loaded_agents *images, struct err *err)
{
	const struct target_query q = {
		.fn = answer_agents, .arg = agent, .fd = -1, .max = RECORD_MAX,
	};
	_cleanup_buf_ struct buf answer = BUF_INIT;

	if (target_query(jvm, &q, &answer, err) < 0)
		return -1;
	if (loaded_agents_parse(answer.data, answer.len, images))
		return 0;
	return discover_lost_worker(jvm, -EBADMSG, err);
}

const struct loaded_agent *loaded_agents_at(const struct loaded_agents *images, const char *path)
{
	for (size_t i = 0; i < images->n; i++) {
		if (strcmp(images->list[i].path, path) == 0)
			return &images->list[i];
	}
	return NULL;
}

const struct loaded_agent *loaded_agents_own(const struct loaded_agents *images)
{
	const struct loaded_agent *own = NULL;

	for (size_t i = 0; i < images->n; i++) {
		const struct loaded_agent *agent = &images->list[i];

		if (agent->this_build && (!own || (agent->at_startup && !own->at_startup)))
			own = agent;
	}
	return own;
}

const struct loaded_agent *loaded_agents_foreign(const struct loaded_agents *images)
{
	for (size_t i = 0; i < images->n; i++) {
		if (images->list[i].at_startup && !images->list[i].this_build)
			return &images->list[i];
	}
	return NULL;
}

char *loaded_agents_remedy(const struct loaded_agents *images, const struct loaded_agent *asleep,
			   const struct err *unwoken)
{
	const struct loaded_agent *foreign = loaded_agents_foreign(images);

	if (unwoken->code != EXIT_DONE)
		return xasprintf("its agent %s cannot be woken: %s", asleep->path, unwoken->text);
	if (asleep)
		return xasprintf("its agent %s does not wake; restart it with "
				 "-agentpath:$(jtool agent)", asleep->path);
	if (foreign)
		return xasprintf("its agent %s is of another build of jtool: use that build, or "
				 "restart the JVM with -agentpath:$(jtool agent)", foreign->path);
	return xstrdup("restart it with -agentpath:$(jtool agent), or with "
		       "-XX:+EnableDynamicAgentLoading");
}
