#!/usr/bin/env bash
# jcmd and op: the JVM's own output, byte for byte, on every version.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

# reference PID WORD...: jattach's output for the same operation, without the two lines that it
# prints first and the newline that it adds.
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
		# shellcheck disable=SC2086 # split into words
		jt jcmd "$pid" $words
		same_bytes "$version: jcmd $words: equal to jattach's output"
	done
	jt jcmd "$pid"
	reference "$pid" jcmd help
	same_bytes "$version: jcmd without a command: it prints help"
	reference "$pid" jcmd "VM.flags -all"
	jt jcmd "$pid" "VM.flags -all"
	same_bytes "$version: jcmd: a command with its arguments in one word"
	jattach "$pid" properties >/dev/null # the first request sets user.timezone
	reference "$pid" properties
	jt op "$pid" properties
	sed -i /^#/d "$W/out" "$W/reference" # the JVM writes the time in a comment
	same_bytes "$version: op properties: equal to jattach's output"
	reference "$pid" printflag MaxHeapSize
	jt op "$pid" printflag MaxHeapSize
	same_bytes "$version: op printflag: equal to jattach's output"
	prints "$version: op threaddump: it prints a dump" '^Full thread dump' op "$pid" threaddump
	prints "$version: op inspectheap: it prints a histogram" \
		'java.lang.String' op "$pid" inspectheap
	prints "$version: jcmd Thread.print -l: it prints threads" \
		'"main".*prio' jcmd "$pid" Thread.print -l
	works "$version: jcmd --json: it works" jcmd --json "$pid" VM.version
	same "$version: jcmd --json: its keys" "True $pid 0" \
		"$(json "'VM' in j['output'], j['pid'], j['code']" | tr -d "(),")"

	rc=0
	"$JTOOL" jcmd "$pid" VM.version <&- 2>&- >"$W/out" || rc=$?
	same "$version: jcmd: it works without stdin and stderr" 0 "$rc"

	jt jcmd "$pid" No.such_command
	same "$version: jcmd: an unknown command: exit code 1" 1 "$rc"
	check "$version: jcmd: an unknown command: the JVM's message" \
		grep -q "Unknown diagnostic command" "$W/out" "$W/err"
	jt op "$pid" nosuchoperation
	same "$version: op: an unknown operation: exit code 1" 1 "$rc"

	if [ "$feature" -ge 11 ]; then
		prints "$version: jcmd JFR.configure: it works" \
			'Repository path:' jcmd "$pid" JFR.configure
		jt jcmd "$pid" JFR.start 'name="two words"'
		same "$version: jcmd: an argument with a space: exit code 0" 0 "$rc"
		prints "$version: jcmd: an argument with a space arrives complete" \
			'two words' jcmd "$pid" JFR.check
		allowed='.*\[(info|warning)\].*jfr.*'
	else
		allowed=READY
	fi

	# Arguments that are longer than versions 1 and 2 of the attach protocol accept.
	long=$(printf '%02000d' 0)
	huge=$(printf '%0100000d' 0)
	if [ "$feature" -ge 24 ]; then
		jt jcmd "$pid" help "$long"
		check "$version: jcmd: the JVM answers a command of 2,000 bytes" test "$rc" -le 1
		check "$version: jcmd: 2,000 bytes arrive" grep -q 0000000 "$W/out" "$W/err"
	else
		refuses 2 '1,?024' "$version: jcmd: 2,000 bytes are refused" \
			jcmd "$pid" help "$long"
	fi
	refuses 2 '1,?024|262,?144' "$version: jcmd: 300,000 bytes are refused" \
		jcmd "$pid" help "$huge" "$huge" "$huge"
	if [ "$feature" -lt 24 ]; then
		refuses 2 'three|3' "$version: op: four arguments are refused" \
			op "$pid" jcmd help a b c
	fi
	works "$version: jcmd: it works after refused commands" jcmd "$pid" VM.version
	unharmed "$version: jcmd" "$allowed"
	stop "$pid"
done

# An output that cannot be written is an error.
start_jvm own serial Idle
rc=0
"$JTOOL" jcmd "$JVM_PID" VM.version >/dev/full 2>"$W/err" || rc=$?
same "full disk: exit code 7" 7 "$rc"
check "full disk: the error says so" grep -q '^jtool: jcmd: cannot write the result to stdout: ' \
	"$W/err"
rc=0
{ "$JTOOL" jcmd "$JVM_PID" help 2>"$W/err" || echo $? >"$W/rc"; } | true
check "closed pipe: jcmd does not crash" test "$(cat "$W/rc" 2>/dev/null || echo 0)" -lt 8
unharmed "full disk and closed pipe"

# A JVM that supports version 2 of the protocol, but is started with version 1 only.
for version in "${jdks[@]}"; do
	[ "$version" -ge 25 ] || continue
	start_jvm "$version" serial Idle -Djdk.attach.compat=true || continue
	prints "$version: protocol version 1 only: jcmd works" '^JDK ' jcmd "$JVM_PID" VM.version
	prints "$version: protocol version 1 only: heaphisto works" \
		'total of' heaphisto "$JVM_PID" -n 1
	unharmed "$version: protocol version 1 only"
	stop "$JVM_PID"
done

# All JVMs.
run_among_jvms ./jtool jcmd all VM.version
same "jcmd all: exit code 0" 0 "$rc"
same "jcmd all: a heading for each JVM" 2 "$(grep -c -x '[0-9]*:' "$W/out")"
same "jcmd all: sorted by PID" "$(sort -n <(grep -x '[0-9]*:' "$W/out"))" \
	"$(grep -x '[0-9]*:' "$W/out")"
same "jcmd all: an answer from each JVM" 2 "$(grep -c '^JDK' "$W/out")"
run_among_jvms ./jtool heaphisto all --json -n 1
same "heaphisto all --json: one line per JVM" "True 2" "$(python3 -c '
import json, sys
pids = [json.loads(line)["pid"] for line in sys.stdin]
print(len(pids) == len(set(pids)), len(pids))' <"$W/out")"
run_among_jvms ./jtool jcmd all No.such_command
same "jcmd all: if all fail, the exit code of the first" 1 "$rc"
same "jcmd all: each failure is reported" 3 "$(grep -c '^jtool: jcmd: ' "$W/err")"
JT_LIMIT=20 run_among_jvms env --ignore-signal=CHLD ./jtool jcmd all VM.version
same "jcmd all: it waits for its children if SIGCHLD is ignored" "0 2" \
	"$rc $(grep -c '^JDK' "$W/out")"
