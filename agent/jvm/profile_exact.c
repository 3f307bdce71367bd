#include <string.h>

#include "jvm/classes.h"
#include "jvm/profile_exact_state.h"
#include "jvm/ref.h"

/* Names */

/* A class's Java name, without writing it down: "p.A", "int[]". */
struct java_name {
	const char *element;
	size_t len; /* of the element's */
	size_t all; /* with two more for each dimension */
};

static const char *primitive(char c)
{
	switch (c) {
	case 'Z':
		return "boolean";
	case 'B':
		return "byte";
	case 'C':
		return "char";
	case 'S':
		return "short";
	case 'I':
		return "int";
	case 'J':
		return "long";
	case 'F':
		return "float";
	default:
		return "double";
	}
}

static struct java_name java_name(const char *signature, size_t len)
{
	size_t dimensions = 0;
	struct java_name name;

	while (dimensions + 1 < len && signature[dimensions] == '[')
		dimensions++;
	name.element = signature + dimensions;
	if (*name.element == 'L') {
		name.element++;
		name.len = len - dimensions - 2;
	} else {
		name.element = primitive(*name.element);
		name.len = strlen(name.element);
	}
	name.all = name.len + 2 * dimensions;
	return name;
}

static char char_at(const struct java_name *name, size_t i)
{
	if (i >= name->len)
		return "[]"[(i - name->len) & 1];
	return name->element[i] == '/' ? '.' : name->element[i];
}

/* Behind the character that begins at i, which may be several bytes. */
static size_t next_char(const struct java_name *name, size_t i)
{
	do
		i++;
	while (i < name->all && ((unsigned char)char_at(name, i) & 0xc0) == 0x80);
	return i;
}

/* From the last star on it is tried again, a character further. */
static bool matches(const char *glob, const struct java_name *name)
{
	const char *star = NULL;
	size_t i = 0, from = 0;

	while (i < name->all) {
		if (*glob == '*') {
			star = ++glob;
			from = i;
		} else if (*glob == '?') {
			glob++;
			i = next_char(name, i);
		} else if (*glob != '\0' && *glob == char_at(name, i)) {
			glob++;
			i++;
		} else if (star) {
			glob = star;
			i = from = next_char(name, from);
		} else {
			return false;
		}
	}
	while (*glob == '*')
		glob++;
	return *glob == '\0';
}

bool ag_exact_wants(const struct ag_profile *profile, const char *signature, size_t len)
{
	struct java_name name;

	if (profile->wanted.n_globs == 0)
		return true;
	if (len == 0)
		return false;
	name = java_name(signature, len);
	for (uint32_t i = 0; i < profile->wanted.n_globs; i++) {
		if (matches(profile->wanted.globs[i], &name))
			return true;
	}
	return false;
}

/* Sizes of arrays: measured, for there are more ways to lay them out than options tell. */

#define ALIGN_MAX 256 /* -XX:ObjectAlignmentInBytes */
#define REFERENCES 4u /* behind log2 of the sizes of primitive elements */
#define FAR 1000

static jarray new_array(struct ag_jvm *jvm, unsigned type, jclass object, jsize n)
{
	JNIEnv *jni = jvm->jni;

	switch (type) {
	case 0:
		return (*jni)->NewByteArray(jni, n);
	case 1:
		return (*jni)->NewShortArray(jni, n);
	case 2:
		return (*jni)->NewIntArray(jni, n);
	case 3:
		return (*jni)->NewLongArray(jni, n);
	default:
		return (*jni)->NewObjectArray(jni, n, object, NULL);
	}
}

/* -1 recorded */
static jlong array_size(struct ag_jvm *jvm, unsigned type, jclass object, jsize n)
{
	jarray array = new_array(jvm, type, object, n);
	jlong size = -1;

	if (ag_ref_threw(jvm, "measure arrays") || !array)
		return -1;
	if (AG_TI(jvm, GetObjectSize, array, &size) != 0)
		size = -1;
	ag_ref_drop(jvm, array);
	return size;
}

/* With how many elements it takes more than with none; 0: recorded. */
static jsize first_step(struct ag_jvm *jvm, unsigned type, jclass object, jlong empty, jlong *size)
{
	for (jsize n = 1; n <= ALIGN_MAX; n++) {
		*size = array_size(jvm, type, object, n);
		if (*size < 0)
			return 0;
		if (*size > empty)
			return n;
	}
	(void)ag_fail(jvm, "measure arrays", "they have sizes that make no sense");
	return 0;
}

