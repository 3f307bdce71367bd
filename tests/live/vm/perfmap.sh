#!/usr/bin/env bash
# perfmap: the map names compiled methods, has the caller's pid in its name and belongs to the caller.
# The JVM writes it from JDK 17 on; the agent does on all.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

# names_loops FILE: the map has the methods of the victim, which HotSpot compiles at once.
names_loops() {
	grep -q -E '^(0x)?[0-9a-f]+ (0x)?[0-9a-f]+ .*Profiled[.:]+(sixty|loop)' "$1"
}

named_map() {
	"$JTOOL" perfmap "$JVM_PID" - >"$W/map" && names_loops "$W/map"
}

# of_agent_and_vm: the maps of the agent and of the JVM have the same names.
of_agent_and_vm() {
	"$JTOOL" perfmap "$JVM_PID" --engine agent - >"$W/map" &&
		"$JTOOL" perfmap "$JVM_PID" --engine vm - >"$W/map.vm" &&
		[ "$(python3 "$live_dir/vm/perfmap.py" names "$W/map" "$W/map.vm")" = same ]
}

has_threads() {
	[ "$(lasting_threads "$JVM_PID")" = "$1" ]
}

# by_agent VERSION: the agent writes the map. No thread and no descriptor remain; jtool itself
# checks that the agent has freed all its memory.
by_agent() {
	local version=$1 name threads fds

	threads=$(lasting_threads "$JVM_PID")
	fds=$(fd_count "$JVM_PID")
	works "$version: perfmap --engine agent: it works" perfmap "$JVM_PID" --engine agent -
	cp "$W/out" "$W/map"
	same "$version: perfmap --engine agent: all is in the code cache" same \
		"$(python3 "$live_dir/vm/perfmap.py" mapped "$JVM_PID" "$W/map")"
	# The pattern of call_stub covers JDK 27, which has other names for its stubs.
	for name in Interpreter 'call_stub(_stub \(stub gen\))?' 'I2C/C2I adapters' \
		'long Profiled\.sixty\(int\)'; do
		check "$version: perfmap --engine agent: it names $name" \
			grep -q -E "^[0-9a-f]+ [0-9a-f]+ $name\$" "$W/map"
	done
	if [ "$version" -ge 17 ]; then
		check "$version: perfmap: both engines give the same names" poll 60 of_agent_and_vm
	fi
	check "$version: perfmap --engine agent: no thread remains" poll 20 has_threads "$threads"
	same "$version: perfmap --engine agent: no descriptor remains" "$fds" "$(fd_count "$JVM_PID")"
	same "$version: perfmap --engine agent: the JVM prints nothing" "" "$(unexpected_output)"
}

maps() {
	local version=$1 engine=vm map=/tmp/perf-$JVM_PID.map

	[ "$version" -ge 17 ] || engine=agent
	check "$version: perfmap to stdout: it names the program's methods" poll 60 named_map
	to_remove+=("$map" "${jdk_root[$version]}$map")
	echo old >"$map"
	jt perfmap "$JVM_PID"
	same "$version: perfmap: exit code" 0 "$rc"
	check "$version: perfmap: the file of the caller's pid" names_loops "$map"
	same "$version: perfmap: the caller's file" "644 0" "$(stat -c '%a %u' "$map")"
	works "$version: perfmap FILE --json: it works" perfmap "$JVM_PID" own.map --json
	same "$version: perfmap FILE --json: its keys" "own.map $engine $(stat -c %s "$W/own.map")" \
		"$(json "j['file'] + ' ' + j['engine'] + ' ' + str(j['bytes'])")"
	by_agent "$version"
	perf_resolves "$version"
	refuses 2 'exists' "$version: perfmap FILE: an existing file" perfmap "$JVM_PID" own.map
	rm -f "$W/own.map"
	check "$version: perfmap: no file of jtool's remains" nothing_left "${jdk_root[$version]}" \
		"$JVM_PID" 0 "${W#"${jdk_root[$version]}"}"
	check "$version: perfmap: no file of the JVM's remains" test ! -e "${jdk_root[$version]}$map"
	[ "$version" -ge 17 ] || old_jvm "$version"
	[ "$version" -lt 17 ] || [ "$version" -ge 22 ] || own_file "$version"
}

