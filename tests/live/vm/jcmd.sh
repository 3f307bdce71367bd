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

# writes_file NAME PATTERN COMMAND [ARGUMENT...]: if the JVM has the command, with an argument for a
# file, it writes a file of the caller that matches PATTERN. The last ARGUMENT may be `KEY=`, to
# which the file is appended.
writes_file() {
	local name=$1 pattern=$2 words=("${@:3}") file="$W/written file"

	"$W/jtool" jcmd "$pid" help "$3" | grep -q -E "filename|filepath|-F" || return 0
	rm -f "$file"
	case ${words[-1]} in
	*=) words[-1]+="{$file}" ;;
	*) words+=("{$file}") ;;
	esac
	works "$name: it works" jcmd "$pid" "${words[@]}"
	check "$name: the caller has the file" grep -q -a -E -e "$pattern" "$file"
	check "$name: the output names only the caller's path" [ "$(grep -c '\.jtool-' "$W/out")" = 0 ]
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

	# Files of the caller. None stays in the target.
	writes_file "$version: jcmd GC.heap_dump {FILE}" '^JAVA PROFILE' GC.heap_dump
	writes_file "$version: jcmd Compiler.perfmap {FILE}" 'Interpreter' Compiler.perfmap
	writes_file "$version: jcmd System.dump_map {FILE}" 'JAVAHEAP' System.dump_map -F=
	writes_file "$version: jcmd Thread.dump_to_file {FILE}" '"?main"?' Thread.dump_to_file
	if [ "$feature" -ge 11 ]; then
		writes_file "$version: jcmd JFR.dump {FILE}" '^FLR' JFR.dump filename=
		writes_file "$version: jcmd JFR.stop {FILE}" '^FLR' JFR.stop 'name="two words"' \
			filename=
		echo '[{match: "*.*", BackgroundCompilation: false}]' >"$W/directives"
		works "$version: jcmd Compiler.directives_add {FILE}: it works" \
			jcmd "$pid" Compiler.directives_add "{$W/directives}"
		check "$version: jcmd Compiler.directives_add {FILE}: the JVM has read it" \
			grep -q '1 compiler directives added' "$W/out"
		prints "$version: jcmd Compiler.directives_add {FILE}: the directive is there" \
			'BackgroundCompilation:false' jcmd "$pid" Compiler.directives_print
		refuses 2 'missing.json' "$version: jcmd: a missing file: refused" \
			jcmd "$pid" Compiler.directives_add "{$W/missing.json}"
		echo '<configuration version="2.0"><event name="jdk.ThreadSleep"><setting
			name="enabled">true</setting></event></configuration>' >"$W/own.jfc"
		works "$version: jcmd JFR.start settings={FILE}: it works" \
			jcmd "$pid" JFR.start name=own "settings={$W/own.jfc}"
	fi
	echo old >"$W/there"
	refuses 2 'exists' "$version: jcmd {FILE}: an existing file is not replaced" \
		jcmd "$pid" GC.heap_dump "{$W/there}"
	same "$version: jcmd {FILE}: the existing file is unchanged" old "$(cat "$W/there")"
	works "$version: jcmd --force {FILE}: it works" \
		jcmd --force "$pid" GC.heap_dump "{$W/there}"
	check "$version: jcmd --force {FILE}: the file is replaced" grep -q -a 'JAVA PROFILE' "$W/there"
	works "$version: jcmd --json {FILE}: it works" \
		jcmd --force --json "$pid" GC.heap_dump "{$W/dump.json}"
	same "$version: jcmd --json {FILE}: file and size" "['$W/dump.json', True, True]" \
		"$(json "[j['file'], j['bytes'] == $(stat -c %s "$W/dump.json"),
			'.jtool-' not in j['output']]")"
	jt jcmd "$pid" GC.heap_dump '{-}'
	same "$version: jcmd {-}: it works" 0 "$rc"
	check "$version: jcmd {-}: stdout has the file" grep -q -a '^JAVA PROFILE' "$W/out"
	check "$version: jcmd {-}: stderr has the answer" grep -q '^Heap dump file created' "$W/err"
	refuses 2 'VM.log cannot use' "$version: jcmd: a log file is refused" \
		jcmd "$pid" VM.log "output={$W/log}"
	check "$version: jcmd {FILE}: nothing is left in the target" \
		nothing_left "${jdk_root[$version]:-}" "$pid" 0

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

# VM.cds dumps no archive of classes in a directory.
mkdir "$W/jar"
printf 'Main-Class: Idle\n' >"$W/jar/manifest"
(cd "$W" && jar cfm idle.jar jar/manifest -C classes .)
for version in "${jdks[@]}"; do
	[ "$version" -ge 17 ] || continue
	jvm_command "$version" serial -jar "$IW/idle.jar"
	spawn "${argv[@]}"
	await_ready || continue
	pid=$JVM_PID
	writes_file "$version: jcmd VM.cds static_dump {FILE}" . VM.cds static_dump
	check "$version: jcmd VM.cds {FILE}: nothing is left in the target" \
		nothing_left "${jdk_root[$version]}" "$pid" 0
	stop "$pid"
	start_jvm "$version" serial Idle || continue
	jt jcmd "$JVM_PID" VM.cds static_dump "{$W/none.jsa}"
	same "$version: jcmd VM.cds {FILE}: no archive of a directory: exit code 1" "1 no" \
		"$rc $([ -e "$W/none.jsa" ] && echo yes || echo no)"
	stop "$JVM_PID"
done

# An output that cannot be written is an error.
start_jvm own serial Idle
rc=0
"$JTOOL" jcmd "$JVM_PID" VM.version >/dev/full 2>"$W/err" || rc=$?
same "full disk: exit code 7" 7 "$rc"
check "full disk: the error says so" grep -q '^jtool: jcmd: cannot write the result to stdout: ' \
	"$W/err"
mkdir "$W/small"
# shellcheck disable=SC2016 # an inner shell
run_among_jvms bash -c 'mount -t tmpfs -o size=4k none small && TMPDIR=small ./jtool flags all'
same "a full TMPDIR: flags all: exit code 7" 7 "$rc"
check "a full TMPDIR: flags all: the error of each JVM says so" \
	[ "$(grep -c "^jtool: flags: [0-9]*: cannot store this JVM's result" "$W/err")" -eq 2 ]
rc=0
{ "$JTOOL" jcmd "$JVM_PID" help 2>"$W/err" || echo $? >"$W/rc"; } | true
check "closed pipe: jcmd ends by SIGPIPE" grep -q -x -E '0|141' <(cat "$W/rc" 2>/dev/null || echo 0)
check "closed pipe: jcmd prints no message" [ ! -s "$W/err" ]
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
