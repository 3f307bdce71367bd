#include "base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

/* The size that terminal_size() returns for a pseudo-terminal whose size was never set. */
#define ROWS 24
#define COLUMNS 80

bool terminal_size(int fd, struct terminal *terminal)
{
	struct winsize size;

	if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) < 0)
		return false;
	*terminal = (struct terminal){
		.rows = size.ws_row > 0 ? size.ws_row : ROWS,
		.columns = size.ws_col > 0 ? size.ws_col : COLUMNS,
	};
	return true;
}
