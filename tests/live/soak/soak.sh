#!/usr/bin/env bash
# Random commands for JVMs under load, each with a random disturbance: jtool is killed, or gets no
# descriptors, memory or disk; the JVM is stopped for a while, loses its attach socket, or is killed.
# After each step, the JVM works, and nothing of jtool remains in the JVM.
#
#   JTOOL_SOAK=1                 10,000 steps instead of 12, with a random seed
#   JTOOL_SEED=N                 the same steps as in the run that printed this seed
#   JTOOL_SEED=N JTOOL_STEP=K    only step K of that run
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2016,SC2034 # $ in class names, arrays for pick
. "$(dirname "$0")/../lib.sh"

steps=${JTOOL_STEPS:-$(in_soak 10000 12)}
per_jvm=$(in_soak 40 6) # steps for each JVM
seed=${JTOOL_SEED:-$(in_soak $((SRANDOM % 1000000)) 1)}
first=${JTOOL_STEP:-0}
[ -z "${JTOOL_STEP:-}" ] || steps=$((first + 1))

cc -shared -fPIC -U_FORTIFY_SOURCE -o "$W/loadee.so" "$live_dir/agents/loadee.c"
echo "# soak: JTOOL_SEED=$seed, $((steps - first)) steps"

# pick NAME: sets `picked` to a random element of the array.
pick() {
	local -n from=$1

	picked=${from[RANDOM % ${#from[@]}]}
}

# PID and MAIN become the JVM's PID and main class. AGENT becomes an agent that the JVM can read: of
# any other agent, `load` leaves a copy in the JVM's root.
commands=(
	'list' 'info PID' 'stat PID' 'counters PID' 'flags PID' 'props PID' 'patches PID' 'detach PID'
	'jcmd PID VM.version' 'jcmd PID GC.heap_info' 'jcmd PID Thread.print' 'op PID threaddump'
	'threads PID' 'threads PID --deadlocks' 'top PID -d 1s' 'memory PID' 'metrics'
	'heaphisto PID' 'heaphisto PID --live' 'heaphisto PID --engine agent'
	'retained PID -n 3' 'retained PID -n 3 --engine agent' 'retained PID -n 3 --engine hprof'
	'refpaths PID java.lang.Thread' 'refpaths PID java.lang.Thread --engine agent'
	'heapdump PID heap.hprof --force' 'heapdump PID heap.hprof --force --redact'
	'heapdump PID heap.hprof --force --all'
	'classes PID -n 5' 'class PID java.lang.String -b' 'dump PID java.lang.Thread -d classes.dumped'
	'redefine PID classes/MAIN.class' 'restore PID'
	'alloc PID -d 1s' 'alloc PID -d 1s --exact' 'alloc PID -d 1s --live' 'alloc PID --metaspace'
	'trace PID MAIN.answer -d 1s' 'trace PID MAIN.* -d 1s --summary' 'trace PID java.lang.Long.* -d 1s'
	'profile PID -d 1s' 'jfr PID record -d 1s --force recording.jfr' 'perfmap PID map.txt --force'
	'capture PID captured.tar.gz --force' 'load PID AGENT 0'
)
disturbances=(nothing nothing nothing kill kill no-files no-memory no-disk stop-target
	stop-target no-socket kill-target)
kinds=(Loaded Churn Classes Virtual)
collectors=(serial parallel g1 z shenandoah)

# begin_jvm BLOCK: starts the JVM of these steps; sets `version`, `main` and the counts before.
begin_jvm() {
	local gc kind words=()

	RANDOM=$(((seed + $1 * 7919) % 32768))
	pick jdks && version=$picked
	pick kinds && kind=$picked
	pick collectors && gc=$picked
	[ "$kind" != Virtual ] || [ "$version" -ge 21 ] || kind=Churn
	[[ "$gc" != [zs]h* && "$gc" != z ]] || [ "$version" -ge 17 ] || gc=serial
	case $kind in
	Loaded) words=(-Xss256k -- 100 50000) ;;
	Classes) words=(-- "$(in_soak 30000 3000)" 1) ;;
	# JDK 21 pins threads that hold a monitor.
	Virtual) words=(-Djdk.virtualThreadScheduler.parallelism=8 -- "$(in_soak 100000 2000)") ;;
	esac
	launch_jvm "$version" "$gc" "$kind" -Xms300m -Xmx300m -XX:+AlwaysPreTouch "${words[@]}"
	await_ready 300 || return
	main=$kind
	begun="$version $gc $kind"
	# The first requests have lasting effects on the JVM, which are not counted.
	jt retained "$JVM_PID" -n 1 --engine agent
	jt alloc "$JVM_PID" -d 100ms
	jt profile "$JVM_PID" -d 1s
	jt detach "$JVM_PID"
	fds=$(own_fds)
	threads=$(lasting_threads "$JVM_PID")
	rss=$(rss_kb "$JVM_PID")
}

