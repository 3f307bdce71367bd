/* Parses hsperfdata, and what discovery reads from it. */
#include <string.h>

#include "base/xalloc.h"
#include "proc/perfdata.h"
#include "discover/identify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	/* A copy of exact size, so that ASan detects a read past its end. */
	_cleanup_buf_ struct buf copy = { xmalloc(len ? len : 1), len, len };
	struct perfdata perf;
	struct cmdline cmd = { 0 };
	struct jvm *jvm;
	size_t sum = 0;

	if (len)
		memcpy(copy.data, data, len);
	if (perfdata_parse(&copy, &perf) < 0)
		return 0;
	for (size_t i = 0; i < perf.n; i++)
		sum += strlen(perf.entries[i].name) +
		       (perf.entries[i].text ? strlen(perf.entries[i].text) : 0);
	if (sum > 2 * len)
		__builtin_trap(); /* the texts of different entries never overlap */
	jvm = calloc(1, sizeof(*jvm));
	if (jvm)
		identify_perfdata(jvm, &perf, &cmd);
	jvm_free(jvm);
	perfdata_release(&perf);
	return 0;
}
