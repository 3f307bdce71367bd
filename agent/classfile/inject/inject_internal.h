/* Internal functions of cf_inject() and cf_inject_sites(). */
#ifndef JTOOL_AGENT_CLASSFILE_INJECT_INJECT_INTERNAL_H
#define JTOOL_AGENT_CLASSFILE_INJECT_INJECT_INTERNAL_H

#include "classfile/inject/injection.h"

/* inject_hooks.c: writes the code that is inserted */
enum inj_kind inj_kind(const struct cf_type *type);
void inj_put_enter(struct injection *in);
void inj_put_exit(struct injection *in);
void inj_put_handler(struct injection *in);
void inj_put_number(struct cf_output *out, uint32_t number);
uint32_t inj_number_stack(uint32_t number); /* stack slots that inj_put_number() needs */
void inj_put_call(struct injection *in, struct cf_output *out, enum inj_hook hook);

/* relocate.c: computes in->layout, and writes the method's own code in that layout */
enum cf_refusal inj_lay_out(struct injection *in);
enum cf_refusal inj_put_code(struct injection *in);
/* Returns the new pc for jumps to the old `pc`, or INJ_NO_PC if no instruction begins there. */
uint32_t inj_label(const struct injection *in, uint32_t pc);
/*
 * Returns the new pc of the instruction at the old `pc`.  For a return instruction, this is the pc
 * after the inserted call of `exit…`.
 */
uint32_t inj_new_pc(const struct injection *in, uint32_t pc);

/* handler_ranges.c: computes the ranges of the new exception handlers, in in->handlers */
enum cf_refusal inj_cover(struct injection *in);

/* inject_tables.c: writes the exception table and the attributes of the Code attribute */
enum cf_refusal inj_put_handlers(struct injection *in);
enum cf_refusal inj_put_tables(struct injection *in);

/* find_sites.c: writes in->added.insertions, and counts the hooks in in->sites */
void inj_find_sites(struct injection *in);

/*
 * inject_method.c: writes the method in->method.member, with its hooks, to in->body.  `header` is
 * the start of the old method_info.
 */
enum cf_refusal inj_put_method(struct injection *in, const uint8_t *header);

#endif
