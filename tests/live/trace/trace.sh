#!/usr/bin/env bash
# trace: traced code computes the same results; every call is reported with its values; and
# afterwards every class is restored, byte for byte, however the trace ended.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/../lib.sh"
. "$live_dir/tracing.sh"

compare() {
	python3 "$live_dir/trace/trace.py" "$@"
}

seed=$(in_soak $RANDOM 1) # of the randomly generated classes
generate_classes "$seed"
echo "# trace: random code of seed $seed"

# Compiled code may throw exceptions without a message, traced or not, which changes the digest.
same_throws=-XX:-OmitStackTraceInFastThrow

everything=('TraceShapes*.*' 'made.*.*')
unlimited=(--rate 0 -c 0 --budget 0)

digest() {
	ask round '^digest ' "$PATIENCE"
}

# same_digest NAME WANTED: the traced application computes the same result.
same_digest() {
	same "$1: the application computes the same result" "$2" "$(digest)"
}

# The application's results under each kind of trace.
semantics() {
	local name=$1 wanted

	wanted=$(digest)
	begin_trace "$name: trace with arguments" "${everything[@]}" --rate 1000 -c 0 --budget 0 --json || return
	same_digest "$name: traced with arguments" "$wanted"
	end_trace "$name: traced with arguments"
	check "$name: calls are reported" test "$(wc -l <"$W/trace.out")" -gt 500
	same_digest "$name: after the trace" "$wanted"
	begin_trace "$name: trace with stacks" "${everything[@]}" --no-args --stack --rate 500 -c 0 --budget 0 || return
	same_digest "$name: traced with stacks" "$wanted"
	end_trace "$name: traced with stacks"
	check "$name: stacks are reported" grep -q -E '^ +at TraceShapes' "$W/trace.out"
	check "$name: the stacks do not contain the hooks" \
		bash -c "! grep -q java.jtool '$W/trace.out'"
}

# The summary equals the application's own counts.
counts() {
	local name=$1 wanted

	wanted=$(digest)
	ask clear '^cleared$' "$PATIENCE" >/dev/null
	begin_trace "$name: trace --summary" "${everything[@]}" --summary --json --budget 0 || return
	same_digest "$name: traced with --summary" "$wanted"
	same "$name: 8 threads" "rounds 16 wrong []" "$(ask 'rounds 2 8' '^rounds ' "$PATIENCE")"
	[ "$version" -lt 21 ] || same "$name: 8 virtual threads" "rounds 16 wrong []" \
		"$(ask 'virtual 2 8' '^rounds ' "$PATIENCE")"
	ask counts '^counts ' "$PATIENCE" >"$W/counts"
	end_trace "$name: traced with --summary"
	check "$name: calls and errors equal the application's counts" \
		compare counts "$W/counts" "$W/trace.out"
}

# Every call is reported.
values() {
	local name=$1 kind

	# So few calls that the buffers hold all of them, even if they are drained late.
	for kind in $(in_soak "log log log log" log) $([ "$version" -lt 21 ] || echo virtual); do
		begin_trace "$name: trace values, $kind" 'TraceValues$Traced.*' 'TraceValues$Made.*' \
			"${unlimited[@]}" --json || return
		same "$name: the application makes calls, $kind" logged \
			"$(ask "$kind $IW/log $((200 + RANDOM % $(in_soak 200 1))) 4" '^logged ' \
				"$PATIENCE" | cut -d' ' -f1)"
		end_trace "$name: traced values, $kind"
		check "$name: no call is dropped, $kind" \
			bash -c "! grep -q 'not shown' '$W/trace.err'"
		check "$name: every call is reported with its values, $kind" \
			compare calls "$W/log" "$W/trace.out"
	done
	same "$name: no code of the application runs to report values" \
		"touched 0" "$(ask touched '^touched ' "$PATIENCE")"
}

