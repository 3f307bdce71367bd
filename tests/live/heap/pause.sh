#!/usr/bin/env bash
# The JVM's pause ends soon after jtool is killed, and at --max-pause.
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

# ends_soon NAME OPTION...
ends_soon() {
	local name=$1 ms

	shift
	ms=$(after_kill "$@")
	check "$name: killed in the walk: the walk ends after ${ms:-?} ms" test "${ms:-99999}" -le 50
}

for version in $(in_soak "${jdks[*]}" "$(newest_of 8) $(newest_of 17)"); do
	start_jvm "$version" parallel Held -Xms700m -Xmx700m -- 10000 || continue
	jt heaphisto "$JVM_PID" # the first request takes longer
	ends_soon "$version: heaphisto"
	ends_soon "$version: heaphisto --strict" --strict
	refuses 7 'had been paused for 0\.[0-9]+ s; allow more with --max-pause SECONDS$' \
		"$version: heaphisto --max-pause ends the walk" heaphisto --max-pause 10ms "$JVM_PID"
	prints "$version: then heaphisto works" 'Held\$Item' heaphisto "$JVM_PID"
	unharmed "$version: walks that ended early"
	stop "$JVM_PID"
done
