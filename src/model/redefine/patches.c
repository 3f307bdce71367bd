#include "model/redefine/patches.h"

#include <errno.h>
#include <time.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "model/class/type_name.h"
#include "wire/frame.h"

/* Maximum number of patches that jtool stores, because a hostile agent may send any number. */
#define PATCHES_MAX (1u << 20)

void patches_release(struct patches *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->rows[i].class);
		free(p->rows[i].file);
		free(p->rows[i].digest);
	}
	free(p->rows);
	class_origins_release(&p->origins);
	*p = (struct patches){ 0 };
}

static char *copy(struct wire_text text)
{
	return xstrndup(text.data ? text.data : "", text.len);
}

static int take_row(struct patches *p, struct wire_reader *payload)
{
	_cleanup_buf_ struct buf class = BUF_INIT;
	struct patch_row row = { .id = wire_get_u64(payload) };
	struct wire_text signature, file, digest;

	row.when_ms = wire_get_u64(payload);
	row.loader = wire_get_u32(payload);
	signature = wire_get_text(payload);
	file = wire_get_text(payload);
	digest = wire_get_text(payload);
	if (!wire_reader_ok(payload) || p->n >= PATCHES_MAX ||
	    !class_origins_has(&p->origins, row.loader, 0, 0) ||
	    type_name_java(&class, signature.data, signature.len) < 0)
		return -EBADMSG;
	row.class = buf_take(&class);
	row.file = copy(file);
	row.digest = copy(digest);
	p->rows = xgrow(p->rows, p->n, &p->cap, sizeof(*p->rows));
	p->rows[p->n++] = row;
	return 0;
}

int patches_take(struct patches *p, uint16_t type, struct wire_reader *payload)
{
	int rc = class_origins_take(&p->origins, type, payload);

	if (rc != 0)
		return rc < 0 ? rc : 0;
	switch (type) {
	case WIRE_PATCH_ROW:
		return take_row(p, payload);
	case WIRE_PATCHES_END:
		return wire_get_u32(payload) == p->n && wire_reader_ok(payload) ? 1 : -EBADMSG;
	default:
		return -EBADMSG;
	}
}

bool patches_match(const struct patches *p, const struct patch_row *row, const char *word,
		   const char *loader)
{
	if (loader && !class_origins_loader_is(&p->origins, row->loader, loader))
		return false;
	return !word || type_name_matches(row->class, word);
}

const char *patch_when(const struct patch_row *row, char text[static PATCH_WHEN_MAX])
{
	time_t t = (time_t)(row->when_ms / 1000);
	struct tm tm;

	if (!gmtime_r(&t, &tm) || strftime(text, PATCH_WHEN_MAX, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		*text = '\0'; /* the year does not fit */
	return text;
}