# Files with stacks: the sums of the reported calls.
files() {
	local name="$1: stacks in files"

	rm -f "$W/calls.txt" "$W/calls.html"
	begin_trace "$name" "${everything[@]}" --no-args "${unlimited[@]}" --json \
		--collapsed calls.txt --flamegraph calls.html || return
	digest >/dev/null
	end_trace "$name"
	check "$name: the collapsed stacks are the sums of the calls" \
		compare stacks "$W/trace.out" "$W/calls.txt"
	check "$name: the flame graph has both units" \
		grep -q '^"units":\["ns","calls"\]' "$W/calls.html"
	refuses 2 "cannot write 'calls.txt': file exists" "$name: an existing file is refused" \
		trace "$JVM_PID" 'TraceShapes.*' -d 1 --collapsed calls.txt
	refuses 2 'stdout' "$name: --flamegraph -: refused" \
		trace "$JVM_PID" 'TraceShapes.*' -d 1 --flamegraph -
	refuses 2 'stacks' "$name: --collapsed with --summary: refused" \
		trace "$JVM_PID" 'TraceShapes.*' -d 1 --summary --collapsed calls.new
	refuses 7 'nowhere' "$name: a missing directory is refused" \
		trace "$JVM_PID" 'TraceShapes.*' -d 1 --collapsed nowhere/calls.txt
	jt trace "$JVM_PID" 'TraceShapes.nothing' -d 0.2 --force --collapsed calls.txt
	same "$name: --force replaces the file even without calls" "0 0" \
		"$rc $(wc -l <"$W/calls.txt")"
}

# Calls whose end is not seen, because this() or super() threw, do not occupy the buffers forever.
unended() {
	local name="$1: constructors that throw"

	begin_trace "$name" 'TraceShapes$Child.<init>' TraceShapes.nothing "${unlimited[@]}" || return
	ask "rounds $(in_soak 1000 40) 4" '^rounds ' "$(in_soak 900 "$PATIENCE")" >/dev/null
	check "$name: other calls are reported" poll "$PATIENCE" another_is_reported
	end_trace "$name"
}

# Another call is reported; the buffers have room once earlier calls have been drained.
another_is_reported() {
	local before

	before=$(calls_of_nothing)
	digest >/dev/null
	[ "$(calls_of_nothing)" -gt "$before" ]
}

calls_of_nothing() {
	local seen=-1 n

	# Wait until the count is stable.
	while n=$(grep -c nothing "$W/trace.out") && [ "$n" -ne "$seen" ]; do
		seen=$n
		sleep 0.3
	done
	echo "$n"
}

# Ways to end a trace: functions with the test's name as their argument. The classes are hooked
# before the call.

ended_by() {
	local name=$1 signal=$2

	kill "-$signal" "$TRACE_PID"
	await_trace "$name" && same "$name: exit code" "$3" "$rc"
}

# Stops the client while calls continue, then kills it.
stopped_client() {
	kill -STOP "$TRACE_PID"
	same "$1: the application continues" "rounds 4 wrong []" \
		"$(ask 'rounds 2 2' '^rounds ' "$PATIENCE")"
	sleep 1 # longer than the buffers last
	same "$1: the application still continues" \
		"rounds 4 wrong []" "$(ask 'rounds 2 2' '^rounds ' "$PATIENCE")"
	kill -KILL "$TRACE_PID"
	await_trace "$1"
}

# Every way to end restores every class.
endings() {
	local name=$1 wanted

	wanted=$(digest)

	name="$1: Ctrl-C"
	begin_trace "$name" "${everything[@]}" --budget 0 || return
	digest >/dev/null
	ended_by "$name" INT 0
	classes_restored "$name"

	name="$1: SIGTERM"
	begin_trace "$name" "${everything[@]}" --budget 0 || return
	ended_by "$name" TERM 0
	classes_restored "$name"

	name="$1: -d"
	begin_trace "$name" "${everything[@]}" --budget 0 -d 1 || return
	digest >/dev/null
	await_trace "$name"
	same "$name: exit code" 0 "$rc"
	classes_restored "$name"

	name="$1: -c"
	begin_trace "$name" "${everything[@]}" --budget 0 -c 7 --json || return
	digest >/dev/null
	await_trace "$name"
	same "$name: exit code" 0 "$rc"
	same "$name: 7 calls" 7 "$(wc -l <"$W/trace.out")"
	classes_restored "$name"

	name="$1: output closed"
	TRACE_TO='head -n 1' begin_trace "$name" "${everything[@]}" --budget 0 --rate 0 -c 0 || return
	digest >/dev/null
	await_trace "$name"
	check "$name: the exit code is not 0" test "$rc" -ne 0
	classes_restored "$name"

	name="$1: kill -9"
	begin_trace "$name" "${everything[@]}" --budget 0 --rate 0 -c 0 || return
	digest >/dev/null
	kill -KILL "$TRACE_PID"
	await_trace "$name"
	classes_restored "$name"

	name="$1: the client is stopped and killed"
	begin_trace "$name" "${everything[@]}" --budget 0 --rate 0 -c 0 || return
	stopped_client "$name"
	classes_restored "$name"
	same_digest "$1: after all traces" "$wanted"
}

