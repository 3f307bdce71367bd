#include "model/redefine/redefinition.h"

#include "classfile/verify/verify.h"
#include "model/class/javasig.h"
#include "model/redefine/redefinition_limits.h"

/* the bit of ACC_SYNCHRONIZED; in class modifiers it is ACC_SUPER */
#define ACC_SUPER ((unsigned)CF_ACC_SYNCHRONIZED)
#define MAJOR_OF_JDK_1 45
#define MAJOR_OF_JDK_12 56
#define MAJOR_OF_JDK_17 61
#define PREVIEW 65535 /* minor version of a class file with preview features (JVMS 4.1) */

/*
 * Returns true if the JVM accepts the minor version (JVMS 4.1).  All JDKs accept 0.  In addition:
 *   JDK 12 and later accept 65535 (preview features) in class files of JDK 12 and later, and any
 *   minor version in class files of JDK 11 and earlier;
 *   JDK 11 accepts any minor version in class files of JDK 1.1;
 *   JDK 8 accepts any minor version in class files of JDK 7 and earlier.
 */
static bool minor_exists(unsigned release, unsigned major, unsigned minor)
{
	if (minor == 0)
		return true;
	if (release >= 12)
		return major < MAJOR_OF_JDK_12 || minor == PREVIEW;
	return release == 11 ? major == MAJOR_OF_JDK_1 : major != release + 44;
}

/*
 * Checks the version like verify_class_version() of HotSpot's classFileParser.cpp, which is called
 * is_supported_version() up to JDK 11.
 */
static void limits_version(struct limits *l)
{
	unsigned major = l->new->major, minor = l->new->minor, newest = l->jvm->release + 44;
	bool preview = major >= MAJOR_OF_JDK_12 && minor == PREVIEW;

	limits_begin(l);
	if (major > newest)
		buf_addf(&l->line, "class file version %u is too new for JDK %u, which accepts up "
				   "to %u: compile it with --release %u",
			 major, l->jvm->release, newest, limits_release(l));
	else if (major < MAJOR_OF_JDK_1 || !minor_exists(l->jvm->release, major, minor))
		buf_addf(&l->line, "class file version %u.%u does not exist", major, minor);
	else if (preview && major != newest)
		buf_addf(&l->line, "it uses preview features of JDK %u, which other JDKs do not "
				   "accept", major - 44);
	else if (preview && !l->jvm->may_preview)
		buf_adds(&l->line, "it uses preview features, and the JVM was started without "
				   "--enable-preview");
	else
		return;
	limits_report(l, LIMIT_UNSUPPORTED_VERSION);
}

static void limits_name(struct limits *l)
{
	limits_begin(l);
	if (cf_text_same(cf_name(l->running), cf_name(l->new)))
		return;
	buf_adds(&l->line, "it is class ");
	javasig_class_name(&l->line, cf_name(l->new));
	buf_adds(&l->line, ", not ");
	javasig_class_name(&l->line, cf_name(l->running));
	limits_report(l, LIMIT_NAMES_DONT_MATCH);
}

static void report_fault(struct limits *l, const struct cf_fault *fault)
{
	if (fault->name.len > 0) {
		if (fault->descriptor.len > 0 && fault->descriptor.data[0] == '(')
			buf_adds(&l->line, "method ");
		javasig_member_name(&l->line, fault->name, fault->descriptor);
		if (fault->pc != UINT32_MAX)
			buf_addf(&l->line, ", instruction %u", fault->pc);
		buf_adds(&l->line, ": ");
	}
	buf_adds(&l->line, fault->what);
	if (!fault->format && l->jvm->unverified)
		buf_addf(&l->line, " (JDK %u does not verify this class, so it would run this "
				   "code)", l->jvm->release);
	limits_report(l, fault->memory ? LIMIT_OUT_OF_MEMORY :
			 fault->format ? LIMIT_INVALID_FORMAT :
					 LIMIT_FAILS_VERIFICATION);
}

static void limits_format(struct limits *l)
{
	struct cf_fault fault = { 0 };

	limits_begin(l);
	if (!cf_check(l->new, &fault))
		report_fault(l, &fault);
}

