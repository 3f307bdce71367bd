#!/usr/bin/env bash
# load: agents of every kind, and every reason for which one is not loaded.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

cc -shared -fPIC -U_FORTIFY_SOURCE -o "$W/loadee.so" "$live_dir/agents/loadee.c"
cc -shared -fPIC -DNO_ENTRY -o "$W/noentry.so" "$live_dir/agents/loadee.c"
echo 'no library' >"$W/text.so"
head -c 300 "$W/loadee.so" >"$W/cut.so"
javac --release 8 -Xlint:-options -d "$W/agent" "$live_dir/attach/TalkingAgent.java"
printf 'Agent-Class: TalkingAgent\n' >"$W/talk.mf"
printf 'Agent-Class: no.such.Agent\n' >"$W/missing.mf"
printf 'X-Nothing: here\n' >"$W/plain.mf"
for jar in talk missing plain; do
	(cd "$W" && jar cfm $jar.jar $jar.mf -C agent TalkingAgent.class)
done
cp "$W/talk.jar" "$W/a b.jar"
mkdir "$W/below" # not the working directory of the JVMs
cp "$W/talk.jar" "$W/below/near.jar"

# The lines that the JVM prints on stderr about an agent that fails.
noise='.*(Exception|Agent|agent|	at |Caused by|\.\.\. [0-9]+ more|stack guard|Error opening zip file|execstack|serviceability).*'

# refused_agent NAME PATTERN ARGUMENT...: exit code 1, or $REFUSED, and one line that matches
# PATTERN.
refused_agent() {
	local name=$1 pattern=$2

	shift 2
	jt "$@"
	if [ "$rc" -eq "${REFUSED:-1}" ] && [ "$(wc -l <"$W/err")" -eq 1 ] &&
		grep -q '^jtool: load: ' "$W/err" &&
		cat "$W/err" "$W/out" | grep -q -E -e "$pattern"; then
		pass "$name"
	else
		fail "$name" "jtool $*" "wanted: exit ${REFUSED:-1}, /$pattern/" "$(jt_details)"
	fi
}

# said NAME LINE: the victim prints LINE.
said() {
	check "$1" poll 30 grep -q -x "$2" "$JVM_OUT"
}

