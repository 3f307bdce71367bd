#include "cmd/top/top_terminal.h"

#include <errno.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "cmd/top/top_signals.h"
#include "fileio/io.h"
#include "render/top/screen.h"

/* a terminal that poll(2) reports as writable accepts this many bytes without blocking */
#define CHUNK 256
#define LEAVE_MS 1000

/*
 * These variables are static, because top_terminal_leave() has no parameters: it is the function
 * that xalloc_at_death() registers, which runs when memory is exhausted.
 */
static struct termios saved, keys;
static bool is_entered;

bool top_terminal_is_usable(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
	       !(term && strcmp(term, "dumb") == 0);
}

void top_terminal_resume(void)
{
	static const struct buf enter = { (char *)SCREEN_ENTER, sizeof(SCREEN_ENTER) - 1, 0 };

	is_entered = true;
	xalloc_at_death(top_terminal_leave);
	/*
	 * If this fails, the terminal echoes the pressed keys.  That does no harm, because the
	 * screen is drawn again.
	 */
	(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &keys);
	/* A signal may interrupt the write.  The screen is then drawn again, or top ends. */
	(void)top_terminal_write(&enter);
}

int top_terminal_enter(void)
{
	if (tcgetattr(STDIN_FILENO, &saved) < 0)
		return -errno;
	keys = saved;
	keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	/*
	 * Ctrl-C sends a signal, but Ctrl-Z is read as a key.  Otherwise the kernel would stop the
	 * process group before jtool restores the terminal, and the shell would find the terminal
	 * in jtool's mode.
	 */
	keys.c_cc[VSUSP] = _POSIX_VDISABLE;
	keys.c_cc[VMIN] = 0;
	keys.c_cc[VTIME] = 0;
	if (tcsetattr(STDIN_FILENO, TCSADRAIN, &keys) < 0)
		return -errno;
	top_terminal_resume();
	return 0;
}

bool top_terminal_is_suspend(char key)
{
	return saved.c_cc[VSUSP] != _POSIX_VDISABLE && (cc_t)key == saved.c_cc[VSUSP];
}

void top_terminal_leave(void)
{
	static const char leave[] = SCREEN_LEAVE;

	if (!is_entered)
		return;
	is_entered = false;
	xalloc_at_death(NULL);
	(void)tcsetattr(STDIN_FILENO, TCSANOW, &saved); /* fails if the terminal was closed */
	if (io_wait(STDOUT_FILENO, POLLOUT, deadline_in_ms(LEAVE_MS)) == 0 &&
	    io_write_all(STDOUT_FILENO, leave, sizeof(leave) - 1, deadline_in_ms(LEAVE_MS)) < 0)
		return; /* the terminal was closed */
}

bool top_terminal_write(const struct buf *text)
{
	struct pollfd pfd = { .fd = STDOUT_FILENO, .events = POLLOUT };

	for (size_t at = 0; at < text->len;) {
		size_t len = text->len - at < CHUNK ? text->len - at : CHUNK;
		ssize_t n;

		if (top_signals_wait(&pfd, 1, DEADLINE_NEVER) <= 0)
			return false;
		n = write(STDOUT_FILENO, text->data + at, len);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return false; /* the terminal was closed; SIGHUP will end top */
		at += n > 0 ? (size_t)n : 0;
	}
	return true;
}
