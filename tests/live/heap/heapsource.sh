#!/usr/bin/env bash
# Heap walks and dumps: whatever happens to jtool meanwhile, with either engine, the JVM's pause is
# limited, and no file remains. JTOOL_SOAK=1: many more tries.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

tries=$(in_soak 30 2)
versions=(8 17 25)
size=1500 # in thousands of objects
heap=(-Xms200m -Xmx200m -XX:+AlwaysPreTouch) # growth after that is not the Java heap's

# gap: the application's longest pause since the last call, in ms.
gap() {
	local line

	line=$(ask gap '^gap [0-9]+$' 20) && echo "${line#gap }"
}

# nothing_remains NAME: the JVM has no additional files, descriptors or threads.
nothing_remains() {
	check "$1: no file remains" poll 30 nothing_left_here
	check "$1: no descriptor remains" poll 30 has_counts fd_count "$fds"
	check "$1: no thread remains" poll 30 has_counts lasting_threads "$threads"
	unharmed "$1"
}

# has_counts COUNTER N: its count is at most N.
has_counts() {
	[ "$("$1" "$JVM_PID")" -le "$2" ]
}

# begin ENGINE [OPTION...]: runs retained in the background; sets `pid`, and returns when it
# requests the heap.
begin() {
	local engine=$1

	shift
	: >"$W/err"
	(cd "$W" && exec ./jtool retained -v --engine "$engine" "$@" "$JVM_PID" -n 3 \
		>"$W/out" 2>"$W/err" </dev/null) &
	pid=$!
	poll 20 asks "$engine"
}

declare -A request=([agent]='classes are loaded' [hprof]='GC.heap_dump ')
asks() {
	grep -q -e "${request[$1]}" "$W/err" || gone "$pid"
}

# a_moment: waits for a random part of a complete walk's duration.
a_moment() {
	sleep "0.$(printf '%03d' $((RANDOM % whole)))"
}

# longest_gap NAME LIMIT ROUND: the longest pause during ROUND is at most LIMIT ms longer than that
# of an undisturbed walk. A busy machine can lengthen a pause, but not in each of three rounds.
longest_gap() {
	local ms i

	for i in 1 2 3; do
		gap >/dev/null
		"$3" "$1"
		ms=$(gap)
		[ "${ms:-99999}" -ge $((whole + $2)) ] || break
	done
	check "$1: the longest pause is ${ms:-?} ms, $whole undisturbed" \
		test "${ms:-99999}" -lt $((whole + $2))
}

# ends_well NAME: exit code 0, or 7 with one line that says what to do, besides the lines of -v.
ends_well() {
	local said

	wait "$pid" 2>/dev/null
	rc=$?
	said=$(grep -v -E '^jtool: +[0-9.]+ ms ' "$W/err")
	if [ $rc -eq 0 ] && [ -z "$said" ]; then
		pass "$1: jtool ends without an error"
	elif [ $rc -eq 7 ] && [ "$(wc -l <<<"$said")" -eq 1 ] &&
		grep -q -e '--max-memory\|memory limit\|--engine\|--max-pause' <<<"$said"; then
		pass "$1: jtool ends with an error that says what to do"
	else
		fail "$1: jtool ends without an error" "exit $rc" "$(cat "$W/err")"
	fi
}

kill_several() {
	local i

	for ((i = 0; i < tries; i++)); do
		begin "$engine"
		a_moment
		kill -KILL "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
		check "$1: the JVM answers" answers
	done
}

killed() {
	local name="$version: $engine: killed"

	longest_gap "$name" 500 kill_several
	nothing_remains "$name"
}

