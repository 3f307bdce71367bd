#!/usr/bin/env bash
# The agent that sleeps since the JVM's start (-agentpath without options): every command that needs
# an agent wakes it, also with -XX:-EnableDynamicAgentLoading; nothing else wakes it.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

mkdir "$W/home" "$W/v2" "$W/reports"
export HOME=$W/home # the directory of the agent cache
works "agent --extract: it works" agent --extract agent.so
cp "$W/agent.so" "$W/other.so" # another build of the same version
printf 'another build' >>"$W/other.so"
chmod 755 "$W"/*.so
chmod 777 "$W/reports"
sed s/1001/1002/ "$live_dir/victim/Subject.java" >"$W/v2/Subject.java"
javac --release 8 -Xlint:-options -d "$W/v2" "$W/v2/Subject.java"

# locked VERSION: the flag that forbids to load agents; JDK 8 has none.
locked() {
	[ "$1" = 8 ] || echo -XX:-EnableDynamicAgentLoading
}

# start_asleep VERSION CLASS [FLAG...]: starts a victim with the sleeping agent, locked.
start_asleep() {
	local version=$1 class=$2 flags

	shift 2
	mapfile -t flags < <(locked "$version")
	start_jvm "$version" serial "$class" "${flags[@]}" "-agentpath:$IW/agent.so" "$@"
}

# succeeds NAME ARGUMENT...: exit code 0; stderr may have notices.
succeeds() {
	jt "${@:2}"
	if [ "$rc" -eq 0 ]; then
		pass "$1"
	else
		fail "$1" "jtool ${*:2}" "$(jt_details)"
	fi
}

same_as() {
	[ "$("$1" "$2")" -eq "$3" ]
}

# n_mapped PID: the number of agents of jtool that are mapped.
n_mapped() {
	awk '$2 ~ /x/ && /jtool-agent|\/agent\.so|\/other\.so/' "/proc/$1/maps" | wc -l
}

# Stops our processes; true if there is none that was forked meanwhile and runs.
all_stopped() {
	local process

	for process in $(our_processes); do
		kill -STOP "$process"
	done
	for process in $(our_processes); do
		grep -q $'^State:\tT' "/proc/$process/status" || return 1
	done
}

# requests VERSION PID: the requests to wake up in the JVM's private directory.
requests() {
	find "${jdk_root[$1]}/tmp/.jtool-0-$2" "$W/.jtool-0-$2" -name '.wake-*' 2>/dev/null
}

has_request() {
	[ -n "$(requests "$@")" ]
}

# quiet VERSION NAME [PATTERN]: the JVM has printed nothing but its own lines and, on stdout, those
# that match PATTERN: no warning (JEP 451) either.
quiet() {
	same "$1: $2: the JVM's stderr is empty" "" "$(cat "$JVM_ERR")"
	unharmed "$1: $2" "${3:-}"
}

# Every command that needs an agent.
commands() {
	local version=$1 pid

	start_asleep "$version" Replace || return
	pid=$JVM_PID
	ask both '^both 1001' >/dev/null # loads class Subject
	same "$version: info --json: the agent is there since startup" "[True]" "$(jt info --json \
		"$pid"; json "[a['at_startup'] for a in j['agents'] if a['by'] == 'jtool']")"
	prints "$version: info: the agent is asleep" 'agent.so, of jtool; asleep' info "$pid"
	prints "$version: heaphisto" ' Subject$| java.lang.String$' heaphisto -n 0 "$pid"
	prints "$version: classes" 'Subject' classes "$pid" Subject
	prints "$version: class" 'Subject' class "$pid" Subject
	succeeds "$version: dump" dump "$pid" Subject -d "dump.$version"
	succeeds "$version: refpaths" refpaths --engine agent "$pid" Replace
	succeeds "$version: retained" retained --engine agent "$pid"
	succeeds "$version: trace" trace "$pid" 'Subject.*' -d 0.3
	succeeds "$version: trace --summary" trace --summary "$pid" 'Subject.*' -d 0.3
	[ "$version" = 8 ] || succeeds "$version: alloc" alloc "$pid" -d 0.3
	succeeds "$version: alloc --exact" alloc --exact "$pid" -d 0.3
	succeeds "$version: redefine" redefine "$pid" v2/Subject.class
	prints "$version: patches: in a later session" '^Subject ' patches "$pid"
	check "$version: redefine: the new code runs" ask both '^both 1002'
	succeeds "$version: restore" restore "$pid" Subject
	check "$version: restore: the old code runs" ask both '^both 1001'
	succeeds "$version: redefine again" redefine "$pid" v2/Subject.class
	prints "$version: detach" . detach "$pid"
	check "$version: detach: the old code runs" ask both '^both 1001'
	same "$version: no second agent is mapped" 1 "$(n_mapped "$pid")"
	check "$version: no file remains" nothing_left "${jdk_root[$version]}" "$pid" 0 "${IW#/}"
	quiet "$version" 'all commands' 'both .*'
	stop "$pid"
}

# Sessions in turn and at a time, and events without a request.
many() {
	local version=$1 pid threads fds i failed=0 jobs=() n

	n=$(in_soak 300 25)
	start_asleep "$version" Idle || return
	pid=$JVM_PID
	for ((i = 0; i < 5; i++)); do
		jt heaphisto "$pid"
	done
	threads=$(lasting_threads "$pid") fds=$(fd_count "$pid")
	for ((i = 0; i < n; i++)); do
		jt heaphisto "$pid"
		[ "$rc" -eq 0 ] && [ ! -s "$W/err" ] || failed=$((failed + 1))
		[ "$version" = 8 ] || jt jcmd "$pid" JVMTI.data_dump
	done
	same "$version: $n sessions: none fails" 0 "$failed"
	for ((i = 0; i < 8; i++)); do
		(cd "$W" && exec timeout 60 ./jtool heaphisto "$pid" >/dev/null 2>&1) &
		jobs+=($!)
	done
	for i in "${jobs[@]}"; do
		wait "$i" || failed=$((failed + 1))
	done
	same "$version: 8 sessions at a time: none fails" 0 "$failed"
	check "$version: sessions: as many threads as before" \
		poll 30 same_as lasting_threads "$pid" "$threads"
	check "$version: sessions: as many descriptors as before" \
		poll 30 same_as fd_count "$pid" "$fds"
	check "$version: sessions: no file remains" \
		nothing_left "${jdk_root[$version]}" "$pid" 0 "${IW#/}"
	quiet "$version" sessions
	stop "$pid"
}

# jtool is killed at a random moment of the wake-up.
kills() {
	local version=$1 pid threads fds i n slow=0 begin victim

	n=$(in_soak 300 40)
	start_asleep "$version" Idle || return
	pid=$JVM_PID
	for ((i = 0; i < 5; i++)); do
		jt heaphisto "$pid"
	done
	threads=$(lasting_threads "$pid") fds=$(fd_count "$pid")
	for ((i = 0; i < n; i++)); do
		(cd "$W" && exec ./jtool heaphisto "$pid" >/dev/null 2>&1) &
		victim=$!
		sleep "0.$(printf '%03d' $((RANDOM % 60)))" # at a random moment
		kill -9 $victim 2>/dev/null
		wait $victim 2>/dev/null
		begin=$(now_ms)
		jt jcmd --timeout 5 "$pid" JVMTI.data_dump
		[ "$rc" -eq 0 ] && [ $(($(now_ms) - begin)) -lt 2000 ] || slow=$((slow + 1))
	done
	same "$version: $n kills: the JVM always answers within 2 s" 0 "$slow"
	check "$version: $n kills: no process of ours remains" poll 30 no_jtool_left
	check "$version: $n kills: no file remains" \
		poll 30 nothing_left "${jdk_root[$version]}" "$pid" 0 "${IW#/}"
	check "$version: $n kills: as many threads as before" \
		poll 30 same_as lasting_threads "$pid" "$threads"
	check "$version: $n kills: as many descriptors as before" \
		poll 30 same_as fd_count "$pid" "$fds"
	works "$version: $n kills: heaphisto works" heaphisto "$pid"
	quiet "$version" "$n kills"
	stop "$pid"
}

# hold VERSION: another client occupies the JVM's attach listener; sets PEER.
hold() {
	local save=("$JVM_PID" "$JVM_IN" "$JVM_OUT" "$JVM_ERR")

	spawn python3 "$live_dir/attach/peer.py" hold "${jdk_root[$1]}/tmp/.java_pid${save[0]}"
	PEER=$JVM_PID
	poll 10 grep -q up "$JVM_OUT" || fail "peer.py: it starts" "$(cat "$JVM_ERR")"
	JVM_PID=${save[0]} JVM_IN=${save[1]} JVM_OUT=${save[2]} JVM_ERR=${save[3]}
}

# A request exists while jtool waits for the JVM's attach listener.
waiting() {
	local version=$1 pid threads fds ours process stale

	start_asleep "$version" Idle || return
	pid=$JVM_PID
	works "$version: waiting: heaphisto works before" heaphisto "$pid"
	threads=$(lasting_threads "$pid") fds=$(fd_count "$pid")

	# jtool and its helper are killed: the request stays until an event removes it.
	hold "$version"
	(cd "$W" && exec ./jtool heaphisto --timeout 60 "$pid" >/dev/null 2>&1) &
	ours=$!
	check "$version: killed helper: there is a request" poll 30 has_request "$version" "$pid"
	# Stopped first: a helper that sees jtool die removes the request.
	check "$version: killed helper: all processes are stopped" poll 30 all_stopped
	for process in $(our_processes); do
		kill -KILL "$process"
	done
	wait $ours 2>/dev/null
	stale=$(requests "$version" "$pid")
	check "$version: killed helper: the request stays" test -S "$stale"
	stop "$PEER"
	works "$version: killed helper: an event without a client" jcmd "$pid" JVMTI.data_dump
	check "$version: killed helper: the agent removes the request" test ! -e "$stale"
	check "$version: killed helper: as many threads as before" \
		poll 30 same_as lasting_threads "$pid" "$threads"
	check "$version: killed helper: as many descriptors as before" \
		poll 30 same_as fd_count "$pid" "$fds"
	works "$version: killed helper: heaphisto works" heaphisto "$pid"
	check "$version: killed helper: no file remains" \
		poll 30 nothing_left "${jdk_root[$version]}" "$pid" 0 "${IW#/}"
	quiet "$version" "killed helper"

	# SIGQUIT from somebody else: the event comes on another thread, and earlier.
	hold "$version"
	(cd "$W" && exec ./jtool heaphisto --timeout 60 "$pid" >"$W/out" 2>"$W/err") &
	ours=$!
	check "$version: SIGQUIT: there is a request" poll 30 has_request "$version" "$pid"
	kill -QUIT "$pid"
	check "$version: SIGQUIT: the agent takes the request" \
		poll 30 eval "! has_request $version $pid"
	stop "$PEER"
	rc=0
	wait $ours || rc=$?
	same "$version: SIGQUIT: heaphisto works" 0 "$rc"
	kill -QUIT "$pid"
	check "$version: SIGQUIT: the JVM answers" answers
	check "$version: SIGQUIT: as many descriptors as before" \
		poll 30 same_as fd_count "$pid" "$fds"
	stop "$pid"
}

# Requests that other users create, and directories that they occupy.
hostile() {
	local version=$1 pid private other threads

	JVM_AS=65534:65534 start_asleep "$version" Idle || return
	pid=$JVM_PID
	works "$version: nobody's JVM: heaphisto as root works" heaphisto "$pid"
	check "$version: nobody's JVM: no file remains" \
		nothing_left "${jdk_root[$version]}" "$pid" 65534 "${IW#/}"
	quiet "$version" "nobody's JVM"
	stop "$pid"

	start_asleep "$version" Idle || return
	pid=$JVM_PID
	private=${jdk_root[$version]}/tmp/.jtool-0-$pid
	to_remove+=("$private")
	setpriv --reuid=1234 --regid=1234 --clear-groups mkdir -m 700 "$private"
	works "$version: foreign directory in /tmp: heaphisto works" heaphisto "$pid"
	jt jcmd "$pid" JVMTI.data_dump
	rmdir "$private"
	other=$(mktemp -d "${jdk_root[$version]}/tmp/jtool-live.XXXXXX")
	to_remove+=("$other")
	ln -s "$other" "$private"
	works "$version: link in /tmp: heaphisto works" heaphisto "$pid"
	same "$version: link in /tmp: it is not followed" "" "$(ls -A "$other")"
	rm "$private"
	mkfifo -m 700 "$private"
	works "$version: FIFO in /tmp: heaphisto works" heaphisto "$pid"
	rm "$private"
	quiet "$version" "foreign directories"
	stop "$pid"
}

# Two builds of jtool in one JVM.
builds() {
	local version=$1 first second flags

	mapfile -t flags < <(locked "$version")
	for first in agent other; do
		second=$([ $first = agent ] && echo other || echo agent)
		start_jvm "$version" serial Replace "${flags[@]}" "-agentpath:$IW/$first.so" \
			"-agentpath:$IW/$second.so" || return
		ask both '^both 1001' >/dev/null # loads class Subject
		succeeds "$version: $first, $second: heaphisto works" heaphisto -v "$JVM_PID"
		check "$version: $first, $second: it wakes its own build" \
			grep -q 'woke the agent .*/agent.so' "$W/err"
		succeeds "$version: $first, $second: redefine works" redefine "$JVM_PID" \
			v2/Subject.class
		prints "$version: $first, $second: patches asks both" '^Subject ' patches "$JVM_PID"
		prints "$version: $first, $second: detach asks both" . detach "$JVM_PID"
		check "$version: $first, $second: the old code runs" ask both '^both 1001'
		quiet "$version" "$first, $second" 'both .*'
		stop "$JVM_PID"
	done

	start_jvm "$version" serial Idle "${flags[@]}" "-agentpath:$IW/other.so" || return
	refuses 6 'other.so is of another build .*use that build, or restart' \
		"$version: other build alone: heaphisto says so" \
		heaphisto --engine agent "$JVM_PID"
	works "$version: other build alone: its patches can be listed" patches "$JVM_PID"
	quiet "$version" "other build alone"
	stop "$JVM_PID"

	start_jvm "$version" serial Idle "-agentpath:$IW/other.so" || return
	works "$version: other build, loading permitted: heaphisto works" heaphisto "$JVM_PID"
	unharmed "$version: other build, loading permitted"
	stop "$JVM_PID"
}

