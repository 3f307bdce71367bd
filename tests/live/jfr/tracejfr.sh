#!/usr/bin/env bash
# trace where agents are not let in: from JDK 25 on the error offers what the flight recorder can
# do instead, and what it offers works as it stands there.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# offered N: the N-th command of the error's line, as the user would paste it.
offered() {
	python3 - "$W/err" "$1" <<'END'
import re, sys
line = open(sys.argv[1]).read().strip()
offer = line.split("without an agent: ", 1)[1]
commands = re.split(r", and after a while |, and ", offer)
assert len(commands) == 3 and all(c.startswith("jtool ") for c in commands), commands
print(commands[int(sys.argv[2])])
END
}

# paste COMMAND: a shell takes it apart.
paste() {
	local words

	eval "words=(${1#jtool })"
	jt "${words[@]}"
}

timed() {
	paste "$view" && grep -q -E "$1" "$W/out"
}

# offer VERSION PATTERNS LINE: what is offered for these patterns shows this line.
offer() {
	local version=$1 name="$1: $2" start view end patterns

	read -r -a patterns <<<"$2"
	jt trace "$JVM_PID" "${patterns[@]}"
	same "$name: exit code" 6 "$rc"
	start=$(offered 0) view=$(offered 1) end=$(offered 2)
	paste "$start"
	same "$name: what is offered begins" 0 "$rc"
	if poll 20 timed "$3"; then
		pass "$name: and shows times"
	else
		fail "$name: and shows times" "$start" "$view" "$(jt_details)"
	fi
	paste "$end"
	same "$name: and ends" 0 "$rc"
	prints "$name: nothing is left of it" 'No available recordings' jfr "$JVM_PID" check
}

for version in "${jdks[@]}"; do
	[ "$version" -ge 17 ] || continue # JDK 8 lets every agent in; 11 is as 17
	start_jvm "$version" serial Idle -XX:-EnableDynamicAgentLoading || continue
	if [ "$version" -lt 25 ]; then
		refuses 6 'does not let agents in' "$version: nothing is offered" \
			trace "$JVM_PID" 'Idle.*' -d 1
		check "$version: it cannot time methods" bash -c "! grep -q jfr '$W/err'"
	else
		offer "$version" java.util.HashMap.put '^java.util.HashMap.put\(Object, Object\) +[0-9]'
		offer "$version" 'Idle.<init>' '^Idle.<init>\(\) +0 '
		offer "$version" 'java/util/HashMap.*' '^java.util.HashMap.get\(Object\) +[0-9]'
		offer "$version" 'Idle.<init> java.util.HashMap.get' '^java.util.HashMap.get.* +[0-9]'
		offer "$version" '*.HashMap.putVal' '^java.util.HashMap.putVal\(.* +[0-9]'
	fi
	unharmed "$version: with agents not let in"
	stop "$JVM_PID"
done
