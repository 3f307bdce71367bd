# shellcheck shell=bash
# Helpers of the trace and alloc tests: run jtool in the background, and check what it leaves in the
# JVM. Sourced after lib.sh.
# shellcheck disable=SC2154 # lib.sh sets live_dir

# How many seconds to wait for an event that is certain, on a machine whose processors are busy.
PATIENCE=120
JT_LIMIT=${JT_LIMIT:-180}

# generate_classes SEED: adds classes that no compiler emits to the victims.
generate_classes() {
	local asm=java.base/jdk.internal.org.objectweb.asm=ALL-UNNAMED

	javac -Xlint:-options --add-exports $asm -d "$W/make" "$live_dir/trace/Make.java" &&
		java --add-exports $asm -cp "$W/make" Make "$W/classes" "$1" || exit 1
}

# A pattern for the message that jtool prints once classes are hooked.
hooked='instrumented [0-9]+ method'

tracing() {
	grep -q -E "$1" "$W/trace.err" || gone "$TRACE_PID"
}

# begin_trace NAME ARGUMENT...: traces the victim that was started last; returns when it is hooked.
begin_trace() {
	begin_background trace "$hooked" "$@"
}

# begin_background COMMAND PATTERN NAME ARGUMENT...: runs jtool on the victim that was started last,
# and returns when its -v output matches PATTERN. Sets TRACE_PID. Its output goes to $W/trace.out,
# or through the command TRACE_TO.
begin_background() {
	local command=$1 pattern=$2 name=$3

	shift 3
	: >"$W/trace.err"
	rm -f "$W/trace.rc"
	# In a separate shell, so that the test's shell does not report how it ends.
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
	track "$TRACE_PID"
	poll "$PATIENCE" tracing "$pattern"
	if ! grep -q -E "$pattern" "$W/trace.err"; then
		fail "$name: it starts" "jtool $command $*" "$(head -n 5 "$W/trace.err")"
		kill -9 "$TRACE_PID" 2>/dev/null
		return 1
	fi
}

# await_trace NAME: waits until jtool has exited; sets rc.
await_trace() {
	if ! poll "$PATIENCE" test -s "$W/trace.rc"; then
		fail "$1: jtool ends" "$(tail -n 3 "$W/trace.err")"
		kill -9 "$TRACE_PID"
		return 1
	fi
	rc=$(cat "$W/trace.rc")
}

# end_trace NAME: ends it as Ctrl-C does.
end_trace() {
	kill -INT "$TRACE_PID"
	await_trace "$1" && same "$1: Ctrl-C ends it" 0 "$rc"
	[ "$rc" -eq 0 ] || tail -n 3 "$W/trace.err" | sed 's/^/#   /'
}

# save_classes NAME [CLASS...]: dumps these classes to compare them later.
save_classes() {
	local name=$1

	shift
	saved_patterns=("$@")
	[ $# -gt 0 ] || saved_patterns=('TraceShapes*' 'made.*')
	rm -rf "$W/before"
	jt dump "$JVM_PID" "${saved_patterns[@]}" --loader app -d before
	check "$name: dumped" dump_is_complete
}

# dump_is_complete: the last dump has all classes except hidden classes and arrays, which no JVM
# reports (exit code 7).
dump_is_complete() {
	[[ $rc == [07] ]] && [ "$(wc -l <"$W/out")" -gt 0 ]
}

no_agent() {
	! grep -q 'jtool agent' "/proc/$JVM_PID/task/"*/comm
}

# classes_restored NAME: the classes equal those that were saved, both as the JVM would write them
# and as it runs them.
classes_restored() {
	local changed other

	poll "$PATIENCE" no_agent || fail "$1: the agent has ended"
	rm -rf "$W/after"
	jt dump "$JVM_PID" "${saved_patterns[@]}" --loader app -d after --json
	changed=$(diff -r "$W/before" "$W/after" 2>&1)
	other=$(json "' '.join(f['class'] for f in j['files'] if f['other_code'])")
	if dump_is_complete && [ -z "$changed$other" ]; then
		pass "$1: every class is restored"
	else
		fail_or_skip "$1: every class is restored" "$changed" "other code: $other" \
			"$(head -n 3 "$W/err")" "$(last_words 0)"
	fi
}

# app_works NAME: the victim completes rounds, now or soon, and none of them is wrong.
app_works() {
	local answer end=$(($(now_ms) + PATIENCE * 1000))

	while answer=$(ask beats '^beats ' "$PATIENCE") && [[ $answer =~ ^beats\ [0-9]+\ wrong\ 0\ $ ]]; do
		[[ $answer == 'beats 0 '* ]] || return 0
		[ "$(now_ms)" -lt "$end" ] || break
		sleep 0.05 # poll interval
	done
	fail_or_skip "$1: the application works and its checks pass" "$answer" \
		"$(last_words 3)"
	return 1
}

# app_keeps_working NAME: the victim completes further rounds.
app_keeps_working() {
	ask beats '^beats ' "$PATIENCE" >/dev/null
	app_works "$1" && pass "$1: the application works and its checks pass"
}

# start_load VERSION [FLAG...]: starts a victim that works on all kinds of threads.
start_load() {
	local virtual=0

	[ "$1" -lt 21 ] || virtual=20
	start_jvm "$1" default TraceLoad -Xmx100m "${@:2}" || return
	ask "load 3 $virtual" '^loaded$' "$PATIENCE" >/dev/null
	app_works "load"
}

# minimum_of COUNT PID: the minimum of several samples of COUNT, which excludes short-lived threads
# and descriptors.
minimum_of() {
	local i n least=

	for ((i = 0; i < 20; i++)); do
		n=$("$1" "$2")
		[ -n "$least" ] && [ "$n" -ge "$least" ] || least=$n
		sleep 0.02 # poll interval
	done
	echo "$least"
}

no_more_than() {
	[ "$("$1" "$2")" -le "$3" ]
}

# rss_after_gc: the victim's resident memory in KB after a collection.
rss_after_gc() {
	"$JTOOL" jcmd "$JVM_PID" GC.run >/dev/null
	rss_kb "$JVM_PID"
}

# unharmed_after_kills VERSION N THREADS FDS: after N clients were killed, the victim has its
# initial numbers of threads and descriptors, no file is left, and the application works. Stops the
# victim.
unharmed_after_kills() {
	check "$1: as many threads as before" \
		poll "$PATIENCE" no_more_than lasting_threads "$JVM_PID" "$3"
	check "$1: as many descriptors as before" \
		poll "$PATIENCE" no_more_than fd_count "$JVM_PID" "$4"
	check "$1: nothing left in any directory" \
		poll "$PATIENCE" nothing_left "${jdk_root[$1]}" "$JVM_PID" 0 "${IW#/}"
	app_keeps_working "$1: after $2 kills"
	unharmed "$1: $2 kills" 'beats .*|loaded'
	stop "$JVM_PID"
}

# jdks_of VERSION...: prints those versions that are installed, or in the long form all JDKs.
jdks_of() {
	local version

	for version in $(in_soak "${jdks[*]}" "$*"); do
		! has_jdk "$version" || echo "$version"
	done
}
