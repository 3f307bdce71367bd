#!/usr/bin/env bash
# Attaching: every way that works, and the error message of every way that does not.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

# socket_of VERSION PID, trigger_of VERSION PID: their paths on the host.
socket_of() {
	echo "${jdk_root[$1]:-}/tmp/.java_pid$2"
}

trigger_of() {
	echo "${jdk_root[$1]:-}/tmp/.attach_pid$2"
}

# peer MODE SOCKET: starts peer.py in the background; sets PEER.
peer() {
	local save=("$JVM_PID" "$JVM_IN" "$JVM_OUT" "$JVM_ERR")

	spawn python3 "$live_dir/attach/peer.py" "$@"
	PEER=$JVM_PID
	poll 10 grep -q up "$JVM_OUT" || fail "peer.py $1: it starts" "$(cat "$JVM_ERR")"
	JVM_PID=${save[0]} JVM_IN=${save[1]} JVM_OUT=${save[2]} JVM_ERR=${save[3]}
}

# in_time SECONDS NAME: the last jtool run took at most SECONDS.
in_time() {
	if [ "$took" -le $(($1 * 1000)) ]; then
		pass "$2"
	else
		fail "$2" "took $took ms"
	fi
}

timed() {
	local begin

	begin=$(now_ms)
	"$@"
	took=$(($(now_ms) - begin))
}

