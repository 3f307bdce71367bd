/*
 * Reads the map of the JVM's code cache: compiled methods, and the code that the JVM has generated
 * for itself, such as the interpreter, stubs and adapters.
 *
 * HotSpot replays the events CompiledMethodLoad and DynamicCodeGenerated for code that exists
 * already (GenerateEvents).  The names of a method are read in its event, during which HotSpot
 * keeps the compiled method: later, its jmethodID may point to a method that no longer exists
 * (JDK-8313816).
 *
 * The events are enabled only during the replay, in an environment of their own.
 * ag_code_map_read() disposes of this environment, and so of its capability, callbacks and events.
 * The capability has no cost: any number of environments can have it at any time
 * (JvmtiManageCapabilities::init_always_capabilities).
 *
 * These effects of the replay remain:
 * - Each compiled method and each method inlined in it gets a jmethodID, which takes a few bytes as
 *   long as the method's class is loaded.
 * - A method that is compiled during the replay has debug information also for code that is not a
 *   safepoint (DebugInformationRecorder, compute_recording_non_safepoints()).
 * - JDK 8 and early updates of JDK 11 send the replayed CompiledMethodLoad events to all agents
 *   that have enabled this event; later JDKs only to this agent.
 */
#ifndef JTOOL_AGENT_JVM_CODE_MAP_H
#define JTOOL_AGENT_JVM_CODE_MAP_H

#include "jvm/jvmti.h"

/* A piece of code.  If it is not a Java method, only the name is known. */
struct ag_code {
	uint64_t address;
	uint32_t size; /* bytes */
	uint32_t class_len, name_len, descriptor_len;
	/* the class's signature, the name, the method's descriptor, one after the other, no NUL */
	char texts[];
};

struct ag_code_block;
struct ag_code_map {
	struct ag_jvm *jvm;
	struct ag_code_block *first, *last;
	uint32_t n_unloaded; /* methods that are not in the map: their classes were unloaded */
	bool failed;         /* an event was not recorded; jvm->err has the reason */
};

/*
 * Reads the map.  Returns 0, or -1 with the error recorded.  The caller releases the map in any
 * case.
 */
int ag_code_map_read(struct ag_jvm *jvm, struct ag_code_map *map);
void ag_code_map_release(struct ag_code_map *map);

/* A position in a map.  Start with .block = map->first. */
struct ag_code_cursor {
	const struct ag_code_block *block;
	size_t at;
};

/* Returns the next piece of code, in the order of the replay; NULL at the end. */
const struct ag_code *ag_code_map_next(struct ag_code_cursor *cursor);

#endif