stop_for_a_while() {
	begin "$engine" "${with[@]}"
	[ ${#with[@]} -gt 0 ] || a_moment
	kill -STOP "$pid" 2>/dev/null
	check "$1: the JVM answers while jtool is stopped" answers
	sleep 1.5 # the length of its pause if it waited for us
	kill -CONT "$pid" 2>/dev/null
	ends_well "$1"
}

# stopped [OPTION...]: jtool is stopped for a while.
stopped() {
	local name="$version: $engine: stopped${1:+ with $*}" i with=("$@")

	for ((i = 0; i < tries / 2; i++)); do
		longest_gap "$name" 1000 stop_for_a_while
	done
	nothing_remains "$name"
}

# slowly PID: lets the process run only a tenth of the time, until it ends.
slowly() {
	while kill -STOP "$1" 2>/dev/null; do
		sleep 0.09
		kill -CONT "$1"
		sleep 0.01
	done 2>/dev/null
}

slow_down() {
	begin "$engine"
	slowly "$pid" &
	ends_well "$1"
	wait $!
}

slowed() {
	local name="$version: $engine: slowed"

	longest_gap "$name" 1000 slow_down
	nothing_remains "$name"
}

# reader: the PID of jtool's child that reads the JVM's output. The staging helper also has the FIFO
# open, and additionally the staging directory's /proc.
reader() {
	local child files

	for child in $(pgrep -P "$pid"); do
		files=$(readlink "/proc/$child/fd/"*)
		grep -q '^pipe:' <<<"$files" && grep -q '\.hprof' <<<"$files" &&
			! grep -q '^/proc$' <<<"$files" && echo "$child" && return
	done
	return 1
}

find_reader() {
	relay=$(reader)
}

has_ended() {
	! alive "$pid"
}

kill_reader() {
	begin "$engine"
	relay=
	poll 10 find_reader
	check "$1: it runs before" kill -KILL "${relay:-none}"
	check "$1: jtool ends" poll 20 has_ended
	kill -KILL "$pid" 2>/dev/null
	ends_well "$1"
}

# The JVM must not block when its reader is killed.
reader_killed() {
	local name="$version: $engine: reader killed"

	longest_gap "$name" 500 kill_reader
	nothing_remains "$name"
}

limits() {
	local name="$version: $engine"

	refuses 7 '--max-memory' "$name: --max-memory 1 is refused" \
		retained --engine "$engine" --max-memory 1 "$JVM_PID"
	[ "$engine" = agent ] || return
	gap >/dev/null
	refuses 7 '--max-pause' "$name: --max-pause 50ms is refused" \
		retained --engine "$engine" --max-pause 50ms "$JVM_PID"
	ms=$(gap)
	check "$name: --max-pause 50ms: the pause is $ms ms" test "$ms" -lt 400
	nothing_remains "$name: limits"
}

# steady NAME: the JVM's resident memory does not grow. During a walk HotSpot keeps its work list of
# 8 bytes per object; it doubles by copying, and the C library may retain both copies once.
steady() {
	local now list_kb=$((size * 8 * 3))

	now=$(rss_kb "$JVM_PID")
	check "$1: RSS goes from $rss to $now KB" test "$now" -lt $((rss + 8192 + list_kb))
}

[ "$(in_soak 1 0)" = 0 ] || versions=("${jdks[@]}")
for version in "${versions[@]}"; do
	has_jdk "$version" || continue
	start_jvm "$version" g1 Held "${heap[@]}" -- $size || continue
	for engine in agent hprof; do
		works "$version: $engine: retained works" \
			retained --engine "$engine" -n 3 --json "$JVM_PID"
		same "$version: $engine: retained: the victim's objects" $((size * 500)) \
			"$(json "[c['instances'] for c in j['classes'] if c['class'] == 'Held\$Item'][0]")"
		jt retained --engine "$engine" -n 3 "$JVM_PID"
		fds=$(fd_count "$JVM_PID")
		threads=$(lasting_threads "$JVM_PID")
		rss=$(rss_kb "$JVM_PID")
		gap >/dev/null
		jt retained --engine "$engine" -n 3 "$JVM_PID"
		whole=$(gap)
		killed
		stopped
		# More data waits than --max-memory permits.
		[ "$engine" = agent ] || stopped --max-memory 64
		slowed
		[ "$engine" = agent ] || [ "$version" -lt 17 ] || reader_killed
		limits
		steady "$version: $engine"
	done
	stop "$JVM_PID"
done

# If no agent is accepted, jtool uses the JVM's own dump, and one line says so.
start_jvm own serial Held -XX:+DisableAttachMechanism -- 10 &&
	refuses 5 'attach' "own: attach disabled: retained is refused" retained "$JVM_PID"
for version in "${jdks[@]}"; do
	[ "$version" != 8 ] || continue # JDK 8 lacks this flag
	start_jvm "$version" serial Held -XX:-EnableDynamicAgentLoading -- 10 || continue
	jt retained --json "$JVM_PID"
	same "$version: no agents accepted: retained works with one notice" \
		"0 1" "$rc $(wc -l <"$W/err")"
	check "$version: no agents accepted: the notice names the engine" \
		grep -q -e '--engine hprof' "$W/err"
	same "$version: no agents accepted: retained reads a dump" 5000 \
		"$(json "[c['instances'] for c in j['classes'] if c['class'] == 'Held\$Item'][0]")"
	refuses 6 'agent' "$version: no agents accepted: --engine agent is refused" \
		retained --engine agent "$JVM_PID"
	unharmed "$version: no agents accepted"
	stop "$JVM_PID"
done
