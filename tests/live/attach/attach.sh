#!/usr/bin/env bash
# Attaching: the ways in, and each way in which there is none, told by its cause.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# socket_of VERSION PID, trigger_of VERSION PID: where they are, as seen from here.
socket_of() {
	echo "${jdk_root[$1]:-}/tmp/.java_pid$2"
}

trigger_of() {
	echo "${jdk_root[$1]:-}/tmp/.attach_pid$2"
}

# peer HOW SOCKET: a peer.py in the background; sets PEER.
peer() {
	local save=("$JVM_PID" "$JVM_IN" "$JVM_OUT" "$JVM_ERR")

	spawn python3 "$live_dir/peer.py" "$@"
	PEER=$JVM_PID
	poll 10 grep -q up "$JVM_OUT" || fail "peer.py $1 came up" "$(cat "$JVM_ERR")"
	JVM_PID=${save[0]} JVM_IN=${save[1]} JVM_OUT=${save[2]} JVM_ERR=${save[3]}
}

# in_time SECONDS NAME: the last jtool took no longer.
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
	# Cold, then warm.
	start_jvm "$version" serial Idle || continue
	pid=$JVM_PID
	root=${jdk_root[$version]:-/}
	prints "$version: cold" . jcmd "$pid" VM.version
	check "$version: no trigger stays" nothing_left "$root" "$pid" 0 "$IW"
	prints "$version: warm" . jcmd "$pid" VM.version
	unharmed "$version: cold and warm"

	# The socket's file goes (a tmp cleaner) and a trigger brings it back: 11u and 14 on.
	rm "$(socket_of "$version" "$pid")"
	jt jcmd --timeout 2 "$pid" VM.version
	if [ "$version" = 8 ]; then
		check "$version: socket deleted: exit 5, or it works" test "$rc" -eq 5 -o "$rc" -eq 0
	else
		same "$version: socket deleted: it comes back" 0 "$rc"
	fi
	check "$version: it lives" answers
	stop "$pid"

	# Starting: waited for, not signalled.
	launch_paused() {
		launch_jvm "$version" serial Idle -XX:+UnlockDiagnosticVMOptions \
			-XX:+PauseAtStartup
		poll 10 test -e "$W/vm.paused.$JVM_PID"
	}
	launch_paused
	timed refuses 5 'start' "$version: a JVM that is starting" \
		jcmd --timeout 0.5 "$JVM_PID" VM.version
	in_time 3 "$version: and --timeout holds"
	check "$version: it lives" alive "$JVM_PID"
	(cd "$W" && exec timeout 30 ./jtool jcmd "$JVM_PID" VM.version >"$W/late" 2>&1) &
	waiting=$!
	rm -f "$W/vm.paused.$JVM_PID"
	rc=0
	wait $waiting || rc=$?
	same "$version: once it runs, the waiting command is served" 0 "$rc"
	await_ready
	unharmed "$version: attached while starting"

	# Stopped.
	halt "$JVM_PID"
	timed refuses 5 'stopped' "$version: a stopped JVM" \
		jcmd --timeout 1 "$JVM_PID" VM.version
	in_time 4 "$version: and --timeout holds"
	kill -CONT "$JVM_PID"
	unharmed "$version: it was stopped"

	# Busy: the one listener thread waits for somebody else.
	works "$version: warm again" jcmd "$JVM_PID" VM.version
	peer hold "$(socket_of "$version" "$JVM_PID")"
	timed refuses 5 'answer|take' "$version: no answer in time" \
		jcmd --timeout 1 "$JVM_PID" VM.version
	in_time 4 "$version: and --timeout holds"

	# The target dies while its answer is awaited.
	(cd "$W" && exec timeout 30 ./jtool jcmd "$JVM_PID" VM.version >"$W/out" 2>"$W/err") &
	waiting=$!
	poll 30 grep -q . "/proc/$waiting/stat"
	sleep 0.3 # for it to be in the middle of waiting; sooner or later is no failure
	kill -9 "$JVM_PID"
	rc=0
	wait $waiting || rc=$?
	same "$version: killed meanwhile: exit 7" 7 "$rc"
	check "$version: told so" grep -q -E '^jtool: jcmd: .*(gone|went away|ended)' "$W/err" ||
		jt_details
	stop "$PEER"
	poll 30 gone "$JVM_PID"
	refuses 3 'no such process' "$version: a JVM that is gone" jcmd "$JVM_PID" VM.version

	# Disabled.
	start_jvm "$version" serial Idle -XX:+DisableAttachMechanism || continue
	refuses 5 'DisableAttachMechanism|disabled' "$version: attach disabled" \
		jcmd "$JVM_PID" VM.version
	refuses 5 'DisableAttachMechanism|disabled' "$version: for load, too" \
		load "$JVM_PID" instrument
	refuses 5 'DisableAttachMechanism|disabled' "$version: for heaphisto, too" \
		heaphisto "$JVM_PID"
	unharmed "$version: attach disabled"
	stop "$JVM_PID"

	# -Xrs: SIGQUIT would kill.
	start_jvm "$version" serial Idle -Xrs || continue
	prints "$version: -Xrs, socket from the start" . jcmd "$JVM_PID" VM.version
	rm "$(socket_of "$version" "$JVM_PID")"
	refuses 5 'Xrs|socket' "$version: -Xrs, socket deleted" jcmd "$JVM_PID" VM.version
	unharmed "$version: -Xrs"
	stop "$JVM_PID"

	# Other users.
	start_jvm "$version" serial Idle || continue
	JT_AS=65534 refuses 4 'permi|root|user' "$version: root's JVM, from nobody" \
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
	prints "$version: nobody's JVM, from root" . jcmd "$JVM_PID" VM.version
	JT_AS=1234 refuses 4 'permi|root|user' "$version: nobody's JVM, from another user" \
		jcmd "$JVM_PID" VM.version
	JT_AS=65534:1234 refuses 4 'group 65534 .*group 1234' \
		"$version: nobody's JVM, from nobody with another group" jcmd "$JVM_PID" VM.version
	unharmed "$version: nobody's JVM"
	stop "$JVM_PID"
	if [ "$version" = own ]; then
		JVM_AS=65534:65534 start_jvm "$version" serial Idle || continue
		JT_AS=65534 prints "$version: nobody's JVM, from nobody" . \
			jcmd "$JVM_PID" VM.version
		unharmed "$version: nobody's JVM from nobody"
		stop "$JVM_PID"
	fi

	# Somebody else's trigger in cwd comes first for the JVM, and would make it dump threads.
	JVM_AS=65534:65534 start_jvm "$version" serial Idle || continue
	trigger="$W/nobody.$version/.attach_pid$JVM_PID"
	echo foreign >"$trigger"
	chown 1234 "$trigger" # root's is as good as its own, from JDK 11 on
	refuses '[45]' 'attach_pid' "$version: a foreign trigger in cwd" jcmd "$JVM_PID" VM.version
	same "$version: it is left alone" foreign "$(cat "$trigger")"
	unharmed "$version: a foreign trigger in cwd"
	rm "$trigger"

	# A stale one of the right owner is no hindrance; a symlink leads nobody anywhere.
	setpriv --reuid=65534 --regid=65534 --clear-groups touch "$trigger"
	prints "$version: a stale trigger of its own" . jcmd "$JVM_PID" VM.version
	unharmed "$version: a stale trigger of its own"
	stop "$JVM_PID"
	JVM_AS=65534:65534 start_jvm "$version" serial Idle || continue
	unset JVM_CWD
	echo precious >"$W/precious"
	ln -s "$W/precious" "$(trigger_of "$version" "$JVM_PID")"
	litter+=("$(trigger_of "$version" "$JVM_PID")")
	jt jcmd --timeout 3 "$JVM_PID" VM.version
	check "$version: a symlink for a trigger: works, or is told" \
		test "$rc" -eq 0 -o "$rc" -eq 4 -o "$rc" -eq 5
	same "$version: nothing was written through it" precious "$(cat "$W/precious")"
	unharmed "$version: a symlink for a trigger"
	rm -f "$(trigger_of "$version" "$JVM_PID")"
	stop "$JVM_PID"

	# A socket that is none, is another's, or has another process behind it.
	start_jvm "$version" serial Idle || continue
	socket=$(socket_of "$version" "$JVM_PID")
	litter+=("$socket")
	peer serve "$socket"
	refuses 5 'process|peer|socket' "$version: another process behind the socket" \
		jcmd --timeout 3 "$JVM_PID" VM.version
	unharmed "$version: another process behind the socket"
	chown 1234 "$socket"
	refuses '[45]' 'own|user|socket' "$version: a socket of another user" \
		jcmd --timeout 3 "$JVM_PID" VM.version
	mv "$socket" "$socket.elsewhere"
	litter+=("$socket.elsewhere")
	ln -s "$socket.elsewhere" "$socket"
	refuses '[45]' 'symlink|symbolic|socket' "$version: a symlink for a socket" \
		jcmd --timeout 3 "$JVM_PID" VM.version
	rm -f "$socket" "$socket.elsewhere"
	mkfifo "$socket"
	refuses '[45]' 'socket' "$version: a FIFO for a socket" \
		jcmd --timeout 3 "$JVM_PID" VM.version
	rm -f "$socket"
	echo text >"$socket"
	refuses '[45]' 'socket' "$version: a file for a socket" \
		jcmd --timeout 3 "$JVM_PID" VM.version
	rm -f "$socket"
	unharmed "$version: foreign sockets"
	prints "$version: and once they are gone, it works" . jcmd "$JVM_PID" VM.version
	stop "$PEER" "$JVM_PID"
done

# No tmp directory to bind in.
version=$(newest_of "${jdks[@]}")
# shellcheck disable=SC2016 # expanded by the inner shell
read_only='mount --bind "$0/tmp" "$0/tmp" && mount -o remount,bind,ro "$0/tmp" && exec "$@"'
jvm_command "$version" serial -cp "$IW/classes" Idle
spawn unshare -m bash -c "$read_only" "$matrix" "${argv[@]}"
await_ready
refuses 5 'tmp|read-only|writable' "no writable tmp" jcmd --timeout 3 "$JVM_PID" VM.version
unharmed "no writable tmp"

# Not JVMs.
refuses 3 'not a JVM' "a shell" jcmd $$ VM.version
refuses 3 'no such' "a pid that nobody has" jcmd 4194303 VM.version
refuses '[23]' '.' "pid 0" jcmd 0 VM.version
jt jcmd -- -1 VM.version
check "a negative pid" test "$rc" -eq 2 -o "$rc" -eq 3
refuses 2 '.' "an unknown command" nosuchcommand
refuses 2 '.' "an unknown option" jcmd --nosuchoption 1
refuses 2 'timeout' "a timeout that is none" jcmd --timeout soon 1
