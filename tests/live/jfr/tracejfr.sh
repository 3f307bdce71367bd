#!/usr/bin/env bash
# trace where agents are not accepted: from JDK 25 on the error suggests commands of the flight
# recorder, and they work as printed.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

# offered N: the N-th command of the error message, as the user pastes it.
offered() {
	python3 - "$W/err" "$1" <<'END'
import re, sys
line = open(sys.argv[1]).read().strip()
offer = line.split("without an agent: ", 1)[1]
commands = re.split(r", and later |, and ", offer)
assert len(commands) == 3 and all(c.startswith("jtool ") for c in commands), commands
print(commands[int(sys.argv[2])])
END
}

# paste COMMAND: splits it as a shell does, and runs it.
paste() {
	local words

	eval "words=(${1#jtool })"
	jt "${words[@]}"
}

timed() {
	paste "$view" && grep -q -E "$1" "$W/out"
}

# offer VERSION PATTERNS LINE: the suggested commands for these patterns print this line.
offer() {
	local version=$1 name="$1: $2" start view end patterns

	read -r -a patterns <<<"$2"
	jt trace "$JVM_PID" "${patterns[@]}"
	same "$name: trace exits with 6" 6 "$rc"
	start=$(offered 0) view=$(offered 1) end=$(offered 2)
	paste "$start"
	same "$name: the suggested start works" 0 "$rc"
	if poll 20 timed "$3"; then
		pass "$name: the suggested view prints times"
	else
		fail "$name: the suggested view prints times" "$start" "$view" "$(jt_details)"
	fi
	paste "$end"
	same "$name: the suggested stop works" 0 "$rc"
	prints "$name: no recording remains" 'No available recordings' jfr "$JVM_PID" check
}

for version in "${jdks[@]}"; do
	[ "$version" -ge 17 ] || continue # JDK 8 accepts every agent; 11 behaves like 17
	start_jvm "$version" serial Idle -XX:-EnableDynamicAgentLoading || continue
	if [ "$version" -lt 25 ]; then
		refuses 6 'does not accept agents' "$version: trace is refused" \
			trace "$JVM_PID" 'Idle.*' -d 1
		check "$version: trace does not suggest jfr, which cannot time methods" \
			bash -c "! grep -q jfr '$W/err'"
	else
		offer "$version" java.util.HashMap.put '^java.util.HashMap.put\(Object, Object\) +[0-9]'
		offer "$version" 'Idle.<init>' '^Idle.<init>\(\) +0 '
		offer "$version" 'java/util/HashMap.*' '^java.util.HashMap.get\(Object\) +[0-9]'
		offer "$version" 'Idle.<init> java.util.HashMap.get' '^java.util.HashMap.get.* +[0-9]'
		offer "$version" '*.HashMap.putVal' '^java.util.HashMap.putVal\(.* +[0-9]'
	fi
	unharmed "$version: agents not accepted"
	stop "$JVM_PID"
done
