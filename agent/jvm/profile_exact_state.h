/*
 * What the parts of an exact profile share: profile_hooks has the natives and the threads,
 * profile_cells threads' tables, profile_count what is not fast, profile_places the places that
 * arrays are made at, profile_stack walks stacks and knows methods, profile_sizes measures arrays,
 * profile_globs knows which classes are wanted; profile_exact begins and ends it, profile_merge
 * adds it up.
 */
#ifndef JTOOL_AGENT_JVM_PROFILE_EXACT_STATE_H
#define JTOOL_AGENT_JVM_PROFILE_EXACT_STATE_H

#include "jvm/profile_exact.h"

#define AG_CELL_LINE 64 /* bytes of a cache line */

/*
 * What a thread made of a class, or at a place.  Its thread alone writes it; for one who reads it
 * meanwhile, key comes last.
 */
struct ag_cell {
	uint64_t key;              /* 0: unused */
	uint64_t count;
	uint64_t bytes;            /* of what differs in size; else each is as large as `size` */
	uint64_t next;             /* the count at which the stack is walked; 0: the slow way */
	uint64_t told, told_bytes; /* as much of it the sites have */
	uint32_t kind;             /* AG_KIND_NONE: nobody wants it */
	uint32_t site;             /* of the last walk */
	uint32_t size;             /* of arrays: without the elements */
	uint32_t flags;            /* AG_CELL_*; of arrays: log2 of an element's size */
} __attribute__((aligned(AG_CELL_LINE)));
#define AG_CELL_SHIFT 7u   /* the bits of that */
#define AG_CELL_VARIES 8u  /* bytes counts */
#define AG_CELL_SHARED 16u /* two classes have this hash: there is a cell for each of them */

struct ag_cells {
	uint32_t mask; /* a power of two - 1 */
	uint32_t n;
	uint64_t align; /* of the sizes */
	struct ag_cell at[];
};

/*
 * What a cell is found by: the class's hash (31 bits), or a place; below it, where there is more
 * than one, which.
 */
#define AG_KEY_PLACE (UINT64_C(1) << 31)
#define AG_KEY_VM (UINT64_C(1) << 63) /* VMObjectAlloc told of it */
#define AG_KEY_SUB(n) ((uint64_t)(n) << 32)

#define AG_RELAXED_SET(to, value) __atomic_store_n(&(to), (value), __ATOMIC_RELAXED)

static inline uint64_t ag_key_of_place(jint number)
{
	return AG_KEY_PLACE | (uint32_t)number;
}

/* The cell of a key, or the unused one where it would go; there always is one. */
static inline struct ag_cell *ag_cell_probe(struct ag_cells *cells, uint64_t key)
{
	/* hashes and places are spread already */
	uint32_t i = (uint32_t)key ^ (uint32_t)(key >> 32) * 0x9e3779b1u;

	i &= cells->mask;
	while (cells->at[i].key != key && cells->at[i].key != 0)
		i = (i + 1) & cells->mask;
	return &cells->at[i];
}

/* A thread, by its JNIEnv; the library's for good. */
struct ag_teller {
	JNIEnv *jni;   /* NULL: unused */
	uint32_t busy; /* 1: it is in a hook or in a callback */
	uint64_t on;   /* what ag_exact_counting was when these were made */
	struct ag_cells *cells;
	struct ag_cells *fast; /* the same, or NULL: everything goes the slow way */
	uint64_t random;
} __attribute__((aligned(AG_CELL_LINE)));
#define AG_TELLERS_BITS 14
#define AG_TELLERS (1u << AG_TELLERS_BITS)
extern struct ag_teller ag_tellers[AG_TELLERS];

/* From now on the profile's callbacks may look at it; hooks when they count.  Until off(). */
void ag_hooks_open(struct ag_profile *profile);
/* Until no thread is in a hook or a callback; false: one is after so many milliseconds. */
bool ag_hooks_idle(int ms);

/* Begin to look at what is the profile's, unless it has ended; NULL: that, and there is no go. */
struct ag_profile *ag_teller_come(JNIEnv *jni, struct ag_teller **teller);
void ag_teller_go(struct ag_teller *teller);

/* Where something was made. */
enum ag_made_by {
	AG_MADE_BY_CONSTRUCTOR, /* hook, Object's constructor, others */
	AG_MADE_BY_CODE,        /* hook */
	AG_MADE_BY_VM,          /* a native, from VMObjectAlloc */
};

/*
 * A cell of the thread's, added if it is new (*is_new; then all but its key is to be filled in,
 * and ag_cell_publish() called).  NULL: no room.
 */
struct ag_cell *ag_cell_of(struct ag_profile *profile, struct ag_teller *teller, uint64_t key,
			   bool *is_new);
void ag_cell_publish(struct ag_teller *teller, struct ag_cell *cell, uint64_t key);
/* n objects of this many bytes together; one of them is `object`. */
void ag_cell_add(struct ag_profile *profile, struct ag_teller *teller, struct ag_cell *cell,
		 uint64_t n, uint64_t bytes, jobject object, enum ag_made_by by);
