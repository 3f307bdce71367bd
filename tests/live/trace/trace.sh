#!/usr/bin/env bash
# trace: what is traced does what it did, to the last bit; what is told is what happened, each call,
# with its values; and afterwards every class is what it was, byte for byte, however it ended.
# shellcheck source-path=SCRIPTDIR source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/lib.sh"
. "$live_dir/tracing.sh"

compare() {
	python3 "$live_dir/trace.py" "$@"
}

seed=$(in_soak $RANDOM 1) # of the classes that are made at random
made_classes "$seed"
echo "# trace: random code of seed $seed"

# What is thrown often has no message any more once it is compiled, traced or not: digests change.
same_throws=-XX:-OmitStackTraceInFastThrow

everything=('TraceShapes*.*' 'made.*.*')
unlimited=(--rate 0 -c 0 --budget 0)

digest() {
	ask round '^digest ' "$PATIENCE"
}

# same_digest NAME WANTED: while something is traced.
same_digest() {
	same "$1: the application computes the same" "$2" "$(digest)"
}

# What it computes, traced in each way.
semantics() {
	local name=$1 wanted

	wanted=$(digest)
	begin_trace "$name: trace with arguments" "${everything[@]}" --rate 1000 -c 0 --budget 0 --json || return
	same_digest "$name: traced with arguments" "$wanted"
	end_trace "$name: traced with arguments"
	check "$name: calls were told" test "$(wc -l <"$W/trace.out")" -gt 500
	same_digest "$name: after it" "$wanted"
	begin_trace "$name: trace with stacks" "${everything[@]}" --no-args --stack --rate 500 -c 0 --budget 0 || return
	same_digest "$name: traced with stacks" "$wanted"
	end_trace "$name: traced with stacks"
	check "$name: stacks were told" grep -q -E '^ +at TraceShapes' "$W/trace.out"
	check "$name: without the hooks" bash -c "! grep -q java.jtool '$W/trace.out'"
}

# The sums are the application's own.
counts() {
	local name=$1 wanted

	wanted=$(digest)
	ask clear '^cleared$' "$PATIENCE" >/dev/null
	begin_trace "$name: trace --summary" "${everything[@]}" --summary --json --budget 0 || return
	same_digest "$name: traced in sums" "$wanted"
	same "$name: 8 threads at once" "rounds 16 wrong []" "$(ask 'rounds 2 8' '^rounds ' "$PATIENCE")"
	[ "$version" -lt 21 ] || same "$name: 8 virtual threads" "rounds 16 wrong []" \
		"$(ask 'virtual 2 8' '^rounds ' "$PATIENCE")"
	ask counts '^counts ' "$PATIENCE" >"$W/counts"
	end_trace "$name: traced in sums"
	check "$name: calls and errors are those that the application counted" \
		compare counts "$W/counts" "$W/trace.out"
}

# Each call is told of.
values() {
	local name=$1 kind

	# No more calls than there is room for, however late they are taken out.
	for kind in $(in_soak "log log log log" log) $([ "$version" -lt 21 ] || echo virtual); do
		begin_trace "$name: trace values, $kind" 'TraceValues$Traced.*' 'TraceValues$Made.*' \
			"${unlimited[@]}" --json || return
		same "$name: calls made, $kind" logged \
			"$(ask "$kind $IW/log $((200 + RANDOM % $(in_soak 200 1))) 4" '^logged ' \
				"$PATIENCE" | cut -d' ' -f1)"
		end_trace "$name: traced values, $kind"
		check "$name: nothing was dropped, $kind" bash -c "! grep -q -i 'not told' '$W/trace.err'"
		check "$name: every call is told, $kind" compare calls "$W/log" "$W/trace.out"
	done
	same "$name: no code of the application ran for it" "touched 0" "$(ask touched '^touched ' "$PATIENCE")"
}