# detach lists the trace of another jtool, and ends it on request: the other prints its results.
detached() {
	local name="$1: detach during a trace"

	begin_trace "$name" 'TraceShapes.fib*' --no-args --json --budget 0 -c 0 || return
	digest >/dev/null
	jt detach "$JVM_PID"
	same "$name: it works with one notice" "0 1" "$rc $(wc -l <"$W/err")"
	check "$name: it is named" \
		grep -q -x -E 'still running: trace of another jtool, [0-9]+s' "$W/out"
	check "$name: the notice says how to end it" grep -q -e '--force' "$W/err"
	works "$name: --json" detach "$JVM_PID" --json
	same "$name: --json: it is named" "0 [] trace False" \
		"$(json "'%d %s %s %s' % (j['restored'], j['ended'], j['running'][0]['command'],
			j['running'][0]['recording'])")"
	check "$name: the trace goes on" alive "$TRACE_PID"
	prints "$name: --force ends it" '^ended: trace of another jtool, [0-9]+s$' \
		detach "$JVM_PID" --force
	await_trace "$name"
	same "$name: exit code of the trace" 7 "$rc"
	check "$name: the trace says why it ended" grep -q 'detach --force' "$W/trace.err"
	check "$name: its calls are shown" grep -q fibonacci "$W/trace.out"
	classes_restored "$name"
	prints "$name: then nothing is left" 'holds nothing' detach "$JVM_PID" --force

	name="$1: detach during the trace of a stopped client"
	begin_trace "$name" "${everything[@]}" --budget 0 --rate 0 -c 0 || return
	suspend "$TRACE_PID"
	prints "$name: --force ends it" '^ended: trace of another jtool' detach "$JVM_PID" --force
	same "$name: the application continues" "rounds 4 wrong []" \
		"$(ask 'rounds 2 2' '^rounds ' "$PATIENCE")"
	kill -CONT "$TRACE_PID"
	await_trace "$name"
	classes_restored "$name"
}

# Two traces of one class, which end in either order.
two_traces() {
	local name first order

	for order in first second; do
		name="$1: two traces, the $order one ends first"
		begin_trace "$name: one" 'TraceShapes.*' --summary --json --budget 0 || return
		first=$TRACE_PID
		mv "$W/trace.err" "$W/first.err"
		begin_trace "$name: two" 'TraceShapes.fib*' 'made.M52.*' --no-args --json --budget 0 || return
		digest >/dev/null
		if [ $order = first ]; then
			kill -INT "$first"
			poll "$PATIENCE" gone "$first" || fail "$name: the first trace ends"
			digest >/dev/null
			ended_by "$name" INT 0
		else
			ended_by "$name" INT 0
			digest >/dev/null
			kill -INT "$first"
			poll "$PATIENCE" gone "$first" || fail "$name: the first trace ends"
		fi
		check "$name: calls are reported" grep -q fibonacci "$W/trace.out"
		classes_restored "$name"
	done
}

# A trace of a patched class, and of a class that another agent changes.

both() {
	ask both '^both ' "$PATIENCE"
}

is_now() {
	[[ $(both) =~ ^both\ $1$ ]]
}

becomes() {
	if poll "$PATIENCE" is_now "$2 $3"; then
		pass "$1"
	else
		fail "$1" "wanted: both $2 $3" "got: $(both)"
	fi
}

does() {
	jt load "$JVM_PID" "$W/agent.jar" "$1"
	if [ "$rc" -ne 0 ] || ! poll "$PATIENCE" grep -q "^did $1\$" "$JVM_OUT"; then
		fail "the other agent: $1" "$(jt_details)"
	fi
}

# begin_both NAME: traces what `both` calls.
begin_both() {
	begin_trace "$1" 'Subject.*' --json --rate 0 -c 0 --budget 0
}

