#!/usr/bin/env bash
# Hostile files of a target: hsperfdata files and sockets that are truncated, corrupt, huge,
# replaced, or deleted while jtool reads them.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

own_main() {
	json "[v['main'] for v in j['jvms'] if v['pid'] == $JVM_PID]"
}

# survives NAME: list shows the JVM, jcmd works, and neither crashes nor hangs.
survives() {
	JT_LIMIT=10 jt list --json
	if [ "$rc" -eq 0 ] && [ "$(own_main)" = "['Idle']" ]; then
		pass "$1: list shows the JVM"
	else
		fail "$1: list shows the JVM" "$(jt_details)"
	fi
	JT_LIMIT=10 prints "$1: jcmd PID works" 'VM|JDK' jcmd "$JVM_PID" VM.version
}

for version in own "${jdks[@]}"; do
	start_jvm "$version" serial Idle || continue
	data=${jdk_root[$version]:-}/tmp/hsperfdata_root/$JVM_PID
	cp "$data" "$W/good"
	size=$(stat -c %s "$W/good")
	to_remove+=("$data")

	# The JVM has mapped the file: it is replaced, never truncated in place.
	rm -rf "$data"
	survives "$version: no hsperfdata file"
	for n in 0 1 31 32 100 $((size / 2)); do
		head -c "$n" "$W/good" >"$W/new" && mv "$W/new" "$data"
		survives "$version: hsperfdata of $n bytes"
	done
	for ((i = 0; i < $(in_soak 50 5); i++)); do
		cp "$W/good" "$W/new"
		for ((k = 0; k < 20; k++)); do
			head -c 4 /dev/urandom | dd of="$W/new" bs=1 conv=notrunc status=none \
				seek=$(((RANDOM * 32768 + RANDOM) % (size - 4)))
		done
		mv "$W/new" "$data"
		JT_LIMIT=10 jt list --json
		[ "$rc" -eq 0 ] || break
	done
	same "$version: corrupt hsperfdata: list works" 0 "$rc"
	[ "$rc" -eq 0 ] || cp "$data" "/tmp/jtool-corrupt-hsperfdata.$$"
	head -c "$size" /dev/zero | tr '\0' '\377' >"$W/new" && mv "$W/new" "$data"
	survives "$version: hsperfdata with all bits set"
	rm -rf "$data" && truncate -s 8G "$data"
	survives "$version: huge hsperfdata of zeros"
	cp "$W/good" "$data" && truncate -s 8G "$data"
	survives "$version: huge hsperfdata"
	rm -rf "$data" && mkfifo "$data"
	survives "$version: FIFO as hsperfdata"
	rm -rf "$data" && ln -s /dev/zero "$data"
	survives "$version: symlink to /dev/zero as hsperfdata"
	rm -rf "$data" && ln -s "$data" "$data"
	survives "$version: symlink to itself as hsperfdata"
	rm -rf "$data" && mkdir "$data"
	survives "$version: directory as hsperfdata"
	rm -rf "$data" && mknod "$data" c 1 5
	survives "$version: device as hsperfdata"
	rm -rf "$data"

	# It is created and deleted while list reads it.
	while :; do
		cp "$W/good" "$W/new"
		mv "$W/new" "$data"
		: >"$data"
		rm -f "$data"
	done 2>/dev/null &
	flicker=$!
	worst=0
	for ((i = 0; i < $(in_soak 500 30); i++)); do
		JT_LIMIT=10 jt list --json
		[ "$rc" -le "$worst" ] || worst=$rc
	done
	same "$version: hsperfdata created and deleted in a loop: list works" 0 "$worst"
	kill -9 $flicker
	wait $flicker 2>/dev/null
	rm -rf "$data"

	unharmed "$version: hostile files"

	# The same for the socket. A signal may reach a JVM whose socket has just reappeared: the
	# JVM then dumps its threads. No other process can know that in advance.
	socket=${jdk_root[$version]:-}/tmp/.java_pid$JVM_PID
	while :; do
		mv "$socket" "$socket.away"
		mv "$socket.away" "$socket"
	done 2>/dev/null &
	flicker=$!
	unexpected=""
	for ((i = 0; i < $(in_soak 200 15); i++)); do
		JT_LIMIT=20 jt jcmd --timeout 2 "$JVM_PID" VM.version
		case $rc in
		0 | 5) ;;
		*) unexpected+="exit $rc: $(cat "$W/err") " ;;
		esac
	done
	kill -9 $flicker
	wait $flicker 2>/dev/null
	rm -f "$socket.away"
	same "$version: socket moved in a loop: jcmd works or exits with 5" "" "$unexpected"
	check "$version: socket moved in a loop: the JVM answers" answers
	stop "$JVM_PID"
done

# Command lines with control characters.
escape=$'evil\033[31m\n\t"name\\end'
start_jvm own serial Idle "-Devil=$escape" -- "$escape" $'\xff\xfe' ''
jt list -m -v
same "control characters: list works" 0 "$rc"
same "control characters: list escapes them" "" "$(tr -d '\n\t\40-\176\200-\377' <"$W/out")"
same "control characters: list prints one line per JVM" 1 "$(grep -c "^ *$JVM_PID " "$W/out")"
jt list --json
same "control characters: list --json is valid JSON" True \
	"$(json "'\\033' in [v['args'] for v in j['jvms'] if v['pid'] == $JVM_PID][0]")"
stop "$JVM_PID"
