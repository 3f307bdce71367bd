#!/usr/bin/env bash
# Snapshots: retained, refpaths and heaphisto --live read the heap from a child process of the JVM.
# graphs.sh compares the graphs. This theme tests when jtool takes a snapshot, that nothing is left
# in the JVM if jtool or the child is killed or stopped, and that the application does not notice.
# JTOOL_SOAK=1: many more tries.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/../lib.sh"

tries=$(in_soak 100 5)

collectors() {
	echo serial parallel g1
	[ "$1" -lt 11 ] || echo shenandoah z
}

# the_child: waits for the snapshot's process and prints its PID; fails if jtool ($pid) ends before.
the_child() {
	poll 20 has_child_or_ended
	children | head -n 1 | tr -d ' '
}

# shared_maps: the number of anonymous shared mappings in the JVM.
shared_maps() {
	grep -c 'rw-s .*/dev/zero' "/proc/$JVM_PID/maps"
}

has_counts() {
	[ "$(fd_count "$JVM_PID") $(lasting_threads "$JVM_PID") $(shared_maps)" = "$1" ]
}

# nothing_remains NAME COUNTS: the JVM has no additional child, file, descriptor, thread or mapping.
nothing_remains() {
	check "$1: no child remains" poll 10 childless
	check "$1: no file remains" poll 30 nothing_left_here
	check "$1: no descriptor, thread or mapping remains" poll 30 has_counts "$2"
}

counts() {
	echo "$(fd_count "$JVM_PID") $(lasting_threads "$JVM_PID") $(shared_maps)"
}

# has_engine NAME ENGINE ARGUMENT...: the command works and its engine is this one.
has_engine() {
	local name=$1 engine=$2

	shift 2
	works "$name: it works" "$@" --json
	same "$name: engine and pause" "$engine True" \
		"$(json "'%s %s' % (j['engine'], j['pause'] > 0)")"
}

items_of="next('%d %d' % (c['instances'], c['bytes']) for c in j['classes']
	if c['class'] == 'Held\$Item')"

# begin: runs retained in the background; sets `pid`.
begin() {
	(cd "$W" && exec ./jtool retained --engine "$1" "$JVM_PID" -n 3 >"$W/out" 2>"$W/err" \
		</dev/null) &
	pid=$!
}

# ends NAME: jtool has printed the heap.
ends() {
	wait "$pid" 2>/dev/null
	rc=$?
	check "$1: jtool prints the heap" grep -q 'Held\$Item' "$W/out"
	same "$1: exit code" 0 "$rc"
}

kill_jtool() {
	local i child

	for ((i = 0; i < tries; i++)); do
		begin snapshot
		child=$(the_child)
		sleep "0.0$((RANDOM % 10))"
		kill -KILL "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
		poll 10 gone "${child:-none}" || fail "$1: the child ends with jtool"
	done
	pass "$1: $tries children have ended with jtool"
}

# strike SIGNAL: sends it to the child, at a random moment of its life.
strike() {
	local child

	child=$(the_child)
	[ -n "$child" ] || return
	sleep "0.0$((RANDOM % 10))"
	kill "-$1" "$child" 2>/dev/null
}

strike_child() {
	local i

	for ((i = 0; i < tries; i++)); do
		begin auto
		strike "$1"
		ends "$2 $i"
	done
}

for version in "${jdks[@]}"; do
	for gc in $(collectors "$version"); do
		name="$version $gc"
		start_jvm "$version" "$gc" Held -Xms300m -Xmx300m -- 1000 || continue
		if [ "$gc" = z ]; then
			refuses 7 'cannot take a snapshot .* heap is in shared memory' "$name: it is refused" \
				retained --engine snapshot "$JVM_PID"
			has_engine "$name: retained" agent retained "$JVM_PID"
			has_engine "$name: heaphisto --live" agent heaphisto --live "$JVM_PID"
		else
			jt retained "$JVM_PID" # the first request has lasting effects on the JVM
			before=$(counts)
			has_engine "$name: retained" snapshot retained "$JVM_PID"
			has_engine "$name: refpaths" snapshot refpaths "$JVM_PID" 'Held$Item'
			jt heaphisto --live --json --engine agent "$JVM_PID"
			items=$(json "$items_of")
			has_engine "$name: heaphisto --live" snapshot heaphisto --live "$JVM_PID"
			same "$name: heaphisto --live: as many as after a collection" "$items" \
				"$(json "$items_of")"
			has_engine "$name: another engine" agent retained --engine agent "$JVM_PID"
			nothing_remains "$name" "$before"
		fi
		unharmed "$name"
		stop "$JVM_PID"
	done
done

# -v reports the expected pause before the snapshot, and the real one after it.
version=$(newest_of 8 17 25)
if start_jvm "$version" parallel Held -Xms700m -Xmx700m -- 5000; then
	jt retained "$JVM_PID"
	before=$(counts)
	jt retained -v "$JVM_PID"
	check "-v: an estimate of the pause" grep -q 'will pause the JVM for about [0-9]* ms' "$W/err"
	check "-v: the pause" grep -q 'the snapshot paused the JVM for [0-9.]* ms' "$W/err"
	jt retained -v --max-pause 1ms "$JVM_PID"
	check "--max-pause: a longer pause is not begun" grep -q 'longer than --max-pause' "$W/err"
	kill_jtool "jtool is killed"
	nothing_remains "jtool is killed" "$before"
	strike_child KILL "the child is killed"
	strike_child STOP "the child is stopped"
	begin auto
	the_child >/dev/null
	kill -STOP "$pid" 2>/dev/null
	check "jtool is stopped: the JVM answers" answers
	sleep 1
	kill -CONT "$pid" 2>/dev/null
	ends "jtool is stopped"
	nothing_remains "the end" "$before"
	unharmed "processes that are killed and stopped"
	begin auto
	child=$(the_child)
	stop "$JVM_PID"
	check "the child ends with the JVM" poll 10 gone "${child:-none}"
	wait "$pid" 2>/dev/null
