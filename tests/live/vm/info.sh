#!/usr/bin/env bash
# info: its values equal those of the JDK's tools and of list, on every collector, without attaching
# to the JVM.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

# root_of VERSION: the directory that contains the JVM's /tmp.
root_of() {
	[ "$1" = own ] || echo "${jdk_root[$1]}"
}

# untouched VERSION NAME: no process has attached to the victim that was started last.
untouched() {
	check "$2: no attach socket exists" test ! -e "$(root_of "$1")/tmp/.java_pid$JVM_PID"
	unharmed "$2"
}

# jstat_of VERSION OPTION: jstat's output for the victim that was started last, by that JDK.
jstat_of() {
	if [ "$1" = own ]; then
		jstat "$2" "$JVM_PID"
	else
		chroot "${jdk_root[$1]}" "${jdk_home[$1]}/bin/jstat" "$2" "$JVM_PID"
	fi 2>/dev/null
}

# column NAME: its value in jstat's output on stdin.
column() {
	awk -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) n = i }
		NR == 2 { print $n }'
}

# sum_kb NAME...: the sum of these columns of jstat's output on stdin, in KB.
sum_kb() {
	awk -v names=" $* " 'NR == 1 { for (i = 1; i <= NF; i++) use[i] = index(names, " " $i " ") }
		NR == 2 { for (i in use) if (use[i]) sum += $i; printf "%.1f\n", sum }'
}

# equals_list NAME: the keys of list have the same values in info, except those that change.
equals_list() {
	local same_keys="['args', 'attach', 'container', 'flags', 'gc', 'heap_max', 'main', 'nspid',
		'pid', 'uid', 'user', 'version', 'vm']"

	jt info --json "$JVM_PID"
	cp "$W/out" "$W/info"
	jt list --json
	same "$1: info --json: equal to list --json" \
		"[]" "$(json "(lambda l, i: [k for k in $same_keys
		if l[k] != i[k]] + [k for k in l if k not in i])(
		[v for v in j['jvms'] if v['pid'] == $JVM_PID][0], json.load(open('$W/info')))")"
}

for version in own "${jdks[@]}"; do
	start_jvm "$version" serial Idle -Dsome=thing -- one two || continue
	works "$version: info: it works" info "$JVM_PID"
	equals_list "$version"
	works "$version: info --json: it works" info --json "$JVM_PID"
	same "$version: info --json: its values are plausible" True "$(json "(lambda v:
		v['heap_max'] == 64 << 20 and v['heap_committed'] <= v['heap_max'] and
		[s['space'] for s in v['spaces']] == ['eden', 's0', 's1', 'old'] and
		len(v['collectors']) == 2 and v['classes_loaded'] > 300 and
		4 <= v['threads'] <= v['threads_kernel'] and v['threads_daemon'] < v['threads'] and
		10 << 20 < v['rss'] <= v['rss_peak'] and 3 < v['files'] < v['files_max'] and
		v['state'] == 'running' and not v['asked'] and v['agents'] == [] and
		abs(__import__('calendar').timegm(__import__('time').strptime(
			v['started'], '%Y-%m-%dT%H:%M:%SZ')) - $EPOCHSECONDS) < 60 and
		v['parent'] == $$ and v['java_home'] in v['exe'] or v)(j)")"
	untouched "$version" "$version: info"

	# Compare the counters with the results of tools that attach: the JVM is idle now.
	works "$version: jcmd GC.run works" jcmd "$JVM_PID" GC.run
	jstat_of "$version" -gc >"$W/gc"
	jstat_of "$version" -class >"$W/class"
	jt info --json "$JVM_PID"
	same "$version: info: heap_committed equals jstat's" \
		"$(sum_kb S0C S1C EC OC <"$W/gc")" "$(json "'%.1f' % (j['heap_committed'] / 1024)")"
	same "$version: info: used old space equals jstat's" \
		"$(column OU <"$W/gc")" "$(json "'%.1f' % (j['spaces'][3]['used'] / 1024)")"
	same "$version: info: metaspace equals jstat's" \
		"$(column MC <"$W/gc") $(column MU <"$W/gc")" \
		"$(json "'%.1f %.1f' % (j['metaspace_committed'] / 1024, j['metaspace_used'] / 1024)")"
	same "$version: info: collections equal jstat's" \
		"$(column YGC <"$W/gc") $(column FGC <"$W/gc") $(column GCT <"$W/gc")" \
		"$(json "'%d %d %.3f' % (*[c['count'] for c in j['collectors']],
			sum(c['time'] for c in j['collectors']))")"
	same "$version: info: classes_loaded equals jstat's" "$(column Loaded <"$W/class")" \
		"$(json "j['classes_loaded']")"
	check "$version: info: gc_last_cause equals jstat's" \
		grep -q "$(json "j['gc_last_cause']")" \
		<(jstat_of "$version" -gccause)
	jt jcmd "$JVM_PID" Thread.print
	threads=$(grep -c 'java.lang.Thread.State:' "$W/out")
	# Compiler and other VM threads have a state in the dump, but are hidden from Java.
	jt info --json "$JVM_PID"
	same "$version: info: threads agree with a thread dump and the kernel" True \
		"$(json "$threads - 8 <= j['threads'] <= $threads and
			j['threads_kernel'] == $(thread_count "$JVM_PID") or j['threads']")"
	jt jcmd "$JVM_PID" VM.version
	check "$version: info: vm_version equals VM.version" grep -qF \
		"$(jt info --json "$JVM_PID"; json "j['vm'] + ' version ' + j['vm_version']")" \
		<(jt jcmd "$JVM_PID" VM.version; cat "$W/out")
	unharmed "$version: info compared with other tools"
	stop "$JVM_PID"
