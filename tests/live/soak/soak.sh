#!/usr/bin/env bash
# Random commands for JVMs under load, each with a random disturbance: jtool is killed, or gets no
# descriptors, threads, memory or disk; the JVM gets no threads or no disk, is stopped for a while,
# loses its attach socket, or is killed. After each step, the program in the JVM works, and nothing
# of jtool remains: no file, process, descriptor, thread, class, capability or instrumented method.
#
#   JTOOL_SOAK=1                 10,000 steps instead of 12, with a random seed
#   JTOOL_SEED=N                 the same steps as in the run that printed this seed
#   JTOOL_SEED=N JTOOL_STEP=K    only step K of that run
#   JTOOL_STEPS=N                N steps
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
# shellcheck disable=SC2016,SC2034 # an inner shell; arrays for pick
. "$(dirname "$0")/../lib.sh"

steps=${JTOOL_STEPS:-$(in_soak 10000 12)}
per_jvm=$(in_soak 60 6) # steps for each JVM
seed=${JTOOL_SEED:-$(in_soak $((SRANDOM % 1000000)) 1)}
first=${JTOOL_STEP:-0}
[ -z "${JTOOL_STEP:-}" ] || steps=$((first + 1))

cc -shared -fPIC -U_FORTIFY_SOURCE -o "$W/loadee.so" "$live_dir/agents/loadee.c"
mkdir -m 1777 "$W/run" # where jtool runs and writes
echo "# soak: JTOOL_SEED=$seed, $((steps - first)) steps"

# pick NAME: sets `picked` to a random element of the array.
pick() {
	local -n from=$1

	picked=${from[RANDOM % ${#from[@]}]}
}

# shellcheck source=soak/jvms.sh
. "$live_dir/soak/jvms.sh"

# PID is the JVM's PID; CLASS.METHOD is a method that it calls, and FILE the class file. AGENT is an
# agent that the JVM can read: of any other agent, `load` leaves a copy in the JVM's root.
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
	'redefine PID FILE' 'restore PID'
	'alloc PID -d 500ms' 'alloc PID -d 500ms --exact' 'alloc PID -d 500ms --live'
	'alloc PID --metaspace' 'trace PID CLASS.METHOD -d 500ms' 'trace PID CLASS.* -d 500ms --summary'
	'trace PID java.lang.Long.* -d 500ms'
	'profile PID -d 1s' 'jfr PID record -d 1s --force recording.jfr' 'perfmap PID map.txt --force'
	'capture PID captured.tar.gz --force' 'load PID AGENT 0'
)
disturbances=(nothing nothing nothing nothing nothing kill kill kill kill kill stop-jvm stop-jvm
	no-files no-threads no-memory no-disk jvm-no-threads jvm-no-disk no-socket kill-jvm)

# begin_jvm BLOCK: starts the JVM of these steps; sets the counts before.
begin_jvm() {
	RANDOM=$(((seed + $1 * 7919) % 32768))
	choose_jvm
	launch_kind || return
	begun="$version $gc $kind $place"
	before=
	# The first requests have lasting effects on the JVM, which are not counted.
	jt retained "$JVM_PID" -n 1 --engine agent
	jt trace "$JVM_PID" "$class.$method" -d 100ms
	jt profile "$JVM_PID" -d 100ms
	[ "$rc" -eq 0 ] || echo "# soak: $begun: profile: exit $rc: $(head -c 300 "$W/err")"
	jt jfr "$JVM_PID" record -d 1s --force "$W/run/recording.jfr"
	[ "$rc" -eq 0 ] || echo "# soak: $begun: jfr record: exit $rc: $(head -c 300 "$W/err")"
	jt detach "$JVM_PID"
	poll 30 childless
	# A command that failed leaves a recording, which ends by itself. Until then a full disk ends the
	# JVM.
	poll 150 no_recording || fail "the recordings of the first requests end, $begun" "$(cat "$W/out")"
	probed=$(probe)
	fds=$(own_fds)
	lasting_names "$JVM_PID" | sort >"$W/threads"
	threads=$(lasting_threads "$JVM_PID")
	rss=$(rss_kb "$JVM_PID")
}

no_recording() {
	jt jfr "$JVM_PID" check
	! grep -q -i 'running' "$W/out"
}

# end_jvm [KILLED]
end_jvm() {
	local wrong

	[ -n "$begun" ] || return
	if [ "$kind" = Tomcat ]; then
		wrong=$(wrk_is_wrong)
		[ -z "$wrong" ] || [ "${1:-}" = killed ] || fail "wrk, $begun, before step $i" "$wrong"
	fi
	stop "$JVM_PID"
	begun=
}

# probe: prints what an agent sees in the JVM.
probe() {
	jt load "$JVM_PID" "$IW/probe.so" "$IW/probed,${class//.//},$method"
	[ "$rc" -eq 0 ] || head -c 300 "$W/err"
	tail -n 1 "$W/probed"
}

remains() {
	leftovers "/proc/$JVM_PID/root" "$JVM_PID" 0
	leftovers "/proc/$JVM_PID/root" "$JVM_PID" $user
}

is_clean() {
	[ -z "$(remains)" ]
}

has_counts() {
	[ "$(own_fds)" -le "$fds" ] && [ "$(lasting_threads "$JVM_PID")" -le "$threads" ]
}

# is_small: the JVM has not grown much.
is_small() {
	[ "$(rss_kb "$JVM_PID")" -lt $((rss + (300 << 10))) ]
}

# collects_small: nor has it after a collection: a program that loads classes without end, while they
# are instrumented, fills metaspace until then.
collects_small() {
	jt jcmd "$JVM_PID" GC.run
	poll 30 is_small
}

# moment MS: waits at most that long, or until jtool has ended. Half of the moments are short.
moment() {
	local end

	end=$(($(now_ms) + RANDOM % (RANDOM % 2 ? $1 : 300)))
	while [ "$(now_ms)" -lt "$end" ] && ! gone "$pid"; do
		sleep 0.03
	done
}

# disturb: disturbs jtool or the JVM while jtool runs in the process `pid`.
disturb() {
	local child

	case $disturbance in
	kill)
		moment 1500
		child=$(pgrep -P "$pid") && pkill -KILL -P "$child" -x jtool
		;;
	stop-jvm)
		moment 500
		kill -STOP "$JVM_PID"
		moment 3000
		kill -CONT "$JVM_PID"
		;;
	no-socket)
		moment 500
		rm -f "/proc/$JVM_PID/root/tmp/.java_pid$JVM_PID"
		;;
	kill-jvm)
		moment 1500
		kill -KILL "$JVM_PID"
		;;
	esac
}