# Stacks in files: the sums of what was told.
files() {
	local name="$1: stacks in files"

	rm -f "$W/calls.txt" "$W/calls.html"
	begin_trace "$name" "${everything[@]}" --no-args "${unlimited[@]}" --json \
		--collapsed calls.txt --flamegraph calls.html || return
	digest >/dev/null
	end_trace "$name"
	check "$name: each is what its calls add up to" compare stacks "$W/trace.out" "$W/calls.txt"
	check "$name: a page is there" grep -q '^"units":\["ns","calls"\]' "$W/calls.html"
	refuses 2 'calls.txt exists' "$name: they are not replaced" \
		trace "$JVM_PID" 'TraceShapes.*' -d 1 --collapsed calls.txt
	refuses 2 'stdout' "$name: nor mixed with calls" \
		trace "$JVM_PID" 'TraceShapes.*' -d 1 --flamegraph -
	refuses 2 'stacks' "$name: not with --summary" \
		trace "$JVM_PID" 'TraceShapes.*' -d 1 --summary --collapsed calls.new
	refuses 7 'nowhere' "$name: nor where there is no folder" \
		trace "$JVM_PID" 'TraceShapes.*' -d 1 --collapsed nowhere/calls.txt
	jt trace "$JVM_PID" 'TraceShapes.nothing' -d 0.2 --force --collapsed calls.txt
	same "$name: replaced when told so, even if there was no call" "0 0" \
		"$rc $(wc -l <"$W/calls.txt")"
}

# Calls that nobody sees the end of (this() or super() threw) take the room of no others.
unended() {
	local name="$1: constructors that never end"

	begin_trace "$name" 'TraceShapes$Child.<init>' TraceShapes.nothing "${unlimited[@]}" || return
	ask "rounds $(in_soak 1000 40) 4" '^rounds ' "$(in_soak 900 "$PATIENCE")" >/dev/null
	check "$name: others are told of" poll "$PATIENCE" another_is_told
	end_trace "$name"
}

# Once those of before have been taken out there is room.
another_is_told() {
	local before

	before=$(calls_of_nothing)
	digest >/dev/null
	[ "$(calls_of_nothing)" -gt "$before" ]
}

calls_of_nothing() {
	local seen=-1 n

	# Until there are no more.
	while n=$(grep -c nothing "$W/trace.out") && [ "$n" -ne "$seen" ]; do
		seen=$n
		sleep 0.3
	done
	echo "$n"
}

# Ways to end. Each is given the name; what was traced is hooked when it is called.

ended_by() {
	local name=$1 signal=$2

	kill "-$signal" "$TRACE_PID"
	await_trace "$name" && same "$name: exit" "$3" "$rc"
}

# stopped for a while, during which calls go on, then killed
stopped_client() {
	kill -STOP "$TRACE_PID"
	same "$1: the application goes on" "rounds 4 wrong []" "$(ask 'rounds 2 2' '^rounds ' "$PATIENCE")"
	sleep 1 # more than that
	same "$1: and on" "rounds 4 wrong []" "$(ask 'rounds 2 2' '^rounds ' "$PATIENCE")"
	kill -KILL "$TRACE_PID"
	await_trace "$1"
}

# Each ending leaves every class as it was.
endings() {
	local name=$1 wanted

	wanted=$(digest)

	name="$1: Ctrl-C"
	begin_trace "$name" "${everything[@]}" --budget 0 || return
	digest >/dev/null
	ended_by "$name" INT 0
	as_before "$name"

	name="$1: SIGTERM"
	begin_trace "$name" "${everything[@]}" --budget 0 || return
	ended_by "$name" TERM 0
	as_before "$name"

	name="$1: -d"
	begin_trace "$name" "${everything[@]}" --budget 0 -d 1 || return
	digest >/dev/null
	await_trace "$name"
	same "$name: exit" 0 "$rc"
	as_before "$name"

	name="$1: -c"
	begin_trace "$name" "${everything[@]}" --budget 0 -c 7 --json || return
	digest >/dev/null
	await_trace "$name"
	same "$name: exit" 0 "$rc"
	same "$name: so many calls" 7 "$(wc -l <"$W/trace.out")"
	as_before "$name"

	name="$1: output closed"
	TRACE_TO='head -n 1' begin_trace "$name" "${everything[@]}" --budget 0 --rate 0 -c 0 || return
	digest >/dev/null
	await_trace "$name"
	check "$name: that is an error" test "$rc" -ne 0
	as_before "$name"

	name="$1: kill -9"
	begin_trace "$name" "${everything[@]}" --budget 0 --rate 0 -c 0 || return
	digest >/dev/null
	kill -KILL "$TRACE_PID"
	await_trace "$name"
	as_before "$name"

	name="$1: the client stands still, and is killed"
	begin_trace "$name" "${everything[@]}" --budget 0 --rate 0 -c 0 || return
	stopped_client "$name"
	as_before "$name"
	same_digest "$1: after all" "$wanted"
}

