#include "render/class/javap_line.h"

#include "base/printable.h"

void javap_lines_release(struct javap_lines *l)
{
	buf_release(&l->line);
	buf_release(&l->shown);
}

void javap_tab(struct javap_lines *l, size_t column)
{
	do {
		buf_addc(&l->line, ' ');
	} while (l->line.len < column);
}

void javap_end_line(struct javap_lines *l)
{
	size_t len = l->line.len;

	while (len > 0 && l->line.data[len - 1] == ' ')
		len--;
	buf_reset(&l->shown);
	printable_add(&l->shown, buf_str(&l->line), len);
	buf_addc(&l->shown, '\n');
	(void)fwrite(l->shown.data, 1, l->shown.len, l->out); /* main.c checks ferror() */
	buf_reset(&l->line);
}
