/*
 * An agent that looks for what another agent has left in a JVM.  Its options are
 * "FILE,CLASS,METHOD".  It appends one line to FILE: the capabilities that an agent could still
 * acquire, the number of jtool's classes, and the length of the methods' bytecode, which is longer
 * while it is instrumented.
 */
#include <jvmti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jvmtiEnv *ti;

/* The length of the bytecode of all methods with this name. */
static int code_length(jclass class, const char *wanted)
{
	jmethodID *methods;
	jint count;
	int length = 0;

	if ((*ti)->GetClassMethods(ti, class, &count, &methods))
		return -1;
	for (jint i = 0; i < count; i++) {
		unsigned char *code;
		char *name;
		jint size;

		if ((*ti)->GetMethodName(ti, methods[i], &name, NULL, NULL))
			continue;
		if (!strcmp(name, wanted) && !(*ti)->GetBytecodes(ti, methods[i], &size, &code)) {
			length += size;
			(*ti)->Deallocate(ti, code);
		}
		(*ti)->Deallocate(ti, (unsigned char *)name);
	}
	(*ti)->Deallocate(ti, (unsigned char *)methods);
	return length;
}

static int probe(JNIEnv *jni, FILE *out, const char *wanted, const char *method)
{
	jvmtiCapabilities possible;
	jclass *classes;
	jint count;
	int added = 0, length = -1;

	if ((*ti)->GetPotentialCapabilities(ti, &possible) ||
	    (*ti)->GetLoadedClasses(ti, &count, &classes))
		return 2;
	for (jint i = 0; i < count; i++) {
		char *name;

		if (!(*ti)->GetClassSignature(ti, classes[i], &name, NULL)) {
			added += strstr(name, "jtool") != NULL;
			if (!strcmp(name, wanted))
				length = code_length(classes[i], method);
			(*ti)->Deallocate(ti, (unsigned char *)name);
		}
		(*jni)->DeleteLocalRef(jni, classes[i]);
	}
	(*ti)->Deallocate(ti, (unsigned char *)classes);
	fputs("capabilities ", out);
	for (size_t i = 0; i < sizeof(possible); i++)
		fprintf(out, "%02x", ((unsigned char *)&possible)[i]);
	fprintf(out, ", %d classes, %d bytes of code\n", added, length);
	return 0;
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	const char *file = strtok(options, ",");
	const char *class = strtok(NULL, ","), *method = strtok(NULL, ",");
	jvmtiCapabilities wanted = { .can_get_bytecodes = 1 };
	char signature[256];
	FILE *out;
	JNIEnv *jni;
	int rc = 1;

	(void)reserved;
	if (!method || !(out = fopen(file, "a")))
		return 3;
	snprintf(signature, sizeof(signature), "L%s;", class);
	if (!(*vm)->GetEnv(vm, (void **)&jni, JNI_VERSION_1_6) &&
	    !(*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_1_0)) {
		if (!(*ti)->AddCapabilities(ti, &wanted))
			rc = probe(jni, out, signature, method);
		(*ti)->DisposeEnvironment(ti);
	}
	return fclose(out) ? 4 : rc;
}
