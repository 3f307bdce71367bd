#!/usr/bin/env bash
# The JVM's pause ends soon after jtool is killed, and at --max-pause; that of a heap dump does not
# depend on the CPU time that jtool gets.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/../lib.sh"

# after_kill OPTION...: the rest of the pause after jtool was killed, in ms of the VM thread's CPU
# time; the shortest of five, because other programs use the caches, too.
after_kill() {
	local i ms shortest=99999

	for ((i = 0; i < 5; i++)); do
		ms=$(python3 "$live_dir/heap/killed.py" "$JVM_PID" "/proc/$$/fd/$JVM_IN" \
			"$JVM_OUT" "$W/jtool" heaphisto "$JVM_PID" "$@") || return 1
		[ "$ms" -ge "$shortest" ] || shortest=$ms
	done
	echo "$shortest"
}

# ends_soon NAME OPTION...: after jtool was killed, HotSpot still iterates over the rest of the 10
# million objects, in 3 to 10 ns each.
ends_soon() {
	local name=$1 ms

	shift
	ms=$(after_kill "$@")
	check "$name: killed in the walk: the walk ends after ${ms:-?} ms" test "${ms:-99999}" -le 100
}

for version in $(in_soak "${jdks[*]}" "$(newest_of 8) $(newest_of 17)"); do
	start_jvm "$version" parallel Held -Xms700m -Xmx700m -- 10000 || continue
	jt heaphisto "$JVM_PID" # the first request takes longer
	ends_soon "$version: heaphisto"
	ends_soon "$version: heaphisto --strict" --strict
	refuses 7 'had been paused for 0\.[0-9]+ s; allow more with --max-pause TIME$' \
		"$version: heaphisto --max-pause ends the walk" heaphisto --max-pause 10ms "$JVM_PID"
	prints "$version: then heaphisto works" 'Held\$Item' heaphisto "$JVM_PID"
	unharmed "$version: walks that ended early"
	stop "$JVM_PID"
done

# dump NAME OPTION...: heapdump works and its file is complete.
dump() {
	local name=$1

	shift
	jt heapdump -v --force "$@" "$JVM_PID" dump
	same "$name: it works" 0 "$rc"
	check "$name: it is complete" python3 "$live_dir/hprof/hprof.py" "$W/dump" 'Held$Item'
}

for version in "${jdks[@]}"; do
	start_jvm "$version" serial Held -Xms400m -Xmx400m -- 5000 || continue
	jt jcmd "$JVM_PID" help GC.heap_dump
	fifo=$(grep -c -e -overwrite "$W/out")
	segments=$(grep -c -e -parallel "$W/out")
	dump "$version: heapdump --via file" --via file
	check "$version: --via file: the JVM writes a file" grep -q -E 'GC.heap_dump "[^"]*"$' "$W/err"
	if [ "$fifo" -eq 0 ]; then
		refuses 1 'FIFO, only JDK 17' "$version: heapdump --via fifo is refused" \
			heapdump --via fifo "$JVM_PID" refused
	else
		dump "$version: heapdump --via fifo" --via fifo
		check "$version: --via fifo: the JVM writes to it" grep -q -e '-overwrite' "$W/err"
	fi
	if [ "$fifo" -eq 0 ] || [ "$segments" -gt 0 ]; then
		refuses 1 'max-pause cannot end' "$version: heapdump --max-pause is refused" \
			heapdump --engine hprof --max-pause 1 "$JVM_PID" refused
	else
		refuses 7 'after 0\.02 s; its pause ends when .* --max-pause TIME$' \
			"$version: heapdump --max-pause ends the dump" \
			heapdump --engine hprof --max-pause 20ms "$JVM_PID" refused
		dump "$version: heapdump --max-pause with enough time" --engine hprof --max-pause 60
	fi
	check "$version: no file is there after an error" test ! -e "$W/refused"
	check "$version: no file remains in the target" poll 30 nothing_left_here
	unharmed "$version: heap dumps"
	stop "$JVM_PID"
done
refuses 2 'cannot be combined' "heapdump --via file --max-pause is refused" \
	heapdump --via file --max-pause 1 1 refused

# jtool with a part of a CPU.
cpu=/sys/fs/cgroup/cpu/jtool-live-$$
version=$(newest_of 17 21)
if [ -z "$version" ] || ! mkdir "$cpu" 2>/dev/null; then
	skip "heapdump with a part of a CPU" "no JDK 17 or 21, or no control group can be created"
elif start_jvm "$version" serial Held -Xms400m -Xmx400m -- 5000; then
	echo 100000 >"$cpu/cpu.cfs_period_us"
	echo 5000 >"$cpu/cpu.cfs_quota_us"
	jt heapdump --engine hprof "$JVM_PID" first # warms up
	ask gap '^gap [0-9]+$' >/dev/null
	jt heapdump --engine hprof --force "$JVM_PID" first
	own=$(ask gap '^gap [0-9]+$')
	# shellcheck disable=SC2016 # expanded by the inner shell
	(cd "$W" && exec bash -c 'echo $$ >"$0/cgroup.procs" && exec ./jtool heapdump --engine hprof -v "$@"' "$cpu" \
		"$JVM_PID" slow) >"$W/out" 2>"$W/err"
	same "$version: heapdump with 0.05 CPUs works" 0 $?
	check "$version: 0.05 CPUs: the JVM writes a file" \
		grep -q 'has 0.05 CPUs: the JVM writes its dump to a file' "$W/err"
	ms=$(ask gap '^gap [0-9]+$')
	check "$version: 0.05 CPUs: the pause is ${ms#gap } ms, otherwise ${own#gap } ms" \
		test "${ms#gap }" -le $((3 * ${own#gap } + 500))
	unharmed "$version: heapdump with 0.05 CPUs"
	stop "$JVM_PID"
fi
[ ! -d "$cpu" ] || poll 10 rmdir "$cpu"