fi

# -Xcheck:jni prints warnings about wrong calls; JDK 8 about its own launcher if there are arguments.
for version in $(newest_of 8) $(newest_of 11) $(newest_of 17 21 25 27); do
	start_jvm "$version" g1 Idle -Xcheck:jni || continue
	has_engine "$version: -Xcheck:jni" snapshot retained "$JVM_PID"
	has_engine "$version: -Xcheck:jni: refpaths" snapshot refpaths "$JVM_PID" \
		java.lang.Thread
	has_engine "$version: -Xcheck:jni: heaphisto" snapshot heaphisto --live "$JVM_PID"
	has_engine "$version: -Xcheck:jni: heapdump" snapshot heapdump --force "$JVM_PID" dump
	unharmed "$version: -Xcheck:jni"
	stop "$JVM_PID"
done

# A heap in a file.
version=$(newest_of 11 17 21 25 27)
if [ -n "$version" ] && start_jvm "$version" g1 Held -Xms300m -Xmx300m \
	-XX:AllocateHeapAt=/var/tmp -- 500; then
	refuses 7 'cannot take a snapshot .* heap is in shared memory' "$version: -XX:AllocateHeapAt: refused" \
		retained --engine snapshot "$JVM_PID"
	has_engine "$version: -XX:AllocateHeapAt" agent retained "$JVM_PID"
	unharmed "$version: -XX:AllocateHeapAt"
	stop "$JVM_PID"
fi

# The child finds the stacks of unmounted virtual threads only in the heap, without their methods.
# So by default jtool uses the agent.
version=$(newest_of 21 25 27)
if [ -n "$version" ] && start_jvm "$version" g1 Extremes -Xmx200m -- virtual 500; then
	has_engine "$version: virtual threads" agent refpaths "$JVM_PID" 'Extremes$Held'
	same "$version: virtual threads: every root has its method" True \
		"$(json "all('Extremes' in p['root']['method'] for p in j['paths'])")"
	has_engine "$version: virtual threads, --engine snapshot" snapshot refpaths \
		--engine snapshot "$JVM_PID" 'Extremes$Held'
	same "$version: virtual threads, --engine snapshot: all are reached" 500 \
		"$(json "j['reached']")"
	unharmed "$version: virtual threads"
	stop "$JVM_PID"
fi

# The kernel refuses a child process.

# refused_clone NAME: jtool refuses --engine snapshot, and by default uses the agent.
refused_clone() {
	refuses 7 'cannot take a snapshot .* kernel refuses a child process' "$1: refused" \
		retained --engine snapshot "$JVM_PID"
	has_engine "$1" agent retained "$JVM_PID"
	unharmed "$1"
}

version=$(newest_of 17 21 25)
pids=/sys/fs/cgroup/pids
[ -d $pids ] || pids=/sys/fs/cgroup
pids=$pids/jtool-live-$$
if [ -z "$version" ] || ! mkdir "$pids" 2>/dev/null || [ ! -e "$pids/pids.max" ]; then
	skip "pids.max" "no control group can be created"
elif start_jvm "$version" serial Held -Xmx200m -- 500; then
	jt retained "$JVM_PID"
	echo "$JVM_PID" >"$pids/cgroup.procs"
	# A limit of tasks that admits the agent's thread, but not a child process.
	echo $(($(cat "$pids/pids.current") + 1)) >"$pids/pids.max"
	refused_clone "$version: pids.max"
	stop "$JVM_PID"
fi
[ ! -d "$pids" ] || poll 10 rmdir "$pids"

# refusing.py COMMAND...: runs it with a filter that refuses clone() without CLONE_THREAD.
cat >"$W/refusing.py" <<'END'
import ctypes, os, platform, struct, sys
CLONE_THREAD, EPERM = 0x10000, 1
clone = {"x86_64": 56, "aarch64": 220}[platform.machine()]
program = b"".join(struct.pack("HBBI", *i) for i in [
    (0x20, 0, 0, 0), (0x15, 0, 3, clone), (0x20, 0, 0, 16), (0x45, 1, 0, CLONE_THREAD),
    (0x06, 0, 0, 0x50000 | EPERM), (0x06, 0, 0, 0x7fff0000)])
buffer = ctypes.create_string_buffer(program)
fprog = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, fprog, 0, 0):
    sys.exit(os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[1], sys.argv[1:])
END
if [ -n "$version" ] && jvm_command "$version" serial -Xmx200m -cp "$(classes_of "$version")" Held \
	500 && spawn python3 "$W/refusing.py" "${argv[@]}" && await_ready 60; then
	refused_clone "$version: seccomp"
	stop "$JVM_PID"
fi
