/*
 * State that the source files of an exact profile share:
 *     alloc_exact.c     begins and ends the profile
 *     alloc_hooks.c     the native methods that are the hooks, and the slots of threads
 *     thread_counts.c   the threads' tables of counters
 *     alloc_count.c     the slow paths of the hooks
 *     array_sites.c     the sites in code that allocate arrays
 *     alloc_stack.c     walks stacks
 *     alloc_sizes.c     measures the sizes of arrays
 *     class_filter.c    selects classes
 *     alloc_merge.c     adds up the tables
 */
#ifndef JTOOL_AGENT_JVM_ALLOC_ALLOC_EXACT_STATE_H
#define JTOOL_AGENT_JVM_ALLOC_ALLOC_EXACT_STATE_H

#include "jvm/alloc/alloc_exact.h"
#include "jvm/instrument/quiesce.h"

/*
 * A cell: the counters of one thread for one class or one array site.  The thread stores `key`
 * last, so that other threads which read the table see only complete cells.
 */
struct ag_count_cell {
	uint64_t key;              /* see AG_KEY_ARRAY_SITE; 0: the cell is unused */
	uint64_t count;            /* number of objects */
	uint64_t bytes;            /* of all objects, if AG_CELL_VARIES is set; else 0 */
	/* the value of `count` at which the thread walks its stack; 0: always take the slow path */
	uint64_t next;
	uint64_t attributed, attributed_bytes; /* objects and bytes that were added to sites */
	/* number of the class (alloc_classes.h); AG_ALLOC_CLASS_NONE: the class is not reported */
	uint32_t kind;
	uint32_t site;             /* found by the last stack walk for this cell; or AG_SITE_NONE */
	uint32_t size;             /* bytes of an object; for an array, bytes before the elements */
	uint32_t flags;            /* AG_CELL_*; for arrays, also the bits of AG_CELL_SHIFT */
} __attribute__((aligned(AG_CACHE_LINE)));
#define AG_CELL_SHIFT 7u   /* mask of the bits of `flags` that are log2 of the element size */
#define AG_CELL_VARIES 8u  /* the objects have different sizes, summed in `bytes` */
/* classes of different names have this hash; once this is set, each name has a cell of its own */
#define AG_CELL_SHARED 16u

/* The table of one thread: a hash table of cells. */
struct ag_thread_counts {
	uint32_t mask; /* number of cells - 1; the number of cells is a power of two */
	uint32_t n;    /* number of cells in use */
	uint64_t align; /* object alignment - 1 */
	struct ag_count_cell at[];
};

/*
 * The key of a cell.  If the bit AG_KEY_ARRAY_SITE is 0, the bits below it are the hash of the
 * class; if it is 1, they are the number of the array site.  The upper 32 bits distinguish several
 * cells of the same hash or site.
 */
#define AG_KEY_ARRAY_SITE (UINT64_C(1) << 31)
#define AG_KEY_VM (UINT64_C(1) << 63) /* set for objects that VMObjectAlloc reports */
#define AG_KEY_SUB(n) ((uint64_t)(n) << 32)

#define AG_RELAXED_SET(to, value) __atomic_store_n(&(to), (value), __ATOMIC_RELAXED)

static inline uint64_t ag_key_of_array_site(jint number)
{
	return AG_KEY_ARRAY_SITE | (uint32_t)number;
}

/*
 * Returns the cell that has the key; or, if there is none, the unused cell in which to store the
 * key.  There always is an unused cell, because a table is never full.
 */
static inline struct ag_count_cell *ag_count_cell_probe(struct ag_thread_counts *cells,
							uint64_t key)
{
	/*
	 * Multiply only the high half of the key: the low half, which is a hash or a site number,
	 * is spread evenly already.
	 */
	uint32_t i = (uint32_t)key ^ (uint32_t)(key >> 32) * 0x9e3779b1u;

	i &= cells->mask;
	while (cells->at[i].key != key && cells->at[i].key != 0)
		i = (i + 1) & cells->mask;
	return &cells->at[i];
}

/* A slot: the state of one thread, found by the thread's JNIEnv.  Slots are never freed. */
struct ag_thread_slot {
	JNIEnv *jni;   /* NULL: unused */
	uint64_t busy; /* in-flight word (quiesce.h): 1 while the thread is in a hook or callback */
	uint64_t on;   /* value of exact.counting (alloc_hooks.c) for which the table is valid */
	struct ag_thread_counts *cells;
	struct ag_thread_counts *fast; /* the same table, or NULL: always take the slow path */
	uint64_t random; /* state of next_random() */
} __attribute__((aligned(AG_CACHE_LINE)));
#ifndef AG_THREAD_SLOTS_BITS /* tests define a lower value */
#define AG_THREAD_SLOTS_BITS 14
#endif
#define AG_THREAD_SLOTS (1u << AG_THREAD_SLOTS_BITS)
extern struct ag_thread_slot ag_thread_slots[AG_THREAD_SLOTS];

