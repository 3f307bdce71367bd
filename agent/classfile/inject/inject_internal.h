/* Internal functions of cf_inject() and cf_inject_sites(). */
#ifndef JTOOL_AGENT_CLASSFILE_INJECT_INJECT_INTERNAL_H
#define JTOOL_AGENT_CLASSFILE_INJECT_INJECT_INTERNAL_H

#include "classfile/inject/injection.h"

/* inject_hooks.c: writes the code that is inserted into the method */
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
/*
 * Returns the new pc that a jump to the old `pc` must have as its target, or INJ_NO_PC if no
 * instruction begins at the old `pc`.
 */
uint32_t inj_label(const struct injection *in, uint32_t pc);
/*
 * Returns the new pc of the instruction at the old `pc`.  The new pc of a return instruction is
 * after the call of `exit…` that is inserted before the instruction.
 */
uint32_t inj_new_pc(const struct injection *in, uint32_t pc);

/* handler_ranges.c: computes in->handlers, the ranges of the new exception handlers */
enum cf_refusal inj_cover(struct injection *in);

/* inject_tables.c: writes the exception table and the attributes of the Code attribute */
enum cf_refusal inj_put_handlers(struct injection *in);
enum cf_refusal inj_put_tables(struct injection *in);

/* find_sites.c: fills in->added.insertions, and counts the sites in members of in->sites */
void inj_find_sites(struct injection *in);

/*
 * inject_method.c: writes the method in->method.member, with its hooks, to in->body.  `header`
 * points to the method_info of the method in the old class file.
 */
enum cf_refusal inj_put_method(struct injection *in, const uint8_t *header);

#endif
