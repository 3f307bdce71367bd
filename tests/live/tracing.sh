# shellcheck shell=bash
# What the tests of trace and alloc share: a jtool that goes on beside the test, and whether it left
# anything.  To be sourced behind lib.sh.
# shellcheck disable=SC2154 # which has live_dir

# How long what comes for sure may take where everybody waits for the processor, in seconds.
PATIENCE=120
JT_LIMIT=${JT_LIMIT:-180}

# made_classes SEED: the classes that no compiler makes, beside the victims.
made_classes() {
	local asm=java.base/jdk.internal.org.objectweb.asm=ALL-UNNAMED

	javac -Xlint:-options --add-exports $asm -d "$W/make" "$live_dir/trace/Make.java" &&
		java --add-exports $asm -cp "$W/make" Make "$W/classes" "$1" || exit 1
}

# What jtool says, with -v, once classes are hooked.
hooked=' methods? (is|are) hooked'

tracing() {
	grep -q -E "$1" "$W/trace.err" || gone "$TRACE_PID"
}

# begin_trace NAME ARGUMENT...: of the victim started last, until it is hooked.
begin_trace() {
	begin_aside trace "$hooked" "$@"
}

# begin_aside COMMAND PATTERN NAME ARGUMENT...: of the victim started last, until its -v says
# PATTERN. Sets TRACE_PID; its output goes to $W/trace.out, or through the command TRACE_TO.
begin_aside() {
	local command=$1 pattern=$2 name=$3

	shift 3
	: >"$W/trace.err"
	rm -f "$W/trace.rc"
	# In a shell of its own, so that the test's takes no notice of how it ends.
	if [ -n "${TRACE_TO:-}" ]; then
		exec {pipe}> >(cd "$W" && exec $TRACE_TO >"$W/trace.out")
	else
		exec {pipe}>"$W/trace.out"
	fi
	(
		cd "$W" || exit
		env --default-signal=INT,QUIT ./jtool "$command" -v "$JVM_PID" "$@" >&$pipe \
			2>"$W/trace.err" </dev/null {pipe}>&- &
		echo $! >"$W/trace.pid.new"
		mv "$W/trace.pid.new" "$W/trace.pid"
		rc=0
		wait $! || rc=$?
		echo $rc >"$W/trace.rc.new"
		mv "$W/trace.rc.new" "$W/trace.rc"
	) 2>/dev/null &
	disown
	exec {pipe}>&-
	poll "$PATIENCE" test -s "$W/trace.pid"
	TRACE_PID=$(cat "$W/trace.pid")
	rm "$W/trace.pid"
	mind "$TRACE_PID"
	poll "$PATIENCE" tracing "$pattern"
	if ! grep -q -E "$pattern" "$W/trace.err"; then
		fail "$name: it begins" "jtool $command $*" "$(head -n 5 "$W/trace.err")"
		kill -9 "$TRACE_PID" 2>/dev/null
		return 1
	fi
}

# await_trace NAME: until jtool has ended; sets rc.
await_trace() {
	if ! poll "$PATIENCE" test -s "$W/trace.rc"; then
		fail "$1: jtool ends" "$(tail -n 3 "$W/trace.err")"
		kill -9 "$TRACE_PID"
		return 1
	fi
	rc=$(cat "$W/trace.rc")
}

# end_trace NAME: as Ctrl-C does.
end_trace() {
	kill -INT "$TRACE_PID"
	await_trace "$1" && same "$1: Ctrl-C ends it" 0 "$rc"
	[ "$rc" -eq 0 ] || tail -n 3 "$W/trace.err" | sed 's/^/#   /'
}

