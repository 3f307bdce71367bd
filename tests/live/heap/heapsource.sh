#!/usr/bin/env bash
# Where heaps come from: whatever becomes of jtool in the middle of it, by either engine, the JVM
# stands still no longer than it may, and nothing stays.
# JTOOL_SOAK=1: many more tries.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

tries=$(in_soak 30 2)
versions=(8 17 25)
size=1500 # thousand objects
heap=(-Xms200m -Xmx200m -XX:+AlwaysPreTouch) # what it touches later is not ours

# gap: what the application felt since it was last asked, in ms.
gap() {
	local line

	line=$(ask gap '^gap [0-9]+$' 20) && echo "${line#gap }"
}

nothing_left_here() {
	nothing_left "${jdk_root[$version]:-}" "$JVM_PID" 0
}

# as_before NAME: no files, descriptors or threads that were not there at first.
as_before() {
	check "$1: no files are left" poll 30 nothing_left_here
	check "$1: no descriptors" poll 30 has_counts fd_count "$fds"
	check "$1: no threads" poll 30 has_counts lasting_threads "$threads"
	unharmed "$1" "$merge_failed"
}

# has_counts COUNTER N: it counts no more than that.
has_counts() {
	[ "$("$1" "$JVM_PID")" -le "$2" ]
}

# What JDK 22 and newer log when nobody takes what they put together from their segments.
merge_failed='\[.*\]\[error\]\[heapdump\] .* segmented heap file .*'

# begin ENGINE [OPTION...]: retained in the background, its pid in `pid`, and the moment when it
# asks for the heap.
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

# a_moment: in it anything may have come so far.
a_moment() {
	sleep "0.$(printf '%03d' $((RANDOM % whole)))"
}

# felt NAME LIMIT: the largest gap since it was last asked is less than that of a whole walk and
# LIMIT ms more.
felt() {
	local ms

	ms=$(gap)
	check "$1: the largest gap was ${ms:-?} ms, $whole when nobody disturbs" \
		test "${ms:-99999}" -lt $((whole + $2))
}

# ends_well NAME: exit code 0, or 7 with one line that says what to do (beside those of -v).
ends_well() {
	local said

	wait "$pid" 2>/dev/null
	rc=$?
	said=$(grep -v -E '^jtool: +[0-9.]+ ms ' "$W/err")
	if [ $rc -eq 0 ] && [ -z "$said" ]; then
		pass "$1: it ends well"
	elif [ $rc -eq 7 ] && [ "$(wc -l <<<"$said")" -eq 1 ] &&
		grep -q -e '--max-memory\|--engine\|--max-pause' <<<"$said"; then
		pass "$1: it ends with one line that says what to do"
	else
		fail "$1: it ends well" "exit $rc" "$(cat "$W/err")"
	fi
}

killed() {
	local name="$version: $engine: killed" i

	for ((i = 0; i < tries; i++)); do
		begin "$engine"
		a_moment
		kill -KILL "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
		check "$name: the JVM answers" answers
	done
	felt "$name" 500
	as_before "$name"
}

