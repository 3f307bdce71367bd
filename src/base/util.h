/* Attributes, cleanup macros and other small macros that every module uses. */
#ifndef JTOOL_BASE_UTIL_H
#define JTOOL_BASE_UTIL_H

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#define _must_check_ __attribute__((warn_unused_result))
#define _printf_(fmt, args) __attribute__((format(printf, fmt, args)))
#define _noreturn_ __attribute__((noreturn))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Calls fn(&variable) when the variable goes out of scope. */
#define _cleanup_(fn) __attribute__((cleanup(fn)))

static inline void util_free_p(void *p)
{
	free(*(void **)p);
}

static inline void util_close_p(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd); /* only for descriptors whose close(2) cannot lose data */
}

#define _cleanup_free_ _cleanup_(util_free_p)
#define _cleanup_close_ _cleanup_(util_close_p)

/*
 * TAKE_PTR returns the pointer in a variable and sets the variable to NULL; TAKE_FD returns the
 * descriptor in a variable and sets the variable to -1.  The variable's cleanup then releases
 * nothing.
 */
#define TAKE_PTR(p)                      \
	({                               \
		__typeof__(p) p_ = (p);  \
		(p) = NULL;              \
		p_;                      \
	})
#define TAKE_FD(fd)        \
	({                 \
		int f_ = (fd); \
		(fd) = -1; \
		f_;        \
	})

#endif
