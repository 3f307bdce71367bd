#include "jvm/code_source.h"

#include <string.h>

#include "jvm/classes.h"
#include "jvm/jni_refs.h"

#define DOMAIN "Ljava/security/ProtectionDomain;"
#define STRING "Ljava/lang/String;"

int ag_code_source_init(struct ag_jvm *jvm, struct ag_code_source *source)
{
	jobject thread;
	jclass any, class;
	int rc = 0;

	*source = (struct ag_code_source){ 0 };
	if (AG_JVMTI(jvm, GetCurrentThread, &thread) != 0)
		return -1;
	any = ag_ref_class(jvm, thread);
	class = ag_ref_class(jvm, any); /* the class of a class is java.lang.Class */
	source->field = ag_ref_field(jvm, class, "protectionDomain", DOMAIN);
	if (jvm->err.what) {
		rc = -1;
	} else if (!source->field) {
		source->method = (*jvm->jni)->GetMethodID(jvm->jni, class, "getProtectionDomain0",
							  "()" DOMAIN);
		if (ag_ref_threw(jvm, "GetMethodID"))
			source->method = NULL;
		ag_clear_error(jvm);
	}
	ag_ref_drop(jvm, class);
	ag_ref_drop(jvm, any);
	ag_ref_drop(jvm, thread);
	return rc;
}

int ag_code_source_domain(struct ag_jvm *jvm, const struct ag_code_source *source, jclass class,
			  jobject *domain)
{
	*domain = NULL;
	if (source->field)
		*domain = (*jvm->jni)->GetObjectField(jvm->jni, class, source->field);
	else if (source->method)
		*domain = (*jvm->jni)->CallObjectMethod(jvm->jni, class, source->method);
	return ag_ref_threw(jvm, "getProtectionDomain0") ? -1 : 0;
}

/* Returns the value of an object's field; NULL if the value is null or there is no such field. */
static jobject get_field(struct ag_jvm *jvm, jobject object, const char *name,
			 const char *signature)
{
	jclass class = object ? ag_ref_base_class(jvm, object) : NULL;
	jfieldID field = class ? ag_ref_field(jvm, class, name, signature) : NULL;

	ag_ref_drop(jvm, class);
	return field ? (*jvm->jni)->GetObjectField(jvm->jni, object, field) : NULL;
}

/* Appends `more`, truncated to the remaining room. */
static void append(char text[AG_CODE_SOURCE_MAX], const char *more)
{
	size_t len = strlen(text);

	for (; *more && len + 1 < AG_CODE_SOURCE_MAX; more++)
		text[len++] = *more;
	text[len] = '\0';
}

/* Appends `before` and the String in a field, or nothing if the String is null or empty. */
static int append_field(struct ag_jvm *jvm, jobject object, const char *field, const char *before,
			char text[AG_CODE_SOURCE_MAX])
{
	jobject string = get_field(jvm, object, field, STRING);
	char value[AG_CODE_SOURCE_MAX];
	int rc = 0;

	if (string) {
		rc = ag_string_copy(jvm, string, value, sizeof(value));
		if (rc == 0 && *value) {
			append(text, before);
			append(text, value);
		}
	}
	ag_ref_drop(jvm, string);
	return jvm->err.what ? -1 : rc;
}

/* Appends the text of java.net.URLStreamHandler.toExternalForm(), without running Java code. */
static int append_url(struct ag_jvm *jvm, jobject url, char text[AG_CODE_SOURCE_MAX])
{
	static const struct {
		const char *field, *before;
	} parts[] = { { "authority", "//" }, { "path", "" }, { "query", "?" }, { "ref", "#" } };

	if (append_field(jvm, url, "protocol", "", text) != 0)
		return -1;
	append(text, ":");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (append_field(jvm, url, parts[i].field, parts[i].before, text) != 0)
			return -1;
	}
	return 0;
}

int ag_code_source_of_domain(struct ag_jvm *jvm, jobject domain, char text[AG_CODE_SOURCE_MAX])
{
	jobject source = get_field(jvm, domain, "codesource", "Ljava/security/CodeSource;");
	jobject url = get_field(jvm, source, "location", "Ljava/net/URL;");
	int rc = jvm->err.what ? -1 : 0;

	*text = '\0';
	if (url && rc == 0)
		rc = append_url(jvm, url, text);
	ag_ref_drop(jvm, url);
	ag_ref_drop(jvm, source);
	return rc;
}

/*
 * Composes the location from the name of the module.  A named module without a layer is a dynamic
 * module and has no location.  The exception is java.base: it has no layer because it is defined
 * before the first layer exists (Module.getLayer()).
 */
int ag_code_source_of_module(struct ag_jvm *jvm, jobject module, char text[AG_CODE_SOURCE_MAX])
{
	jobject layer = get_field(jvm, module, "layer", "Ljava/lang/ModuleLayer;");
	char name[AG_NAME_MAX];
	int rc = jvm->err.what ? -1 : ag_object_name(jvm, module, name);

	*text = '\0';
	if (rc == 0 && (layer ? *name != '\0' : strcmp(name, "java.base") == 0)) {
		append(text, "jrt:/");
		append(text, name);
	}
	ag_ref_drop(jvm, layer);
	return rc;
}
