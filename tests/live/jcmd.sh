#!/usr/bin/env bash
# jcmd and op: the JVM's own words, byte for byte, on every version.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# reference PID WORD...: what jattach got for the same operation, without its own two lines in
# front and the line end it adds.
reference() {
	jattach "$@" | tail -n +3 | head -c -1 >"$W/reference"
}

same_bytes() {
	if [ "$rc" -eq 0 ] && [ ! -s "$W/err" ] && cmp -s "$W/out" "$W/reference"; then
		pass "$1"
	else
		fail "$1" "$(jt_details)" "$(cmp "$W/out" "$W/reference" 2>&1)"
	fi
}

for version in own "${jdks[@]}"; do
	start_jvm "$version" serial Idle || continue
	pid=$JVM_PID
	feature=${version/own/17}
	for words in VM.version help VM.command_line VM.flags "help VM.flags" "VM.flags -all"; do
		reference "$pid" jcmd "$words"
		# shellcheck disable=SC2086 # words are words
		jt jcmd "$pid" $words
		same_bytes "$version: jcmd $words, as jattach got it"
	done
	jt jcmd "$pid"
	reference "$pid" jcmd help
	same_bytes "$version: jcmd without a command is help"
	reference "$pid" jcmd "VM.flags -all"
	jt jcmd "$pid" "VM.flags -all"
	same_bytes "$version: a command in one word"
	jattach "$pid" properties >/dev/null # the first time sets user.timezone
	reference "$pid" properties
	jt op "$pid" properties
	sed -i /^#/d "$W/out" "$W/reference" # the JVM writes the time there
	same_bytes "$version: op properties"
	reference "$pid" printflag MaxHeapSize
	jt op "$pid" printflag MaxHeapSize
	same_bytes "$version: op printflag"
	prints "$version: op threaddump" '^Full thread dump' op "$pid" threaddump
	prints "$version: op inspectheap" 'java.lang.String' op "$pid" inspectheap
	prints "$version: jcmd Thread.print -l" '"main".*prio' jcmd "$pid" Thread.print -l
	works "$version: jcmd --json" jcmd --json "$pid" VM.version
	same "$version: its keys" "True $pid 0" \
		"$(json "'VM' in j['output'], j['pid'], j['code']" | tr -d "(),")"

	rc=0
	"$JTOOL" jcmd "$pid" VM.version <&- 2>&- >"$W/out" || rc=$?
	same "$version: started without stdin and stderr" 0 "$rc"

	jt jcmd "$pid" No.such_command
	same "$version: an unknown command is the JVM's error: exit 1" 1 "$rc"
	check "$version: in its own words" grep -q "Unknown diagnostic command" "$W/out" "$W/err"
	jt op "$pid" nosuchoperation
	same "$version: an unknown operation: exit 1" 1 "$rc"

	if [ "$feature" -ge 11 ]; then
		prints "$version: JFR.configure" 'Repository path:' jcmd "$pid" JFR.configure
		jt jcmd "$pid" JFR.start 'name="two words"'
		same "$version: an argument with a blank" 0 "$rc"
		prints "$version: arrived whole" 'two words' jcmd "$pid" JFR.check
		strange_ok='.*\[(info|warning)\].*jfr.*'
	else
		strange_ok=READY
	fi

	# Longer than version 1 of the protocol can take, and than version 2.
	long=$(printf '%02000d' 0)
	huge=$(printf '%0100000d' 0)
	if [ "$feature" -ge 24 ]; then
		jt jcmd "$pid" help "$long"
		check "$version: 2,000 bytes arrive, and the JVM answers" test "$rc" -le 1
		check "$version: about these bytes" grep -q 0000000 "$W/out" "$W/err"
	else
		refuses 2 '1,?024' "$version: 2,000 bytes are refused" jcmd "$pid" help "$long"
	fi
	refuses 2 '1,?024|262,?144' "$version: 300,000 bytes are refused" \
		jcmd "$pid" help "$huge" "$huge" "$huge"
	if [ "$feature" -lt 24 ]; then
		refuses 2 'three|3' "$version: four arguments are refused" \
			op "$pid" jcmd help a b c
	fi
	works "$version: and it still answers" jcmd "$pid" VM.version
	unharmed "$version: jcmd" "$strange_ok"
	stop "$pid"
done

# A result that cannot be written is an error.
start_jvm own serial Idle
rc=0
"$JTOOL" jcmd "$JVM_PID" VM.version >/dev/full 2>"$W/err" || rc=$?
same "a full disk: exit 7" 7 "$rc"
check "and it is told" grep -q '^jtool: jcmd: .*written' "$W/err"
rc=0
{ "$JTOOL" jcmd "$JVM_PID" help 2>"$W/err" || echo $? >"$W/rc"; } | true
check "a closed pipe is no crash" test "$(cat "$W/rc" 2>/dev/null || echo 0)" -lt 8
unharmed "results that cannot be written"

# A JVM of a release that speaks version 2 of the protocol, started to speak version 1 only.
for version in "${jdks[@]}"; do
	[ "$version" -ge 25 ] || continue
	start_jvm "$version" serial Idle -Djdk.attach.compat=true || continue
	prints "$version: it speaks version 1 only" '^JDK ' jcmd "$JVM_PID" VM.version
	prints "$version: and takes an agent" 'total of' heaphisto "$JVM_PID" -n 1
	unharmed "$version: version 1 only"
	stop "$JVM_PID"
done

# All.
company ./jtool jcmd all VM.version
same "all: exit 0" 0 "$rc"
same "all: a heading for each" 2 "$(grep -c -x '[0-9]*:' "$W/out")"
same "all: by process id" "$(sort -n <(grep -x '[0-9]*:' "$W/out"))" "$(grep -x '[0-9]*:' "$W/out")"
same "all: an answer from each" 2 "$(grep -c '^JDK' "$W/out")"
company ./jtool heaphisto all --json -n 1
same "all --json: an object for each, one a line" "True 2" "$(python3 -c '
import json, sys
pids = [json.loads(line)["pid"] for line in sys.stdin]
print(len(pids) == len(set(pids)), len(pids))' <"$W/out")"
company ./jtool jcmd all No.such_command
same "all: none answers: the first one's exit code" 1 "$rc"
same "all: each failure is told" 3 "$(grep -c '^jtool: jcmd: ' "$W/err")"
JT_LIMIT=20 company env --ignore-signal=CHLD ./jtool jcmd all VM.version
same "all: its children are waited for, whatever it was started with" "0 2" \
	"$rc $(grep -c '^JDK' "$W/out")"