static inline uint64_t ag_cell_bytes(const struct ag_cell *cell, uint64_t count)
{
	return cell->flags & AG_CELL_VARIES ? __atomic_load_n(&cell->bytes, __ATOMIC_RELAXED) :
					      count * cell->size;
}
/*
 * The thread's table is another profile's, or was made before hashes came to be shared: have it
 * as it should be.  False: no room.
 */
bool ag_cells_settle(struct ag_profile *profile, struct ag_teller *teller, uint64_t on);
/* It could not be counted. */
void ag_exact_drop(struct ag_profile *profile, uint64_t n);

/* Sizes of arrays, as they were measured. */
struct ag_sizes {
	uint64_t align;    /* - 1 */
	uint32_t base[4];  /* by log2 of the element's size */
	uint32_t ref_base, ref_shift;
};
/* Measure them; -1 recorded. */
int ag_sizes_measure(struct ag_jvm *jvm, struct ag_sizes *sizes);
/* Those of the array's class in a cell. */
void ag_sizes_of(const struct ag_sizes *sizes, const char *signature, struct ag_cell *cell);
static inline uint64_t ag_size_of(uint64_t align, const struct ag_cell *cell, jint length)
{
	uint64_t end = cell->size + ((uint64_t)(uint32_t)length << (cell->flags & AG_CELL_SHIFT));

	return (end + align) & ~align;
}

struct ag_place {
	enum ag_place_kind kind;
	uint32_t array;    /* its kind; AG_KIND_NONE: known by the object */
	const char *owner; /* NULL: does not matter */
};
#define AG_PLACE_CHUNK 1024u
#define AG_PLACE_CHUNKS 1024u

#define AG_SHARED_MAX 64u
#define AG_METHODS_BITS 14

struct ag_method_known {
	uint64_t method; /* 0: unused */
	uint32_t what;   /* 0: not yet */
};

/* What a merge gave to sites for the objects since the last walks, to be taken back. */
struct ag_given {
	struct ag_given *next;
	uint32_t n;
	struct {
		uint64_t objects, bytes;
		uint32_t site;
	} rows[160];
};

struct ag_exact {
	struct ag_profile *profile;
	struct ag_weaving *weaving;
	struct ag_sizes sizes;
	uint32_t first_place;
	struct ag_place *places[AG_PLACE_CHUNKS];
	/* hashes that two kinds have; above the limit all are taken for such */
	uint32_t n_shared, shared[AG_SHARED_MAX];
	struct ag_method_known *methods;
	/* java.lang.VirtualThread's, NULL in one that is being moved; atomic, the latter first */
	jfieldID carrier;
	jclass virtual_threads; /* a global reference */
	int64_t began_ns;
	uint64_t walks_ns; /* that walks took; atomic */
	struct ag_given *given;
	uint64_t lost;    /* objects of cells without a site, at the last merge */
	uint64_t strayed; /* objects at a former walk's site, as theirs had no room; atomic */
	uint32_t serial;  /* of its tellers' `on` */
	bool held;        /* it is the one of the library */
	bool still;       /* it counts no more */
};

/* The numbers that come from now on are this profile's. */
void ag_places_begin(struct ag_exact *exact);
/* Of no place of this profile, or of none at all: NULL. */
const struct ag_place *ag_place_of(const struct ag_exact *exact, jint number);
/*
 * Is what came back from the call of a clone() a copy that Object's own made?  Asked once for
 * each place and class.
 */
bool ag_place_cloned(const struct ag_profile *profile, JNIEnv *jni, const struct ag_place *place,
		     jclass class, const char *signature);

/*
 * The frames that made an object, on the current thread, without the hook's own and the
 * constructors that were on their way to java.lang.Object's.  How many there are in frames, which
 * has room for WIRE_ALLOC_DEPTH + AG_CONSTRUCTORS.
 */
#define AG_CONSTRUCTORS 32
uint32_t ag_exact_stack(const struct ag_profile *profile, JNIEnv *jni, enum ag_made_by by,
			jvmtiFrameInfo *frames);
/* Is the native on top of the stack one whose objects are counted elsewhere? */
bool ag_exact_is_told(const struct ag_profile *profile, JNIEnv *jni);

/* A class whose first object is still to be made; any thread, between come and go. */
void ag_exact_learn(struct ag_profile *profile, JNIEnv *jni, jclass class);
/* A hash has two kinds from now on. */
void ag_hooks_share(struct ag_exact *exact, jint hash);
/* Is this hash one of two kinds? */
bool ag_exact_is_shared(const struct ag_exact *exact, uint64_t hash);

/* What a native was told, the slow way. */
void ag_count_made(struct ag_profile *profile, struct ag_teller *teller, jobject object, jint hash);
void ag_count_array(struct ag_profile *profile, struct ag_teller *teller, jobject array,
		    jint length, jint number);
void ag_count_arrays(struct ag_profile *profile, struct ag_teller *teller, jobject array,
		     jint number);
void ag_count_result(struct ag_profile *profile, struct ag_teller *teller, jobject result,
		     jint number);
void ag_count_vm(struct ag_profile *profile, struct ag_teller *teller, jobject object);

void JNICALL ag_exact_vm_alloc(jvmtiEnv *ti, JNIEnv *jni, jthread thread, jobject object,
			       jclass class, jlong size);

#endif
