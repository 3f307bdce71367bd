/* What the parts of cf_inject() and cf_inject_sites() share. */
#ifndef JTOOL_CLASSFILE_INJECTING_H
#define JTOOL_CLASSFILE_INJECTING_H

#include "classfile/code.h"
#include "classfile/descr.h"
#include "classfile/inject_sites.h"

/*
 * Kinds of values in the order in which instructions and hooks have them: iload, lload, fload,
 * dload, aload; argI, argJ, argF, argD, argL.
 */
enum inj_kind { INJ_I, INJ_J, INJ_F, INJ_D, INJ_L, INJ_VOID };
enum inj_kind inj_kind(const struct cf_type *type);

enum inj_hook {
#define HOOK(name, descriptor) INJ_##name,
#include "classfile/hooks.def"
#undef HOOK
	INJ_HOOKS
};

/* inject_constants.c: the constants that are added behind the class's own. */
struct inj_name {
	const char *text;
	uint16_t len, index, next; /* next: of the same hash, 0 for none */
};

#define INJ_HEADS 1024

struct inj_constants {
	const struct cf_pool *pool;
	struct cf_output more;
	uint32_t count; /* as a class file counts: the last index + 1 */
	bool full;      /* there would be too many */
	uint16_t hooks_class, hooks[INJ_HOOKS], throwable, maps_name; /* 0: not there yet */
	/* Class constants by name, those that were there before and new ones */
	struct inj_name *names; /* the first is none */
	uint32_t n_names, names_max;
	uint16_t heads[INJ_HEADS];
};

bool inj_constants_open(struct inj_constants *c, const struct cf_pool *pool, struct ag_mem *mem);
void inj_constants_release(struct inj_constants *c);
uint16_t inj_utf8(struct inj_constants *c, const char *text, size_t len);
/* The name is copied into the new constants, but must outlive them all the same. */
uint16_t inj_class(struct inj_constants *c, struct cf_text name);
uint16_t inj_method(struct inj_constants *c, uint16_t class, const char *name,
		    const char *descriptor);
uint16_t inj_hook(struct inj_constants *c, enum inj_hook hook, const char *hooks_class);

/* A verification type of a stack map (JVMS 4.7.4). */
enum inj_tag {
	INJ_TOP,
	INJ_INTEGER,
	INJ_FLOAT,
	INJ_DOUBLE,
	INJ_LONG,
	INJ_NULL,
	INJ_UNINIT_THIS,
	INJ_OBJECT, /* of the Class constant `of` */
	INJ_UNINIT, /* made by the `new` at `of` */
};

struct inj_cell {
	uint8_t tag;
	uint16_t of;
};

#define INJ_CODE_MAX UINT16_MAX

/* Room for one method after the other. */
struct inj_room {
	/*
	 * Where a jump to each instruction leads in the new code, and at [code.len] where the old
	 * code ends; INJ_NOWHERE for what is within an instruction.
	 */
	uint32_t label[INJ_CODE_MAX + 1];
	struct inj_cell cells[INJ_CODE_MAX + 1]; /* of the frame that is looked at */
};

#define INJ_NOWHERE UINT32_MAX

/* One method that is hooked. */
struct injecting {
	const struct cf_class *class;
	const char *hooks_class;
	struct inj_constants constants;
	struct inj_room *room;
	struct cf_output body; /* the class behind its constant pool, as far as it is done */
	uint64_t work;         /* that the class's frames have made so far, in variables */
	/* parts of the method: what is put in front of it and of its returns, handlers' ranges */
	struct cf_output enter, exit, covered;
	/*
	 * What is put in front of instructions, in order: pc (4 bytes), length (1), code.  What
	 * leads to the instruction leads behind it.
	 */
	struct cf_output inserted;

	const struct cf_probe *probe;
	struct cf_sites *sites;   /* instead of a probe */
	uint32_t n_sites, n_roots, n_kept; /* hooks in the method */
	struct cf_member method;
	struct cf_code code;
	struct cf_attribute maps; /* data NULL: there are none */
	bool with_maps;           /* the version wants stack maps */
	bool is_static, is_init;
	struct cf_text parameters;
	enum inj_kind result;
	uint32_t max_stack, max_locals; /* of the new code */
	uint32_t token;           /* the new local variable */
	uint32_t stored;          /* where the token is stored and handlers begin */
	uint32_t end;             /* of the code, without handlers */
	uint32_t caught;          /* where the handler is; 0: there is none */
	uint32_t caught_early;    /* and the one where `this` is uninitialised */
	uint32_t n_covered;       /* so many ranges, of which these are used */
	uint32_t n_usual, n_early;
};

/* inject_hooks.c: the code that is put in */
void inj_put_enter(struct injecting *m);
void inj_put_exit(struct injecting *m);
void inj_put_handler(struct injecting *m);
bool inj_is_return(uint8_t opcode);
void inj_put_number(struct cf_output *out, uint32_t number);
void inj_put_call(struct injecting *m, struct cf_output *out, enum inj_hook hook);

/* How much of the stack it takes to push a number. */
static inline uint32_t inj_number_stack(uint32_t number)
{
	return number > INT16_MAX ? 2 : 1;
}

/* inject_layout.c: the method's own code */
enum cf_refusal inj_lay_out(struct injecting *m);
enum cf_refusal inj_put_code(struct injecting *m);
/* Where a jump to an instruction leads; INJ_NOWHERE if there is none. */
uint32_t inj_label(const struct injecting *m, uint32_t pc);
/* Where the instruction itself is, behind an exit's hook. */
uint32_t inj_place(const struct injecting *m, uint32_t pc);

/* inject_cover.c: what the new handlers are for; each range is its begin, its end, 1 if early */
enum cf_refusal inj_cover(struct injecting *m);

/* inject_tables.c: all that follows the code in its attribute */
enum cf_refusal inj_put_handlers(struct injecting *m);
enum cf_refusal inj_put_tables(struct injecting *m);

/*
 * inject_method.c: m->method, hooked, at the end of m->body; header is where it begins in the
 * class.  When it is refused, what was put there is to be taken back.
 */
enum cf_refusal inj_put_method(struct injecting *m, const uint8_t *header);

/* inject_sites.c: what is put into m->method, which may be nothing, and m->max_stack */
void inj_find_sites(struct injecting *m);

/*
 * inject.c: a class whose methods are put by a function, each hooked or as it was, and which says
 * whether one was hooked.
 */
bool inj_open(struct injecting *m, const struct cf_class *class, const char *hooks);
typedef bool inj_put_methods(struct injecting *m, void *arg);
const char *inj_put_class(struct injecting *m, inj_put_methods *put, void *arg,
			  struct cf_output *out);
void inj_close(struct injecting *m);
extern const char inj_no_memory[];

#endif