static void limits_code(struct limits *l)
{
	struct cf_fault fault = { 0 };

	limits_begin(l);
	/*
	 * A class that the JVM does not verify needs no stack maps.  Up to JDK 17, a captured class
	 * file of such a class has none.
	 */
	if (l->jvm->unverified ? !cf_verify_without_maps(l->new, &fault) :
				 !cf_verify(l->new, &fault))
		report_fault(l, &fault);
}

/*
 * Returns the access flags of a class as HotSpot stores them.  HotSpot removes the flags that are
 * not in JVM_RECOGNIZED_CLASS_MODIFIERS, and then changes flags as ClassFileParser::parse_stream
 * does.
 */
static unsigned class_access(const struct cf_class *class)
{
	const unsigned recognized = CF_ACC_PUBLIC | CF_ACC_FINAL | ACC_SUPER |
				    CF_ACC_INTERFACE | CF_ACC_ABSTRACT | CF_ACC_ANNOTATION |
				    CF_ACC_ENUM | CF_ACC_SYNTHETIC;
	unsigned access = class->access & recognized;

	if ((access & CF_ACC_INTERFACE) && class->major < 50)
		access |= CF_ACC_ABSTRACT;
	return access | limits_synthetic(cf_class_attributes(class));
}

static void limits_modifiers(struct limits *l)
{
	unsigned before = class_access(l->running), now = class_access(l->new);

	limits_begin(l);
	if (before == now)
		return;
	/*
	 * Report ACC_SUPER only if it is the only difference, because a class that becomes an
	 * interface also loses ACC_SUPER.
	 */
	if ((before ^ now) != ACC_SUPER)
		now = (now & ~ACC_SUPER) | (before & ACC_SUPER);
	buf_adds(&l->line, "the class");
	limits_add_flags(&l->line, FLAGS_CLASS, before, now);
	limits_report(l, LIMIT_CLASS_MODIFIERS_CHANGED);
}

/*
 * Returns true if no further check makes sense after this limit was broken, because the new file
 * defines a class with another name, or cannot be parsed.
 */
static bool ends_checks(enum limit limit)
{
	return limit == LIMIT_UNSUPPORTED_VERSION || limit == LIMIT_NAMES_DONT_MATCH ||
	       limit == LIMIT_INVALID_FORMAT;
}

int redefinition_check(const struct cf_class *running, const struct cf_class *new,
		       const struct redefinition_jvm *jvm, struct buf *why)
{
	/*
	 * The checks, in the order of HotSpot's load_new_class_versions(): parse, compare, verify,
	 * merge constants.
	 */
	static void (*const parts[])(struct limits *l) = {
		limits_version, limits_name,    limits_format,    limits_hierarchy,
		limits_nest,    limits_record,  limits_permitted, limits_modifiers,
		limits_fields,  limits_methods, limits_code,      limits_pool,
	};
	struct redefinition_jvm known = *jvm;
	struct limits l = { .running = running, .new = new, .jvm = &known, .why = why };

	/*
	 * If the JVM's release is unknown, assume 17, which has all the limits.  If the new class
	 * file is of a later release, assume that release, so that limits_version() accepts it.
	 */
	if (known.release == 0)
		known.release = new->major > MAJOR_OF_JDK_17 ? new->major - 44u : 17;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		parts[i](&l);
		if (ends_checks(l.first))
			break;
	}
	buf_release(&l.line);
	return (int)l.first;
}

/*
 * Estimates the pause.  In one safepoint, JDK 8 visits all loaded classes once for each replaced
 * class (VM_RedefineClasses::redefine_single_class).  Each visit of one loaded class takes 0.2 to
 * 0.4 us.  JDK 11 and later replace 5,000 of 30,000 loaded classes within 0.5 s.
 */
unsigned redefinition_pause_s(const struct redefinition_jvm *jvm, size_t n, size_t n_loaded)
{
	return jvm->release == 8 ? (unsigned)((uint64_t)n * n_loaded / 5000000) : 0;
}