for version in own "${jdks[@]}"; do
	# First with a JVM that has not started its attach listener, then with one that has.
	start_jvm "$version" serial Idle || continue
	pid=$JVM_PID
	root=${jdk_root[$version]:-/}
	prints "$version: jcmd: the first attach works" . jcmd "$pid" VM.version
	check "$version: jcmd: no trigger file remains" nothing_left "$root" "$pid" 0 "$IW"
	prints "$version: jcmd: the second attach works" . jcmd "$pid" VM.version
	unharmed "$version: first and second attach"

	# The socket's file is deleted, as tmp cleaners do. From 11u and 14 on, a trigger file makes
	# the JVM restore it.
	rm "$(socket_of "$version" "$pid")"
	jt jcmd --timeout 2 "$pid" VM.version
	if [ "$version" = 8 ]; then
		check "$version: deleted socket: jcmd works or exits with 5" \
			test "$rc" -eq 5 -o "$rc" -eq 0
	else
		same "$version: deleted socket: jcmd works, the JVM restores it" 0 "$rc"
	fi
	check "$version: deleted socket: the JVM answers" answers
	stop "$pid"

	# A JVM that is starting: jtool waits and sends no signal.
	launch_paused() {
		launch_jvm "$version" serial Idle -XX:+UnlockDiagnosticVMOptions \
			-XX:+PauseAtStartup
		poll 10 test -e "$W/vm.paused.$JVM_PID"
	}
	launch_paused
	timed refuses 5 'start' "$version: starting JVM: jcmd times out" \
		jcmd --timeout 0.5 "$JVM_PID" VM.version
	in_time 3 "$version: starting JVM: jcmd observes --timeout"
	check "$version: starting JVM: it survives" alive "$JVM_PID"
	(cd "$W" && exec timeout 30 ./jtool jcmd "$JVM_PID" VM.version >"$W/late" 2>&1) &
	waiting=$!
	rm -f "$W/vm.paused.$JVM_PID"
	rc=0
	wait $waiting || rc=$?
	same "$version: starting JVM: a waiting jcmd is served once the JVM runs" 0 "$rc"
	await_ready
	unharmed "$version: starting JVM"

	# A stopped JVM.
	suspend "$JVM_PID"
	timed refuses 5 'stopped' "$version: stopped JVM: jcmd is refused" \
		jcmd --timeout 1 "$JVM_PID" VM.version
	in_time 4 "$version: stopped JVM: jcmd observes --timeout"
	kill -CONT "$JVM_PID"
	unharmed "$version: stopped JVM"

	# A busy JVM: its only listener thread waits for another client.
	works "$version: busy JVM: jcmd works before" jcmd "$JVM_PID" VM.version
	peer hold "$(socket_of "$version" "$JVM_PID")"
	timed refuses 5 'did not answer' "$version: busy JVM: jcmd times out" \
		jcmd --timeout 1 "$JVM_PID" VM.version
	in_time 4 "$version: busy JVM: jcmd observes --timeout"
	late=/tmp/late-$$.hprof # of the JVM
	refuses 5 'will not carry out' "$version: busy JVM: op times out" \
		op --timeout 1 "$JVM_PID" dumpheap "$late" -all
	stop "$PEER"
	works "$version: listener is free again: jcmd works" jcmd "$JVM_PID" VM.version
	check "$version: listener is free again: the request that failed is not carried out" \
		test ! -e "${root%/}$late"
	rm -f "${root%/}$late"
	peer hold "$(socket_of "$version" "$JVM_PID")"

	# The target dies while jcmd waits for its answer.
	(cd "$W" && exec timeout 30 ./jtool jcmd "$JVM_PID" VM.version >"$W/out" 2>"$W/err") &
	waiting=$!
	poll 30 grep -q . "/proc/$waiting/stat"
	sleep 0.3 # likely while it waits; an earlier or later kill is fine, too
	kill -9 "$JVM_PID"
	rc=0
	wait $waiting || rc=$?
	same "$version: JVM killed during jcmd: exit code 7" 7 "$rc"
	check "$version: JVM killed during jcmd: the error says so" \
		grep -q -E '^jtool: jcmd: .*(exited|ended)' "$W/err" ||
		jt_details
	stop "$PEER"
	poll 30 gone "$JVM_PID"
	refuses 3 'no such process' "$version: exited JVM: jcmd is refused" jcmd "$JVM_PID" \
		VM.version

	# Attach disabled.
	start_jvm "$version" serial Idle -XX:+DisableAttachMechanism || continue
	refuses 5 'DisableAttachMechanism|disabled' "$version: attach disabled: jcmd is refused" \
		jcmd "$JVM_PID" VM.version
	refuses 5 'DisableAttachMechanism|disabled' "$version: attach disabled: load is refused" \
		load "$JVM_PID" instrument
	refuses 5 'DisableAttachMechanism|disabled' \
		"$version: attach disabled: heaphisto is refused" \
		heaphisto "$JVM_PID"
	unharmed "$version: attach disabled"
	stop "$JVM_PID"

	# -Xrs: SIGQUIT would kill the JVM.
	start_jvm "$version" serial Idle -Xrs || continue
	prints "$version: -Xrs: jcmd works, the socket exists from the start" . jcmd "$JVM_PID" \
		VM.version
	rm "$(socket_of "$version" "$JVM_PID")"
	refuses 5 'Xrs|socket' "$version: -Xrs, deleted socket: jcmd is refused" jcmd "$JVM_PID" \
		VM.version
	unharmed "$version: -Xrs"
	stop "$JVM_PID"

	# Other users.
	start_jvm "$version" serial Idle || continue
	JT_AS=65534 refuses 4 'permi|root|user' "$version: root's JVM: jcmd as nobody is refused" \
		jcmd "$JVM_PID" VM.version
	stop "$JVM_PID"
	mkdir "$W/nobody.$version"
	chown 65534:65534 "$W/nobody.$version"
	if [ "$version" = own ]; then
		JVM_CWD=$W/nobody.own
	else
		JVM_CWD=$IW/nobody.$version
	fi
	JVM_AS=65534:65534 start_jvm "$version" serial Idle || continue
	prints "$version: nobody's JVM: jcmd as root works" . jcmd "$JVM_PID" VM.version
	JT_AS=1234 refuses 4 'permi|root|user' \
		"$version: nobody's JVM: jcmd as another user is refused" \
		jcmd "$JVM_PID" VM.version
	JT_AS=65534:1234 refuses 4 'group 65534 .*group 1234' \
		"$version: nobody's JVM: jcmd as nobody with another group is refused" \
		jcmd "$JVM_PID" VM.version
	unharmed "$version: nobody's JVM"
	stop "$JVM_PID"
	if [ "$version" = own ]; then
		JVM_AS=65534:65534 start_jvm "$version" serial Idle || continue
		JT_AS=65534 prints "$version: nobody's JVM: jcmd as nobody works" . \
			jcmd "$JVM_PID" VM.version
		unharmed "$version: nobody's JVM, jcmd as nobody"
		stop "$JVM_PID"
	fi

	# The JVM looks for a trigger in its cwd first. One of another user would make it dump its
	# threads.
	JVM_AS=65534:65534 start_jvm "$version" serial Idle || continue
	trigger="$W/nobody.$version/.attach_pid$JVM_PID"
	echo foreign >"$trigger"
	chown 1234 "$trigger" # JDK 11 and later accept root's trigger
	refuses '[45]' 'attach_pid' "$version: another user's trigger in cwd: jcmd is refused" \
		jcmd "$JVM_PID" VM.version
	same "$version: another user's trigger in cwd: the file is unchanged" \
		foreign "$(cat "$trigger")"
	unharmed "$version: another user's trigger in cwd"
	rm "$trigger"

	# A stale trigger of the JVM's own user does no harm; a symlink is not followed.
	setpriv --reuid=65534 --regid=65534 --clear-groups touch "$trigger"
	prints "$version: stale trigger of its own user: jcmd works" . jcmd "$JVM_PID" VM.version
	unharmed "$version: stale trigger of its own user"
	stop "$JVM_PID"
	JVM_AS=65534:65534 start_jvm "$version" serial Idle || continue
	unset JVM_CWD
	echo precious >"$W/precious"
	ln -s "$W/precious" "$(trigger_of "$version" "$JVM_PID")"
	to_remove+=("$(trigger_of "$version" "$JVM_PID")")
	jt jcmd --timeout 3 "$JVM_PID" VM.version
	check "$version: symlink as trigger: jcmd works or is refused" \
		test "$rc" -eq 0 -o "$rc" -eq 4 -o "$rc" -eq 5
	same "$version: symlink as trigger: its target is unchanged" precious "$(cat "$W/precious")"
	unharmed "$version: symlink as trigger"
	rm -f "$(trigger_of "$version" "$JVM_PID")"
	stop "$JVM_PID"

	# Sockets that are not sockets, that belong to another user, or on which another process
	# listens.
	start_jvm "$version" serial Idle || continue
	socket=$(socket_of "$version" "$JVM_PID")
	to_remove+=("$socket")
	peer serve "$socket"
	refuses 5 'process|peer|socket' "$version: socket of another process: jcmd is refused" \
		jcmd --timeout 3 "$JVM_PID" VM.version
	unharmed "$version: socket of another process"
	chown 1234 "$socket"
	refuses '[45]' 'own|user|socket' "$version: socket of another user: jcmd is refused" \
		jcmd --timeout 3 "$JVM_PID" VM.version
	mv "$socket" "$socket.elsewhere"
	to_remove+=("$socket.elsewhere")
	ln -s "$socket.elsewhere" "$socket"
	refuses '[45]' 'symlink|symbolic|socket' "$version: symlink as socket: jcmd is refused" \
		jcmd --timeout 3 "$JVM_PID" VM.version
	rm -f "$socket" "$socket.elsewhere"
	mkfifo "$socket"
	refuses '[45]' 'socket' "$version: FIFO as socket: jcmd is refused" \
		jcmd --timeout 3 "$JVM_PID" VM.version
	rm -f "$socket"
	echo text >"$socket"
	refuses '[45]' 'socket' "$version: file as socket: jcmd is refused" \
		jcmd --timeout 3 "$JVM_PID" VM.version
	rm -f "$socket"
	unharmed "$version: foreign sockets"
	prints "$version: foreign sockets removed: jcmd works" . jcmd "$JVM_PID" VM.version
	stop "$PEER" "$JVM_PID"
