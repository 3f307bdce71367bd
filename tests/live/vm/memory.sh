#!/usr/bin/env bash
# memory: its parts add up to the resident memory on every JDK and collector; 100 MiB of native
# memory of each kind show up in their part; the exit status follows the limit of a cgroup.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

# adds_up NAME ARGUMENT...: the parts, rss and VmRSS agree within 2 %, and little is unexplained.
adds_up() {
	local name=$1

	shift
	jt memory --json "$@" "$JVM_PID"
	same "$name: the parts add up to the resident memory" "0 True True" \
		"$rc $(json "(lambda total, rss: '%s %s' % (
			total == j['rss'] and abs(total - rss) <= rss / 50,
			sum(p['resident'] for p in j['parts'] if p['name'] == 'unexplained') <=
				rss / 20))(
			sum(p['resident'] for p in j['parts']), $(rss_kb "$JVM_PID") * 1024)")"
}

# part NAME KEY
part() {
	json "[p['$2'] for p in j['parts'] if p['name'] == '$1'][0]"
}

collectors() {
	echo serial parallel g1
	[ "$1" -lt 11 ] || echo z shenandoah
}

for version in "${jdks[@]}"; do
	for gc in $(collectors "$version"); do
		for tracking in off summary; do
			start_jvm "$version" "$gc" Idle -XX:NativeMemoryTracking=$tracking || continue
			adds_up "$version $gc, NMT $tracking"
			same "$version $gc, NMT $tracking: the JVM was asked" True "$(json "j['asked']")"
			unharmed "$version $gc, NMT $tracking"
			stop "$JVM_PID"
		done
	done
done

# grows NAME PART REQUEST: the request adds 100 MiB to the part, as --diff shows.
grows() {
	jt memory --save "$W/before.json" "$JVM_PID"
	ask "$3" '^done$' >/dev/null || fail "$1: the victim answers"
	jt memory --json --diff "$W/before.json" "$JVM_PID"
	same "$1" True "$(json "80 << 20 < sum(p['change'] for p in j['parts']
		if p['name'] in $2) < 140 << 20")"
}

for version in "${jdks[@]}"; do
	for tracking in off summary; do
		start_jvm "$version" serial Leaks -XX:NativeMemoryTracking=$tracking \
			-XX:MaxDirectMemorySize=512m || continue
		# From JDK 11 on, tracking separates Unsafe and direct buffers from other blocks.
		direct="['malloc']"
		[ "$tracking" = off ] || [ "$version" -lt 11 ] || direct="['direct buffers']"
		jt memory "$JVM_PID" # the first request allocates more
		grows "$version, NMT $tracking: large blocks of malloc" "$direct" large
		grows "$version, NMT $tracking: small blocks of malloc" "$direct" small
		grows "$version, NMT $tracking: direct buffers" "$direct" direct
		grows "$version, NMT $tracking: mapped buffers" "['mapped buffers']" mapped
		stop "$JVM_PID"
	done
	start_jvm "$version" serial Leaks || continue
	jt memory --json "$JVM_PID"
	before=$(part 'thread stacks' resident)
	ask threads '^done$' >/dev/null || fail "$version: the victim starts threads"
	jt memory --json "$JVM_PID"
	same "$version: stacks of 800 threads" True \
		"$(json "$(part 'thread stacks' resident) - $before >= 800 * 60 * 1024 and
		j['threads'] > 800 and any('threads' in v for v in j['verdicts'])")"
	unharmed "$version: memory" 'done'
	stop "$JVM_PID"
done

# A limit of metaspace.
for version in "${jdks[@]}"; do
	start_jvm "$version" serial Idle -XX:MaxMetaspaceSize=64m || continue
	works "$version: a limit of metaspace" memory "$JVM_PID"
	check "$version: a limit of metaspace: the line" \
		grep -q '^[0-9].* of metaspace, with class space, are committed, of at most 64.0 MiB$' \
		"$W/out"
	works "$version: a limit of metaspace: --save" memory --json --save "$W/saved" --no-attach \
		"$JVM_PID"
	same "$version: a limit of metaspace: not asked" None "$(json "j['metaspace_max']")"
	works "$version: a limit of metaspace: JSON" memory --json --diff "$W/saved" "$JVM_PID"
	same "$version: a limit of metaspace: the key" $((64 << 20)) "$(json "j['metaspace_max']")"
	stop "$JVM_PID"
done

# The heap that was in use after the last collection, which Shenandoah's counters do not have.
for version in "${jdks[@]}"; do
	is_thorough "$version" || continue
	for gc in $(collectors "$version"); do
		start_jvm "$version" "$gc" Leaks || continue
		works "$version $gc: a collection" jcmd "$JVM_PID" GC.run
		works "$version $gc: --no-attach: it works" memory --json --no-attach "$JVM_PID"
		case $gc in
		shenandoah) wanted=None ;;
		*) wanted=True ;;
		esac
		same "$version $gc: the heap after the last collection" "$wanted" \
			"$(json "j['heap_after_gc'] and 100 << 10 < j['heap_after_gc'] < 20 << 20")"
		stop "$JVM_PID"
	done
done

# Without attaching.
for version in "${jdks[@]}"; do
	start_jvm "$version" g1 Idle -XX:+DisableAttachMechanism || continue
	jt memory --json "$JVM_PID"
	same "$version, attaching disabled: a result and a notice" "0 1 False" \
		"$rc $(grep -c '^jtool: memory: .*showing what' "$W/err") $(json "j['asked']")"
	adds_up "$version, --no-attach" --no-attach
	same "$version, --no-attach: no notice" '' "$(cat "$W/err")"
	stop "$JVM_PID"
done

# limited: creates a cgroup that can limit memory, and sets `group` and the name of its file.
limited() {
	local root name

	for root in /sys/fs/cgroup/memory /sys/fs/cgroup; do
		group=$root/jtool-live-$$
		mkdir "$group" 2>/dev/null || continue
		for name in memory.limit_in_bytes memory.max; do
			file=$group/$name
			[ ! -e "$file" ] || return 0
		done
		rmdir "$group"
	done
	return 1
}

if limited; then
	start_jvm own serial Idle
	echo "$JVM_PID" >"$group/cgroup.procs"
	jt memory --json "$JVM_PID" # the first request allocates more
	jt memory --json "$JVM_PID"
	sum=$(json "j['heap_max'] + j['outside_heap']")
	echo $((sum + (8 << 20))) >"$file"
	jt memory "$JVM_PID"
	same "a limit above the sum: exit status and verdict" "0 1" \
		"$rc $(grep -c '^a heap of at most .* is below the limit of .* by ' "$W/out")"
	echo $((sum - (8 << 20))) >"$file"
	jt memory "$JVM_PID"
	same "a limit below the sum: exit status and verdict" "1 1" \
		"$rc $(grep -c '^a heap of at most .* exceeds the limit of .* by ' "$W/out")"
	jt memory --json "$JVM_PID"
	same "a limit below the sum: JSON" "1 True True" \
		"$rc $(json "'%s %s' % (j['exceeds'], abs(j['limit'] - $sum + (8 << 20)) < 8192)")"
	stop "$JVM_PID"
	poll 30 rmdir "$group"
else
	skip "limits" "cannot create a cgroup"
fi

# Files of --diff.
start_jvm own serial Idle
echo '{"schema":1}' >"$W/other.json"
refuses 2 'has no output of jtool memory' "--diff with another document" \
	memory --diff "$W/other.json" "$JVM_PID"
unharmed "memory"