# limit_threads N: limits the threads of the JVM's user in the JVM.
limit_threads() {
	"${as_user[@]}" prlimit --pid "$JVM_PID" "--nproc=$1:"
}

# limit: limits jtool or the JVM before jtool starts. Sets `limited` to a shell command that limits
# the process in which jtool starts.
limit() {
	limited=:
	case $disturbance in
	no-files) limited='ulimit -n 9' ;;
	no-threads) limited='ulimit -u 1' ;; # not for root
	no-memory) limited='ulimit -v 60000' ;;
	no-disk) limited='ulimit -f 16' ;;
	jvm-no-threads) limit_threads 1 ;;
	jvm-no-disk) head -c 1G /dev/zero >"/proc/$JVM_PID/root/tmp/full" 2>/dev/null ;;
	esac
}

end_limit() {
	case $disturbance in
	jvm-no-threads) limit_threads "$(ulimit -H -u)" ;;
	jvm-no-disk) rm -f "/proc/$JVM_PID/root/tmp/full" ;;
	esac
}

# find_wrong: the command has ended with `rc`; prints what is wrong.
find_wrong() {
	local begin found

	case $rc in
	0) ;;
	[1-7])
		# Such a code may also belong to a result.
		[ -s "$W/run/out" ] || grep -q '^jtool: ' "$W/run/err" || echo "exit $rc without a message"
		;;
	137) [ "$disturbance" = kill ] || echo "jtool was killed" ;;
	*) echo "exit $rc: $(head -c 300 "$W/run/err")" ;;
	esac
	grep -a -E 'AddressSanitizer|runtime error|allocation failed' "$W/run/err"
	[ "$disturbance" != kill-jvm ] || return
	program_is_wrong
	poll 30 childless || echo "a process remains"
	poll 30 is_clean || echo "remains: $(remains)"
	poll 120 has_counts || # the JVM itself ends a recording whose jtool was killed
		echo "$(own_fds) descriptors instead of $fds; threads:" \
			"$(lasting_names "$JVM_PID" | sort | diff "$W/threads" -)"
	is_small || collects_small || echo "the JVM has grown from $rss to $(rss_kb "$JVM_PID") kB"
	# JDK 8 never listens again.
	[ "$disturbance" != no-socket ] || [ "$version" -gt 8 ] || return
	begin=$(now_ms)
	jt jcmd --timeout 20 "$JVM_PID" VM.version
	[ "$rc" -eq 0 ] || echo "then jcmd: exit $rc: $(head -c 300 "$W/err")"
	echo $(($(now_ms) - begin)) >>"$W/answered"
	found=$(probe)
	[ "$found" = "$probed" ] || echo "an agent finds: $found, and before: $probed"
}

