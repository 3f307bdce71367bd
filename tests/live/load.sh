#!/usr/bin/env bash
# load: agents of every kind, and every way in which they are not loaded.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

cc -shared -fPIC -U_FORTIFY_SOURCE -o "$W/loadee.so" "$live_dir/agents/loadee.c"
cc -shared -fPIC -DNO_ENTRY -o "$W/noentry.so" "$live_dir/agents/loadee.c"
echo 'no library' >"$W/text.so"
head -c 300 "$W/loadee.so" >"$W/cut.so"
javac --release 8 -Xlint:-options -d "$W/agent" "$live_dir/agents/TalkingAgent.java"
printf 'Agent-Class: TalkingAgent\n' >"$W/talk.mf"
printf 'Agent-Class: no.such.Agent\n' >"$W/missing.mf"
printf 'X-Nothing: here\n' >"$W/plain.mf"
for jar in talk missing plain; do
	(cd "$W" && jar cfm $jar.jar $jar.mf -C agent TalkingAgent.class)
done
cp "$W/talk.jar" "$W/a b.jar"

# The victims' own words on what is wrong with an agent; they stand on their stderr.
noise='.*(Exception|Agent|agent|	at |Caused by|\.\.\. [0-9]+ more|stack guard|Error opening zip file|execstack|serviceability).*'

# refused_agent NAME PATTERN ARGUMENT...: exit 1, and these words.
refused_agent() {
	local name=$1 pattern=$2

	shift 2
	jt "$@"
	if [ "$rc" -eq 1 ] && [ "$(wc -l <"$W/err")" -eq 1 ] &&
		grep -q '^jtool: load: ' "$W/err" &&
		cat "$W/err" "$W/out" | grep -q -E -e "$pattern"; then
		pass "$name"
	else
		fail "$name" "jtool $*" "wanted: exit 1, /$pattern/" "$(jt_details)"
	fi
}

# said NAME LINE: the victim printed it.
said() {
	check "$1" poll 30 grep -q -x "$2" "$JVM_OUT"
}

for version in own "${jdks[@]}"; do
	start_jvm "$version" serial Idle || continue
	pid=$JVM_PID
	feature=${version/own/17}
	seen=$(dirname "$(classes_of "$version")") # $W as this JVM sees it

	# Libraries.  A path of the caller's that the JVM cannot see is copied.
	jt load "$pid" "$W/loadee.so" "0,$seen/told.$version"
	same "$version: a .so that returns 0: exit 0" 0 "$rc"
	same "$version: its options arrive whole" "0,$seen/told.$version" \
		"$(cat "$W/told.$version" 2>&1)"
	(cd "$W" && ./jtool load "$pid" loadee.so "0,$seen/relative.$version") >/dev/null 2>&1
	check "$version: a relative path is the caller's" test -s "$W/relative.$version"
	refused_agent "$version: a .so that returns 7" 'return code: 7' load "$pid" "$W/loadee.so" 7
	refused_agent "$version: no Agent_OnAttach" 'Agent_OnAttach|JNI_OnLoad|entry' \
		load "$pid" "$W/noentry.so"
	refused_agent "$version: no ELF" 'ELF|library' load "$pid" "$W/text.so"
	refused_agent "$version: half an ELF" '.' load "$pid" "$W/cut.so"
	refused_agent "$version: no such file" 'nosuch.so' load "$pid" "$W/nosuch.so"
	refused_agent "$version: no such file, relative" 'nosuch.so' load "$pid" ./nosuch.so
	refused_agent "$version: a bare name that nobody has" '.' load "$pid" nosuchlibrary

	# Jars.
	jt load "$pid" "$W/talk.jar" "with=options,and more"
	same "$version: a .jar: exit 0" 0 "$rc"
	said "$version: agentmain got its options" "agentmain with=options,and more"
	jt load "$pid" "$W/talk.jar"
	same "$version: a .jar without options: exit 0" 0 "$rc"
	jt load "$pid" "$W/a b.jar" "blank"
	same "$version: a .jar with a blank in its name" 0 "$rc"
	said "$version: it ran" "agentmain blank"
	jt load "$pid" instrument "$seen/talk.jar=bare"
	same "$version: a bare name with the JVM's own path: exit 0" 0 "$rc"
	said "$version: it ran, too" "agentmain bare"
	refused_agent "$version: agentmain throws" 'return code: 102' load "$pid" "$W/talk.jar" throw
	refused_agent "$version: no such agent class" 'return code: 102' load "$pid" "$W/missing.jar"
	refused_agent "$version: a jar that is no agent" 'return code: 100' load "$pid" "$W/plain.jar"
	refused_agent "$version: no such jar" '100' load "$pid" "$W/nosuch.jar"

	works "$version: it still answers" jcmd "$pid" VM.version
	grep -v -E -x "$noise" "$JVM_ERR" >"$W/err.rest"
	same "$version: nothing else on its stderr" "" "$(cat "$W/err.rest")"
	: >"$JVM_ERR"
	unharmed "$version: load" 'agentmain .*'
	stop "$pid"

	if [ "$feature" -ge 9 ]; then
		start_jvm "$version" serial Idle -XX:-EnableDynamicAgentLoading || continue
		refused_agent "$version: dynamic loading off, in the JVM's words" \
			'Dynamic agent loading is not enabled' load "$JVM_PID" "$W/loadee.so" 0
		refuses 6 '.' "$version: heaphisto says that its agent was not let in" \
			heaphisto "$JVM_PID"
		check "$version: and what to do" grep -q -e --vm "$W/err"
		prints "$version: heaphisto --vm needs no agent" 'java.lang.String' \
			heaphisto --vm "$JVM_PID"
		unharmed "$version: dynamic loading off"
		stop "$JVM_PID"
	fi
done

# A target that cannot see the caller's file: it is copied, and -v names the copy.
version=$(newest_of "${jdks[@]}")
start_jvm "$version" serial Idle
cp "$W/loadee.so" /tmp/loadee-$$.so
litter+=("/tmp/loadee-$$.so")
jt load -v "$JVM_PID" /tmp/loadee-$$.so 0
same "container: exit 0" 0 "$rc"
check "container: -v names the copy" grep -q 'loadee-.*\.so' "$W/err"
cp "$W/loadee.so" "/proc/$JVM_PID/root/var/tmp/theirs-$$.so"
works "container: a path that only the JVM has" load "$JVM_PID" "/var/tmp/theirs-$$.so" 0
rm "/proc/$JVM_PID/root/var/tmp/theirs-$$.so"
stop "$JVM_PID"

# Usage.
refuses 2 '.' "load without a target" load
refuses 2 '.' "load without an agent" load $$