# whole_before NAME [CLASS...]: how these classes are now.
whole_before() {
	local name=$1

	shift
	before_of=("$@")
	[ $# -gt 0 ] || before_of=('TraceShapes*' 'made.*')
	rm -rf "$W/before"
	jt dump "$JVM_PID" "${before_of[@]}" --loader app -d before
	check "$name: dumped" whole_dump
}

# whole_dump: the last one has all but what no JVM hands out (7: hidden classes, arrays).
whole_dump() {
	[[ $rc == [07] ]] && [ "$(wc -l <"$W/out")" -gt 0 ]
}

no_agent() {
	! grep -q 'jtool agent' "/proc/$JVM_PID/task/"*/comm
}

# as_before NAME: they are as they were, as the JVM would write them and as it runs them.
as_before() {
	local changed other

	poll "$PATIENCE" no_agent || fail "$1: the agent is gone"
	rm -rf "$W/after"
	jt dump "$JVM_PID" "${before_of[@]}" --loader app -d after --json
	changed=$(diff -r "$W/before" "$W/after" 2>&1)
	other=$(json "' '.join(f['class'] for f in j['files'] if f['other_code'])")
	if whole_dump && [ -z "$changed$other" ]; then
		pass "$1: every class is as it was"
	else
		fail "$1: every class is as it was" "$changed" "other code: $other" "$(head -n 3 "$W/err")"
	fi
}

# working NAME: rounds are done, if not at this instant then soon, and nothing is wrong with them.
working() {
	local told end=$(($(now_ms) + PATIENCE * 1000))

	while told=$(ask beats '^beats ' "$PATIENCE") && [[ $told =~ ^beats\ [0-9]+\ wrong\ 0\ $ ]]; do
		[[ $told == 'beats 0 '* ]] || return 0
		[ "$(now_ms)" -lt "$end" ] || break
		sleep 0.05 # between two looks
	done
	fail "$1: the application works, and its checks pass" "$told" \
		"$(tail -n 3 "$JVM_OUT" "$JVM_ERR")"
	return 1
}

# beating NAME: it does so again and again, from now on.
beating() {
	ask beats '^beats ' "$PATIENCE" >/dev/null
	working "$1" && pass "$1: the application works, and its checks pass"
}

# loaded VERSION [FLAG...]: a victim with work on all kinds of threads.
loaded() {
	local virtual=0

	[ "$1" -lt 21 ] || virtual=20
	start_jvm "$1" default TraceLoad -Xmx100m "${@:2}" || return
	ask "load 3 $virtual" '^loaded$' "$PATIENCE" >/dev/null
	working "load"
}

# fewest COUNT PID: what this count is without what comes and goes: the least of some looks.
fewest() {
	local i n least=

	for ((i = 0; i < 20; i++)); do
		n=$("$1" "$2")
		[ -n "$least" ] && [ "$n" -ge "$least" ] || least=$n
		sleep 0.02 # between two looks
	done
	echo "$least"
}

no_more_than() {
	[ "$("$1" "$2")" -le "$3" ]
}

# resident: in KB, once what is not needed any more was given back.
resident() {
	"$JTOOL" jcmd "$JVM_PID" GC.run >/dev/null
	rss_kb "$JVM_PID"
}

# survived VERSION N THREADS FDS: after N clients were killed the JVM that was loaded has as many
# threads and descriptors as it had, nothing is left of them, and the application works.  It ends.
survived() {
	check "$1: threads as before" poll "$PATIENCE" no_more_than lasting_threads "$JVM_PID" "$3"
	check "$1: descriptors as before" poll "$PATIENCE" no_more_than fd_count "$JVM_PID" "$4"
	check "$1: nothing left in any directory" \
		poll "$PATIENCE" nothing_left "${jdk_root[$1]}" "$JVM_PID" 0 "${IW#/}"
	beating "$1: after $2 kills"
	unharmed "$1: $2 kills" 'beats .*|loaded'
	stop "$JVM_PID"
}

# on VERSION...: those of them that are there, or in the long form all.
on() {
	local version

	for version in $(in_soak "${jdks[*]}" "$*"); do
		! has_jdk "$version" || echo "$version"
	done
}