calls_reported() {
	local before

	before=$(grep -c '"Subject.ours"' "$W/trace.out")
	both >/dev/null
	poll "$PATIENCE" more_calls "$before" || fail "$1: calls are reported" \
		"$(tail -n 2 "$W/trace.out" "$W/trace.err")"
}

more_calls() {
	[ "$(grep -c '"Subject.ours"' "$W/trace.out")" -gt "$1" ]
}

patched() {
	local name="$1: a class that is replaced while it is traced"

	begin_both "$name" || return
	calls_reported "$name"
	jt redefine "$JVM_PID" "$W/v2/Subject.class"
	same "$name: redefine works" 0 "$rc"
	becomes "$name: the new code runs" 1002 1111
	calls_reported "$name, new code"
	jt restore "$JVM_PID"
	same "$name: restore works" 0 "$rc"
	becomes "$name: the old code runs" 1001 1111
	calls_reported "$name, old code"
	end_trace "$name"
	becomes "$name: the original code runs after the trace" 1001 1111
	classes_restored "$name"

	name="$1: a patched class is traced"
	jt redefine "$JVM_PID" "$W/v2/Subject.class"
	begin_both "$name" || return
	calls_reported "$name"
	becomes "$name: the patch runs during the trace" 1002 1111
	end_trace "$name"
	becomes "$name: the patch runs after the trace" 1002 1111
	begin_both "$name" || return
	jt restore "$JVM_PID"
	becomes "$name: restored during the trace" 1001 1111
	end_trace "$name"
	becomes "$name: the original code runs after the trace" 1001 1111
	classes_restored "$name"
}

beside_agent() {
	local name="$1: another agent is loaded during the trace"

	begin_both "$name" || return
	does add,retransform
	becomes "$name: its change runs" 1001 2222
	calls_reported "$name"
	end_trace "$name"
	becomes "$name: its change runs after the trace" 1001 2222
	does off,retransform
	classes_restored "$name"

	name="$1: another agent was there before"
	does on,retransform
	begin_both "$name" || return
	becomes "$name: its change runs during the trace" 1001 2222
	calls_reported "$name"
	does off,retransform
	becomes "$name: its change can be disabled" 1001 1111
	calls_reported "$name, without it"
	does on,retransform
	end_trace "$name"
	becomes "$name: its change runs after the trace" 1001 2222
	does off,retransform
	does remove
	classes_restored "$name"
}

variants() {
	mkdir -p "$W/v2"
	sed s/1001/1002/ "$live_dir/victim/Subject.java" >"$W/v2/Subject.java"
	javac --release 8 -Xlint:-options -d "$W/v2" "$W/v2/Subject.java"
	javac --release 8 -Xlint:-options -d "$W/agent" "$live_dir/agents/TransformingAgent.java"
	printf 'Agent-Class: TransformingAgent\nCan-Retransform-Classes: true\n' >"$W/agent.mf"
	(cd "$W" && jar cfm agent.jar agent.mf -C agent .)
}

# Error messages.
messages() {
	local v=$1

	refuses 1 'no class|nosuch' "$v: an unknown class is refused" \
		trace "$JVM_PID" 'nosuch.Class.method' -d 1
	refuses 1 "java.util.ArrayList declares no method 'nosuch'" "$v: a simple class name stands for the class" \
		trace "$JVM_PID" 'ArrayList.nosuch' -d 1
	refuses 1 'fibonacci|no method' "$v: an unknown method is refused" \
		trace "$JVM_PID" 'TraceShapes.fibonaci' -d 1
	refuses 2 '.' "$v: a pattern without a method is refused" \
		trace "$JVM_PID" 'TraceShapes' -d 1
	refuses 2 '.' "$v: a missing pattern is refused" trace "$JVM_PID"
	refuses 2 'summary' "$v: --summary with --stack: refused" \
		trace "$JVM_PID" 'TraceShapes.*' --summary --stack
	refuses 2 'cannot be combined' "$v: --args with --no-args: refused" \
		trace "$JVM_PID" 'TraceShapes.*' --args --no-args
	refuses 1 'native' "$v: a native method is refused" \
		trace "$JVM_PID" 'java.lang.Object.hashCode' -d 1
	refuses 1 'abstract' "$v: an abstract method is refused" \
		trace "$JVM_PID" 'TraceShapes$Base.make' -d 1
	jt trace -v "$JVM_PID" 'made.Refused.*' -d 0.2
	same "$v: some methods cannot be traced: exit code 0" 0 "$rc"
	check "$v: some methods cannot be traced: a notice names the long one" \
		grep -q 'tooLong' "$W/err"
	check "$v: some methods cannot be traced: the notice names the limit" \
		grep -q -E '65,?535' "$W/err"
	check "$v: some methods cannot be traced: a notice names the one with a far jump" \
		grep -q 'farJump' "$W/err"
	refuses 1 'tooLong' "$v: a method that is too long: refused" \
		trace "$JVM_PID" 'made.Refused.tooLong' -d 1
	jt trace "$JVM_PID" 'TraceAll*.*' -d 0.2
	same "$v: a class with lambdas: exit code 0" 0 "$rc"
	check "$v: a class with lambdas: no notice on them" bash -c "! grep -q Lambda '$W/err'"
	refuses 1 'Lambda' "$v: lambdas only: refused" trace "$JVM_PID" 'TraceAll$$Lambda*.*' -d 1
	jt trace "$JVM_PID" 'java.*.*' -d 1
	check "$v: too many methods: refused" test "$rc" -ne 0
	check "$v: too many methods: the error suggests --max-methods" \
		grep -q 'max-methods' "$W/err"
}