end_jvm() {
	[ -z "$begun" ] || stop "$JVM_PID"
	begun=
}

# own_fds: the number of the JVM's descriptors, without those that it opens on demand: jars, and
# /proc for the flight recorder.
own_fds() {
	find "/proc/$JVM_PID/fd" -mindepth 1 -maxdepth 1 ! -lname '*/proc' ! -lname '*.jar' | wc -l
}

has_counts() {
	[ "$(own_fds)" -le "$fds" ] && [ "$(lasting_threads "$JVM_PID")" -le "$threads" ]
}

moment() {
	sleep "$(printf '%d.%03d' $((RANDOM % $1)) $((RANDOM % 1000)))"
}

# disturb KIND: disturbs jtool or the JVM while jtool runs in the shell `pid`.
disturb() {
	case $1 in
	kill)
		moment 2
		pkill -KILL -P "$pid" -x jtool
		;;
	stop-target)
		moment 1
		kill -STOP "$JVM_PID"
		moment 3
		kill -CONT "$JVM_PID"
		;;
	no-socket)
		moment 1
		rm -f "${jdk_root[$version]}/tmp/.java_pid$JVM_PID"
		;;
	kill-target)
		moment 2
		kill -KILL "$JVM_PID"
		;;
	esac
}

# limit KIND: limits the resources of jtool, which this shell starts next.
limit() {
	case $1 in
	no-files) ulimit -n 9 ;;
	no-memory) ulimit -v 60000 ;;
	no-disk) ulimit -f 16 ;;
	esac
}

# judge KIND: the command has ended with `rc`; prints what is wrong.
judge() {
	case $rc in
	0) ;;
	[1-7])
		# Such a code may also belong to a result.
		[ -s "$W/out" ] || grep -q '^jtool: ' "$W/err" || echo "exit $rc without a message"
		;;
	137) [ "$1" = kill ] || echo "jtool was killed" ;;
	*) echo "exit $rc: $(head -c 300 "$W/err")" ;;
	esac
	grep -a -E 'AddressSanitizer|runtime error|allocation failed' "$W/err"
	[ "$1" != kill-target ] || return
	answers || echo "the JVM does not answer"
	poll 30 childless || echo "a process remains"
	poll 30 nothing_left_here || echo "remains: $(leftovers "${jdk_root[$version]}" "$JVM_PID" 0)"
	poll 120 has_counts || # the JVM itself ends a recording whose jtool was killed
		echo "$(own_fds) descriptors instead of $fds, $(lasting_threads "$JVM_PID") threads instead of $threads"
	[ "$(rss_kb "$JVM_PID")" -lt $((rss + (200 << 10))) ] ||
		echo "the JVM has grown from $rss to $(rss_kb "$JVM_PID") kB"
	[ "$1" = no-socket ] && return # JDK 8 never listens again
	jt jcmd --timeout 20 "$JVM_PID" VM.version
	[ "$rc" -eq 0 ] || echo "then jcmd: exit $rc: $(head -c 300 "$W/err")"
}

# step N: one command and one disturbance.
step() {
	local command kind words wrong

	RANDOM=$(((seed + $1 * 104729 + 1) % 32768))
	pick commands
	command=${picked//PID/$JVM_PID}
	command=${command//MAIN/$main}
	command=${command//AGENT/$IW/loadee.so}
	pick disturbances && kind=$picked
	read -ra words <<<"$command"
	[ "$command" != metrics ] || words=(stat all --openmetrics)
	(cd "$W" && limit "$kind" && exec timeout -k 1 100 ./jtool "${words[@]}" >out 2>err </dev/null) &
	pid=$!
	disturb "$kind"
	rc=0
	wait "$pid" 2>/dev/null || rc=$?
	done_steps[$kind]=$((${done_steps[$kind]:-0} + 1))
	wrong=$(judge "$kind")
	if [ -n "$wrong" ]; then
		fail "step $1, $begun: jtool ${words[*]}, $kind" "$wrong" "$(last_words 3)" \
			"to repeat it: JTOOL_SEED=$seed JTOOL_STEP=$1"
		end_jvm
	fi
	case $kind in
	kill-target | no-socket) end_jvm ;;
	esac
	rm -rf "$W"/{heap.hprof,classes.dumped,recording.jfr,map.txt,captured.tar.gz}
}

declare -A done_steps
begun=
for ((i = first; i < steps; i++)); do
	if [ -z "$begun" ] || [ $((i % per_jvm)) -eq 0 ]; then
		end_jvm
		begin_jvm $((i / per_jvm)) || break
	fi
	step $i
done
end_jvm
same "steps that were done, JTOOL_SEED=$seed" "$steps" "$i"
echo "# soak: $(for kind in "${!done_steps[@]}"; do printf '%s %s, ' "$kind" "${done_steps[$kind]}"; done)"