done

# Without a writable tmp directory.
version=$(newest_of "${jdks[@]}")
# shellcheck disable=SC2016 # expanded by the inner shell
read_only='mount --bind "$0/tmp" "$0/tmp" && mount -o remount,bind,ro "$0/tmp" && exec "$@"'
jvm_command "$version" serial -cp "$IW/classes" Idle
spawn unshare -m bash -c "$read_only" "$matrix" "${argv[@]}"
await_ready
refuses 5 'tmp|read-only|writable' "read-only /tmp: jcmd is refused" jcmd --timeout 3 "$JVM_PID" \
	VM.version
works "read-only /tmp: list" list --json
same "read-only /tmp: list: attaching is not possible" disabled \
	"$(json "[v['attach'] for v in j['jvms'] if v['pid'] == $JVM_PID][0]")"
prints "read-only /tmp: info says why" 'its directory /tmp is mounted read-only' info "$JVM_PID"
unharmed "read-only /tmp"

# The JVM can write to its tmp directory only by a supplementary group.
# shellcheck disable=SC2016 # expanded by the inner shell
by_group='mount -t tmpfs -o mode=1770,gid=2000 none /tmp && cd / &&
	exec setpriv --reuid=1000 --regid=1000 --groups=2000 "$@"'
spawn unshare -m bash -c "$by_group" bash java -Xmx64m -cp "$W/classes" Idle
await_ready
prints "/tmp of a supplementary group: jcmd works" . jcmd "$JVM_PID" VM.version
works "/tmp of a supplementary group: heaphisto" heaphisto --engine agent "$JVM_PID"
works "/tmp of a supplementary group: heapdump" heapdump "$JVM_PID" group.hprof
rm -f "$W/group.hprof"
unharmed "/tmp of a supplementary group"
stop "$JVM_PID"

# Processes that are not JVMs, and usage errors.
refuses 3 'not a JVM' "a shell: not a JVM" jcmd $$ VM.version
refuses 3 'no such' "unused PID: jcmd is refused" jcmd 4194303 VM.version
refuses '[23]' '.' "PID 0: jcmd is refused" jcmd 0 VM.version
jt jcmd -- -1 VM.version
check "negative PID: jcmd is refused" test "$rc" -eq 2 -o "$rc" -eq 3
refuses 2 '.' "unknown command: refused" nosuchcommand
refuses 2 '.' "unknown option: refused" jcmd --nosuchoption 1
refuses 2 'timeout' "--timeout with an invalid value: refused" jcmd --timeout soon 1