# stopped [OPTION...]
stopped() {
	local name="$version: $engine: stopped${1:+ with $*}" i

	for ((i = 0; i < tries / 2; i++)); do
		begin "$engine" "$@"
		[ $# -gt 0 ] || a_moment
		kill -STOP "$pid" 2>/dev/null
		check "$name: the JVM answers meanwhile" answers
		sleep 1.5 # so long it would stand still if it waited for us
		felt "$name" 1000
		kill -CONT "$pid" 2>/dev/null
		ends_well "$name"
	done
	as_before "$name"
}

# slowly PID: it gets a tenth of the time until it ends.
slowly() {
	while kill -STOP "$1" 2>/dev/null; do
		sleep 0.09
		kill -CONT "$1"
		sleep 0.01
	done 2>/dev/null
}

slowed() {
	local name="$version: $engine: slowed"

	begin "$engine"
	slowly "$pid" &
	ends_well "$name"
	wait $!
	felt "$name" 1000
	as_before "$name"
}

# taker: the pid of the process beside jtool that takes what the JVM writes.  Who keeps the
# FIFO's place has it open, too, and the place's /proc.
taker() {
	local child files

	for child in $(pgrep -P "$pid"); do
		files=$(readlink "/proc/$child/fd/"*)
		grep -q '^pipe:' <<<"$files" && grep -q '\.hprof' <<<"$files" &&
			! grep -q '^/proc$' <<<"$files" && echo "$child" && return
	done
	return 1
}

find_taker() {
	relay=$(taker)
}

has_ended() {
	! alive "$pid"
}

# What the JVM writes is taken by nobody then, and it must not wait for ever.
taker_killed() {
	local name="$version: $engine: who takes it is killed"

	begin "$engine"
	relay=
	poll 10 find_taker
	check "$name: there was one, which is killed" kill -KILL "${relay:-none}"
	check "$name: jtool ends" poll 20 has_ended
	kill -KILL "$pid" 2>/dev/null
	ends_well "$name"
	felt "$name" 500
	as_before "$name"
}

limits() {
	local name="$version: $engine"

	refuses 7 '--max-memory' "$name: little memory" \
		retained --engine "$engine" --max-memory 1 "$JVM_PID"
	[ "$engine" = agent ] || return
	gap >/dev/null
	refuses 7 '--max-pause' "$name: a short pause" \
		retained --engine "$engine" --max-pause 50ms "$JVM_PID"
	ms=$(gap)
	check "$name: which was $ms ms" test "$ms" -lt 400
	as_before "$name: limits"
}

# steady NAME: the JVM has not grown by what was done to it.  Of what HotSpot has still to go to in
# a walk it keeps a list of 8 bytes an object, which doubles as it grows, by a copy: the C library
# may hold on to both, once.
steady() {
	local now list_kb=$((size * 8 * 3))

	now=$(rss_kb "$JVM_PID")
	check "$1: RSS went from $rss to $now KB" test "$now" -lt $((rss + 8192 + list_kb))
}

[ "$(in_soak 1 0)" = 0 ] || versions=("${jdks[@]}")
for version in "${versions[@]}"; do
	has_jdk "$version" || continue
	start_jvm "$version" g1 Held "${heap[@]}" -- $size || continue
	for engine in agent hprof; do
		works "$version: $engine" retained --engine "$engine" -n 3 --json "$JVM_PID"
		same "$version: $engine: objects of the JVM's" $((size * 500)) \
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
		# What waits is more than may wait.
		[ "$engine" = agent ] || stopped --max-memory 64
		slowed
		[ "$engine" = agent ] || [ "$version" -lt 17 ] || taker_killed
		limits
		steady "$version: $engine"
	done
	stop "$JVM_PID"
done

# Where no agent is let in, the JVM's own dump is the way, and one line says so.
start_jvm own serial Held -XX:+DisableAttachMechanism -- 10 &&
	refuses 5 'attach' "own: attaching is disabled" retained "$JVM_PID"
for version in "${jdks[@]}"; do
	[ "$version" != 8 ] || continue # which has no such flag
	start_jvm "$version" serial Held -XX:-EnableDynamicAgentLoading -- 10 || continue
	jt retained --json "$JVM_PID"
	same "$version: no agent is let in: exit code and lines" "0 1" "$rc $(wc -l <"$W/err")"
	check "$version: which line says so" grep -q -e '--engine hprof' "$W/err"
	same "$version: and the dump is read" 5000 \
		"$(json "[c['instances'] for c in j['classes'] if c['class'] == 'Held\$Item'][0]")"
	refuses 6 'agent' "$version: by the agent alone" retained --engine agent "$JVM_PID"
	unharmed "$version: no agent is let in"
	stop "$JVM_PID"
done
