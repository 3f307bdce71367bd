#!/usr/bin/env bash
# Snapshots harm no JVM: one under load, while jtool and the snapshot's processes are killed and
# stopped; one that is process 1; one that closes sockets; one whose child crashes. Each command is
# answered, or refused with a reason. JTOOL_SOAK=1: 2,000 snapshots under load, of 2,000 threads.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/../lib.sh"

total=$(in_soak 2000 45)
threads=$(in_soak 2000 200)

# counts: the numbers of the JVM's descriptors and of its shared mappings.
counts() {
	echo "$(fd_count "$JVM_PID") $(grep -c 'rw-s .*/dev/zero' "/proc/$JVM_PID/maps")"
}

has_counts() {
	[ "$(counts)" = "$1" ]
}

# crash_files: the crash files of the JVMs of this test.
crash_files() {
	find "$W" -maxdepth 1 \( -name 'hs_err*' -o -name 'core*' \)
}

# begin ARGUMENT...: runs jtool in the background; sets `pid`.
begin() {
	(cd "$W" && exec timeout -k 1 120 ./jtool "$@" >"$W/out" 2>"$W/err" </dev/null) &
	pid=$!
}

# the_child: waits for the snapshot's process and prints its PID; prints nothing if jtool ends first.
the_child() {
	poll 30 has_child_or_ended
	children | head -n 1
}

# end: waits for jtool; sets rc.
end() {
	rc=0
	wait "$pid" 2>/dev/null || rc=$?
}

# jtool_itself: the PID of the process that `timeout` runs.
jtool_itself() {
	pgrep -P "$pid" | head -n 1
}

# One snapshot and one strike at a random moment.

strikes=(none none kill-jtool kill-child stop-child stop-jtool crash-child stop-and-kill)
declare -A struck outcome

# strike KIND: fails if the snapshot has ended before.
strike() {
	local child

	[ "$1" != none ] || return 0
	child=$(the_child)
	[ -n "$child" ] || return 1
	[ $((RANDOM % 3)) = 0 ] || sleep "0.$(printf '%03d' $((RANDOM % 300)))"
	alive "$child" || return 1
	case $1 in
	kill-jtool) kill -KILL "$(jtool_itself)" ;;
	kill-child) kill -KILL "$child" ;;
	stop-child) kill -STOP "$child" ;;
	crash-child) kill -SEGV "$child" ;;
	stop-and-kill) kill -STOP "$child"; kill -KILL "$(jtool_itself)" ;;
	stop-jtool)
		local jtool
		jtool=$(jtool_itself)
		kill -STOP "$jtool"
		sleep "0.$(printf '%03d' $((RANDOM % 300)))"
		kill -CONT "$jtool"
		;;
	esac 2>/dev/null
	return 0
}

commands=('retained -n 3' 'refpaths Loaded$Kept' 'heaphisto --live -n 3' 'heapdump shot.hprof --force')
engines=(auto auto snapshot)
wrong=""

