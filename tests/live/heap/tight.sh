#!/usr/bin/env bash
# A JVM near the memory limit of its control group is not killed, whatever jtool is asked to do and
# wherever it runs: in that group, beside it in a pod, or outside. JTOOL_SOAK=1: 500 runs.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

memory=/sys/fs/cgroup/memory
pod=$memory/jtool-live-$$
if ! mkdir -p "$pod/jvm" "$pod/side" 2>/dev/null; then
	skip "memory limits" "cannot create a control group in $memory"
	exit 0
fi
mb=$((1 << 20))

seed=${JTOOL_SEED:-$RANDOM}
RANDOM=$seed

# Removes the groups after all processes in them have ended. lib.sh cannot: it removes only files.
remove_groups() {
	local group

	for group in "$pod/jvm" "$pod/side" "$pod"; do
		poll 10 rmdir "$group" || echo "# tight: $group stays" >&2
	done
}
trap 'finish_tight' EXIT
finish_tight() {
	local rc=$?

	stop "${started[@]}"
	remove_groups
	(exit "$rc")
	finish
}

# limit GROUP BYTES: sets the limit of the group; -1 removes it.
limit() {
	echo "$2" >"$1/memory.limit_in_bytes" 2>"$W/limit.err" || fail "a limit of $2 is set" "$(cat "$W/limit.err")"
}

# limit_to ROOM: sets a limit that leaves ROOM bytes to the JVM's group. Fails as long as the group
# cannot be reduced to that limit.
limit_to() {
	echo $(($(usage "$pod/jvm") - $(inactive "$pod/jvm") + $1)) 2>"$W/limit.err" \
		>"$pod/jvm/memory.limit_in_bytes"
}

usage() {
	cat "$1/memory.usage_in_bytes"
}

# inactive GROUP: bytes of file pages that the kernel reclaims first.
inactive() {
	awk '$1 == "total_inactive_file" { print $2 }' "$1/memory.stat"
}