for version in own "${jdks[@]}"; do
	start_jvm "$version" serial Idle || continue
	pid=$JVM_PID
	feature=${version/own/17}
	seen=$(dirname "$(classes_of "$version")") # $W as this JVM sees it

	# Libraries. If the JVM cannot see the caller's path, jtool copies the file.
	jt load "$pid" "$W/loadee.so" "0,$seen/options.$version"
	same "$version: library that returns 0: exit code 0" 0 "$rc"
	same "$version: library: its options arrive complete" "0,$seen/options.$version" \
		"$(cat "$W/options.$version" 2>&1)"
	(cd "$W" && ./jtool load "$pid" loadee.so "0,$seen/relative.$version") >/dev/null 2>&1
	check "$version: library: a relative path starts at the caller's cwd" \
		test -s "$W/relative.$version"
	refused_agent "$version: library that returns 7: refused" 'Agent_OnAttach returned 7' load "$pid" \
		"$W/loadee.so" 7
	refused_agent "$version: library without Agent_OnAttach: refused" \
		'Agent_OnAttach|JNI_OnLoad|entry' \
		load "$pid" "$W/noentry.so"
	REFUSED=2 refused_agent "$version: file that is not ELF: refused" 'ELF|library' load "$pid" \
		"$W/text.so"
	refused_agent "$version: truncated ELF file: refused" '.' load "$pid" "$W/cut.so"
	refused_agent "$version: missing file: refused" 'nosuch.so.*[Nn]o such file' load "$pid" "$W/nosuch.so"
	REFUSED=2 refused_agent "$version: missing file, relative path: refused" 'nosuch.so' load "$pid" \
		./nosuch.so
	refused_agent "$version: unknown library name: refused" '.' load "$pid" nosuchlibrary

	# Jar files.
	jt load "$pid" "$W/talk.jar" "with=options,and more"
	same "$version: jar: exit code 0" 0 "$rc"
	said "$version: jar: agentmain gets its options" "agentmain with=options,and more"
	jt load "$pid" "$W/talk.jar"
	same "$version: jar without options: exit code 0" 0 "$rc"
	jt load "$pid" "$W/a b.jar" "blank"
	same "$version: jar with a space in its name: exit code 0" 0 "$rc"
	said "$version: jar with a space in its name: agentmain runs" "agentmain blank"
	jt load "$pid" instrument "$seen/talk.jar=bare"
	same "$version: library name with the JVM's path: exit code 0" 0 "$rc"
	said "$version: library name with the JVM's path: agentmain runs" "agentmain bare"
	(cd "$W/below" && ../jtool load "$pid" instrument near.jar=relative=path) \
		>"$W/out" 2>"$W/err"
	same "$version: instrument with a relative path: exit code 0" 0 $?
	said "$version: instrument with a relative path: it starts at the caller's cwd" \
		"agentmain relative=path"
	refuses '[12]' 'nosuch.jar' "$version: instrument with a missing jar: refused" \
		load "$pid" instrument nosuch.jar
	refused_agent "$version: agentmain throws: refused" 'return code: 102' load "$pid" \
		"$W/talk.jar" throw
	refused_agent "$version: missing agent class: refused" 'return code: 102' load "$pid" \
		"$W/missing.jar"
	refused_agent "$version: jar without Agent-Class: refused" 'return code: 100' load "$pid" \
		"$W/plain.jar"
	refused_agent "$version: missing jar: refused" '100.*there is no such file here' load "$pid" "$W/nosuch.jar"

	works "$version: refused agents: jcmd still works" jcmd "$pid" VM.version
	grep -v -E -x "$noise" "$JVM_ERR" >"$W/err.rest"
	same "$version: refused agents: no other output on the JVM's stderr" "" \
		"$(cat "$W/err.rest")"
	: >"$JVM_ERR"
	unharmed "$version: load" 'agentmain .*'
	stop "$pid"

	if [ "$feature" -ge 9 ]; then
		start_jvm "$version" serial Idle -XX:-EnableDynamicAgentLoading || continue
		refused_agent "$version: dynamic loading disabled: load prints the JVM's message" \
			'Dynamic agent loading is not enabled' load "$JVM_PID" "$W/loadee.so" 0
		jt heaphisto --json "$JVM_PID"
		same "$version: dynamic loading disabled: heaphisto works with one notice" \
			"0 1" "$rc $(wc -l <"$W/err")"
		check "$version: dynamic loading disabled: the notice names the engine" \
			grep -q -e --vm "$W/err"
		same "$version: dynamic loading disabled: all objects are counted" "False True" \
			"$(json "'%s %s' % (j['live'], any(c['class'] == 'java.lang.String'
				for c in j['classes']))")"
		jt heaphisto --by loader "$JVM_PID"
		same "$version: dynamic loading disabled: --by loader counts a dump" 0 "$rc"
		check "$version: dynamic loading disabled: --by loader: the notice says so" \
			grep -q -e '--engine hprof' "$W/err"
		check "$version: dynamic loading disabled: --by loader: there are loaders" \
			grep -q bootstrap "$W/out"
		for option in --strict --engine=agent; do
			refuses 6 '--vm needs no agent' \
				"$version: dynamic loading disabled: heaphisto $option is refused" \
				heaphisto "$option" "$JVM_PID"
		done
		prints "$version: dynamic loading disabled: heaphisto --vm works" \
			'java.lang.String' \
			heaphisto --vm "$JVM_PID"
		unharmed "$version: dynamic loading disabled"
		stop "$JVM_PID"
	fi
done

# A target that cannot see the caller's file: jtool copies it, and -v names the copy.
version=$(newest_of "${jdks[@]}")
start_jvm "$version" serial Idle
cp "$W/loadee.so" /tmp/loadee-$$.so
to_remove+=("/tmp/loadee-$$.so")
jt load -v "$JVM_PID" /tmp/loadee-$$.so 0
same "load: a file that the JVM cannot see: exit code 0" 0 "$rc"
check "load -v: it names the copy" grep -q 'loadee-.*\.so' "$W/err"
cp "$W/loadee.so" "/proc/$JVM_PID/root/var/tmp/theirs-$$.so"
works "load: a path that only the JVM sees" load "$JVM_PID" "/var/tmp/theirs-$$.so" 0
works "load --json: it works" load --json "$JVM_PID" "/var/tmp/theirs-$$.so" 0
same "load --json: the agent is loaded" "(True, 0, '/var/tmp/theirs-$$.so')" \
	"$(json "(j['loaded'], j['returned'], j['agent'])")"
rm "/proc/$JVM_PID/root/var/tmp/theirs-$$.so"
stop "$JVM_PID"

# Usage.
refuses 2 '.' "load without a target: refused" load
refuses 2 '.' "load without an agent: refused" load $$
