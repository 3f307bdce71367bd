/*
 * Refuses class changes in a JVM that will write an archive of its classes (CDS, AOT).
 *
 * HotSpot does not archive a class that was ever redefined or retransformed, nor its subclasses,
 * even if the class was restored later.  If the archive needs that class (java.lang.Object, for
 * example), HotSpot crashes while it writes the archive (JDK 17, 25, 27) or writes none (JDK 21).
 */
#ifndef JTOOL_CMD_CDS_ARCHIVE_H
#define JTOOL_CMD_CDS_ARCHIVE_H

#include "cli/command.h"
#include "model/vm/vmflags.h"

/*
 * Returns 0, or -1 with err set (EXIT_ANSWER) if one of `flags` makes the JVM write an archive of
 * its classes.
 */
int cds_archive_refuse(const struct ctx *ctx, const struct vmflags *flags,
		       struct err *err) _must_check_;

#endif