done

for version in 11 17 21 25 27; do
	has_jdk "$version" || continue
	for gc in parallel g1 z shenandoah; do
		[ "$version" -ge 17 ] || [ $gc = g1 ] || [ $gc = parallel ] || continue
		start_jvm "$version" $gc Idle || continue
		works "$version, $gc: info works" info "$JVM_PID"
		jt jcmd "$JVM_PID" GC.run
		jt info --json "$JVM_PID"
		# Parallel's young space ends at a boundary that the collector moves.
		same "$version, $gc: info: its values are plausible" True "$(json "(lambda v:
			(60 << 20) <= v['heap_max'] <= 64 << 20 and
			0 < v['heap_used'] <= v['heap_committed'] <= 64 << 20 and
			v['heap_used'] == sum(s['used'] for s in v['spaces']) and
			v['gc'].lower().startswith('$gc') and
			sum(c['count'] for c in v['collectors']) > 0 and v['gc_last_cause'] and
			v['safepoints'] > 0 and v['safepoint_time'] > 0 or v)(j)")"
		stop "$JVM_PID"
	done
done

# Agents: given by flags, and loaded later.
cc -shared -fPIC -U_FORTIFY_SOURCE -o "$W/loadee.so" "$live_dir/agents/loadee.c"
cc -shared -fPIC -DNO_ENTRY -o "$W/none.so" "$live_dir/agents/loadee.c"
for version in own "${jdks[@]}"; do
	jdwp=-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=0
	start_jvm "$version" serial Idle "$jdwp" || continue
	works "$version: info: a JVM with a debugger's agent" info --json "$JVM_PID"
	same "$version: info: the debugger's agent is in the flags and mapped" \
		"['agentlib jdwp', 'mapped jdk']" \
		"$(json "['%s %s' % (a['kind'], a['name'] if a['options'] else a['by'])
			for a in j['agents']]")"
	jt load "$JVM_PID" "$W/loadee.so" 0
	same "$version: load: it works" 0 "$rc"
	jt load "$JVM_PID" "$W/none.so"
	jt heaphisto "$JVM_PID"
	works "$version: info: a JVM with loaded agents" info --json "$JVM_PID"
	# A copy of an agent is named kept-NAME-….
	same "$version: info: the loaded agents are mapped" "['jdk', 'jtool', 'loadee']" \
		"$(json "sorted(a['by'] or a['name'].split('/')[-1].removeprefix('kept-')[:6] for a in j['agents']
			if a['kind'] == 'mapped')")"
	prints "$version: info: jtool's agent is marked" 'jtool-agent-.*, of jtool' info "$JVM_PID"
	stop "$JVM_PID"
done

# JVMs without counters.
for version in own "${jdks[@]}"; do
	for flag in -XX:-UsePerfData -XX:+PerfDisableSharedMem; do
		[ $flag = -XX:-UsePerfData ] || [ "$version" = own ] || [ "$version" = 27 ] || continue
		start_jvm "$version" g1 Idle $flag -- one || continue
		prints "$version $flag: info --no-attach: it reports the missing counters" \
			"^No counters: .*${flag/+/.}" info --no-attach "$JVM_PID"
		untouched "$version" "$version $flag: info --no-attach"
		JT_LIMIT=5 works "$version $flag: info: it attaches instead" info --json "$JVM_PID"
		same "$version $flag: info: the values from attach operations" \
			"True 67108864 G1 Idle one True" "$(json "
			'{asked} {heap_max} {gc} {main} {args} '.format(**j) +
			str('$flag' in j['flags'] and 'VM' in j['vm'] and j['vm_version'] != None)")"
		same "$version $flag: info: the heap, if the JVM has GC.heap_info" True \
			"$(json "j['heap_used'] is None or 0 < j['heap_used'] <= 64 << 20")"
		prints "$version $flag: info: the text reports the attach" \
			'^Asked: ' info "$JVM_PID"
		unharmed "$version $flag"
		stop "$JVM_PID"
	done
done
start_jvm own serial Idle -XX:-UsePerfData
suspend "$JVM_PID"
poll 30 grep -q '^State:.*stopped' "/proc/$JVM_PID/status"
JT_LIMIT=5 prints "stopped, without counters: info reports STOPPED" '^STOPPED: ' info "$JVM_PID"
kill -CONT "$JVM_PID"
untouched own "stopped, without counters"
stop "$JVM_PID"

