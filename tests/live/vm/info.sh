#!/usr/bin/env bash
# info: what it tells agrees with what the JDK's tools and list tell, on every collector, and
# the JVM does not notice.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# root_of VERSION: where its /tmp is.
root_of() {
	[ "$1" = own ] || echo "${jdk_root[$1]}"
}

# untouched VERSION NAME: nobody attached to the victim started last.
untouched() {
	check "$2: no attach socket" test ! -e "$(root_of "$1")/tmp/.java_pid$JVM_PID"
	unharmed "$2"
}

# jstat_of VERSION OPTION: its lines for the victim started last, by the JDK of that version.
jstat_of() {
	if [ "$1" = own ]; then
		jstat "$2" "$JVM_PID"
	else
		chroot "${jdk_root[$1]}" "${jdk_home[$1]}/bin/jstat" "$2" "$JVM_PID"
	fi 2>/dev/null
}

# column NAME: of jstat's output on stdin.
column() {
	awk -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) n = i }
		NR == 2 { print $n }'
}

# sum_kb NAME...: of those columns on stdin, in KB.
sum_kb() {
	awk -v names=" $* " 'NR == 1 { for (i = 1; i <= NF; i++) use[i] = index(names, " " $i " ") }
		NR == 2 { for (i in use) if (use[i]) sum += $i; printf "%.1f\n", sum }'
}

# as_list_tells NAME: the keys of list have the values of list, but for what runs on.
as_list_tells() {
	local same_keys="['args', 'attach', 'container', 'flags', 'gc', 'heap_max', 'main', 'nspid',
		'pid', 'uid', 'user', 'version', 'vm']"

	jt info --json "$JVM_PID"
	cp "$W/out" "$W/info"
	jt list --json
	same "$1: as list tells it" "[]" "$(json "(lambda l, i: [k for k in $same_keys
		if l[k] != i[k]] + [k for k in l if k not in i])(
		[v for v in j['jvms'] if v['pid'] == $JVM_PID][0], json.load(open('$W/info')))")"
}