# shoot: runs one command with one strike; counts how it ended, and appends faults to `wrong`.
shoot() {
	local kind=${strikes[RANDOM % ${#strikes[@]}]} command words

	command="${commands[RANDOM % ${#commands[@]}]} --engine ${engines[RANDOM % ${#engines[@]}]}"
	words=${command%% *}
	# shellcheck disable=SC2086 # split into words
	set -- ${command#* }
	begin "$words" "$JVM_PID" "$@" --max-pause 60
	strike "$kind" || kind=too-late
	end
	struck[$kind]=$((${struck[$kind]:-0} + 1))
	if [ "$rc" -eq 0 ] && grep -q -E 'Loaded|java\.lang|^wrote ' "$W/out"; then
		outcome[answered]=$((${outcome[answered]:-0} + 1))
	elif [ "$rc" -ge 2 ] && [ "$rc" -le 7 ] && [ "$(grep -c '^jtool: ' "$W/err")" -ge 1 ]; then
		outcome[refused]=$((${outcome[refused]:-0} + 1))
		grep '^jtool: ' "$W/err" | tail -n 1 >>"$W/reasons"
	elif [ "$rc" -eq 137 ] && [[ $kind == *kill* ]]; then
		outcome[killed]=$((${outcome[killed]:-0} + 1))
	else
		wrong+="$kind: jtool $words $*: exit $rc: $(head -c 300 "$W/err")"$'\n'
	fi
	poll 20 childless || wrong+="$kind: a child remains"$'\n'
	answers || { wrong+="$kind: the JVM does not answer"$'\n' && return 1; }
}

# under_load VERSION GC SHOTS
under_load() {
	local i before allocated

	start_jvm "$1" "$2" Loaded -Xms256m -Xmx256m -Xss256k -- "$threads" 200000 || return
	version=$1
	wrong=""
	jt retained "$JVM_PID" -n 3 # the first request has lasting effects on the JVM
	before=$(counts)
	allocated=$(ask rounds '^rounds [0-9]+$')
	for ((i = 0; i < $3; i++)); do
		shoot || break
	done
	same "$1 $2: $i snapshots under load: every one is answered, refused, or killed by us" "" "$wrong"
	check "$1 $2: no file remains" poll 30 nothing_left_here
	check "$1 $2: no descriptor or mapping remains" poll 30 has_counts "$before"
	same "$1 $2: no crash files" "" "$(crash_files)"
	allocated="${allocated#rounds } $(ask rounds '^rounds [0-9]+$' | cut -d' ' -f2)"
	check "$1 $2: it has worked meanwhile: MB allocated: $allocated" test "${allocated% *}" -lt "${allocated#* }"
	unharmed "$1 $2: under load"
	stop "$JVM_PID"
}

runs=()
for version in $(newest_of 8) $(newest_of 17) $(newest_of 25 27); do
	runs+=("$version g1" "$version parallel" "$version serial")
	[ "$version" -lt 17 ] || runs+=("$version shenandoah")
done
: >"$W/reasons"
for run in "${runs[@]}"; do
	read -r version gc <<<"$run"
	under_load "$version" "$gc" $(((total + ${#runs[@]} - 1) / ${#runs[@]}))
done
echo "# strikes: $(for k in "${!struck[@]}"; do printf '%s %s, ' "$k" "${struck[$k]}"; done)"
echo "# outcomes: $(for k in "${!outcome[@]}"; do printf '%s %s, ' "$k" "${outcome[$k]}"; done)"
sed -E 's/[0-9]+/N/g' "$W/reasons" | sort | uniq -c | sort -rn | head -n 10 | sed 's/^/# /'

# A socket that the application closes is closed, although the snapshot's process still runs.
port_is_free() {
	python3 -c 'import socket, sys
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", int(sys.argv[1])))
s.listen(1)' "$1"
}

# in_state PORT STATE: a socket of this machine with this local or remote port is in the state, a
# number of the kernel's.
in_state() {
	local hex

	hex=$(printf '%04X' "$1")
	awk -v port=":$hex" -v state="$2" '($2 ~ port "$" || $3 ~ port "$") && $4 == state { found = 1 }
		END { exit !found }' "/proc/$JVM_PID/net/tcp" "/proc/$JVM_PID/net/tcp6"
}

not_in_state() {
	! in_state "$@"
}

priority() {
	sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f17
}

version=$(newest_of 17 21 25 27)
if [ -n "$version" ] && start_jvm "$version" g1 Loaded -Xms700m -Xmx700m -- 10 5000000; then
	ask quiet '^quiet$' >/dev/null
	port=$(ask listen '^port [0-9]+$')
	port=${port#port }
	check "sockets: they are open" in_state "$port" 0A
	begin retained --engine snapshot "$JVM_PID"
	child=$(the_child)
	kill -STOP "$child" # it stays for more than a second
	ask close '^closed$' >/dev/null
	check "sockets: the listening socket closes while the child lives" not_in_state "$port" 0A
	check "sockets: the connection closes while the child lives" not_in_state "$port" 01
	check "sockets: the port can be taken while the child lives" port_is_free "$port"
	check "sockets: the child lives" test -d "/proc/$child"
	same "sockets: the child has no socket of the application: descriptors" 1 "$(fd_count "$child")"
	kill -CONT "$child"
	end
	check "sockets: no child remains" poll 20 childless

	# jtool is killed: the child ends at once.
	slowest=0 n=0
	for ((i = 0; i < $(in_soak 50 5); i++)); do
		begin retained --engine snapshot "$JVM_PID"
		child=$(the_child)
		jtool=$(jtool_itself)
		if [ -z "$child" ] || [ -z "$jtool" ]; then # it has ended before it was seen
			end
			continue
		fi
		n=$((n + 1))
		at=$(now_ms)
		kill -KILL "$jtool"
		poll 20 gone "$child"
		took=$(($(now_ms) - at))
		[ $took -le $slowest ] || slowest=$took
		end
	done
	check "jtool is killed: $n children have ended within a second: $slowest ms" \
		test "$n" -gt 0 -a "$slowest" -lt 1000

	# The child is not niced: on a busy machine it would run for long, and retain its memory.
	begin retained --engine snapshot "$JVM_PID"
	child=$(the_child)
	kill -STOP "$child"
	same "the child has the JVM's priority" "$(priority "$JVM_PID")" "$(priority "$child")"
	same "the child is the first that the kernel kills" 1000 "$(cat "/proc/$child/oom_score_adj")"
	kill -CONT "$child"
	end

	# Crashes of the child print nothing and leave no file.
	for signal in SEGV BUS ILL FPE ABRT; do
		begin retained "$JVM_PID"
		child=$(the_child)
		[ -z "$child" ] || kill "-$signal" "$child" 2>/dev/null
		end
		same "SIG$signal of the child: jtool answers" 0 "$rc"
	done
	same "the child crashes: no file" "" "$(crash_files)"
	unharmed "the child crashes" 'quiet|closed|port [0-9]+'
	stop "$JVM_PID"
fi

# Process 1 of a namespace has all orphans as children; it must not be left with zombies.
version=$(newest_of 8 17 25)
if [ -n "$version" ]; then
	jvm_command "$version" serial -Xms200m -Xmx200m -cp "$(classes_of "$version")" Loaded 10 200000
	spawn unshare -p -f --kill-child "${argv[@]}"
	if await_ready 60; then
		outer=$JVM_PID
		JVM_PID=$(pgrep -P "$outer" | head -n 1)
		same "process 1: it is" 1 "$(awk '/^NSpid:/ { print $NF }' "/proc/$JVM_PID/status")"
		for ((i = 0; i < $(in_soak 50 5); i++)); do
			begin retained "$JVM_PID" -n 3
			[ $((i % 2)) = 0 ] || strike kill-jtool
			end
			poll 20 childless || break
		done
		same "process 1: no child and no zombie remains" "" "$(children)"
		unharmed "process 1"
		stop "$outer"
	fi
fi