/*
 * Claims the hooks, which serve only one exact profile at a time.  Returns 0, or -1 with the error
 * recorded.  ag_alloc_hooks_give_back() ends the claim.
 */
int ag_alloc_hooks_take(struct ag_jvm *jvm);
void ag_alloc_hooks_give_back(void);
/*
 * Lets JVMTI callbacks use the profile, until ag_alloc_hooks_off().  Hooks do not use the profile
 * before ag_alloc_hooks_on().
 */
void ag_alloc_hooks_open(struct ag_alloc_profile *profile);

/*
 * Enters a callback.  Returns the profile, and sets *slot to the thread's slot, which the caller
 * must leave with ag_thread_slot_leave().  Returns NULL if no exact profile runs, if the thread is
 * in a hook or callback already, or if no slot is left.
 */
struct ag_alloc_profile *ag_thread_slot_enter(JNIEnv *jni, struct ag_thread_slot **slot);
static inline void ag_thread_slot_leave(struct ag_thread_slot *slot)
{
	ag_quiesce_leave_thread(&slot->busy);
}

/*
 * How an object was allocated.  Each comment lists the topmost frames of the stack during the hook
 * or event, innermost first.
 */
enum ag_alloc_origin {
	AG_ORIGIN_CONSTRUCTOR, /* frames: hook, constructor of Object, subclasses' constructors */
	AG_ORIGIN_CODE,        /* frame: hook */
	AG_ORIGIN_VM,          /* frame: native method; VMObjectAlloc reports the object */
};

/*
 * Returns the current thread's cell for a key, or NULL if there is no room.  Sets *is_new if the
 * cell is new: the caller must then fill in its members except `key`, and call
 * ag_count_cell_publish(), which stores the key.
 */
struct ag_count_cell *ag_count_cell_of(struct ag_alloc_profile *profile,
				       struct ag_thread_slot *slot, uint64_t key, bool *is_new);
void ag_count_cell_publish(struct ag_thread_slot *slot, struct ag_count_cell *cell, uint64_t key);
/*
 * Counts n objects that have `bytes` bytes in total, and walks the stack if the cell's count has
 * reached `next`.  If live objects are tracked and `object` is not NULL, tags `object` with its
 * site.
 */
void ag_count_cell_add(struct ag_alloc_profile *profile, struct ag_thread_slot *slot,
		       struct ag_count_cell *cell, uint64_t n, uint64_t bytes, jobject object,
		       enum ag_alloc_origin origin);
static inline uint64_t ag_count_cell_bytes(const struct ag_count_cell *cell, uint64_t count)
{
	/* Atomic: the thread may set AG_CELL_SHARED while the session reads the thread's table. */
	uint32_t flags = __atomic_load_n(&cell->flags, __ATOMIC_RELAXED);

	return flags & AG_CELL_VARIES ? __atomic_load_n(&cell->bytes, __ATOMIC_RELAXED) :
					count * cell->size;
}
/*
 * Makes the table of a thread valid for `on` (see ag_thread_slot.on): creates a new table if the
 * old one belongs to an earlier profile; otherwise marks the cells whose hashes have become shared.
 * Returns false if there is no room.
 */
bool ag_thread_counts_refresh(struct ag_alloc_profile *profile, struct ag_thread_slot *slot,
			      uint64_t on);
/* Counts n objects as dropped, because they could not be added to a site. */
void ag_exact_drop(struct ag_alloc_profile *profile, uint64_t n);

/* Measured sizes of arrays, in bytes. */
struct ag_sizes {
	uint64_t align;    /* object alignment - 1 */
	uint32_t base[4];  /* bytes of a primitive array's header, by log2 of the element size */
	/* for an Object[]: size of the header, and log2 of the element size */
	uint32_t ref_base, ref_shift;
};
/* Measures the sizes of arrays.  Returns 0, or -1 with the error recorded. */
int ag_sizes_measure(struct ag_jvm *jvm, struct ag_sizes *sizes);
/* Sets cell->size and cell->flags for arrays whose class has this signature. */
void ag_sizes_of(const struct ag_sizes *sizes, const char *signature, struct ag_count_cell *cell);
static inline uint64_t ag_size_of(uint64_t align, const struct ag_count_cell *cell, jint length)
{
	uint64_t end = cell->size + ((uint64_t)(uint32_t)length << (cell->flags & AG_CELL_SHIFT));

	return (end + align) & ~align;
}

struct ag_array_site {
	enum ag_array_site_kind kind;
	uint32_t array;    /* number of the array class; AG_ALLOC_CLASS_NONE: the class varies */
	const char *owner; /* for a call of clone(), as in ag_array_site_new(); else NULL */
};
#define AG_ARRAY_SITE_CHUNK 1024u
#define AG_ARRAY_SITE_CHUNKS 1024u

#define AG_SHARED_MAX 64u
#define AG_METHODS_BITS 14