for version in own "${jdks[@]}"; do
	start_jvm "$version" serial Idle -Dsome=thing -- one two || continue
	works "$version: info" info "$JVM_PID"
	as_list_tells "$version"
	works "$version: info --json" info --json "$JVM_PID"
	same "$version: figures are sane" True "$(json "(lambda v:
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

	# What costs nothing against what costs an attach: the JVM is idle now.
	works "$version: a collection" jcmd "$JVM_PID" GC.run
	jstat_of "$version" -gc >"$W/gc"
	jstat_of "$version" -class >"$W/class"
	jt info --json "$JVM_PID"
	same "$version: committed as jstat has it" \
		"$(sum_kb S0C S1C EC OC <"$W/gc")" "$(json "'%.1f' % (j['heap_committed'] / 1024)")"
	same "$version: old as jstat has it" \
		"$(column OU <"$W/gc")" "$(json "'%.1f' % (j['spaces'][3]['used'] / 1024)")"
	same "$version: metaspace as jstat has it" "$(column MC <"$W/gc") $(column MU <"$W/gc")" \
		"$(json "'%.1f %.1f' % (j['metaspace_committed'] / 1024, j['metaspace_used'] / 1024)")"
	same "$version: collections as jstat has them" \
		"$(column YGC <"$W/gc") $(column FGC <"$W/gc") $(column GCT <"$W/gc")" \
		"$(json "'%d %d %.3f' % (*[c['count'] for c in j['collectors']],
			sum(c['time'] for c in j['collectors']))")"
	same "$version: classes as jstat has them" "$(column Loaded <"$W/class")" \
		"$(json "j['classes_loaded']")"
	check "$version: the last cause as jstat has it" grep -q "$(json "j['gc_last_cause']")" \
		<(jstat_of "$version" -gccause)
	jt jcmd "$JVM_PID" Thread.print
	threads=$(grep -c 'java.lang.Thread.State:' "$W/out")
	# Compilers and other threads of the VM have a state, too, but are hidden from Java.
	jt info --json "$JVM_PID"
	same "$version: threads, of those in a dump and of the kernel" True \
		"$(json "$threads - 8 <= j['threads'] <= $threads and
			j['threads_kernel'] == $(thread_count "$JVM_PID") or j['threads']")"
	jt jcmd "$JVM_PID" VM.version
	check "$version: the VM's version as it tells it" grep -qF \
		"$(jt info --json "$JVM_PID"; json "j['vm'] + ' version ' + j['vm_version']")" \
		<(jt jcmd "$JVM_PID" VM.version; cat "$W/out")
	unharmed "$version: compared"
	stop "$JVM_PID"
done

for version in 11 17 21 25 27; do
	has_jdk "$version" || continue
	for gc in parallel g1 z shenandoah; do
		[ "$version" -ge 17 ] || [ $gc = g1 ] || [ $gc = parallel ] || continue
		start_jvm "$version" $gc Idle || continue
		works "$version, $gc" info "$JVM_PID"
		jt jcmd "$JVM_PID" GC.run
		jt info --json "$JVM_PID"
		# The young space of Parallel ends at a boundary that the collector moves.
		same "$version, $gc: figures" True "$(json "(lambda v:
			(60 << 20) <= v['heap_max'] <= 64 << 20 and
			0 < v['heap_used'] <= v['heap_committed'] <= 64 << 20 and
			v['heap_used'] == sum(s['used'] for s in v['spaces']) and
			v['gc'].lower().startswith('$gc') and
			sum(c['count'] for c in v['collectors']) > 0 and v['gc_last_cause'] and
			v['safepoints'] > 0 and v['safepoint_time'] > 0 or v)(j)")"
		stop "$JVM_PID"
	done
done

# Agents: by flags, and loaded later.
cc -shared -fPIC -U_FORTIFY_SOURCE -o "$W/loadee.so" "$live_dir/agents/loadee.c"
cc -shared -fPIC -DNO_ENTRY -o "$W/none.so" "$live_dir/agents/loadee.c"
for version in own "${jdks[@]}"; do
	jdwp=-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=0
	start_jvm "$version" serial Idle "$jdwp" || continue
	works "$version: with a debugger's agent" info --json "$JVM_PID"
	same "$version: it stands in the flags, and is mapped" "['agentlib jdwp', 'mapped jdk']" \
		"$(json "['%s %s' % (a['kind'], a['name'] if a['options'] else a['by'])
			for a in j['agents']]")"
	jt load "$JVM_PID" "$W/loadee.so" 0
	same "$version: load" 0 "$rc"
	jt load "$JVM_PID" "$W/none.so"
	jt heaphisto "$JVM_PID"
	works "$version: with loaded agents" info --json "$JVM_PID"
	same "$version: what was loaded is mapped" "['jdk', 'jtool', 'loadee']" \
		"$(json "sorted(a['by'] or a['name'].split('/')[-1][:6] for a in j['agents']
			if a['kind'] == 'mapped')")"
	prints "$version: jtool's own is called so" 'jtool-agent-.*, of jtool' info "$JVM_PID"
	stop "$JVM_PID"
done

# Without counters.
for version in own "${jdks[@]}"; do
	for flag in -XX:-UsePerfData -XX:+PerfDisableSharedMem; do
		[ $flag = -XX:-UsePerfData ] || [ "$version" = own ] || [ "$version" = 27 ] || continue
		start_jvm "$version" g1 Idle $flag -- one || continue
		prints "$version $flag: says so" "^No counters: .*${flag/+/.}" info --no-attach "$JVM_PID"
		untouched "$version" "$version $flag: --no-attach"
		JT_LIMIT=5 works "$version $flag: asked instead" info --json "$JVM_PID"
		same "$version $flag: what it told" "True 67108864 G1 Idle one True" "$(json "
			'{asked} {heap_max} {gc} {main} {args} '.format(**j) +
			str('$flag' in j['flags'] and 'VM' in j['vm'] and j['vm_version'] != None)")"
		same "$version $flag: the heap, where GC.heap_info is known" True \
			"$(json "j['heap_used'] is None or 0 < j['heap_used'] <= 64 << 20")"
		prints "$version $flag: that it was asked" '^Asked: ' info "$JVM_PID"
		unharmed "$version $flag"
		stop "$JVM_PID"
	done
done
start_jvm own serial Idle -XX:-UsePerfData
halt "$JVM_PID"
poll 30 grep -q '^State:.*stopped' "/proc/$JVM_PID/status"
JT_LIMIT=5 prints "stopped, without counters" '^STOPPED: ' info "$JVM_PID"
kill -CONT "$JVM_PID"
untouched own "stopped, without counters"
stop "$JVM_PID"

# Stopped, disabled, starting, somebody else's.
start_jvm own g1 Idle
halt "$JVM_PID"
poll 30 grep -q '^State:.*stopped' "/proc/$JVM_PID/status"
JT_LIMIT=5 prints "stopped: said loudly" '^STOPPED: .*kill -CONT' info "$JVM_PID"
JT_LIMIT=5 prints "stopped: cannot be attached to" '^Attach: .*not while it is stopped' \
	info "$JVM_PID"
JT_LIMIT=5 jt info --json "$JVM_PID"
same "stopped, with its figures" "stopped 67108864" "$(json "'{state} {heap_max}'.format(**j)")"
kill -CONT "$JVM_PID"
untouched own stopped
stop "$JVM_PID"

start_jvm own serial Idle -XX:+DisableAttachMechanism -XX:-UsePerfData
prints "attach disabled: said, and why" '^Attach: +disabled: .*DisableAttachMechanism' \
	info "$JVM_PID"
untouched own "attach disabled"
stop "$JVM_PID"

mkdir "$W/paused"
JVM_CWD=$W/paused launch_jvm own serial Idle -XX:+UnlockDiagnosticVMOptions -XX:+PauseAtStartup
poll 10 test -e "$W/paused/vm.paused.$JVM_PID"
prints "starting: said" '^Attach: +starting: ' info "$JVM_PID"
rm -f "$W/paused/vm.paused.$JVM_PID"
await_ready
untouched own starting
stop "$JVM_PID"

jar=info-$$-$RANDOM.jar
(cd "$W" && printf 'Main-Class: Idle\n' >manifest && jar cfm "$jar" manifest -C classes .)
JAVA_TOOL_OPTIONS=-Dtool=$'\e[2J' JTOOL_SECRET=hidden spawn java -Xmx64m -jar "$W/$jar" $'a\nb\e[1m'
await_ready
works "hostile texts" info "$JVM_PID"
check "are made safe" grep -q 'a\\x0Ab\\x1B\[1m$' "$W/out"
check "a variable of options, too" grep -q '^JAVA_TOOL_OPTIONS:  *-Dtool=\\x1B\[2J$' "$W/out"
same "and no other variable" "" "$(grep hidden "$W/out")"
JT_AS=65534 prints "another user's: what everybody may know" '^Attach: +denied: .*root' info "$jar"
stop "$JVM_PID"
company ./jtool info all
same "all: a heading each" "0 2" "$rc $(grep -c -x '[0-9]*:' "$W/out")"

# In a container.
version=$(newest_of "${jdks[@]}")
mkdir "$W/cwd"
spawn unshare -p -f -m -n --kill-child "$live_dir/box" pivot "${jdk_root[$version]}" 0 \
	"$IW/cwd" rw "${jdk_home[$version]}/bin/java" -Xmx64m -XX:+UseSerialGC -cp "$IW/classes" Idle
await_ready
init=$JVM_PID
JVM_PID=$(pgrep -P "$init" java)
jt info --json "$JVM_PID"
same "container: inner pid, paths as it sees them" \
	"1 0 ${jdk_home[$version]}/bin/java $IW/cwd /tmp/.java_pid1" \
	"$(json "'{nspid} {uid} {exe} {cwd} {attach_socket}'.format(**j)")"
check "container: its counters" test "$(json "j['perf_file'].endswith('/1')")" = True
check "container: nobody attached" test ! -e "/proc/$JVM_PID/root/tmp/.java_pid1"
prints "container: the text" '^Pid: .*, 1 in its own namespace' info "$JVM_PID"
unharmed "container"
stop "$init" "$JVM_PID"

# Limits, where cgroups can be made.
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
	same "cgroup: the limit of memory, and what is used of it" True \
		"$(json "j['cgroup_memory_max'] == 268435456 > j['cgroup_memory_used'] >= 0")"
	unharmed cgroup
	stop "$JVM_PID"
	poll 30 rmdir "$group"
else
	skip "cgroup: the limit of memory" "no cgroup can be made here"
fi
