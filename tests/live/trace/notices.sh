#!/usr/bin/env bash
# Notices: messages that a command prints on stderr in addition to its result, some of them only on
# a terminal.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

# on_terminal ARGUMENT...: runs jtool on a terminal of its own, whose lines go to $W/screen.
on_terminal() {
	local line

	printf -v line '%q ' ./jtool "$@"
	(cd "$W" && timeout -k 1 60 script -qec "$line" /dev/null </dev/null) | tr '\r' '\n' |
		sed 's/\x1b\[K//g' >"$W/screen" || true
}

shows() {
	check "$1" grep -q -E "$2" "$W/screen" || head -n 8 "$W/screen"
}

hides() {
	check "$1" test -z "$(grep -E "$2" "$W/err" "$W/screen" 2>/dev/null)"
}

told() {
	check "$1" grep -q -E "$2" "$W/err" || cat "$W/err"
}

# shellcheck disable=SC2317 # called by poll
is_stopped() {
	grep -q '^State:.*stopped' "/proc/$1/status"
}

for version in "${jdks[@]}"; do
	start_jvm "$version" default Idle || continue
	jt trace "$JVM_PID" 'Idle.*' -d 0.2
	told "$version: trace: the first tells what a change of code costs" 'the trace changes code: '
	told "$version: trace: what is instrumented is one line" \
		'^jtool: trace: instrumented [0-9]+ methods? in [0-9]+ class'
	: >"$W/screen"
	jt trace "$JVM_PID" 'java.lang.Runtime.exit' -d 0.3
	hides "$version: trace: the second does not tell the cost again" 'changes code'
	told "$version: trace: nothing was called" '^jtool: trace: 0 calls in 0\.[3-9] s$'
	jt trace -v "$JVM_PID" 'java.lang.Runtime.exit' -d 0.1
	told "$version: trace: -v tells the cost again" 'changes code'
	on_terminal trace "$JVM_PID" 'java.lang.Runtime.exit' -c 2 -d 1.5
	shows "$version: trace: on a terminal, a line shows the wait" \
		'^waiting for java\.lang\.Runtime\.exit: 0 of 2 calls after 1 of 2 s, Ctrl-C ends$'
	jt trace "$JVM_PID" 'java.lang.Runtime.e*' 'java.lang.Runtime.*Memory' -d 0.1
	told "$version: trace: skipped methods are counted" '^jtool: trace: skipped: .*native \([0-9]+\).*; -v lists them$'
	on_terminal heapdump --engine hprof "$JVM_PID" "dump.$version"
	shows "$version: heapdump: on a terminal, the pause to expect" \
		'^jtool: heapdump: the heap dump pauses the JVM, for about 0\.1 s or less: '
	on_terminal heaphisto "$JVM_PID" --live --engine vm
	shows "$version: heaphisto: on a terminal, the pause to expect" \
		'^jtool: heaphisto: the full collection pauses the JVM, for about '
	if [ "$version" -ge 11 ]; then
		on_terminal alloc "$JVM_PID" --live -d 0.3
		shows "$version: alloc --live: on a terminal, the pause to expect" \
			'^jtool: alloc: the full collection pauses the JVM, for about '
	fi
	works "$version: heapdump: off a terminal, no notice" heapdump "$JVM_PID" "dump2.$version"
	rm -f "$W"/dump*
	# The attach listener exists already, so jtool sends the stopped JVM a request, and waits.
	kill -STOP "$JVM_PID"
	poll 10 is_stopped "$JVM_PID"
	on_terminal jcmd "$JVM_PID" VM.version --timeout 4
	kill -CONT "$JVM_PID"
	check "$version: jcmd: on a terminal, a line shows the wait" \
		grep -q -E "^waiting for the answer of JVM $JVM_PID for [2-4] s|is stopped" "$W/screen"
	unharmed "$version: notices"
	stop "$JVM_PID"
done
finish
