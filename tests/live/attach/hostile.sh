#!/usr/bin/env bash
# What a target may leave in our way: hsperfdata files and sockets that are cut, corrupt, huge,
# replaced, or vanish while they are read.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

own_main() {
	json "[v['main'] for v in j['jvms'] if v['pid'] == $JVM_PID]"
}

# survives NAME: list says what it can, attach does not care, nothing crashes or hangs.
survives() {
	JT_LIMIT=10 jt list --json
	if [ "$rc" -eq 0 ] && [ "$(own_main)" = "['Idle']" ]; then
		pass "$1: list"
	else
		fail "$1: list" "$(jt_details)"
	fi
	JT_LIMIT=10 prints "$1: by pid" 'VM|JDK' jcmd "$JVM_PID" VM.version
}

for version in own "${jdks[@]}"; do
	start_jvm "$version" serial Idle || continue
	data=${jdk_root[$version]:-}/tmp/hsperfdata_root/$JVM_PID
	cp "$data" "$W/good"
	size=$(stat -c %s "$W/good")
	litter+=("$data")

	# The JVM has the file mapped: it is replaced, never cut in place.
	rm -rf "$data"
	survives "$version: no hsperfdata"
	for n in 0 1 31 32 100 $((size / 2)); do
		head -c "$n" "$W/good" >"$W/new" && mv "$W/new" "$data"
		survives "$version: $n bytes of hsperfdata"
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
	same "$version: corrupt hsperfdata" 0 "$rc"
	[ "$rc" -eq 0 ] || cp "$data" "/tmp/jtool-corrupt-hsperfdata.$$"
	head -c "$size" /dev/zero | tr '\0' '\377' >"$W/new" && mv "$W/new" "$data"
	survives "$version: hsperfdata of ones"
	rm -rf "$data" && truncate -s 8G "$data"
	survives "$version: huge, empty hsperfdata"
	cp "$W/good" "$data" && truncate -s 8G "$data"
	survives "$version: huge hsperfdata"
	rm -rf "$data" && mkfifo "$data"
	survives "$version: a FIFO for hsperfdata"
	rm -rf "$data" && ln -s /dev/zero "$data"
	survives "$version: a symlink to /dev/zero"
	rm -rf "$data" && ln -s "$data" "$data"
	survives "$version: a symlink to itself"
	rm -rf "$data" && mkdir "$data"
	survives "$version: a directory for hsperfdata"
	rm -rf "$data" && mknod "$data" c 1 5
	survives "$version: a device for hsperfdata"
	rm -rf "$data"

	# It comes and goes while it is read.
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
	same "$version: hsperfdata that flickers" 0 "$worst"
	kill -9 $flicker
	wait $flicker 2>/dev/null
	rm -rf "$data"

	unharmed "$version: hostile files"

	# The socket, likewise.  A signal may meet a JVM whose socket has just come back: then it
	# dumps its threads, which nobody outside can know of before.
	socket=${jdk_root[$version]:-}/tmp/.java_pid$JVM_PID
	while :; do
		mv "$socket" "$socket.away"
		mv "$socket.away" "$socket"
	done 2>/dev/null &
	flicker=$!
	strange=""
	for ((i = 0; i < $(in_soak 200 15); i++)); do
		JT_LIMIT=20 jt jcmd --timeout 2 "$JVM_PID" VM.version
		case $rc in
		0 | 5) ;;
		*) strange+="exit $rc: $(cat "$W/err") " ;;
		esac
	done
	kill -9 $flicker
	wait $flicker 2>/dev/null
	rm -f "$socket.away"
	same "$version: a socket that flickers: served or told" "" "$strange"
	check "$version: and the JVM lives" answers
	stop "$JVM_PID"
done

# Names that want to be more than text.
escape=$'evil\033[31m\n\t"name\\end'
start_jvm own serial Idle "-Devil=$escape" -- "$escape" $'\xff\xfe' ''
jt list -m -v
same "control characters: list" 0 "$rc"
same "none reaches the terminal" "" "$(tr -d '\n\t\40-\176\200-\377' <"$W/out")"
same "one line a JVM" 1 "$(grep -c "^ *$JVM_PID " "$W/out")"
jt list --json
same "control characters: JSON is JSON" True \
	"$(json "'\\033' in [v['args'] for v in j['jvms'] if v['pid'] == $JVM_PID][0]")"
stop "$JVM_PID"
