#include "cmd/redefine/patch_images.h"

#include "base/xalloc.h"
#include "model/class/type_name.h"
#include "model/redefine/redefinition.h"
#include "embedded/embedded.h"
#include "session/loaded_agents.h"

static int take_frame(void *patches, uint16_t type, struct wire_reader *payload)
{
	return patches_take(patches, type, payload);
}

static int visit_image(const struct ctx *ctx, const char *image, patch_images_visit_fn *visit,
		       void *arg, struct err *err)
{
	const struct attach_opts attach = { .timeout_ms = ctx->timeout_ms, .steps = ctx->steps };
	struct session *s = session_open_image(ctx->jvm, &attach, image, err);
	struct patches patches = { 0 };
	int rc;

	if (!s)
		return -1;
	rc = session_send(s, WIRE_PATCHES, NULL, err);
	if (rc == 0)
		rc = session_answer(s, take_frame, &patches, err);
	if (rc == 0)
		rc = visit(s, &patches, arg, err);
	patches_release(&patches);
	if (session_close(s, err) < 0)
		rc = -1;
	return rc;
}

int patch_images_find(const struct ctx *ctx, struct loaded_agents *images, struct err *err)
{
	_cleanup_buf_ struct buf agent = BUF_INIT;

	if (embedded_agent(&agent, err) < 0)
		return -1;
	return loaded_agents_find(ctx->jvm, &agent, images, err);
}

int patch_images_each(const struct ctx *ctx, enum patch_images_whose whose,
		      patch_images_visit_fn *visit, void *arg, struct err *err)
{
	struct loaded_agents images = { 0 };
	int rc = patch_images_find(ctx, &images, err);

	if (images.musl)
		/* A JVM on musl has no patches, because redefine refuses such JVMs. */
		loaded_agents_release(&images);
	for (size_t i = 0; i < images.n && rc == 0; i++) {
		if (whose == PATCHED_BY_OTHERS && images.list[i].this_build)
			continue;
		rc = visit_image(ctx, images.list[i].path, visit, arg, err);
	}
	loaded_agents_release(&images);
	return rc;
}

static const char *patch_class(const void *patches, size_t i)
{
	return ((const struct patches *)patches)->rows[i].class;
}

/*
 * Returns an array of the words of `restore`, with the full name in place of each word that is a
 * simple class name.  The array ends with NULL; the caller frees the array, but not the words.
 * Returns NULL with err set if a word is ambiguous.
 */
static const char **qualify(const struct patches *patches,
			    const struct patch_images_restore *restore, struct err *err)
{
	const char **words = xcalloc(restore->n_words + 1, sizeof(*words));

	for (size_t k = 0; k < restore->n_words; k++) {
		words[k] = type_name_resolve(restore->words[k], patch_class, patches, patches->n,
					       err);
		if (words[k])
			continue;
		free(words);
		return NULL;
	}
	return words;
}

/*
 * Returns the ids of the patches that `restore` selects, and their number in *n; the caller frees
 * the array.  Returns NULL with err set if a word of `restore` is ambiguous.
 */
static uint64_t *select_ids(const struct patches *patches, struct patch_images_restore *restore,
			    size_t *n, struct err *err)
{
	_cleanup_free_ const char **words = qualify(patches, restore, err);
	uint64_t *ids;

	if (!words)
		return NULL;
	ids = xcalloc(patches->n + 1, sizeof(*ids));
	*n = 0;
	for (size_t i = 0; i < patches->n; i++) {
		const struct patch_row *row = &patches->rows[i];
		bool selected = restore->n_words == 0 &&
			     patches_match(patches, row, NULL, restore->loader);

		for (size_t k = 0; k < restore->n_words; k++) {
			if (!patches_match(patches, row, words[k], restore->loader))
				continue;
			selected = true;
			restore->unmatched[k] = false;
		}
		if (selected)
			ids[(*n)++] = row->id;
	}
	return ids;
}

static int send_restore(struct session *s, const uint64_t *ids, size_t n, struct err *err)
{
	_cleanup_buf_ struct buf payload = BUF_INIT;
	size_t room = 4 + 8 * n;
	struct wire_writer w = wire_writer_init(buf_reserve(&payload, room), room);

	wire_put_u32(&w, (uint32_t)n);
	for (size_t i = 0; i < n; i++)
		wire_put_u64(&w, ids[i]);
	return session_send(s, WIRE_RESTORE, &w, err);
}

/*
 * Receives the agent's answer.  Ignores the number of restored patches in the answer, because some
 * of the classes may have been unloaded.
 */
static int take_restored(void *arg, uint16_t type, struct wire_reader *payload)
{
	int32_t *code = arg;

	*code = wire_get_i32(payload);
	(void)wire_get_u32(payload);
	return type == WIRE_RESTORED && wire_reader_ok(payload) ? 1 : -1;
}

static int receive_restored(struct session *s, struct err *err)
{
	int32_t code;

	if (session_answer_long(s, take_restored, &code, err) < 0)
		return -1;
	if (code == 0)
		return 0;
	return err_set(err, EXIT_ANSWER,
		       "the JVM refuses to restore the classes: %s; nothing was changed",
		       redefinition_error(code));
}

static void report(const struct patches *patches, const struct patch_images_restore *restore,
		   const uint64_t *ids, size_t n)
{
	size_t next = 0;

	for (size_t i = 0; i < patches->n && next < n && restore->report; i++) {
		if (patches->rows[i].id != ids[next])
			continue;
		restore->report(patches, &patches->rows[i], restore->arg);
		next++;
	}
}

static int restore_image(struct session *s, const struct patches *patches, void *arg,
			 struct err *err)
{
	struct patch_images_restore *restore = arg;
	_cleanup_free_ uint64_t *ids = NULL;
	size_t n;

	ids = select_ids(patches, restore, &n, err);
	if (!ids)
		return -1;
	if (n == 0)
		return 0;
	if (send_restore(s, ids, n, err) < 0 || receive_restored(s, err) < 0)
		return -1;
	report(patches, restore, ids, n);
	restore->n += n;
	return 0;
}

int patch_images_restore_selected(const struct ctx *ctx, struct patch_images_restore *restore,
				  struct err *err)
{
	return patch_images_each(ctx, PATCHED_BY_ALL, restore_image, restore, err);
}
