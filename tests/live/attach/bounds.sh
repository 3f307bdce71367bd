#!/usr/bin/env bash
# A hostile target is limited in time, memory and disk: it looks like a JVM, and is silent, answers a
# byte now and then, or never stops. Its agent does the same.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

touch "$W/libjvm.so"
truncate -s 4096 "$W/libjvm.so"

# The hostile targets start before the tests: a JVM without hsperfdata counts as starting for 2 s.
declare -A pid_of out_of
# launch HOW [ARGUMENT...]
launch() {
	spawn python3 "$live_dir/attach/fake_jvm.py" "$W/libjvm.so" "${1%.*}" "${@:2}"
	to_remove+=("/tmp/.java_pid$JVM_PID")
	pid_of[$1]=$JVM_PID
	out_of[$1]=$JVM_OUT
	poll 10 is_ready "$JVM_OUT" || fail "fake_jvm.py $1: it starts" "$(cat "$JVM_ERR")"
}

# fake HOW: sets JVM_PID and JVM_OUT to those of this target.
fake() {
	JVM_PID=${pid_of[$1]}
	JVM_OUT=${out_of[$1]}
}

for how in silent midway dribble right.{1..6}; do
	launch "$how"
done
sleep 3 # until the last one has started for certain

# Stops one of the children of `jcmd all`, as if a file system blocked it: it does not notice its
# deadline. jtool kills a child without a sign of life for 30 s; the result is checked at the end.
(cd "$W" && exec timeout -k 1 60 ./jtool jcmd --timeout 5 all VM.version >all.out 2>all.err) &
all=$!
all_begin=$(now_ms)
poll 10 grep -q 'asked jcmd' "${out_of[silent]}"
# finds_stuck: sets `stuck` to the child that waits for the silent target's answer, which has a
# descriptor of that process.
stuck=
finds_stuck() {
	local child

	for child in $(pgrep -P "$(pgrep -P "$all" -x jtool)" -x jtool); do
		! grep -q -x -P "Pid:\t${pid_of[silent]}" "/proc/$child/fdinfo/"* 2>/dev/null ||
			stuck=$child
	done
	[ -n "$stuck" ]
}
poll 10 finds_stuck
check "all: the child of the silent target is found" kill -STOP "$stuck"

for how in endless nul dump-endless dump-records jfr-sparse jfr-claims agent-mute agent-dribble \
	agent-tape agent-crumbs agent-names escapes; do
	launch "$how"
done
mkdir "$W/right"
if start_jvm "${jdks[0]}" serial Idle; then
	works "heapdump of a JVM: it works" heapdump --engine hprof "$JVM_PID" right/dump
	for command in 'VM.flags -all' VM.version; do
		works "jcmd $command of a JVM: it works" jcmd "$JVM_PID" "$command"
		cp "$W/out" "$W/right/${command% *}"
	done
	stop "$JVM_PID"
fi
for how in dump-damaged.{1,2}; do
	launch "$how" "$W/right"
done
sleep 3