/* An entry of the cache of facts about methods, see alloc_stack.c. */
struct ag_method_facts {
	uint64_t method; /* jmethodID; 0: unused entry */
	uint32_t facts;  /* 0: not yet determined */
};

/*
 * Provisional additions to sites.  A stack walk for a cell adds the objects that the cell counted
 * since the previous walk to the site that it finds.  ag_exact_merge() does not wait for the next
 * walk: it adds the objects counted since the last walk to the site of that walk, provisionally.
 * So that no object counts twice, each merge first subtracts the provisional additions of the
 * previous merge.
 */
struct ag_provisional {
	struct ag_provisional *next;
	uint32_t n;
	struct {
		uint64_t objects, bytes;
		uint32_t site;
	} rows[160];
};

struct ag_exact {
	struct ag_alloc_profile *profile;
	struct ag_alloc_code *alloc_code;
	struct ag_sizes sizes;
	uint32_t first_array_site; /* the lowest array site number of this profile */
	struct ag_array_site *array_sites[AG_ARRAY_SITE_CHUNKS];
	/*
	 * The identity hashes that classes of different names share.  If there are more than
	 * AG_SHARED_MAX, every hash counts as shared.
	 */
	uint32_t n_shared, shared[AG_SHARED_MAX];
	struct ag_method_facts *methods;
	/*
	 * ID of the field VirtualThread.carrierThread; the field is null while a virtual thread is
	 * being mounted or unmounted.  The ID is NULL if it is unknown.  Atomic; stored after
	 * `virtual_threads`.
	 */
	jfieldID carrier;
	jclass virtual_threads; /* java.lang.VirtualThread; a global reference */
	int64_t began_ns;
	uint64_t walks_ns; /* total time of stack walks; atomic */
	struct ag_provisional *provisional;
	uint64_t lost;    /* number of objects that the last merge could not add to a site */
	uint64_t misattributed; /* objects added to a wrong site, for lack of room; atomic */
	uint32_t serial;  /* number of the profile: upper half of ag_thread_slot.on */
	bool registered;  /* the profile has claimed the hooks */
	bool stopped;     /* counting has ended */
};

/* The array site numbers that are assigned after this call belong to this profile. */
void ag_array_sites_begin(struct ag_exact *exact);
/* Returns the array site with this number, or NULL if this profile does not have it. */
const struct ag_array_site *ag_array_site_of(const struct ag_exact *exact, jint number);
/*
 * Returns true if the objects of this class that an array site allocates must be counted.  Returns
 * false only if the site is a call of clone() that does not run Object.clone() for this class.
 * Called once per site and class.
 */
bool ag_array_site_cloned(const struct ag_alloc_profile *profile, JNIEnv *jni,
			  const struct ag_array_site *array_site, jclass class,
			  const char *signature);

/*
 * Reads the current thread's stack at an allocation.  Omits the frame of the hook and the frames of
 * the constructors that initialise the object, from that of java.lang.Object to that of the
 * object's own class.  Returns the number of frames.  `frames` must have room for WIRE_ALLOC_DEPTH
 * + AG_CONSTRUCTORS frames.
 */
#define AG_CONSTRUCTORS 32
uint32_t ag_exact_stack(const struct ag_alloc_profile *profile, JNIEnv *jni,
			enum ag_alloc_origin origin, jvmtiFrameInfo *frames);
/*
 * For VMObjectAlloc: returns true if a hook counts the objects that the native method on top of the
 * current thread's stack allocates.
 */
bool ag_exact_is_counted_elsewhere(const struct ag_alloc_profile *profile, JNIEnv *jni);

/*
 * Adds a class to the profile's classes.  The thread must have entered its slot.  Call this
 * function before the first object of the class is allocated.
 */
void ag_exact_learn(struct ag_alloc_profile *profile, JNIEnv *jni, jclass class);
/* Marks an identity hash as shared by classes of different names. */
void ag_alloc_hooks_share(struct ag_exact *exact, jint hash);
bool ag_exact_is_shared(const struct ag_exact *exact, uint64_t hash);

/* Count objects in a hook's slow path or at VMObjectAlloc.  `number`: number of the array site. */
void ag_count_object(struct ag_alloc_profile *profile, struct ag_thread_slot *slot, jobject object,
		     jint hash);
void ag_count_array(struct ag_alloc_profile *profile, struct ag_thread_slot *slot, jobject array,
		    jint length, jint number);
void ag_count_arrays(struct ag_alloc_profile *profile, struct ag_thread_slot *slot, jobject array,
		     jint number);
void ag_count_result(struct ag_alloc_profile *profile, struct ag_thread_slot *slot,
		     jobject result, jint number);
void ag_count_vm(struct ag_alloc_profile *profile, struct ag_thread_slot *slot, jobject object);

void JNICALL ag_exact_vm_alloc(jvmtiEnv *ti, JNIEnv *jni, jthread thread, jobject object,
			       jclass class, jlong size);

#endif
