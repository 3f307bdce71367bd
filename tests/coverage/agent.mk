# Builds the agent with counters, for scripts/coverage: in a build directory,
#
#	make -f .../tests/coverage/agent.mk agent-with-counters
#
# Each source has an object, because the names of the notes for gcov derive from the objects' names.
# The linked agent is newer than its sources, so `make jtool` embeds it and does not replace it.
include Makefile

counted_objects = $(agent_sources:agent/%.c=counted/%.o)
counted_cflags = -O0 --coverage -fprofile-info-section=gcov_info
counted_ldflags = -Wl,-T,$(top_srcdir)/tests/coverage/counters.ld -Wl,--wrap=syscall

counted/%.o: $(top_srcdir)/agent/%.c $(agent_headers)
	@$(MKDIR_P) $(@D)
	$(AM_V_CC)$(agent_compile) $(counted_cflags) -c -o $@ $<

counted/jtool-agent.so: $(counted_objects) counters.o
	$(AM_V_CCLD)$(CC) $(agent_ldflags) $(counted_ldflags) -o $@ counters.o \
		$(counted_objects) -lgcov -lgcc

agent-with-counters: counted/jtool-agent.so
	@$(MKDIR_P) agent
	cp $< agent/jtool-agent.so
.PHONY: agent-with-counters