# step N: one command and one disturbance.
step() {
	local command words as=() wrong

	RANDOM=$(((seed + $1 * 104729 + 1) % 32768))
	pick commands
	command=${picked//PID/$JVM_PID}
	command=${command//CLASS.METHOD/$class.$method}
	command=${command//CLASS/$class}
	command=${command//FILE/$file}
	command=${command//AGENT/$IW/loadee.so}
	pick disturbances && disturbance=$picked
	case $disturbance:$place in
	# They need a user or a /tmp of the JVM's own.
	jvm-no-*:root | no-threads:root) disturbance="kill" ;;
	no-threads:*) as=("${as_user[@]}") ;;
	*:container) [ $((RANDOM % 2)) = 0 ] || as=("${as_user[@]}") ;;
	esac
	read -ra words <<<"$command"
	[ "$command" != metrics ] || words=(stat all --openmetrics)
	before=$(rounds)
	limit
	(cd "$W/run" && timeout -k 1 100 "${as[@]}" bash -c "$limited"' && exec ../jtool "$@"' jtool \
		"${words[@]}" >out 2>err </dev/null) 2>/dev/null &
	pid=$!
	disturb
	rc=0
	wait "$pid" 2>/dev/null || rc=$?
	end_limit
	count "$disturbance"
	[ $rc -ne 137 ] || count "of them in time"
	wrong=$(find_wrong)
	if [ -n "$wrong" ]; then
		fail "step $1, $begun: jtool ${words[*]}, $disturbance" "${as[*]}" "$wrong" "$(last_words 3)" \
			"to repeat it: JTOOL_SEED=$seed JTOOL_STEP=$1"
		end_jvm killed
	fi
	case $disturbance in
	kill-jvm) end_jvm killed ;;
	no-socket) [ "$version" -gt 8 ] || end_jvm ;;
	esac
	rm -rf "$W"/run/{heap.hprof,classes.dumped,recording.jfr,map.txt,captured.tar.gz}
}

# count WHAT: adds one to its number.
count() {
	done_steps[$1]=$((${done_steps[$1]:-0} + 1))
}

declare -A done_steps
begun=
for ((i = first; i < steps; i++)); do
	if [ -z "$begun" ] || [ $((i % per_jvm)) -eq 0 ]; then
		end_jvm
		begin_jvm $((i / per_jvm)) || break
	fi
	step $i
	[ $(((i + 1) % 100)) -ne 0 ] || echo "# soak: $((i + 1)) steps, $n_failed failed, $SECONDS s"
done
end_jvm
same "steps that were done, JTOOL_SEED=$seed" "$steps" "$i"
echo "# soak: $(for what in "${!done_steps[@]}"; do printf '%s: %s, ' "$what" "${done_steps[$what]}"; done)"
echo "# soak: the next jcmd, ms: $(sort -n "$W/answered" | awk '{ a[NR] = $1 } END {
	printf "half within %d, 99 %% within %d, all within %d", a[int((NR + 1) / 2)], a[int(NR * 0.99) + 1], a[NR] }')"
