/*
 * The two engines of perfmap.  Each one writes a map of the JVM's compiled code to `out`, which the
 * caller commits.  Both return 0, or -1 with err set.
 */
#ifndef JTOOL_CMD_VM_PERFMAP_H
#define JTOOL_CMD_VM_PERFMAP_H

#include "cli/command.h"
#include "fileio/atomic_file.h"

#define PERFMAP_MAX (256u << 20) /* limit for a map in bytes; 2 million methods take about 200 MB */
#define PERFMAP_VM_SINCE 17      /* the first JDK whose JVM can write a map */

/*
 * Returns 0; or -1 with err set (EXIT_ANSWER) if the JVM could not write its map, because the file
 * that it would write exists and is not a file of its user.  Other errors are those of a process
 * that has ended or that the caller may not access.
 */
int perfmap_vm_check(const struct ctx *ctx, struct err *err) _must_check_;

/* The JVM writes the map (Compiler.perfmap). */
int perfmap_by_vm(const struct ctx *ctx, struct atomic_file *out, struct err *err) _must_check_;

/* The agent reads the map of the code cache (agent/jvm/code_map.h). */
int perfmap_by_agent(const struct ctx *ctx, struct atomic_file *out, struct err *err)
	_must_check_;

#endif