# A recording and the sleeping agent are one library.
recording() {
	local version=$1 flags report

	mapfile -t flags < <(locked "$version")
	report=$IW/reports/$version
	start_jvm "$version" serial Idle "${flags[@]}" "-agentpath:$IW/agent.so" \
		"-agentpath:$IW/agent.so=alloc,file=$report" "-agentpath:$IW/agent.so=" || return
	prints "$version: recording: info says so" 'recording since' info "$JVM_PID"
	works "$version: recording: heaphisto works" heaphisto "$JVM_PID"
	succeeds "$version: recording: alloc shows it" alloc "$JVM_PID"
	quiet "$version" recording
	echo exit >&"$JVM_IN"
	exec {JVM_IN}>&-
	kill -TERM "$JVM_PID"
	check "$version: recording: the JVM exits" poll 60 gone "$JVM_PID"
	check "$version: recording: the report is written" test -s "$W/reports/$version"
}

for version in "${jdks[@]}"; do
	commands "$version"
	many "$version"
	[ "$version" = 8 ] && continue # no JVMTI.data_dump: jtool loads the agent
	is_thorough "$version" || continue
	kills "$version"
	waiting "$version"
	hostile "$version"
	builds "$version"
	recording "$version"
done

# Without the agent, the error says what to do.
version=$(newest_of "${jdks[@]}")
if [ "$version" -gt 8 ]; then
	start_jvm "$version" serial Idle "$(locked "$version")"
	refuses 6 'restart it with -agentpath' "$version: no agent: heaphisto says what to do" \
		heaphisto --engine agent "$JVM_PID"
	stop "$JVM_PID"
fi
