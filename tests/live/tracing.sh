# shellcheck shell=bash
# What the tests of trace share: traces that go on beside the test, and whether they left anything.
# To be sourced behind lib.sh.
# shellcheck disable=SC2154 # which has live_dir

# made_classes SEED: the classes that no compiler makes, beside the victims.
made_classes() {
	local asm=java.base/jdk.internal.org.objectweb.asm=ALL-UNNAMED

	javac -Xlint:-options --add-exports $asm -d "$W/make" "$live_dir/trace/Make.java" &&
		java --add-exports $asm -cp "$W/make" Make "$W/classes" "$1" || exit 1
}

# What jtool says, with -v, once classes are hooked.
hooked=' methods? (is|are) hooked'

tracing() {
	grep -q -E "$hooked" "$W/trace.err" || gone "$TRACE_PID"
}

# begin_trace NAME ARGUMENT...: of the victim started last, until it is hooked. Sets TRACE_PID;
# its output goes to $W/trace.out, or through the command TRACE_TO.
begin_trace() {
	local name=$1

	shift
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
		env --default-signal=INT,QUIT ./jtool trace -v "$JVM_PID" "$@" >&$pipe 2>"$W/trace.err" \
			</dev/null {pipe}>&- &
		echo $! >"$W/trace.pid.new"
		mv "$W/trace.pid.new" "$W/trace.pid"
		rc=0
		wait $! || rc=$?
		echo $rc >"$W/trace.rc.new"
		mv "$W/trace.rc.new" "$W/trace.rc"
	) 2>/dev/null &
	disown
	exec {pipe}>&-
	poll 5 test -s "$W/trace.pid"
	TRACE_PID=$(cat "$W/trace.pid")
	rm "$W/trace.pid"
	started+=("$TRACE_PID")
	poll 30 tracing
	if ! grep -q -E "$hooked" "$W/trace.err"; then
		fail "$name: it begins" "jtool trace $*" "$(head -n 5 "$W/trace.err")"
		kill -9 "$TRACE_PID" 2>/dev/null
		return 1
	fi
}

# await_trace NAME: until jtool has ended; sets rc.
await_trace() {
	if ! poll 20 test -s "$W/trace.rc"; then
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

	poll 10 no_agent || fail "$1: the agent is gone"
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
