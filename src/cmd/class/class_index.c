#include "cmd/roster.h"

#include <string.h>

#include "base/xalloc.h"
#include "model/near.h"

#define CANDIDATES_MAX 400 /* bytes of an error */

static int ask(struct session *s, uint32_t flags, struct err *err)
{
	uint8_t payload[4];
	struct wire_writer w = wire_writer_init(payload, sizeof(payload));

	wire_put_u32(&w, flags);
	return session_send(s, WIRE_CLASSES, &w, err);
}

static int take_frame(void *classes, uint16_t type, struct wire_reader *payload)
{
	return classes_take(classes, type, payload);
}

int roster_open(const struct ctx *ctx, uint32_t flags, struct roster *r, struct err *err)
{
	const struct attach_opts attach = { ctx->timeout_ms, ctx->steps };

	*r = (struct roster){ .session = session_open(ctx->jvm, &attach, err) };
	if (!r->session)
		return -1;
	if (ask(r->session, flags, err) < 0 ||
	    session_answer(r->session, take_frame, &r->classes, err) < 0) {
		(void)roster_close(r, err); /* the first error is the one to tell */
		return -1;
	}
	steps_add(ctx->steps, "%zu classes are loaded, by %zu class loaders", r->classes.n,
		  r->classes.places.n_loaders + 1);
	classes_sort(&r->classes);
	return 0;
}

int roster_close(struct roster *r, struct err *err)
{
	int rc = session_close(r->session, err);

	classes_release(&r->classes);
	r->session = NULL;
	return rc < 0 ? -1 : 0;
}

/* There is no such loader, or it is not that one's class. */
static int refuse_loader(const struct roster *r, const char *loader, struct err *err)
{
	const struct places *places = &r->classes.places;
	_cleanup_buf_ struct buf names = BUF_INIT;

	for (uint32_t i = 0; i <= places->n_loaders && names.len < CANDIDATES_MAX; i++)
		buf_addf(&names, "%s%s", i ? ", " : "", places_loader(places, i));
	return err_set(err, EXIT_ANSWER, "no class is loaded by '%.100s': there are the loaders %s",
		       loader, buf_str(&names));
}

static bool is_loader(const struct roster *r, const char *word)
{
	for (uint32_t i = 0; i <= r->classes.places.n_loaders; i++) {
		if (places_loader_is(&r->classes.places, i, word))
			return true;
	}
	return false;
}

static const char *row_name(const void *classes, size_t i)
{
	return ((const struct classes *)classes)->rows[i].name;
}

/* A class of that name, which another loader has; or NULL. */
static const struct class_row *elsewhere(const struct roster *r, const char *word)
{
	for (size_t i = 0; i < r->classes.n; i++) {
		if (strcmp(r->classes.rows[i].name, word) == 0)
			return &r->classes.rows[i];
	}
	return NULL;
}

static int refuse_word(const struct roster *r, const char *word, struct err *err)
{
	const struct class_row *other = elsewhere(r, word);
	struct near near = NEAR_INIT(word);
	int rc;

	if (other)
		return err_set(err, EXIT_ANSWER,
			       "%.200s is not loaded by that loader, but by %.200s", word,
			       places_loader(&r->classes.places, other->loader));
	near_offer_classes(&near, row_name, &r->classes, r->classes.n);
	rc = err_set(err, EXIT_ANSWER, "no class '%.200s' is loaded%s", word,
		     near.n > 0 ? near_hint(&near) : "; 'jtool classes' lists those that are");
	near_release(&near);
	return rc;
}

int roster_select(const struct ctx *ctx, struct roster *r, char *const *words, size_t n_words,
		  const char *loader, struct err *err)
{
	_cleanup_free_ bool *idle = xcalloc(n_words + 1, sizeof(*idle));

	if (loader && !is_loader(r, loader))
		return refuse_loader(r, loader, err);
	if (classes_select(&r->classes, words, n_words, loader, idle) == 0) {
		steps_add(ctx->steps, "%zu of them are meant", r->classes.n);
		return 0;
	}
	for (size_t i = 0; i < n_words; i++) {
		if (idle[i])
			return refuse_word(r, words[i], err);
	}
	return 0;
}
