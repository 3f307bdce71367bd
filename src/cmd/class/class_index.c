#include "cmd/class/class_index.h"

#include <string.h>

#include "base/xalloc.h"
#include "base/suggest.h"
#include "model/class/type_name.h"

#define CANDIDATES_MAX 400 /* limit in bytes for the class names that an error lists */

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

int class_index_open(const struct ctx *ctx, uint32_t flags, struct class_index *r, struct err *err)
{
	const struct attach_opts attach = { .timeout_ms = ctx->timeout_ms, .steps = ctx->steps };

	*r = (struct class_index){ .session = session_open(ctx->jvm, &attach, err) };
	if (!r->session)
		return -1;
	if (ask(r->session, flags, err) < 0 ||
	    session_answer(r->session, take_frame, &r->classes, err) < 0) {
		(void)class_index_close(r, err); /* does not replace the error in `err` */
		return -1;
	}
	verbose_step(ctx->steps, "%zu classes are loaded, by %zu class loaders", r->classes.n,
		     r->classes.origins.n_loaders + 1);
	classes_sort(&r->classes);
	return 0;
}

int class_index_close(struct class_index *r, struct err *err)
{
	int rc = session_close(r->session, err);

	classes_release(&r->classes);
	r->session = NULL;
	return rc < 0 ? -1 : 0;
}

static int refuse_loader(const struct class_index *r, const char *loader, struct err *err)
{
	const struct class_origins *origins = &r->classes.origins;
	_cleanup_buf_ struct buf names = BUF_INIT;

	for (uint32_t i = 0; i <= origins->n_loaders && names.len < CANDIDATES_MAX; i++)
		buf_addf(&names, "%s%s", i ? ", " : "", class_origins_loader(origins, i));
	return err_set(err, EXIT_ANSWER, "unknown class loader '%.100s': choose from %s", loader,
		       buf_str(&names));
}

static bool is_loader(const struct class_index *r, const char *word)
{
	for (uint32_t i = 0; i <= r->classes.origins.n_loaders; i++) {
		if (class_origins_loader_is(&r->classes.origins, i, word))
			return true;
	}
	return false;
}

static const char *row_name(const void *classes, size_t i)
{
	return ((const struct classes *)classes)->rows[i].name;
}

/* Returns a class whose name is `word`, of any loader; NULL if there is none. */
static const struct class_row *find_any_loader(const struct class_index *r, const char *word)
{
	for (size_t i = 0; i < r->classes.n; i++) {
		if (strcmp(r->classes.rows[i].name, word) == 0)
			return &r->classes.rows[i];
	}
	return NULL;
}

static int refuse_word(const struct class_index *r, const char *word, struct err *err)
{
	const struct class_row *other = find_any_loader(r, word);
	struct suggestions near = SUGGEST_INIT(word);
	int rc;

	if (other)
		return err_set(err, EXIT_ANSWER,
			       "%.200s is not loaded by that loader but by %.200s; give that one "
			       "with --loader", word,
			       class_origins_loader(&r->classes.origins, other->loader));
	suggest_offer_classes(&near, row_name, &r->classes, r->classes.n);
	rc = err_set(err, EXIT_ANSWER, "no class '%.200s' is loaded%s", word,
		     near.n > 0 ? suggest_hint(&near) : "; 'jtool classes' lists loaded classes");
	suggest_release(&near);
	return rc;
}

const char *class_index_resolve(const struct class_index *r, const char *word, struct err *err)
{
	return type_name_resolve(word, row_name, &r->classes, r->classes.n, err);
}

int class_index_select(const struct ctx *ctx, struct class_index *r, char *const *words,
		       size_t n_words, const char *loader, struct err *err)
{
	_cleanup_free_ bool *unmatched = xcalloc(n_words + 1, sizeof(*unmatched));

	if (loader && !is_loader(r, loader))
		return refuse_loader(r, loader, err);
	if (classes_select(&r->classes, words, n_words, loader, unmatched) == 0) {
		verbose_step(ctx->steps, "%zu of them match", r->classes.n);
		return 0;
	}
	for (size_t i = 0; i < n_words; i++) {
		if (unmatched[i])
			return refuse_word(r, words[i], err);
	}
	return 0;
}

int class_index_select_args(const struct ctx *ctx, struct class_index *r, const char *loader,
			    struct err *err)
{
	size_t n = (size_t)ctx->n_args;
	_cleanup_free_ char **words = xcalloc(n + 1, sizeof(*words));

	for (size_t i = 0; i < n; i++) {
		/* The cast is safe: the text is never written to. */
		words[i] = (char *)class_index_resolve(r, ctx->args[i], err);
		if (!words[i])
			return -1;
	}
	return class_index_select(ctx, r, words, n, loader, err);
}
