/*
 * One class in full: the declaration, what it is made of, where it comes from.
 */
#ifndef JTOOL_RENDER_CLASS_SHEET_H
#define JTOOL_RENDER_CLASS_SHEET_H

#include "model/captured.h"
#include "model/classes.h"
#include "model/classtold.h"
#include "render/sheet.h"

struct class_view {
	const struct class_row *row;
	const struct places *places;
	const struct class_told *told;
	const struct captured *captured;
	const struct cf_class *file; /* NULL: the JVM does not tell it … */
	const char *why_not;         /* … for this reason; NULL: it goes without saying */
	const struct cf_pool *memory; /* the constants in memory, or NULL */
};

/* The caller's. */
struct sheet *class_sheet(const struct class_view *view);

#endif
