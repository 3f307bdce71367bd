#include "cmd/census_send.h"

#include <string.h>

#include "cmd/origins_send.h"
#include "cmd/row_batch.h"

#define ROWS_AT_ONCE 512
#define ROW_FIXED 28       /* bytes of a row, not counting the signature */

/* Sends the loaders and modules of n rows, but not the rows themselves.  Fills origin[]. */
static int send_origins(struct ag_origins *p, const struct ag_row *rows, uint32_t n,
			struct ag_origin *origin)
{
	for (uint32_t i = 0; i < n; i++) {
		if (ag_origins_send(p, rows[i].class, &origin[i]) != 0)
			return -1;
	}
	return 0;
}

static int send_classes(struct ag_origins *p, const struct ag_row *rows, uint32_t n,
			const struct ag_origin *origin)
{
	struct ag_row_batch batch = { .chan = p->chan, .type = WIRE_HISTO_CLASSES };

	for (uint32_t i = 0; i < n; i++) {
		char *signature = ag_class_signature(p->jvm, rows[i].class);
		size_t len = signature ? strlen(signature) : 0;
		struct wire_writer *w =
			signature ? ag_row_batch_row(&batch, ROW_FIXED + len) : NULL;

		if (w) {
			wire_put_u32(w, origin[i].loader);
			wire_put_u32(w, origin[i].module);
			wire_put_text(w, signature, len);
			wire_put_u64(w, rows[i].tally.instances);
			wire_put_u64(w, rows[i].tally.bytes);
		}
		ag_jvmti_free(p->jvm, signature);
		if (!w)
			return -1;
	}
	return ag_row_batch_end(&batch);
}

/* Sends the rows in chunks: the client parses a chunk while the agent collects the next chunk. */
static int send_rows(struct ag_origins *p, const struct ag_census *census)
{
	struct ag_origin origin[ROWS_AT_ONCE];

	for (uint32_t i = 0; i < census->n; i += ROWS_AT_ONCE) {
		const struct ag_row *rows = census->rows + i;
		uint32_t left = census->n - i;
		uint32_t n = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;

		if (send_origins(p, rows, n, origin) != 0 || send_classes(p, rows, n, origin) != 0)
			return -1;
	}
	return 0;
}

int ag_census_send(struct ag_jvm *jvm, struct ag_chan *chan, const struct ag_census *census,
		   bool with_modules)
{
	struct ag_ids loaders = { 0 }, modules = { 0 };
	struct ag_origins origins = {
		.jvm = jvm,
		.chan = chan,
		.loaders = &loaders,
		.modules = with_modules ? &modules : NULL,
	};
	int rc = send_rows(&origins, census);

	ag_ids_release(jvm, &loaders);
	ag_ids_release(jvm, &modules);
	return rc;
}
