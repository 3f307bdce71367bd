#include "classfile/inject.h"

/* They stand behind a method's name. */
const char *cf_refusal_text(enum cf_refusal refusal)
{
	switch (refusal) {
	case CF_HOOKED:
		return "is hooked";
	case CF_NOT_FOUND:
		return "is not there";
	case CF_NO_CODE:
		return "is native or abstract";
	case CF_ROOT:
		return "is what every constructor calls";
	case CF_TOO_LONG:
		return "would be longer than 65535 bytes";
	case CF_FAR_JUMP:
		return "has a jump that would be too far";
	case CF_TOO_MANY:
		return "would have more than 65535 variables, handlers or frames";
	case CF_MALFORMED:
		return "has code that makes no sense";
	}
	return "cannot be hooked";
}