# Two traces of one class, ended in the order they began or the other.
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
			poll "$PATIENCE" gone "$first" || fail "$name: the first one ends"
			digest >/dev/null
			ended_by "$name" INT 0
		else
			ended_by "$name" INT 0
			digest >/dev/null
			kill -INT "$first"
			poll "$PATIENCE" gone "$first" || fail "$name: the first one ends"
		fi
		check "$name: both told of calls" grep -q fibonacci "$W/trace.out"
		as_before "$name"
	done
}

# Beside a patch and beside another agent that changes the class.

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

# begin_both NAME: trace what `both` calls; it is told of.
begin_both() {
	begin_trace "$1" 'Subject.*' --json --rate 0 -c 0 --budget 0
}

told_both() {
	local before

	before=$(grep -c '"Subject.ours"' "$W/trace.out")
	both >/dev/null
	poll "$PATIENCE" more_told "$before" || fail "$1: calls are told of" "$(tail -n 2 "$W/trace.out" "$W/trace.err")"
}

more_told() {
	[ "$(grep -c '"Subject.ours"' "$W/trace.out")" -gt "$1" ]
}

patched() {
	local name="$1: a class that is replaced while it is traced"

	begin_both "$name" || return
	told_both "$name"
	jt redefine "$JVM_PID" "$W/v2/Subject.class"
	same "$name: redefine" 0 "$rc"
	becomes "$name: the new code runs" 1002 1111
	told_both "$name, new code"
	jt restore "$JVM_PID"
	same "$name: restore" 0 "$rc"
	becomes "$name: the old code runs" 1001 1111
	told_both "$name, old code"
	end_trace "$name"
	becomes "$name: afterwards" 1001 1111
	as_before "$name"

	name="$1: a class that is traced while it is replaced"
	jt redefine "$JVM_PID" "$W/v2/Subject.class"
	begin_both "$name" || return
	told_both "$name"
	becomes "$name: traced" 1002 1111
	end_trace "$name"
	becomes "$name: the patch stays" 1002 1111
	begin_both "$name" || return
	jt restore "$JVM_PID"
	becomes "$name: put back while it is traced" 1001 1111
	end_trace "$name"
	becomes "$name: and afterwards" 1001 1111
	as_before "$name"
}

beside_agent() {
	local name="$1: another agent comes while a class is traced"

	begin_both "$name" || return
	does add,retransform
	becomes "$name: it changes it" 1001 2222
	told_both "$name"
	end_trace "$name"
	becomes "$name: afterwards" 1001 2222
	does off,retransform
	as_before "$name"

	name="$1: another agent is there"
	does on,retransform
	begin_both "$name" || return
	becomes "$name: its change stays" 1001 2222
	told_both "$name"
	does off,retransform
	becomes "$name: its change goes" 1001 1111
	told_both "$name, without it"
	does on,retransform
	end_trace "$name"
	becomes "$name: afterwards" 1001 2222
	does off,retransform
	does remove
	as_before "$name"
}

variants() {
	mkdir -p "$W/v2"
	sed s/1001/1002/ "$live_dir/victim/Subject.java" >"$W/v2/Subject.java"
	javac --release 8 -Xlint:-options -d "$W/v2" "$W/v2/Subject.java"
	javac --release 8 -Xlint:-options -d "$W/agent" "$live_dir/agents/TransformingAgent.java"
	printf 'Agent-Class: TransformingAgent\nCan-Retransform-Classes: true\n' >"$W/agent.mf"
	(cd "$W" && jar cfm agent.jar agent.mf -C agent .)
}

