#!/usr/bin/env bash
# No command harms a process that SIGQUIT would kill. JTOOL_SOAK=1: 1,000 tries of each command.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

cc -shared -fPIC -U_FORTIFY_SOURCE -o "$W/loadee.so" "$live_dir/agents/loadee.c"
tries=$(in_soak 1000 10)

# try COMMAND PID TIMEOUT: runs it once.
commands=(list jcmd op load heaphisto)
try() {
	case $1 in
	list) jt list ;;
	jcmd) jt jcmd --timeout "$3" "$2" VM.version ;;
	op) jt op --timeout "$3" "$2" threaddump ;;
	load) jt load --timeout "$3" "$2" "$W/loadee.so" 0 ;;
	heaphisto) jt heaphisto --timeout "$3" "$2" ;;
	esac
}

# Processes that are not JVMs.
spawn sleep 100000
spawn cat
# shellcheck disable=SC2016 # expanded by the inner shell
spawn bash -c 'while read -r line; do echo "$line"; done'
spawn python3 -c 'import sys; [print(l) for l in sys.stdin]'
bystanders=("${started[@]}")
wrong=0
for pid in "${bystanders[@]}"; do
	poll 30 test -s "/proc/$pid/comm"
	name=$(cat "/proc/$pid/comm")
	for command in "${commands[@]}"; do
		for ((i = 0; i < tries; i++)); do
			try "$command" "$pid" 1
			[ "$command" = list ] || [ "$rc" -eq 3 ] || wrong=$((wrong + 1))
		done
	done
	check "$name: it survives $tries tries of every command" alive "$pid"
done
same "not a JVM: every command exits with 3" 0 "$wrong"
stop "${bystanders[@]}"

# JVMs in their first 200 ms.
for version in 17 25; do
	if ! has_jdk $version; then
		skip "$version: JVMs in their first 200 ms" "no JDK $version"
		continue
	fi
	deaths=0 dumps=0 wrong=""
	for ((i = 0; i < tries; i++)); do
		for command in jcmd op load heaphisto; do
			launch_jvm "$version" serial Idle
			sleep "0.$(printf '%03d' $((RANDOM % 200)))" # at a random moment
			try "$command" "$JVM_PID" 10
			# Exit code 3: it was not a JVM yet, before its execve(2).
			case $rc in
			0 | 3) ;;
			*) wrong+="$command: $(cat "$W/err")"$'\n' ;;
			esac
			poll 20 is_ready "$JVM_OUT" && answers || deaths=$((deaths + 1))
			# op prints the thread dump on our stdout, not in the JVM's log.
			! grep -q 'Full thread dump' "$JVM_OUT" || dumps=$((dumps + 1))
			stop "$JVM_PID"
		done
	done
	same "$version: $((4 * tries)) JVMs in their first 200 ms: none dies" 0 "$deaths"
	same "$version: JVMs in their first 200 ms: no thread dump in their logs" 0 "$dumps"
	same "$version: JVMs in their first 200 ms: served, or refused as not a JVM" "" "$wrong"
done

# -Xrs JVMs without a socket: SIGQUIT would kill them.
for version in own "${jdks[@]}"; do
	start_jvm "$version" serial Idle -Xrs || continue
	rm -f "${jdk_root[$version]:-}/tmp/.java_pid$JVM_PID"
	for ((i = 0; i < tries; i++)); do
		for command in "${commands[@]}"; do
			try "$command" "$JVM_PID" 1
		done
	done
	unharmed "$version: -Xrs without its socket, $tries tries of every command"
	stop "$JVM_PID"
done