/* The header ends where the elements of the type can begin, and the first step is behind it. */
static int measure(struct ag_jvm *jvm, struct ag_sizes *sizes, unsigned type, jclass object)
{
	jlong empty = array_size(jvm, type, object, 0), size = 0;
	jlong many = array_size(jvm, type, object, FAR);
	uint32_t shift = type < REFERENCES ? type : many - empty > FAR * 6 ? 3 : 2;
	struct ag_cell cell = { .flags = shift };
	jsize n;

	if (empty < 0 || many < 0)
		return -1;
	n = first_step(jvm, type, object, empty, &size);
	if (n == 0)
		return -1;
	if (type == 0)
		sizes->align = (uint64_t)(size - empty) - 1;
	cell.size = (uint32_t)(empty - ((jlong)(n - 1) << shift));
	if (ag_size_of(sizes->align, &cell, FAR) != (uint64_t)many ||
	    ag_size_of(sizes->align, &cell, 0) != (uint64_t)empty)
		return ag_fail(jvm, "measure arrays", "they have sizes that make no sense");
	if (type < REFERENCES) {
		sizes->base[type] = cell.size;
	} else {
		sizes->ref_base = cell.size;
		sizes->ref_shift = shift;
	}
	return 0;
}

static int measure_all(struct ag_jvm *jvm, struct ag_sizes *sizes)
{
	jclass object = (*jvm->jni)->FindClass(jvm->jni, "java/lang/Object");
	int rc = 0;

	if (ag_ref_threw(jvm, "FindClass") || !object)
		return -1;
	for (unsigned type = 0; type <= REFERENCES && rc == 0; type++)
		rc = measure(jvm, sizes, type, object);
	ag_ref_drop(jvm, object);
	return rc;
}

void ag_sizes_of(const struct ag_sizes *sizes, const char *signature, struct ag_cell *cell)
{
	static const char primitives[8] = "ZBCSIFJD"; /* two of each size */

	cell->flags = sizes->ref_shift;
	cell->size = sizes->ref_base;
	for (uint32_t i = 0; i < sizeof(primitives); i++) {
		if (signature[1] != primitives[i])
			continue;
		cell->flags = i / 2;
		cell->size = sizes->base[i / 2];
	}
}

/* Classes */

