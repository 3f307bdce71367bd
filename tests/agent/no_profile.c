/* Where only traces are tested: the natives of the same class that profiles have. */
#include "jvm/profile_exact.h"

void JNICALL ag_hook_made(JNIEnv *jni, jclass hooks, jobject object, jint hash)
{
	(void)jni, (void)hooks, (void)object, (void)hash;
}

void JNICALL ag_hook_array(JNIEnv *jni, jclass hooks, jobject array, jint length, jint site)
{
	(void)jni, (void)hooks, (void)array, (void)length, (void)site;
}

void JNICALL ag_hook_arrays(JNIEnv *jni, jclass hooks, jobject array, jint site)
{
	(void)jni, (void)hooks, (void)array, (void)site;
}

void JNICALL ag_hook_result(JNIEnv *jni, jclass hooks, jobject result, jint site)
{
	(void)jni, (void)hooks, (void)result, (void)site;
}
