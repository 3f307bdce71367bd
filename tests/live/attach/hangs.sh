#!/usr/bin/env bash
# No target hangs jtool: a user who stops every process that acts with that user's ids, file systems
# that never answer, and a JVM that answers a byte a second.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

user=4713 # not used by other themes, whose processes would be stopped, too
version=$(newest_of 8 11 17)
mkdir "$W/cwd"
chmod 777 "$W/cwd"

# The JVM's user stops root's children as soon as they have taken its ids.
cc -O2 -o "$W/stopper" "$live_dir/attach/stopper.c"
chmod 755 "$W/stopper"
JVM_AS=$user:$user JVM_CWD=$IW/cwd start_jvm "$version" serial Idle
pid=$JVM_PID
setpriv --reuid=$user --regid=$user --clear-groups "$W/stopper" >"$W/stopped" &
stopper=$!
disown
track $stopper
poll 10 grep -q READY "$W/stopped" || fail "stopper: it starts"
slowest=0
hung=
for _ in $(seq "$(in_soak 100 8)"); do
	for args in "jcmd $pid VM.version" "heaphisto $pid"; do
		begin=$(now_ms)
		# shellcheck disable=SC2086 # several words
		JT_LIMIT=25 jt $args --timeout 2
		took=$(($(now_ms) - begin))
		[ "$took" -le "$slowest" ] || slowest=$took
		[ $rc -ne 124 ] && [ $rc -ne 137 ] || hung=$args
		# The stopped processes must not delay the next command.
		sed -n 's/^stopped //p' "$W/stopped" | xargs -r kill -CONT 2>/dev/null
	done
done
kill $stopper
if grep -q '^stopped' "$W/stopped"; then
	same "stopped children: no command hangs" "" "$hung"
	check "stopped children: the slowest command took $slowest ms" [ "$slowest" -le 14000 ]
else
	skip "stopped children: no command hangs" "no child was caught"
fi
sed -n 's/^stopped //p' "$W/stopped" | xargs -r kill -CONT 2>/dev/null
unharmed "stopped children"
stop "$pid"

# Twenty healthy JVMs of the machine's own JDK.
healthy=()
outs=()
small=(-Xmx16m -Xshare:auto -XX:TieredStopAtLevel=1)
for ((i = 0; i < 19; i++)); do
	launch_jvm own serial Idle "${small[@]}"
	healthy+=("$JVM_PID")
	outs+=("$JVM_OUT")
done
name=one-$$-$RANDOM.jar # which no other JVM on the machine has
jar --create --file "$W/$name" --main-class Idle -C "$W/classes" .
spawn java "${small[@]}" -XX:+UseSerialGC -jar "$W/$name"
healthy+=("$JVM_PID")
outs+=("$JVM_OUT")
for out in "${outs[@]}"; do
	poll 60 is_ready "$out" || fail "a healthy JVM starts" "$(tail -n 5 "$out")"
done

# start_in_namespace: a JVM with a /tmp and a /run of its own. Sets JVM_PID.
start_in_namespace() {
	# shellcheck disable=SC2016 # expanded by the inner shell
	spawn unshare -m bash -c 'mount -t tmpfs -o mode=1777 none /tmp &&
		mount -t tmpfs -o mode=755 none /run && exec java -Xmx16m -XX:+UseSerialGC \
		-XX:TieredStopAtLevel=1 -cp "$1/classes" Idle' bash "$W"
	await_ready
}

# hang PID DIR: mounts a file system that never answers in the mount namespace of the process. Sets
# server: the file system exists as long as this process.
hang() {
	nsenter -t "$1" -m --wd=/ -- python3 - "$2" <"$live_dir/attach/hangfs.py" >"$W/server" 2>&1 &
	server=$!
	disown
	track $server
	poll 10 grep -q READY "$W/server" || fail "a file system that hangs" "$(cat "$W/server")"
}

start_in_namespace
hung=$JVM_PID
hung_out=$JVM_OUT
start_in_namespace
half=$JVM_PID
jt jcmd "$half" VM.version # it listens
hang "$hung" /tmp
hung_server=$server
hang "$half" /run
half_server=$server
truncate -s 4096 "$W/libjvm.so"
spawn python3 "$live_dir/attach/fake_jvm.py" "$W/libjvm.so" trickle
to_remove+=("/tmp/.java_pid$JVM_PID")
trickle=$JVM_PID
poll 10 is_ready "$JVM_OUT" || fail "fake_jvm.py trickle: it starts" "$(cat "$JVM_ERR")"
sleep 3 # a JVM without hsperfdata counts as starting for 2 s

# within MS NAME ARGUMENT...: runs jtool; it ends within this time.
within() {
	local ms=$1 name=$2 begin

	shift 2
	begin=$(now_ms)
	JT_LIMIT=40 jt "$@"
	took=$(($(now_ms) - begin))
	check "$name: $took ms, at most $ms" [ "$took" -le "$ms" ]
}

# right PATTERN: how many of the healthy JVMs have a line "PIDPATTERN" in the output.
right() {
	local pid n=0

	for pid in "${healthy[@]}"; do
		grep -a -q -E "^ *$pid$1" "$W/out" && n=$((n + 1))
	done
	echo $n
}

within 3000 "list" list
same "list: 20 right rows" 20 "$(right ' +root +[0-9.]+ .* (ready|listening) ')"
same "list: the row of a JVM whose file system hangs" 1 \
	"$(grep -c -E "^ *$hung +root +- +Serial .* unreachable .* Idle$" "$W/out")"
within 3000 "list --json" list --json
same "list --json: 20 right rows" 20 "$(json "len([v for v in j['jvms'] if v['version'] and
	v['attach'] in ('ready', 'listening') and v['pid'] in
	[int(p) for p in '${healthy[*]}'.split()]])")"