/* As long as the class is not linked it tells no fields. */
static void learn_carrier(struct ag_profile *profile, JNIEnv *jni, jclass class)
{
	struct ag_jvm jvm = { .ti = profile->ti, .jni = jni }; /* for its errors, which go nowhere */
	jfieldID field = ag_ref_field(&jvm, class, "carrierThread", "Ljava/lang/Thread;");
	jclass held, none = NULL;

	if (!field)
		return;
	held = (*jni)->NewGlobalRef(jni, class);
	if (!held)
		return;
	if (!__atomic_compare_exchange_n(&profile->exact->virtual_threads, &none, held, false,
					 __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		(*jni)->DeleteGlobalRef(jni, held);
	__atomic_store_n(&profile->exact->carrier, field, __ATOMIC_RELEASE);
}

void ag_exact_learn(struct ag_profile *profile, JNIEnv *jni, jclass class)
{
	const char *signature;
	bool shared = false;
	uint32_t kind;
	jint hash;

	if ((*profile->ti)->GetObjectHashCode(profile->ti, class, &hash) != JVMTI_ERROR_NONE)
		return;
	kind = ag_kinds_of(profile->kinds, profile->ti, jni, class, hash, &shared);
	if (shared && !ag_exact_is_shared(profile->exact, (uint32_t)hash))
		ag_hooks_share(profile->exact, hash);
	signature = ag_kinds_signature(profile->kinds, kind);
	if (signature && strcmp(signature, "Ljava/lang/VirtualThread;") == 0 &&
	    !profile->exact->carrier)
		learn_carrier(profile, jni, class);
}

static void JNICALL class_prepared(jvmtiEnv *ti, JNIEnv *jni, jthread thread, jclass class)
{
	struct ag_teller *teller;
	struct ag_profile *profile = ag_teller_come(jni, &teller);

	(void)ti, (void)thread;
	if (!profile)
		return;
	ag_exact_learn(profile, jni, class);
	ag_teller_go(teller);
}

static int learn_loaded(struct ag_jvm *jvm, struct ag_profile *profile)
{
	struct ag_classes classes = { 0 };
	int rc;

	if (ag_ref_push(jvm) != 0)
		return -1;
	rc = ag_classes_get(jvm, &classes);
	if (rc == 0) /* JDK 8 and 11 count what frames further out hold */
		rc = ag_ref_expect(jvm, 2 * ((jint)classes.n + 64));
	for (uint32_t i = 0; rc == 0 && i < classes.n; i++)
		ag_exact_learn(profile, jvm->jni, classes.list[i]);
	ag_classes_release(jvm, &classes);
	ag_ref_pop(jvm);
	return rc;
}

/* Beginning and ending */

static uint32_t held; /* one exact profile at a time: a hook tells no other's */

static int hold(struct ag_jvm *jvm, struct ag_exact *exact)
{
	uint32_t free = 0;

	if (!__atomic_compare_exchange_n(&held, &free, 1, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return ag_fail(jvm, "count every allocation", "somebody does in this JVM already");
	exact->held = true;
	if (ag_hooks_busy())
		return ag_fail(jvm, "count every allocation",
			       "a suspended thread is still in a hook of an earlier profile");
	return 0;
}

static int add_capabilities(struct ag_jvm *jvm, struct ag_profile *profile)
{
	const jvmtiCapabilities wanted = {
		.can_generate_vm_object_alloc_events = 1, .can_get_bytecodes = 1,
	};

	profile->callbacks.ClassPrepare = class_prepared;
	profile->callbacks.VMObjectAlloc = ag_exact_vm_alloc;
	return ag_ti_check(jvm, "AddCapabilities",
			   (*profile->ti)->AddCapabilities(profile->ti, &wanted));
}

static int prepare(struct ag_jvm *jvm, struct ag_profile *profile)
{
	struct ag_exact *exact = ag_arena_take(&profile->arena, sizeof(*exact));

	if (exact)
		exact->methods = ag_arena_take(&profile->arena, sizeof(*exact->methods)
					       << AG_METHODS_BITS);
	if (!exact || !exact->methods)
		return ag_fail(jvm, "count every allocation", "so little memory is not enough");
	exact->profile = profile;
	profile->exact = exact;
	ag_places_begin(exact);
	if (hold(jvm, exact) != 0 || measure_all(jvm, &exact->sizes) != 0)
		return -1;
	return add_capabilities(jvm, profile);
}

/* Classes that come meanwhile are told of by the event: so it comes first. */
static int start(struct ag_jvm *jvm, struct ag_profile *profile)
{
	if (ag_profile_listen(jvm, profile, JVMTI_EVENT_CLASS_PREPARE) != 0 ||
	    learn_loaded(jvm, profile) != 0)
		return -1;
	profile->exact->weaving = ag_weaving_in(jvm, profile);
	if (!profile->exact->weaving)
		return -1;
	profile->exact->began_ns = ag_now_ns();
	if (ag_hooks_on(jvm, profile) != 0)
		return -1;
	return ag_profile_listen(jvm, profile, JVMTI_EVENT_VM_OBJECT_ALLOC);
}

static void deafen(const struct ag_profile *profile)
{
	jvmtiEnv *ti = profile->ti;

	/* of an event that was never enabled, or of a JVM that is leaving */
	(void)(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, JVMTI_EVENT_VM_OBJECT_ALLOC, NULL);
	(void)(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, JVMTI_EVENT_CLASS_PREPARE, NULL);
}

void ag_exact_off(struct ag_jvm *jvm, struct ag_profile *profile, jvmtiError *code)
{
	struct ag_exact *exact = profile->exact;

	*code = JVMTI_ERROR_NONE;
	if (exact->still)
		return;
	deafen(profile);
	ag_hooks_off(profile);
	exact->still = true;
	if (exact->weaving)
		ag_weaving_out(jvm, exact->weaving, code);
}

void ag_exact_tick(struct ag_jvm *jvm, struct ag_profile *profile)
{
	ag_weaving_tick(jvm, profile->exact->weaving);
}

int ag_exact_on(struct ag_jvm *jvm, struct ag_profile *profile)
{
	jvmtiError code;

	if (prepare(jvm, profile) != 0)
		return -1;
	ag_hooks_open(profile);
	if (start(jvm, profile) == 0)
		return 0;
	ag_exact_off(jvm, profile, &code); /* what failed first is what is told */
	return -1;
}

void ag_exact_free(struct ag_jvm *jvm, struct ag_profile *profile)
{
	struct ag_exact *exact = profile->exact;

	if (exact->weaving)
		ag_weaving_free(jvm, exact->weaving);
	if (exact->virtual_threads && !profile->left)
		(*jvm->jni)->DeleteGlobalRef(jvm->jni, exact->virtual_threads);
	if (exact->held)
		__atomic_store_n(&held, 0, __ATOMIC_RELEASE);
	profile->exact = NULL;
}

/* Merging */

static struct ag_cells *cells_of(const struct ag_exact *exact, uint32_t i)
{
	const struct ag_teller *teller = &ag_tellers[i];

	if (exact->serial == 0 ||
	    __atomic_load_n(&teller->on, __ATOMIC_ACQUIRE) >> 32 != exact->serial)
		return NULL;
	return __atomic_load_n(&teller->cells, __ATOMIC_ACQUIRE);
}

static bool is_counted(const struct ag_cell *cell)
{
	return __atomic_load_n(&cell->key, __ATOMIC_ACQUIRE) != 0 && cell->kind != AG_KIND_NONE;
}

static void take_back(struct ag_profile *profile)
{
	for (struct ag_given *g = profile->exact->given; g; g = g->next) {
		for (uint32_t i = 0; i < g->n; i++)
			ag_sites_add(&profile->sites, g->rows[i].site, -(g->rows[i].objects << 8),
				     -g->rows[i].bytes, 0);
		g->n = 0;
	}
}

static struct ag_given *given_room(struct ag_profile *profile)
{
	struct ag_given **at = &profile->exact->given;

	while (*at && (*at)->n == sizeof((*at)->rows) / sizeof((*at)->rows[0]))
		at = &(*at)->next;
	if (!*at)
		*at = ag_arena_take(&profile->arena, sizeof(**at));
	return *at;
}

/* For the time being: the thread goes on, and its next walk stands for these, too. */
static bool lend(struct ag_profile *profile, uint32_t site, uint64_t objects, uint64_t bytes)
{
	struct ag_given *given = given_room(profile);

	if (!given)
		return false;
	given->rows[given->n].objects = objects;
	given->rows[given->n].bytes = bytes;
	given->rows[given->n].site = site;
	given->n++;
	return true;
}

/* What no walk stands for goes where the last one was.  How many there is no place for. */
static uint64_t merge_cell(struct ag_profile *profile, struct ag_cell *cell)
{
	uint64_t count = __atomic_load_n(&cell->count, __ATOMIC_RELAXED);
	uint64_t told = __atomic_load_n(&cell->told, __ATOMIC_RELAXED);
	uint32_t site = __atomic_load_n(&cell->site, __ATOMIC_RELAXED);
	uint64_t bytes = ag_cell_bytes(cell, count) -
		__atomic_load_n(&cell->told_bytes, __ATOMIC_RELAXED);

	if (count <= told)
		return 0;
	if (site == AG_SITE_NONE)
		return count - told;
	if (profile->exact->still) {
		cell->told_bytes += bytes;
		cell->told = count;
	} else if (!lend(profile, site, count - told, bytes)) {
		return count - told;
	}
	ag_sites_add(&profile->sites, site, (count - told) << 8, bytes, 0);
	return 0;
}

int ag_exact_merge(struct ag_jvm *jvm, struct ag_profile *profile)
{
	uint64_t lost = 0;

	(void)jvm;
	take_back(profile);
	for (uint32_t i = 0; i < AG_TELLERS; i++) {
		struct ag_cells *cells = cells_of(profile->exact, i);

		for (uint32_t c = 0; cells && c <= cells->mask; c++) {
			if (is_counted(&cells->at[c]))
				lost += merge_cell(profile, &cells->at[c]);
		}
	}
	ag_exact_drop(profile, lost - profile->exact->lost); /* there may be fewer than before */
	profile->exact->lost = lost;
	return 0;
}

void ag_exact_state(const struct ag_profile *profile, struct ag_profile_state *state)
{
	state->samples = state->bytes = 0;
	for (uint32_t i = 0; i < AG_TELLERS; i++) {
		const struct ag_cells *cells = cells_of(profile->exact, i);

		for (uint32_t c = 0; cells && c <= cells->mask; c++) {
			const struct ag_cell *cell = &cells->at[c];
			uint64_t count = __atomic_load_n(&cell->count, __ATOMIC_RELAXED);

			if (!is_counted(cell))
				continue;
			state->samples += count;
			state->bytes += ag_cell_bytes(cell, count);
		}
	}
	if (profile->exact->weaving)
		ag_weaving_count(profile->exact->weaving, &state->hooked, &state->refused);
}

int ag_exact_notes(struct ag_jvm *jvm, struct ag_profile *profile, ag_profile_note_fn *tell,
		   void *arg)
{
	if (!profile->exact->weaving)
		return 0;
	return ag_weaving_notes(jvm, profile->exact->weaving, tell, arg);
}
