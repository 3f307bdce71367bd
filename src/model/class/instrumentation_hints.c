#include "model/class/instrumentation_hints.h"

#include <string.h>

#include "base/util.h"

/* Where sign.text occurs in an instrumented class. */
enum sign_location {
	REFERS, /* at the start of the name of a referenced class */
	MEMBER, /* in the name of a declared field or method */
	NAME,   /* in the class's name */
	SUPER,  /* sign.text is the name of the superclass */
};

/*
 * The names that tools leave in classes.  The table contains only names that are specific to a
 * tool: for example packages outside the tool's API, and prefixes of member names that nobody would
 * write by hand.  `home` is the start of the names of the tool's own classes, which are ignored; if
 * it is NULL, `text` is that start.
 */
static const struct sign {
	enum sign_location location;
	const char *text, *words, *home;
} signs[] = {
	{ REFERS, "java/jtool/", "jtool: hooks", NULL },
	{ REFERS, "one/profiler/Instrument", "async-profiler: measures calls", NULL },
	{ REFERS, "java/arthas/SpyAPI", "Arthas: watch, trace or the like", NULL },
	{ MEMBER, "$btrace$", "BTrace: probes", NULL },
	{ REFERS, "org/jboss/byteman/rule/", "Byteman: a rule", "org/jboss/byteman/" },
	{ MEMBER, "$jacoco", "JaCoCo: counts which code runs", NULL },
	{ REFERS, "com/intellij/rt/coverage/", "IntelliJ IDEA: counts which code runs", NULL },
	{ REFERS, "io/opentelemetry/javaagent/", "OpenTelemetry's agent", "io/opentelemetry/" },
	{ REFERS, "com/newrelic/agent/bridge/", "New Relic's agent", "com/newrelic/" },
	{ REFERS, "datadog/trace/bootstrap/", "Datadog's agent", "datadog/" },
	{ REFERS, "co/elastic/apm/agent/", "Elastic's APM agent", NULL },
	{ REFERS, "java/lang/IndyBootstrapDispatcher", "Elastic's APM agent", "co/elastic/apm/" },
	{ REFERS, "org/apache/skywalking/apm/agent/", "SkyWalking's agent",
	  "org/apache/skywalking/" },
	{ MEMBER, "_$EnhancedClassField_ws", "SkyWalking's agent", NULL },
	{ REFERS, "com/navercorp/pinpoint/bootstrap/", "Pinpoint's agent",
	  "com/navercorp/pinpoint/" },
	{ REFERS, "jdk/jfr/internal/event/EventWriter", "JFR: writes events",
	  "jdk/jfr/internal/" },
	{ REFERS, "jdk/jfr/internal/EventWriter", "JFR: writes events", "jdk/jfr/internal/" },
	{ REFERS, "jdk/jfr/internal/handlers/EventHandler", "JFR: writes events",
	  "jdk/jfr/internal/" },
	{ REFERS, "org/mockito/internal/creation/bytebuddy/", "Mockito: inline mocks",
	  "org/mockito/" },
	{ MEMBER, "$original$", "Byte Buddy: wraps methods", NULL },
	{ NAME, "$ByteBuddy$", "Byte Buddy: generated", NULL },
	{ MEMBER, "ajc$", "AspectJ: woven, or an aspect", NULL },
	{ MEMBER, "$$_hibernate_", "Hibernate: enhanced, or a proxy", "org/hibernate/" },
	{ REFERS, "org/eclipse/persistence/internal/weaving/", "EclipseLink: woven",
	  "org/eclipse/persistence/" },
	{ MEMBER, "pcInheritedFieldCount", "OpenJPA: enhanced", NULL },
	{ NAME, "SpringCGLIB$$", "Spring: a generated subclass", NULL },
	{ MEMBER, "CGLIB$", "CGLIB: a generated subclass", NULL },
	{ NAME, "_$$_jvst", "Javassist: a generated subclass", NULL },
	{ NAME, "$_$$_Weld", "Weld: a generated subclass", NULL },
	{ SUPER, "java/lang/reflect/Proxy", "java.lang.reflect: a generated proxy", NULL },
};

static bool begins(struct cf_text text, const char *with)
{
	size_t len = strlen(with);

	return text.len >= len && memcmp(text.data, with, len) == 0;
}

static bool contains(struct cf_text text, const char *part)
{
	return text.data && memmem(text.data, text.len, part, strlen(part));
}

static bool refers(const struct cf_pool *pool, const char *to)
{
	for (uint16_t i = 1; i < pool->count; i++) {
		struct cf_text name = cf_class_name(pool, i);

		if (name.data && begins(name, to))
			return true;
	}
	return false;
}

static bool has_member(struct cf_members list, const char *part)
{
	struct cf_member member;

	while (cf_next_member(&list, &member)) {
		if (contains(member.name, part))
			return true;
	}
	return false;
}

static bool is_home(const struct sign *sign, const struct cf_class *class)
{
	return class && begins(cf_name(class), sign->home ? sign->home : sign->text);
}

static bool is_there(const struct sign *sign, const struct cf_class *class,
		     const struct cf_pool *memory)
{
	if (is_home(sign, class))
		return false;
	if (sign->location == REFERS)
		return (class && refers(&class->pool, sign->text)) ||
		       (memory && refers(memory, sign->text));
	if (!class)
		return false;
	if (sign->location == MEMBER)
		return has_member(cf_fields(class), sign->text) ||
		       has_member(cf_methods(class), sign->text);
	return sign->location == NAME ? contains(cf_name(class), sign->text)
				   : cf_text_is(cf_super(class), sign->text);
}

size_t instrumentation_hint(const struct cf_class *class, const struct cf_pool *memory,
			    const char *words[static INSTRUMENTATION_HINT_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(signs) && n < INSTRUMENTATION_HINT_MAX; i++) {
		if (n > 0 && strcmp(words[n - 1], signs[i].words) == 0)
			continue; /* another sign of the same tool was found */
		if (is_there(&signs[i], class, memory))
			words[n++] = signs[i].words;
	}
	return n;
}
