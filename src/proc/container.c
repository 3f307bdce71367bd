#include "proc/container.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/xalloc.h"

#define ID_LEN 64
#define UUID_LEN 36
#define UUID_DIGITS 32

/* A part of a cgroup path; not NUL-terminated. */
struct part {
	const char *at;
	size_t len;
};

static bool starts(struct part p, const char *prefix)
{
	size_t n = strlen(prefix);

	return p.len > n && memcmp(p.at, prefix, n) == 0;
}

static bool is(struct part p, const char *name)
{
	return p.len == strlen(name) && memcmp(p.at, name, p.len) == 0;
}

static struct part without(struct part p, const char *prefix, const char *suffix)
{
	size_t head = strlen(prefix), tail = strlen(suffix);

	p.at += head;
	p.len -= head;
	if (p.len > tail && memcmp(p.at + p.len - tail, suffix, tail) == 0)
		p.len -= tail;
	return p;
}

/*
 * Finds an id of exactly 64 hex digits, with any other characters around it: ID, docker-ID.scope,
 * cri-containerd-ID.scope, crio-ID.scope, libpod-ID.scope, ID:suffix …
 */
static char *find_hex_id(struct part p)
{
	size_t run = 0;

	for (size_t i = 0; i <= p.len; i++) {
		bool hex = i < p.len && isxdigit((unsigned char)p.at[i]) &&
			   !isupper((unsigned char)p.at[i]);

		if (!hex && run == ID_LEN)
			return xstrndup(p.at + i - ID_LEN, ID_LEN);
		run = hex ? run + 1 : 0;
	}
	return NULL;
}

/* Decodes \xNN, which systemd uses for bytes that are not allowed in a unit name. */
static char *unescape(struct part p)
{
	char *name = xstrndup(p.at, p.len), *to = name;

	for (const char *from = name; *from;) {
		unsigned byte = 0;

		if (from[0] == '\\' && from[1] == 'x' && isxdigit((unsigned char)from[2]) &&
		    isxdigit((unsigned char)from[3])) {
			for (int i = 2; i < 4; i++) {
				int c = tolower((unsigned char)from[i]);

				byte = byte * 16 + (unsigned)(isdigit(c) ? c - '0' : c - 'a' + 10);
			}
			from += 3;
		}
		*to++ = byte ? (char)byte : *from;
		from++;
	}
	*to = '\0';
	return name;
}

static char *find_name(struct part p, struct part parent)
{
	if (starts(p, "lxc.payload."))
		return unescape(without(p, "lxc.payload.", ""));
	if (is(parent, "lxc") || is(parent, "lxc.payload"))
		return xstrndup(p.at, p.len);
	if (starts(p, "machine-"))
		return unescape(without(p, "machine-", ".scope"));
	if (starts(p, "systemd-nspawn@"))
		return unescape(without(p, "systemd-nspawn@", ".service"));
	return NULL;
}

/* Removes the first component of a path, and returns it. */
static struct part take_component(struct part *path)
{
	const char *slash = memchr(path->at, '/', path->len);
	struct part p = { path->at, slash ? (size_t)(slash - path->at) : path->len };
	size_t taken = p.len + (slash != NULL);

	path->at += taken;
	path->len -= taken;
	return p;
}

/*
 * Returns the innermost container id in a path; or if the path has no id, the outermost name of an
 * LXC container or systemd-nspawn machine; or NULL if the path has neither.
 */
static char *id_of_path(struct part path)
{
	char *id = NULL, *name = NULL;
	struct part parent = { path.at, 0 };

	while (path.len > 0) {
		struct part p = take_component(&path);
		char *found;

		if (p.len == 0)
			continue;
		found = find_hex_id(p);
		if (found) {
			free(id);
			id = found;
		}
		if (!name)
			name = find_name(p, parent);
		parent = p;
	}
	if (!id)
		return name;
	free(name);
	return id;
}

/*
 * Returns the pod's uid from a path component: "podUID", or "kubepods-burstable-podUID.slice", in
 * which UID has '_' in place of '-'.
 */
static char *uid_of_component(struct part p)
{
	size_t digits = 0;
	char *uid;

	if (starts(p, "kubepods")) {
		while (p.len > 4 && memcmp(p.at, "-pod", 4) != 0) {
			p.at++;
			p.len--;
		}
		if (p.len <= 4)
			return NULL;
		p = without(p, "-", ".slice");
	}
	if (!starts(p, "pod"))
		return NULL;
	p = without(p, "pod", "");
	if (p.len != UUID_LEN && p.len != UUID_DIGITS)
		return NULL;
	uid = xstrndup(p.at, p.len);
	for (char *c = uid; *c; c++) {
		if (*c == '_')
			*c = '-';
		digits += isxdigit((unsigned char)*c) != 0;
	}
	if (digits == UUID_DIGITS && (digits == p.len || strspn(uid, "0123456789abcdef-") == p.len))
		return uid;
	free(uid);
	return NULL;
}

static char *uid_of_path(struct part path)
{
	char *uid = NULL;

	while (!uid && path.len > 0)
		uid = uid_of_component(take_component(&path));
	return uid;
}

/*
 * Returns the id in the component below that of the pod: the container runtime creates that control
 * group.  Those below it are created in the container, those below user.slice by users, and their
 * names are not trusted.
 */
static char *pod_container_of_path(struct part path)
{
	while (path.len > 0) {
		struct part p = take_component(&path);
		char *uid = uid_of_component(p);

		free(uid);
		if (uid)
			return find_hex_id(take_component(&path));
		if (is(p, "user.slice"))
			return NULL;
	}
	return NULL;
}

/* Calls find() for each path in the text of PID/cgroup until find() returns a text. */
static char *find_in_paths(const char *cgroup, char *(*find)(struct part path))
{
	/*
	 * Each line is "hierarchy:controllers:path"; cgroup version 2 has the single line
	 * "0::path".
	 */
	for (const char *line = cgroup; *line;) {
		size_t len = strcspn(line, "\n");
		const char *path = memchr(line, ':', len);
		char *found = NULL;

		if (path)
			path = memchr(path + 1, ':', len - (size_t)(path + 1 - line));
		if (path)
			found = find((struct part){ path + 1, len - (size_t)(path + 1 - line) });
		if (found)
			return found;
		line += len + (line[len] == '\n');
	}
	return NULL;
}

char *container_id(const char *cgroup)
{
	return find_in_paths(cgroup, id_of_path);
}

char *container_pod_uid(const char *cgroup)
{
	return find_in_paths(cgroup, uid_of_path);
}

char *container_of_pod(const char *cgroup)
{
	return find_in_paths(cgroup, pod_container_of_path);
}
