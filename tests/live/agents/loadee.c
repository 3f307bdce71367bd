/*
 * An agent to load: returns the number that its options begin with, and writes the rest of
 * them to the file named behind it: "CODE[,FILE]".  Kept free of anything but the oldest libc
 * calls, since it runs on the libc of whoever loads it.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef NO_ENTRY
int Agent_OnSomethingElse(void);
int Agent_OnSomethingElse(void)
{
	return 0;
}
#else
int Agent_OnAttach(void *vm, char *options, void *reserved);
int Agent_OnAttach(void *vm, char *options, void *reserved)
{
	const char *comma = options ? strchr(options, ',') : NULL;

	(void)vm;
	(void)reserved;
	if (comma) {
		int fd = open(comma + 1, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

		if (fd < 0 || write(fd, options, strlen(options)) < 0)
			return 99;
		close(fd);
	}
	return options ? (int)strtol(options, NULL, 10) : 0;
}
#endif
