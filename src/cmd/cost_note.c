#include "cmd/cost_note.h"

bool cost_note_is_due(const struct ctx *ctx, const struct session *s)
{
	return ctx->steps || !session_has_changed_code(s);
}

void cost_note_add_lasting(struct buf *out, const struct redefinition_jvm *jvm, const char *undone)
{
	unsigned release = jvm->release;

	buf_adds(out, "running methods continue in their old code, more slowly, until they return");
	if (release > 0 && release <= 11)
		buf_addf(out, "; after %s, reflection in JDK %u does not report parameter names "
			      "of these classes", undone, release);
}

/*
 * Measured: in JDK 21 and older, the first redefinition discards all compiled code.  In JDK 25 and
 * later, HotSpot discards only the compiled code that depends on the changed classes.
 */
void cost_note_add(struct buf *out, const struct redefinition_jvm *jvm, size_t n, size_t n_loaded,
		   const char *undone)
{
	unsigned release = jvm->release, pause_s = redefinition_pause_s(jvm, n, n_loaded);

	buf_adds(out, release > 0 && release <= 21 ?
			"the first time, the JVM discards all compiled code, which makes it slow "
			"for a few hundred ms; " :
			"the JVM recompiles the code that depends on them; ");
	cost_note_add_lasting(out, jvm, undone);
	if (pause_s > 0)
		buf_addf(out, "; so many at once pause the JVM for about %u s", pause_s);
}