# measured ARGUMENT...: jt, and sets took (ms) and peak (MB of memory).
measured() {
	local begin

	begin=$(now_ms)
	rc=0
	(cd "$W" && timeout -k 1 "${JT_LIMIT:-60}" python3 -c '
import resource, subprocess, sys
rc = subprocess.call(sys.argv[2:])
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
open(sys.argv[1], "w").write(str(peak))
sys.exit(rc if rc >= 0 else 128 - rc)' "$W/peak" ./jtool "$@") \
		>"$W/out" 2>"$W/err" </dev/null || rc=$?
	took=$(($(now_ms) - begin))
	peak=$(cat "$W/peak")
}

# ends CODE PATTERN MS NAME ARGUMENT...: jtool exits with this code and message within MS.
ends() {
	local code=$1 pattern=$2 ms=$3 name=$4

	shift 4
	JT_LIMIT=40 measured "$@"
	if [ "$rc" -eq "$code" ] && grep -q -E -e "$pattern" "$W/err" && [ "$took" -le "$ms" ]; then
		pass "$name"
	else
		fail "$name" "jtool $*" "wanted: exit $code, /$pattern/, within $ms ms; took $took ms" \
			"$(jt_details | cut -c -300 | head -n 20)"
	fi
}

# at_most WHAT MAX NAME
at_most() {
	if [ "$1" -le "$2" ]; then
		pass "$3"
	else
		fail "$3" "$1 is more than $2"
	fi
}

# Text answers that do not begin, go on or end.
fake silent
ends 5 'did not answer within 2 s' 6000 "silent: jcmd ends" jcmd --timeout 2 "$JVM_PID" VM.version
for how in midway dribble; do
	fake "$how"
	for command in "jcmd --timeout 2 $JVM_PID VM.version" "threads $JVM_PID --timeout 2" \
		"props $JVM_PID --timeout 2" "heaphisto $JVM_PID --vm --timeout 2" \
		"jfr $JVM_PID check --timeout 2" "op --json --timeout 2 $JVM_PID x"; do
		# shellcheck disable=SC2086 # words
		ends 7 'stopped in the middle of its answer.*--timeout' 6000 "$how: ${command%% *} ends" $command
	done
done

# The space of a small file system: at most half of it is used.
mkdir "$W/small"
mount -t tmpfs -o size=64m tmpfs "$W/small"
mounts+=("$W/small")
used() {
	df --output=used -BM "$W/small" | tail -n 1 | tr -dc 0-9
}

# watch_use: prints the largest use until the file $W/stop exists.
watch_use() {
	local most=0 now

	while [ ! -e "$W/stop" ]; do
		now=$(used)
		[ "$now" -le "$most" ] || most=$now
		sleep 0.01
	done
	echo "$most"
}

fills() {
	local max=$1 name=$2

	shift 2
	rm -f "$W/stop"
	watch_use >"$W/most" &
	"$@"
	touch "$W/stop"
	wait $!
	at_most "$(cat "$W/most")" "$max" "$name"
}

export TMPDIR=$W/small
fake endless
fills 34 "endless answer: jcmd uses half of a small TMPDIR" \
	ends 7 'cannot store the answer.*too little space' 20000 "endless answer: jcmd ends" \
	jcmd "$JVM_PID" VM.version
fills 1 "endless answer: props uses no space" \
	ends 7 'longer than 64 MB' 20000 "endless answer: props ends" props "$JVM_PID"
fills 1 "endless answer: jcmd --json uses no space" \
	ends 7 'longer than 64 MB' 20000 "endless answer: jcmd --json ends" jcmd --json "$JVM_PID" X
at_most "$peak" 300 "endless answer: jcmd --json: $peak MB of memory"
ends 7 'longer than 1 MB' 20000 "endless answer: load ends" load "$JVM_PID" instrument
ends 7 'longer than 4 MB' 20000 "endless answer: jfr check ends" jfr "$JVM_PID" check
stop "$JVM_PID"
unset TMPDIR

fake nul
JT_LIMIT=40 measured jcmd --json "$JVM_PID" X
at_most "$peak" 200 "48 MB of control characters: jcmd --json: $peak MB of memory"
same "48 MB of control characters: the document is complete" 48 "$(python3 -c '
import json, sys
print(len(json.load(open(sys.argv[1]))["output"]) >> 20)' "$W/out")"
stop "$JVM_PID"

# Files.
fake dump-endless
fills 2 "not a heap dump: no space is used" \
	ends 7 'is not a heap dump' 20000 "not a heap dump: heapdump ends" \
	heapdump --engine hprof "$JVM_PID" small/dump.hprof
check "not a heap dump: the target wrote little" \
	poll 10 grep -q -E '^wrote [0-9]{1,7}$' "$JVM_OUT"
stop "$JVM_PID"
fake dump-records
fills 34 "endless heap dump: half of the space is used" \
	ends 7 'small/dump.hprof.*too little space' 30000 "endless heap dump: heapdump ends" \
	heapdump --engine hprof "$JVM_PID" small/dump.hprof
stop "$JVM_PID"
fake dump-damaged.1
again='the dump that the JVM wrote is invalid; it dumps its heap again'
jt retained --json --engine hprof "$JVM_PID"
same "a damaged heap dump: retained: exit status and notice" "0 jtool: retained: $again" \
	"$rc $(cat "$W/err")"
counts="sorted((c['class'], c['instances'], c['shallow']) for c in j['classes'])"
wanted=$(json "$counts")
jt retained --json right/dump
same "a damaged heap dump: the objects are those of the second dump" "$wanted" "$(json "$counts")"
check "a damaged heap dump: there are objects" grep -q "java.lang.String', [1-9]" <<<"$wanted"
stop "$JVM_PID"
fake dump-damaged.2
jt heaphisto --engine hprof "$JVM_PID"
same "a damaged heap dump: heaphisto: exit status and notice" "0 jtool: heaphisto: $again" \
	"$rc $(cat "$W/err")"
stop "$JVM_PID"
for how in jfr-sparse jfr-claims; do
	fake "$how"
	fills 1 "$how: no space is used" \
		ends 7 'did not write byte|damaged or cut off' 20000 "$how: jfr dump ends" \
		jfr "$JVM_PID" dump small/x.jfr
	stop "$JVM_PID"
done
same "no file is left" "" "$(ls -A "$W/small")"

# The agent.
fake agent-mute
ends 7 'agent in JVM [0-9]+ did not answer within 2 s.*--timeout' 6000 "mute agent: classes ends" \
	classes "$JVM_PID" --timeout 2
stop "$JVM_PID"
fake agent-dribble
ends 7 'agent in JVM [0-9]+ stopped in the middle.*--timeout' 6000 \
	"an agent that dribbles: classes ends" classes "$JVM_PID" --timeout 2
stop "$JVM_PID"
# Heap data beyond a third of --max-memory, in large and in small frames; then endless names.
for how in agent-tape agent-crumbs; do
	fake "$how"
	ends 6 'sent more than the 5 MB of heap data' 30000 "$how: retained ends" \
		retained "$JVM_PID" --max-memory 16
	at_most "$peak" 40 "$how: retained --max-memory 16: $peak MB of memory"
	stop "$JVM_PID"
done
fake agent-names
ends 7 'limit of 16 MB' 30000 "agent-names: retained ends" retained "$JVM_PID" --max-memory 16
at_most "$peak" 40 "agent-names: retained --max-memory 16: $peak MB of memory"
stop "$JVM_PID"

# Hostile targets do not delay the answers of the others.
JT_LIMIT=40 measured jcmd --timeout 3 all VM.version
same "all: the exit status tells of the failures" 7 "$rc"
at_most "$took" 8000 "all: $took ms"
for i in {1..6}; do
	check "all: target $i has answered" grep -q -A 1 "^${pid_of[right.$i]}:" "$W/out"
done
same "all: six right answers" 6 "$(grep -c '^right$' "$W/out")"
for how in dribble silent midway; do
	pid=${pid_of[$how]}
	check "all: the failure of $how is reported" \
		grep -q -E "^jtool: jcmd: $pid: .*JVM $pid (did not answer|stopped)" "$W/err"
	stop "$pid"
done

all_rc=0
wait $all || all_rc=$?
same "all: a child that is stuck: exit status" 7 "$all_rc"
at_most $(($(now_ms) - all_begin)) 300000 "all: a child that is stuck: jtool ends"
check "all: a child that is stuck: it is killed" \
	grep -q 'did not answer within 5 s, and jtool killed its process that waits for it' "$W/all.err"
check "all: a child that is stuck: it is gone" gone "$stuck"
same "all: a child that is stuck: six right answers" 6 "$(grep -c '^right$' "$W/all.out")"

# A terminal.
# on_terminal ARGUMENT...: runs jtool with a terminal as stdout.
on_terminal() {
	(cd "$W" && script -qec "./jtool $*" /dev/null </dev/null) >"$W/out" 2>&1
}

fake escapes
for command in "jcmd $JVM_PID Thread.print" "threads --raw $JVM_PID" "op $JVM_PID threaddump" \
	"jcmd --timeout 3 all Thread.print"; do
	on_terminal "$command"
	# jtool's own progress line begins with \r\e[K, which the target does not send.
	same "terminal: $command: nothing drives the terminal" "" \
		"$(sed $'s/\r\e\\[K//g' "$W/out" | grep -a -o -E $'\e|\a|\xc2\x9b|\xe2\x80\xae')"
	check "terminal: $command: what was sent is shown" \
		grep -a -q -F '"main\x1B]0;PWNED\x07\x1B[31m" #1' "$W/out"
	check "terminal: $command: tabs stay" grep -a -q $'^\t.xC2.x9B31m rlo' "$W/out"
done
on_terminal "jcmd --json $JVM_PID Thread.print"
same "terminal: --json: nothing drives the terminal" "" \
	"$(grep -a -o -E $'\e|\a|\xc2\x9b|\xe2\x80\xae' "$W/out")"
jt threads --raw "$JVM_PID"
check "a pipe gets what was sent, byte for byte" \
	grep -a -q $'main\e]0;PWNED\a\e\[31m' "$W/out"
stop "$JVM_PID"
