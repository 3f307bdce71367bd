#include "classfile/inject/inject.h"

const char *cf_refusal_text(enum cf_refusal refusal)
{
	switch (refusal) {
	case CF_HOOKED:
		return "is hooked";
	case CF_NOT_FOUND:
		return "does not exist";
	case CF_NO_CODE:
		return "is native or abstract";
	case CF_ROOT:
		return "is called by every constructor";
	case CF_TOO_LONG:
		return "would be longer than 65535 bytes";
	case CF_FAR_JUMP:
		return "has a jump that would be too long";
	case CF_TOO_MANY:
		return "would have more than 65535 variables, handlers or frames";
	case CF_MALFORMED:
		return "has malformed code";
	case CF_NOT_COMPILED:
		return "would be longer than 8000 bytes, which the JVM does not compile";
	}
	return "cannot be hooked";
}