# flagged VERSION FLAG...: traces under JVM flags that find faults or change the execution.
flagged() {
	local version=$1 name

	shift
	has_jdk "$version" || return
	name="$version $*"
	start_jvm "$version" serial TraceAll $same_throws "$@" || return
	semantics "$name"
	counts "$name"
	unharmed "$name" 'digest .*|cleared|rounds .*|counts .*'
	stop "$JVM_PID"
	start_jvm "$version" serial TraceValues "$@" || return
	values "$name"
	unharmed "$name: values" 'logged .*|touched .*'
	stop "$JVM_PID"
}

# is_full VERSION: succeeds if everything is tested on this version. On the others, only what differs
# most between JVMs is tested.
is_full() {
	[[ " $(in_soak "${jdks[*]}" "8 25") " == *" $1 "* ]]
}

variants
for version in "${jdks[@]}"; do
	start_jvm "$version" default TraceAll -Xmx128m $same_throws || continue
	digest >/dev/null
	save_classes "$version"
	semantics "$version"
	counts "$version"
	classes_restored "$version: after traces"
	if is_full "$version"; then
		files "$version"
		unended "$version"
		endings "$version"
		detached "$version"
		two_traces "$version"
		messages "$version"
	fi
	unharmed "$version" 'digest .*|cleared|rounds .*|counts .*'
	check "$version: no file remains" \
		poll "$PATIENCE" nothing_left "${jdk_root[$version]}" "$JVM_PID" 0 "${IW#/}"
	stop "$JVM_PID"

	start_jvm "$version" serial TraceValues || continue
	values "$version"
	stop "$JVM_PID"

	is_full "$version" || continue
	start_jvm "$version" serial Replace || continue
	both >/dev/null
	save_classes "$version: with patches and agents" Subject
	patched "$version"
	beside_agent "$version"
	unharmed "$version: with patches and agents" \
		'did .*|both .*|WARNING: JNI local refs: .*|	at .*'
	stop "$JVM_PID"
done

flagged 17 -Xcheck:jni
flagged 21 -Xint
flagged 25 -Xcomp -XX:TieredStopAtLevel=1
if [ "$(in_soak 1 0)" -eq 1 ]; then
	for version in "${jdks[@]}"; do
		flagged "$version" -Xcheck:jni
		flagged "$version" -Xint
		flagged "$version" -Xcomp -XX:TieredStopAtLevel=1
		flagged "$version" -Xverify:all
	done
fi

if has_jdk 17; then
	start_jvm 17 serial Idle -XX:-EnableDynamicAgentLoading || exit 1
	refuses 6 'agent' "17: no agents accepted: refused" trace "$JVM_PID" 'Idle.*' -d 1
	stop "$JVM_PID"
fi
if has_jdk 25; then
	start_jvm 25 serial Idle -XX:-EnableDynamicAgentLoading || exit 1
	refuses 6 'jfr' "25: no agents accepted: the error suggests the flight recorder" \
		trace "$JVM_PID" 'Idle.*' -d 1
	stop "$JVM_PID"
fi
