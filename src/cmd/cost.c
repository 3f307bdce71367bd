#include "cmd/cost.h"

void cost_add_lasting(struct buf *out, const struct redefinition_jvm *jvm, const char *undone)
{
	unsigned release = jvm->release;

	buf_adds(out, "methods that are running go on with their old code, slower, until they "
		      "return");
	if (release > 0 && release <= 11)
		buf_addf(out, "; after %s, reflection of JDK %u does not know the names "
			      "of parameters in these classes", undone, release);
}

/*
 * Measured: from JDK 25 on HotSpot throws away only the code that depends on the class; before,
 * the first redefinition of a JVM's life throws away all.
 */
void cost_add(struct buf *out, const struct redefinition_jvm *jvm, size_t n, size_t n_loaded,
	      const char *undone)
{
	unsigned release = jvm->release, pause_s = redefinition_pause_s(jvm, n, n_loaded);

	buf_adds(out, release > 0 && release <= 21 ?
			"the first time, the JVM compiles everything anew, which makes it slow for "
			"some hundred ms; " :
			"compiled code that depends on them is compiled anew; ");
	cost_add_lasting(out, jvm, undone);
	if (pause_s > 0)
		buf_addf(out, "; so many at once let the JVM stand still for some %u s", pause_s);
}