same "list --json: the row of a JVM whose file system hangs" "['unreachable', None, 'Idle']" \
	"$(json "[[v['attach'], v['version'], v['main']] for v in j['jvms'] if v['pid'] == $hung][0]")"
within 3000 "list -q" list -q
same "list -q: all of them" 20 "$(right '$')"

# A blocked process of jtool's holds no pipe open.
begin=$(now_ms)
timeout 20 "$W/jtool" list | cat >/dev/null
check "list in a pipe: it ends" [ $(($(now_ms) - begin)) -le 3000 ]

within 3000 "stat all --openmetrics" stat all --openmetrics
n=0
for pid in "${healthy[@]}"; do
	grep -a -q "^jvm_info{pid=\"$pid\"," "$W/out" && n=$((n + 1))
done
same "stat all --openmetrics: 20 right JVMs" 20 "$n"
within 3000 "stat all" stat all
same "stat all: 20 right tables" 20 "$(right ':$')"

# Every process that those commands have left is killed, and ends with the file system.
left=$(our_processes)
not_killed=
for pid in $left; do
	killed_but_blocked "$pid" || not_killed+=" $pid"
done
check "a process of jtool is blocked" [ -n "$left" ]
same "all blocked processes are killed" "" "$not_killed"

# The first document leaves a blocked worker. The next ones do not touch that file system again.
spawn "$W/jtool" exporter --listen 127.0.0.1:0
exporter=$JVM_PID
poll 10 grep -q serving "$JVM_ERR" || fail "exporter: it starts" "$(cat "$JVM_ERR")"
url=$(sed -n 's/.*serving //p' "$JVM_ERR")
for _ in 1 2 3 4; do
	curl -s -S -m 20 -o "$W/out" "$url" 2>"$W/err" || fail "exporter: it answers" "$(cat "$W/err")"
	sleep 1.1 # it answers with the same document for 1 s
done
n=0
for pid in "${healthy[@]}"; do
	grep -a -q "^jvm_info{pid=\"$pid\"," "$W/out" && n=$((n + 1))
done
same "exporter: 20 right JVMs" 20 "$n"
one_child() { [ "$(pgrep -c -P "$exporter")" -eq 1 ]; }
check "exporter: after 4 documents, one process is blocked" poll 10 one_child
stop "$exporter"

# It searches every 3 s, and the search takes longer while it waits for a worker.
spawn "$W/jtool" top all 1 14
top=$JVM_PID
tables() { [ "$(grep -c 'PID .*HEAP' "$JVM_OUT")" -ge "$1" ]; }
poll 60 tables 12 || fail "top all: 12 tables" "$(tail -n 5 "$JVM_OUT" "$JVM_ERR")"
few_children() { [ "$(pgrep -c -P "$top")" -le 2 ]; } # more only while it reads or searches
check "top all: after 4 searches, one process is blocked, and at most one is not reaped" \
	poll 10 few_children
stop "$top"

# On an idle machine it takes the timeout and 0.9 s.
within 9000 "jcmd all" jcmd --timeout 5 all VM.version
n=0
for pid in "${healthy[@]}"; do
	grep -a -A 1 "^$pid:$" "$W/out" | grep -q 'OpenJDK' && n=$((n + 1))
done
same "jcmd all: 20 right answers" 20 "$n"
check "jcmd all: names the file system that hangs" \
	grep -q "$hung: .*/tmp (fuse.hangfs at /tmp) does not answer" "$W/err"
check "jcmd all: names the JVM that does not go on" grep -q "$trickle: " "$W/err"
within 4000 "jcmd NAME" jcmd --timeout 3 "$name" VM.version
same "jcmd NAME: the JVM answers" "0 1" "$rc $(grep -c OpenJDK "$W/out")"

unreachable='cannot reach JVM .* the file system of its directory /tmp \(fuse.hangfs at /tmp\) does not'
for args in "jcmd $hung VM.version" "classes $hung" "heaphisto $hung" "stat $hung" "threads $hung" \
	"counters $hung" "load $hung instrument"; do
	# shellcheck disable=SC2086 # several words
	JT_LIMIT=20 refuses 5 "$unreachable" "${args/$hung/PID}: a file system hangs" $args
done
within 3000 "info: a file system hangs" info "$hung"
check "info: a file system hangs: what /proc shows" grep -q '^Attach: *unreachable: .*fuse.hangfs' \
	"$W/out"

# Another directory of the JVM hangs: only commands that stage a file there are affected.
within 3000 "jcmd: /run hangs" jcmd "$half" VM.version
same "jcmd: /run hangs: the JVM answers" "0 1" "$rc $(grep -c OpenJDK "$W/out")"
within 4000 "classes: /run hangs" classes --timeout 3 "$half"
check "classes: /run hangs: an answer, or a message" grep -q -E 'java.lang.String|does not answer' \
	"$W/out" "$W/err"

# SIGKILL ends jtool, also while its worker is blocked.
begin=$(now_ms)
timeout -s KILL 0.2 "$W/jtool" jcmd "$hung" VM.version >/dev/null 2>&1
check "SIGKILL ends jtool" [ $(($(now_ms) - begin)) -le 2000 ]

# Once the file system is gone, everything works again, and no process is left.
stop "$hung_server" "$half_server"
check "the file system is gone: no process is left" poll 10 no_jtool_left
nsenter -t "$hung" -m umount /tmp
JVM_OUT=$hung_out
works "the file system is gone: the JVM is reached" jcmd "$hung" VM.version
for pid in "${healthy[@]}"; do
	alive "$pid" || fail "JVM $pid is alive"
done
stop "${healthy[@]}" "$hung" "$half" "$trickle"