# Stopped, disabled, starting, and another user's JVM.
start_jvm own g1 Idle
suspend "$JVM_PID"
poll 30 grep -q '^State:.*stopped' "/proc/$JVM_PID/status"
JT_LIMIT=5 prints "stopped: info suggests kill -CONT" '^STOPPED: .*kill -CONT' info "$JVM_PID"
JT_LIMIT=5 prints "stopped: info reports that attach is impossible" \
	'^Attach: .*not while it is stopped' \
	info "$JVM_PID"
JT_LIMIT=5 jt info --json "$JVM_PID"
same "stopped: info reports the counters" \
	"stopped 67108864" "$(json "'{state} {heap_max}'.format(**j)")"
kill -CONT "$JVM_PID"
untouched own stopped
stop "$JVM_PID"

start_jvm own serial Idle -XX:+DisableAttachMechanism -XX:-UsePerfData
prints "attach disabled: info reports it with the flag" \
	'^Attach: +disabled: .*DisableAttachMechanism' \
	info "$JVM_PID"
untouched own "attach disabled"
stop "$JVM_PID"

mkdir "$W/paused"
JVM_CWD=$W/paused launch_jvm own serial Idle -XX:+UnlockDiagnosticVMOptions -XX:+PauseAtStartup
poll 10 test -e "$W/paused/vm.paused.$JVM_PID"
prints "starting: info reports it" '^Attach: +starting: ' info "$JVM_PID"
rm -f "$W/paused/vm.paused.$JVM_PID"
await_ready
untouched own starting
stop "$JVM_PID"

jar=info-$$-$RANDOM.jar
(cd "$W" && printf 'Main-Class: Idle\n' >manifest && jar cfm "$jar" manifest -C classes .)
JAVA_TOOL_OPTIONS=-Dtool=$'\e[2J' JTOOL_SECRET=hidden spawn java -Xmx64m -jar "$W/$jar" $'a\nb\e[1m'
await_ready
works "control characters: info works" info "$JVM_PID"
check "control characters: info escapes arguments" grep -q 'a\\x0Ab\\x1B\[1m$' "$W/out"
check "control characters: info escapes JAVA_TOOL_OPTIONS" \
	grep -q '^JAVA_TOOL_OPTIONS:  *-Dtool=\\x1B\[2J$' "$W/out"
same "info: no other environment variable is shown" "" "$(grep hidden "$W/out")"
JT_AS=65534 prints "another user's JVM: info reports that attach is denied" \
	'^Attach: +denied: .*root' info "$jar"
stop "$JVM_PID"
run_among_jvms ./jtool info all
same "info all: a heading for each JVM" "0 2" "$rc $(grep -c -x '[0-9]*:' "$W/out")"

# A container.
version=$(newest_of "${jdks[@]}")
mkdir "$W/cwd"
spawn unshare -p -f -m -n --kill-child "$live_dir/box" pivot "${jdk_root[$version]}" 0 \
	"$IW/cwd" rw "${jdk_home[$version]}/bin/java" -Xmx64m -XX:+UseSerialGC -cp "$IW/classes" Idle
await_ready
init=$JVM_PID
JVM_PID=$(pgrep -P "$init" java)
jt info --json "$JVM_PID"
same "container: inner PID and the paths in the container" \
	"1 0 ${jdk_home[$version]}/bin/java $IW/cwd /tmp/.java_pid1" \
	"$(json "'{nspid} {uid} {exe} {cwd} {attach_socket}'.format(**j)")"
check "container: the path of its counters" test "$(json "j['perf_file'].endswith('/1')")" = True
check "container: no attach socket exists" test ! -e "/proc/$JVM_PID/root/tmp/.java_pid1"
prints "container: the text has the inner PID" '^Pid: .*, 1 in its own namespace' info "$JVM_PID"
unharmed "container"
stop "$init" "$JVM_PID"

# limited: creates a cgroup with a memory limit, if possible, and prints its path.
limited() {
	local group

	for group in /sys/fs/cgroup/memory /sys/fs/cgroup; do
		mkdir "$group/jtool-live-$$" 2>/dev/null || continue
		for file in memory.limit_in_bytes memory.max; do
			echo 268435456 2>/dev/null >"$group/jtool-live-$$/$file" &&
				echo "$group/jtool-live-$$" && return
		done
		rmdir "$group/jtool-live-$$"
	done
	return 1
}
if group=$(limited 2>/dev/null); then
	start_jvm own serial Idle
	echo "$JVM_PID" >"$group/cgroup.procs"
	jt info --json "$JVM_PID"
	same "cgroup: the memory limit and usage" True \
		"$(json "j['cgroup_memory_max'] == 268435456 > j['cgroup_memory_used'] >= 0")"
	unharmed cgroup
	stop "$JVM_PID"
	poll 30 rmdir "$group"
else
	skip "cgroup: the memory limit" "cannot create a cgroup"
fi