# What is said.
messages() {
	local v=$1

	refuses 1 'no class|nosuch' "$v: no such class" trace "$JVM_PID" 'nosuch.Class.method' -d 1
	refuses 1 'fibonacci|no method' "$v: no such method" trace "$JVM_PID" 'TraceShapes.fibonaci' -d 1
	refuses 2 '.' "$v: no method named" trace "$JVM_PID" 'TraceShapes' -d 1
	refuses 2 '.' "$v: nothing named" trace "$JVM_PID"
	refuses 2 'summary' "$v: --summary --stack" trace "$JVM_PID" 'TraceShapes.*' --summary --stack
	refuses 2 'exclude' "$v: --args --no-args" trace "$JVM_PID" 'TraceShapes.*' --args --no-args
	refuses 1 'native' "$v: a native method" trace "$JVM_PID" 'java.lang.Object.hashCode' -d 1
	refuses 1 'abstract' "$v: an abstract method" trace "$JVM_PID" 'TraceShapes$Base.make' -d 1
	jt trace "$JVM_PID" 'made.Refused.*' -d 0.2
	same "$v: methods that cannot be traced beside one that can" 0 "$rc"
	check "$v: the one that is too long is named" grep -q 'tooLong' "$W/err"
	check "$v: and why" grep -q -E '65,?535' "$W/err"
	check "$v: the one with a far jump is named" grep -q 'farJump' "$W/err"
	refuses 1 'tooLong' "$v: one that is too long" trace "$JVM_PID" 'made.Refused.tooLong' -d 1
	jt trace "$JVM_PID" 'TraceAll*.*' -d 0.2
	same "$v: a class with lambdas" 0 "$rc"
	check "$v: nobody is told of them" bash -c "! grep -q Lambda '$W/err'"
	refuses 1 'Lambda' "$v: lambdas alone" trace "$JVM_PID" 'TraceAll$$Lambda*.*' -d 1
	jt trace "$JVM_PID" 'java.*.*' -d 1
	check "$v: too many methods" test "$rc" -ne 0
	check "$v: and how to have them" grep -q 'max-methods' "$W/err"
}

# Nothing of ours in an application with these flags, which find what is wrong or change how it runs.
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

# is_full VERSION: everything is done on it; on the others, what differs most between JVMs.
is_full() {
	[[ " $(in_soak "${jdks[*]}" "8 25") " == *" $1 "* ]]
}

variants
for version in "${jdks[@]}"; do
	start_jvm "$version" default TraceAll -Xmx128m $same_throws || continue
	digest >/dev/null
	whole_before "$version"
	semantics "$version"
	counts "$version"
	as_before "$version: after traces"
	if is_full "$version"; then
		files "$version"
		unended "$version"
		endings "$version"
		two_traces "$version"
		messages "$version"
	fi
	unharmed "$version" 'digest .*|cleared|rounds .*|counts .*'
	check "$version: nothing left" \
		poll "$PATIENCE" nothing_left "${jdk_root[$version]}" "$JVM_PID" 0 "${IW#/}"
	stop "$JVM_PID"

	start_jvm "$version" serial TraceValues || continue
	values "$version"
	stop "$JVM_PID"

	is_full "$version" || continue
	start_jvm "$version" serial Replace || continue
	both >/dev/null
	whole_before "$version: beside others" Subject
	patched "$version"
	beside_agent "$version"
	unharmed "$version: beside others" 'did .*|both .*|WARNING: JNI local refs: .*|	at .*'
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
	refuses 6 'agent' "17: agents may not be loaded" trace "$JVM_PID" 'Idle.*' -d 1
	stop "$JVM_PID"
fi
if has_jdk 25; then
	start_jvm 25 serial Idle -XX:-EnableDynamicAgentLoading || exit 1
	refuses 6 'jfr' "25: agents may not be loaded: the flight recorder is offered" \
		trace "$JVM_PID" 'Idle.*' -d 1
	stop "$JVM_PID"
fi