old_jvm() {
	refuses 1 'needs JDK 17' "$1: perfmap --engine vm" perfmap "$JVM_PID" --engine vm -
}

# The JVMs of JDK 17 to 21 write the map to their own /tmp.
own_file() {
	local own=${jdk_root[$1]}/tmp/perf-$JVM_PID.map

	echo old >"$own"
	works "$1: perfmap: it works" perfmap "$JVM_PID" -
	check "$1: perfmap: a file that existed stays, as the JVM has written it" names_loops "$own"
	rm -f "$own"
	check "$1: perfmap in the JVM's root: it works" \
		chroot "${jdk_root[$1]}" "$IW/jtool" perfmap "$JVM_PID"
	check "$1: perfmap in the JVM's root: the result is not removed" names_loops "$own"
	rm -f "$own"
	foreign_file "$1"
	killed "$1"
}

# waiting_requests: the number of the JVM's attach sockets: the listening one, and one for each
# connection.
waiting_requests() {
	# the JVM binds the socket to this name and then renames it
	grep -c "/tmp/\.java_pid$JVM_PID\.tmp\$" /proc/net/unix
}

has_requests() {
	[ "$(waiting_requests)" -ge "$1" ]
}

# killed VERSION: the JVM executes the request after jtool was killed.  Until then, a client that
# sends no request occupies the JVM's thread for requests.
killed() {
	local own=${jdk_root[$1]}/tmp/perf-$JVM_PID.map before pid

	before=$(waiting_requests)
	exec {hold}> >(exec python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
sys.stdin.read()' "${jdk_root[$1]}/tmp/.java_pid$JVM_PID")
	check "$1: perfmap killed: another client is first" poll 20 has_requests $((before + 1))
	"$JTOOL" perfmap "$JVM_PID" - >/dev/null 2>&1 {hold}>&- &
	pid=$!
	check "$1: perfmap killed: it asks" poll 20 has_requests $((before + 2))
	kill -9 $pid
	wait $pid 2>/dev/null
	exec {hold}>&-
	# The JVM answers this after it has executed the request.
	works "$1: perfmap killed: the JVM answers" jcmd "$JVM_PID" VM.version
	check "$1: perfmap killed: the JVM's file is removed" poll 20 test ! -e "$own"
}

# perf_resolves VERSION: perf finds the map by itself, and prints the names of Java methods.
perf_resolves() {
	local name="$1: perf prints the program's methods"

	if ! command -v perf >/dev/null ||
		! HOME=$W perf record -q -o "$W/perf.data" -F 99 -p "$JVM_PID" -- sleep 2 >/dev/null 2>&1; then
		skip "$name" "perf is not installed, or cannot sample here"
		return
	fi
	works "$1: perfmap after perf record: it works" perfmap "$JVM_PID"
	HOME=$W perf report -i "$W/perf.data" --stdio --no-children >"$W/report" 2>&1
	check "$name" grep -q -E '%.*Profiled[.:]+(sixty|loop)' "$W/report"
	rm -f "$W/perf.data"
}

# by_agent_instead NAME ARGUMENT...: perfmap works, and a notice says that the agent lists the code.
by_agent_instead() {
	local name=$1

	shift
	jt perfmap "$@"
	same "$name: the agent lists the code" "0 1 1" \
		"$rc $(wc -l <"$W/err") $(grep -c 'not a file of its user; using the agent' "$W/err")"
}

# The JVM would follow a link that another user has put there.
foreign_file() {
	local own=${jdk_root[$1]}/tmp/perf-$JVM_PID.map

	rm -f "$own"
	ln -s "$IW/victim" "$own"
	refuses 1 'not a file of its user' "$1: perfmap --engine vm: a link where the JVM would write" \
		perfmap "$JVM_PID" --engine vm -
	by_agent_instead "$1: perfmap: a link where the JVM would write" "$JVM_PID" -
	check "$1: perfmap: nothing was written through the link" test ! -e "$W/victim"
	rm -f "$own"
}

# other_user VERSION: in a /tmp with the sticky bit, only the file's owner and root may remove it.
# This JVM has no hsperfdata, because its user has no name, so jtool does not know its release.
other_user() {
	local version=$1 own

	JVM_AS=1000:1000 start_jvm "$version" default Profiled || return
	own=${jdk_root[$version]}/tmp/perf-$JVM_PID.map
	to_remove+=("$own")
	check "$version: perfmap of another user: it names the program's methods" poll 60 named_map
	[ "$version" -lt 17 ] ||
		works "$version: perfmap --engine vm of another user: it works" \
			perfmap "$JVM_PID" --engine vm -
	check "$version: perfmap of another user: no file of the JVM's remains" test ! -e "$own"
	works "$version: perfmap --engine agent of another user: it works" \
		perfmap "$JVM_PID" --engine agent -
	check "$version: perfmap of another user: no file of jtool's remains" nothing_left \
		"${jdk_root[$version]}" "$JVM_PID" 1000 "${W#"${jdk_root[$version]}"}"
	stop "$JVM_PID"
}

# rooted: root's own map is where the JVM of another user would write, in the same namespaces. The
# machine's own JDK is 17.
rooted() {
	local map

	JVM_AS=nobody:nogroup start_jvm own default Profiled || return
	map=/tmp/perf-$JVM_PID.map
	to_remove+=("$map")
	check "own: perfmap of another user: it names the program's methods" poll 60 named_map
	works "own: perfmap of another user: it works" perfmap "$JVM_PID"
	same "own: perfmap of another user: the file is root's" 0 "$(stat -c %u "$map")"
	echo old >"$map"
	by_agent_instead "own: perfmap of another user, again" "$JVM_PID"
	check "own: perfmap of another user, again: the map is replaced" names_loops "$map"
	same "own: perfmap of another user, again: the caller's file" "644 0" \
		"$(stat -c '%a %u' "$map")"
	by_agent_instead "own: perfmap of another user to stdout" "$JVM_PID" -
	check "own: perfmap of another user to stdout: it names the methods" names_loops "$W/out"
	by_agent_instead "own: perfmap of another user to FILE" "$JVM_PID" own.map
	check "own: perfmap of another user to FILE: it names the methods" names_loops "$W/own.map"
	rm -f "$W/own.map"
	refuses 1 'remove it, or use --engine agent' "own: perfmap --engine vm of another user" \
		perfmap "$JVM_PID" --engine vm -
	check "own: perfmap of another user: root's map remains" names_loops "$map"
	check "own: perfmap of another user: no file of jtool's remains" nothing_left "" "$JVM_PID" \
		65534 "${W#/}"
	stop "$JVM_PID"
}
rooted

for version in "${jdks[@]}"; do
	start_jvm "$version" default Profiled || continue
	maps "$version"
	stop "$JVM_PID"
	[ "$version" -ge 22 ] || other_user "$version"
done

no_reaper() {
	! pgrep -f -- "perfmap $JVM_PID full.map" >/dev/null
}

# The JVM reports no failed write.  The machine's own JDK is 17, which writes to its own /tmp; later
# ones write to a staged file, which is put where there is room.
# shellcheck disable=SC2016 # expanded by the inner shell
spawn unshare -m bash -c 'mount -t tmpfs -o size=1m,mode=1777 none /tmp && exec java "$@"' bash \
	-Xmx16m -XX:+UseSerialGC -cp "$W/classes" Profiled
if await_ready; then
	full=/proc/$JVM_PID/root/tmp
	works "a file system with room: it works" perfmap "$JVM_PID" full.map
	dd if=/dev/zero of="$full/filler" bs=4k 2>/dev/null
	refuses 1 'did not write .*/tmp/perf-[0-9]*.map: its disk is full' "a full disk" \
		perfmap "$JVM_PID" full.map --force
	# A process that waits for the file would remove the file of the next perfmap.
	check "a full disk: no process of jtool's remains" no_reaper
	truncate -s -8192 "$full/filler"
	refuses 1 'wrote only a part of .*/tmp/perf-[0-9]*.map: its disk is full; free space there' \
		"a disk that becomes full" perfmap "$JVM_PID" full.map --force
	check "a disk that becomes full: no process of jtool's remains" no_reaper
	same "a full disk: no part of a map remains" "filler True" "$(
		find "$full" -mindepth 1 -maxdepth 1 ! -name 'hsperfdata*' ! -name '.*' -printf '%f') $(
		names_loops "$W/full.map" && echo True)"
	works "a full disk: the agent lists the code" perfmap "$JVM_PID" --engine agent -
	stop "$JVM_PID"
fi
