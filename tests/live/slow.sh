#!/usr/bin/env bash
# A slow reader of ours must not hold the application: JVMs from 25 on stream a thread dump from
# within the pause that makes it.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

gap() {
	local line

	line=$(ask gap '^gap [0-9]+$' 20) && echo "${line#gap }"
}

# felt NAME ARGUMENT...: what the application felt while a reader of jtool's output paused.
felt() {
	local name=$1 ms lines

	shift
	gap >/dev/null
	lines=$("$W/jtool" "$@" | {
		sleep 3 # the slowness is the test
		grep -c '"deep-'
	})
	ms=$(gap)
	same "$name: all threads are in it" 2000 "$lines"
	check "$name: the largest gap was ${ms:-?} ms" test "${ms:-9999}" -lt 400
}

for version in "${jdks[@]}"; do
	start_jvm "$version" g1 Threads -Xmx128m -- 2000 || continue
	# The first dump of a JVM loads and links what later ones find ready.
	jt op "$JVM_PID" threaddump
	felt "$version: op threaddump" op "$JVM_PID" threaddump
	felt "$version: jcmd Thread.print" jcmd "$JVM_PID" Thread.print
	unharmed "$version: slow readers"
	stop "$JVM_PID"
done
