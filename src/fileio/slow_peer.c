#include "fileio/slow_peer.h"

struct stall stall_begin(unsigned ms)
{
	return (struct stall){ .end = deadline_in_ms(ms), .ms = ms };
}

bool stall_is_late(struct stall *s, uint64_t bytes)
{
	if (bytes > s->seen && bytes - s->seen >= STALL_BYTES) {
		s->seen = bytes;
		s->end = deadline_in_ms(s->ms);
	}
	return deadline_passed(s->end);
}