# oom_kills: how many processes of these groups the kernel has killed.
oom_kills() {
	awk '/^oom_kill / { n += $2 } END { print n + 0 }' "$pod"/memory.oom_control "$pod"/*/memory.oom_control
}

# in_group GROUP COMMAND...: a command line that runs COMMAND in the group, as the array `argv`.
in_group() {
	# shellcheck disable=SC2016 # expanded by the inner shell
	argv=(bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$@")
}

# start_in_group VERSION GC CLASS [FLAG...] -- ARGUMENT...: start_jvm in the group of the JVM.
start_in_group() {
	local version=$1 gc=$2 class=$3 flags=() argv

	shift 3
	while [ "$1" != -- ]; do
		flags+=("$1")
		shift
	done
	shift
	jvm_command "$version" "$gc" "${flags[@]}" -cp "$(classes_of "$version")" "$class" "$@"
	in_group "$pod/jvm" "${argv[@]}"
	spawn "${argv[@]}"
	await_ready 60
}

# unlimit: removes all limits, and the page cache of the groups as far as possible.
unlimit() {
	limit "$pod/jvm" -1
	limit "$pod" -1
	echo 0 >"$pod/jvm/memory.force_empty" 2>/dev/null
	echo 0 >"$pod/side/memory.force_empty" 2>/dev/null
}

# fill PERCENT: sets a limit of which the JVM's group, or with a sidecar the pod, uses PERCENT.
fill() {
	local group=$pod/jvm

	[ "$place" != beside ] || group=$pod
	unlimit
	limit "$group" $(($(usage "$group") * 100 / $1))
}

# leave MB: sets a limit that leaves MB megabytes to the JVM's group.
leave() {
	unlimit
	limit "$pod/jvm" $(($(usage "$pod/jvm") + $1 * mb))
}

# jt_at PLACE ARGUMENT...: like jt, in the control group of PLACE.
jt_at() {
	local argv group=$memory

	case $1 in
	inside) group=$pod/jvm ;;
	beside) group=$pod/side ;;
	esac
	shift
	in_group "$group" timeout -k 1 60 ./jtool "$@"
	rc=0
	(cd "$W" && exec "${argv[@]}") >"$W/out" 2>"$W/err" </dev/null || rc=$?
}

mkdir "$W/memory" "$W/disk"
cc -shared -fPIC -U_FORTIFY_SOURCE -o "$W/loadee.so" "$live_dir/agents/loadee.c"
mount -t tmpfs -o size=2g tmpfs "$W/memory"
mounts+=("$W/memory")

# Everything that touches a JVM; %: its pid.
commands=('list' 'list -o pid,rss,cpu,threads,limit' 'info %' 'stat %' 'perf %' 'jcmd % VM.version'
	'jcmd % GC.run' 'jcmd % Thread.print' 'jcmd % GC.class_histogram' 'threads %'
	'threads --stack %' 'threads --blocked %' 'threads --raw -l %' 'props %' 'agentprops %'
	'flags %' 'op % properties' 'heapdump % disk/d --force' 'heapdump --all % disk/d --force'
	'heapdump % memory/d --force' 'heapdump --via file % disk/d --force' 'heapdump % -'
	'jfr % start' 'jfr % dump disk/j --force' 'jfr % check' 'jfr % stop'
	'jfr % record -d 1 disk/r --force' 'heaphisto %' 'heaphisto --live %' 'heaphisto --vm %'
	'heaphisto --strict %' 'heaphisto --engine snapshot %' 'heaphisto --engine hprof %' 'classes %'
	'class % java.lang.String' 'dump % java.util.Hash* -d disk/c --force' 'refpaths % Filled'
	'refpaths --engine snapshot % Filled' 'refpaths --engine agent % Filled'
	'refpaths --engine hprof % Filled' 'retained %' 'retained --suspects %' 'retained --tree %'
	'retained --engine snapshot %' 'retained --engine agent %' 'retained --engine hprof %'
	'retained --max-memory 4000 %' 'trace % -d 1 Filled.*' 'trace % -d 1 java.util.*.*'
	'alloc % -d 1' 'alloc --exact % -d 1' 'alloc --live % -d 1' 'memory %' 'memory --no-attach %'
	'capture % disk/c.tar.gz --force' 'capture % memory/c.tar.gz --force' 'load % loadee.so 0'
	'redefine % classes/Filled.class' 'patches %' 'restore %' 'detach %')
fills=(65 80 90 95)
places=(inside beside host)

# one_run COMMAND FILL PLACE: returns 1 if a process was killed.
one_run() {
	local before args place=$3

	before=$(oom_kills)
	fill "$2"
	read -r -a args <<<"${1//%/$JVM_PID}"
	jt_at "$place" "${args[@]}"
	runs=$((runs + 1))
	[ "$rc" -ne 7 ] || refused=$((refused + 1))
	[ "$rc" -eq 0 ] && done_=$((done_ + 1))
	if ! alive "$JVM_PID" || [ "$(oom_kills)" -ne "$before" ]; then
		echo "# killed: $version $gc ${flags[*]}: jtool $1 at $2 % $place: $(jt_details | tr '\n' ' ')"
		return 1
	fi
	rm -rf "$W"/{disk,memory}/*
}

# The commands that are refused near the limit, with the reason, and those that work.
# JDK 25 counts all of eden as used, so that the walk may take more than the limit.
version=$(newest_of 8 17 21)
place=inside
if start_in_group "$version" serial Filled -Xmx160m -Xms160m -- 2500; then
	fill 95
	jt_at inside jcmd "$JVM_PID" VM.version
	same "$version: 95 %, inside: jcmd works" 0 "$rc"
	jt_at inside list
	same "$version: 95 %, inside: list works" 0 "$rc"
	fill 90
	for at in inside host; do
		for command in "retained $JVM_PID" "refpaths $JVM_PID Filled" \
			"heaphisto --live $JVM_PID" "jcmd $JVM_PID GC.run" \
			"heapdump $JVM_PID disk/d"; do
			# shellcheck disable=SC2086 # words
			jt_at $at $command
			same "$version: 90 %, $at: ${command%% *} is refused" "7 1" \
				"$rc $(grep -c -E 'not started, because the OOM killer could kill JVM [0-9]+: .* may take [0-9]+ MB .* but only [0-9]+ of [0-9]+ MB are free in (its|the) control group.* raise its memory limit$' "$W/err")"
		done
	done
	# Enough for the walk of the JVM, too little for jtool in the same group.
	leave 80
	jt_at inside retained "$JVM_PID"
	same "$version: enough for the JVM: retained inside is refused" "7 1" \
		"$rc $(grep -c 'control group of both; run jtool outside of it' "$W/err")"
	jt_at host retained "$JVM_PID"
	same "$version: enough for the JVM: retained on the host works" 0 "$rc"
	# A file in memory, which jtool writes.
	leave 160
	jt_at inside heapdump "$JVM_PID" disk/d
	same "$version: a heap dump on disk works" 0 "$rc"
	leave 55
	jt_at inside heapdump --all "$JVM_PID" memory/d
	same "$version: a heap dump in memory is refused" "7 1" \
		"$rc $(grep -c 'on a file system in memory' "$W/err")"
	same "$version: no part of it stays" "" "$(ls -A "$W/memory")"
	same "$version: no process is killed" 0 "$(oom_kills)"
	unlimit
	unharmed "$version: tight limits"
	stop "$JVM_PID"
fi

# own_view: the array that runs a command with a cgroup namespace of its own, in which it sees only
# its own group, as in a container.
# shellcheck disable=SC2016 # expanded by the inner shell
own_view=(unshare -C -m bash -c 'umount "$0" && mount -t cgroup -o memory none "$0" && exec "$@"'
	"$memory")

# jtool in another container than the JVM: only the JVM's own mounts show the JVM's group.
if [ -n "$version" ] && jvm_command own serial -Xmx160m -Xms160m -cp "$W/classes" Filled 2500 &&
	in_group "$pod/jvm" "${own_view[@]}" "${argv[@]}" && spawn "${argv[@]}" && await_ready 60; then
	leave 40
	in_group "$pod/side" "${own_view[@]}" ./jtool retained "$JVM_PID"
	rc=0
	(cd "$W" && exec "${argv[@]}") >"$W/out" 2>"$W/err" </dev/null || rc=$?
	same "own: jtool in another container: retained is refused" "7 1" \
		"$rc $(grep -c 'are free in its control group' "$W/err")"
	in_group "$pod/side" "${own_view[@]}" ./jtool jcmd "$JVM_PID" VM.version
	check "own: jtool in another container: jcmd works" env -C "$W" "${argv[@]}"
	# If the file system with the JVM's group does not answer, jtool does not assume that there
	# is no limit. The process that is blocked there does not hold a pipe of jtool's open.
	nsenter -t "$JVM_PID" -m --wd=/ -- python3 - "$memory" <"$live_dir/attach/hangfs.py" \
		>"$W/server" 2>&1 &
	server=$!
	disown
	track $server
	poll 10 grep -q READY "$W/server" || fail "a file system that hangs" "$(cat "$W/server")"
	begin=$(now_ms)
	rc=0
	(cd "$W" && exec timeout 60 "${argv[@]}") 2>"$W/err" </dev/null | cat >"$W/out"
	rc=${PIPESTATUS[0]}
	took=$(($(now_ms) - begin))
	same "own: the JVM's group cannot be read: jcmd is refused" "7 1" \
		"$rc $(grep -c 'the memory limit of its container cannot be read' "$W/err" ||
			cat "$W/err")"
	check "own: the JVM's group cannot be read: jtool ends after $took ms" [ "$took" -le 15000 ]
	stop $server
	unlimit
	unharmed "own: jtool in another container"
	stop "$JVM_PID"
fi

# The heap of a JVM without counters is at most its memory.
if start_in_group "$version" serial Filled -Xmx160m -Xms160m -XX:-UsePerfData -- 2500; then
	leave 40
	jt_at host retained "$JVM_PID"
	same "$version: no counters: retained is refused" "7 1" \
		"$rc $(grep -c 'may take [0-9]* MB of memory in the JVM' "$W/err")"
	unlimit
	unharmed "$version: no counters"
	stop "$JVM_PID"
fi

# A limit is set during a heap walk: the walk ends when the reserve is used up. It is a 64th of the
# limit, here 17 MB; the JVM takes 6 MB before it visits the first object.
if start_in_group "$version" parallel Held -Xms1g -Xmx1g -XX:+AlwaysPreTouch -- 10000; then
	unlimit
	jt_at host jcmd "$JVM_PID" VM.version
	jt_at host retained -v --engine agent --max-pause 60 "$JVM_PID" &
	poll 20 grep -q 'the agent has connected' "$W/err"
	poll 5 limit_to $((12 * mb)) || fail "a limit is set" "$(cat "$W/limit.err")"
	wait $!
	same "$version: a walk is stopped when too little memory is left" 1 \
		"$(grep -c -E '^jtool: retained: stopped, because the OOM killer could kill JVM [0-9]+: only [0-9]+ of [0-9]+ MB' "$W/err" ||
			cat "$W/err")"
	unlimit
	unharmed "$version: a walk that is stopped"
	stop "$JVM_PID"
fi

killed=0 runs=0 refused=0 done_=0
n_runs=$(in_soak 500 21)
versions=()
for v in 8 17 25; do
	! has_jdk "$v" || versions+=("$v")
done
[ ${#versions[@]} -gt 0 ] || versions=("${jdks[@]}")
while [ "$runs" -lt "$n_runs" ]; do
	version=${versions[$((RANDOM % ${#versions[@]}))]}
	gcs=(default serial parallel g1)
	gc=${gcs[$((RANDOM % 4))]}
	flags=(-Xmx160m)
	[ $((RANDOM % 2)) -eq 0 ] || flags+=(-Xms160m)
	args=($((500 + RANDOM % 3500)))
	[ $((RANDOM % 2)) -eq 0 ] || args+=(garbage)
	unlimit
	start_in_group "$version" "$gc" Filled "${flags[@]}" -- "${args[@]}" || break
	for ((i = 0; i < 7 && runs < n_runs; i++)); do
		one_run "${commands[$((RANDOM % ${#commands[@]}))]}" \
			"${fills[$((RANDOM % 4))]}" "${places[$((RANDOM % 3))]}" ||
			killed=$((killed + 1))
		alive "$JVM_PID" || break
	done
	stop "$JVM_PID"
done
same "$runs random runs ($done_ done, $refused refused; JTOOL_SEED=$seed): no process is killed" 0 "$killed"
