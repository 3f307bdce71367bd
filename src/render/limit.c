#include "render/limit.h"

#include "render/units.h"

size_t limit_rows(unsigned limit, bool json, size_t text_rows, size_t n)
{
	size_t most = limit > 0 ? limit : json ? n : text_rows;

	return most < n ? most : n;
}

void limit_add_more(struct buf *out, size_t n, const char *one, const char *many)
{
	if (n == 0)
		return;
	buf_adds(out, "… ");
	units_count(out, n);
	buf_addf(out, " more %s (-n 0 shows all)\n", n == 1 ? one : many);
}
