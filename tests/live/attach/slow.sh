#!/usr/bin/env bash
# A slow reader of jtool's output does not block the application: JVMs from 25 on stream a thread
# dump during the pause in which they create it.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

gap() {
	local line

	line=$(ask gap '^gap [0-9]+$' 20) && echo "${line#gap }"
}

# longest_gap NAME ARGUMENT...: the application's longest pause while the reader of jtool's output
# sleeps.
longest_gap() {
	local name=$1 ms lines

	shift
	gap >/dev/null
	lines=$("$W/jtool" "$@" | {
		sleep 3 # the reader is slow
		grep -c '"deep-'
	})
	ms=$(gap)
	same "$name: all threads are in the dump" 2000 "$lines"
	check "$name: the longest pause is ${ms:-?} ms" test "${ms:-9999}" -lt 400
}

for version in "${jdks[@]}"; do
	start_jvm "$version" g1 Threads -Xmx128m -- 2000 || continue
	# The first dump of a JVM takes longer: it loads and links classes.
	jt op "$JVM_PID" threaddump
	longest_gap "$version: op threaddump" op "$JVM_PID" threaddump
	longest_gap "$version: jcmd Thread.print" jcmd "$JVM_PID" Thread.print
	unharmed "$version: slow readers"
	stop "$JVM_PID"
done
