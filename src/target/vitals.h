/*
 * What the kernel tells of the process that a JVM is: what it runs on, what it takes, and what
 * it may take.  Nothing is sent to it.
 */
#ifndef JTOOL_TARGET_VITALS_H
#define JTOOL_TARGET_VITALS_H

#include "target/agents.h"
#include "target/cgroup.h"
#include "target/jvm.h"

/* The variables that the launcher and the VM take options from. */
enum { VITALS_TOOL_OPTIONS, VITALS_JDK_OPTIONS, VITALS_OLD_OPTIONS, N_VITALS_OPTIONS };
extern const char *const vitals_options_names[N_VITALS_OPTIONS];

struct vitals {
	struct proc_status status;
	struct proc_usage usage;
	double started; /* seconds since 1970; -1 unknown */
	char *parent;   /* what the parent is called; texts are NULL where they cannot be told */
	char *exe, *cwd; /* as the JVM sees them */
	char *home;     /* Java's, told from where its libjvm.so is */
	char *options[N_VITALS_OPTIONS]; /* NULL also when the variable is not set */
	enum attach_state attach;
	struct cgroup cgroup;
	struct agents agents; /* those of the flags, then those that are mapped */
};

/* Look.  -1 with err set (EXIT_PARTIAL) when the JVM is gone; release it when 0. */
int vitals_read(const struct procfs *proc, const struct jvm *jvm, struct vitals *v,
		struct err *err) _must_check_;
void vitals_release(struct vitals *v);

/*
 * Whether and how attaching would go, and what to do when it would not; allocated.  A stopped
 * JVM answers nothing, whatever else is the matter.
 */
char *vitals_attach_words(const struct vitals *v, const struct jvm *jvm);

/* Stopped by a signal or a debugger? */
bool vitals_is_stopped(const struct vitals *v);

#endif
