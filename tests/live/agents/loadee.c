/*
 * An agent library for tests. Its options are "CODE[,FILE]": it returns CODE and writes the
 * complete options to FILE. It uses only the oldest libc functions, because it runs on the libc of
 * each target.
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
