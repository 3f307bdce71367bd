#!/usr/bin/env bash
# list, and targets by name: the columns of each JVM, and JVMs without perf data.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

# of PID: a Python expression for the object of this JVM in the last run's JSON.
of() {
	echo "[v for v in j['jvms'] if v['pid'] == $1][0]"
}

listed() {
	jt list --json
	[ "$rc" -eq 0 ] && [ "$(json "$1 in [v['pid'] for v in j['jvms']]")" = True ]
}

keys="['args', 'attach', 'container', 'flags', 'gc', 'heap_max', 'heap_used', 'main', 'nspid', \
'pid', 'uid', 'uptime', 'user', 'version', 'vm']"

for version in "${jdks[@]}"; do
	start_jvm "$version" serial Idle -Dsome=thing -- one two || continue
	pid=$JVM_PID
	works "$version: list --json: it works" list --json
	same "$version: list --json: it has all documented keys" \
		"$keys" "$(json "sorted($(of "$pid"))")"
	same "$version: list: PID, inner PID, uid, user" "$pid $pid 0 root" \
		"$(json "'{pid} {nspid} {uid} {user}'.format(**$(of "$pid"))")"
	feature=$(json "$(of "$pid")['version']")
	feature=${feature#1.}
	same "$version: list: version" "$version" "${feature%%[._-]*}"
	same "$version: list: GC, main class, arguments" "Serial Idle one two" \
		"$(json "'{gc} {main} {args}'.format(**$(of "$pid"))")"
	same "$version: list: flags" True "$(json "'-Dsome=thing' in $(of "$pid")['flags']")"
	same "$version: list: its values are plausible" True "$(json "(lambda v:
		0 <= v['uptime'] < 600 and 0 <= v['heap_used'] <= v['heap_max'] <= 64 << 20
		or v)($(of "$pid"))")"
	same "$version: list: ready before the first attach" \
		ready "$(json "$(of "$pid")['attach']")"
	jt jcmd "$pid" VM.version
	jt list --json
	same "$version: list: listening after a command" \
		listening "$(json "$(of "$pid")['attach']")"
	unharmed "$version: list"
	stop "$pid"
	jt list --json
	same "$version: list: a killed JVM is not shown although its files remain" False \
		"$(json "$pid in [v['pid'] for v in j['jvms']]")"
	if [ "$version" -ge 17 ]; then
		for gc in g1 parallel z shenandoah; do
			start_jvm "$version" $gc Idle || continue
			jt list --json
			case $gc in
			g1) name=G1 ;;
			parallel) name=Parallel ;;
			z) name=ZGC ;;
			shenandoah) name=Shenandoah ;;
			esac
			same "$version: list: GC $name" "$name" "$(json "$(of "$JVM_PID")['gc']")"
			stop "$JVM_PID"
		done
	fi
done

# Options of the table.
start_jvm own serial Idle -Xss1m -- alpha beta
pid=$JVM_PID
prints "list: PID and main class" "^ *$pid .*Idle" list
prints "list -q: PIDs" "^$pid\$" list -q
same "list -q: nothing else" "" "$(grep -v -x '[0-9]*' "$W/out")"
prints "list -m: arguments" "$pid .*Idle.*alpha beta" list -m
prints "list -v: flags" "$pid .*-Xss1m" list -v
prints "list -l: it works" "$pid .*Idle" list -l
prints "list -o: chosen columns" "^ *PID +MAIN *\$" list -o pid,main
same "list -o: no other columns" "$pid Idle" \
	"$(awk -v pid="$pid" '$1 == pid { print $1, $2 }' "$W/out")"
works "list -o: what the kernel says" list --json -o pid,rss,cpu,threads,limit
same "list -o: what the kernel says: memory, CPU time, threads" "True True True" \
	"$(json "(lambda v: '%s %s %s' % (abs(v['rss'] / 1024 - $(rss_kb "$pid")) < 4096,
		0 < v['cpu'] < 60, v['threads'] == $(thread_count "$pid")))(
		[v for v in j['jvms'] if v['pid'] == $pid][0])")"
refuses 2 "nonsense" "list -o: an unknown column is refused" list -o nonsense
refuses 2 "" "list: an unknown option is refused" list --nonsense

# Names: a jar that is unique to this run, and an ambiguous one.
jar=live-$$-$RANDOM.jar
(cd "$W" && printf 'Main-Class: Idle\n' >manifest && jar cfm "$jar" manifest -C classes .)
spawn java -Xmx64m -jar "$W/$jar"
await_ready
named=$JVM_PID
prints "target by its jar's file name" "." jcmd "$jar" VM.version
prints "target by a part of its jar's file name" "." jcmd "${jar%.jar}" VM.version
jt list --json
same "list: main is the jar's path" "$W/$jar" "$(json "$(of "$named")['main']")"
prints "list -l: the jar's path" "$W/$jar" list -l
spawn java -Xmx64m -jar "$W/$jar" second
await_ready
jt jcmd "$jar" VM.version
same "ambiguous name: exit code 3" 3 "$rc"
check "ambiguous name: the first candidate is listed" grep -E -q "^ *$named .*$jar" "$W/err"
check "ambiguous name: the second candidate is listed" grep -E -q "^ *$JVM_PID .*$jar" "$W/err"
same "ambiguous name: one error line" 1 "$(grep -c '^jtool: jcmd: ' "$W/err")"
stop "$JVM_PID"
jt jcmd no.such.Main VM.version
same "unknown name: exit code 3" 3 "$rc"
check "unknown name: the error names it" grep -q '^jtool: jcmd: .*no.such.Main' "$W/err"
refuses 3 "no such process" "unused PID: refused" jcmd 4194303 VM.version
refuses 3 "not a JVM" "PID of another process: refused" jcmd $$ VM.version
stop "$named" "$pid"

# JVMs without shared perf data.
for version in own "${jdks[@]}"; do
	for flag in -XX:-UsePerfData -XX:+PerfDisableSharedMem; do
		start_jvm "$version" serial Idle $flag || continue
		check "$version $flag: list shows it" listed "$JVM_PID"
		same "$version $flag: list: main class" Idle \
			"$(json "$(of "$JVM_PID")['main']")"
		prints "$version $flag: jcmd works" . jcmd "$JVM_PID" VM.version
		unharmed "$version $flag"
		stop "$JVM_PID"
	done
done
start_jvm own serial Idle -XX:+DisableAttachMechanism
jt list --json
same "attach disabled: list reports disabled" disabled "$(json "$(of "$JVM_PID")['attach']")"
unharmed "attach disabled: list"
stop "$JVM_PID"

# A JVM that is starting: PauseAtStartup holds it before its signal handlers are installed.
for version in own 25; do
	has_jdk "$version" || [ "$version" = own ] || continue
	mkdir "$W/paused.$version"
	JVM_CWD=$IW/paused.$version
	[ "$version" != own ] || JVM_CWD=$W/paused.own
	launch_jvm "$version" serial Idle -XX:+UnlockDiagnosticVMOptions -XX:+PauseAtStartup
	unset JVM_CWD
	poll 10 test -e "$W/paused.$version/vm.paused.$JVM_PID"
	jt list --json
	same "$version: list: starting" starting "$(json "$(of "$JVM_PID")['attach']")"
	rm -f "$W/paused.$version/vm.paused.$JVM_PID"
	await_ready
	unharmed "$version: listed while it starts"
	stop "$JVM_PID"
done

# Other users.
start_jvm own serial Idle
JT_AS=65534 jt list --json
same "another user's JVM: list: denied, if it is shown" True \
	"$(json "all(v['attach'] == 'denied' for v in j['jvms'] if v['pid'] == $JVM_PID)")"
stop "$JVM_PID"
JVM_AS=65534:65534 JVM_CWD=/ start_jvm own serial Idle
JT_AS=65534 jt list --json
same "nobody's JVM: nobody's list shows it" "ready Idle nobody" \
	"$(json "'{attach} {main} {user}'.format(**$(of "$JVM_PID"))")"
jt list --json
same "nobody's JVM: root's list shows it" "ready 65534" \
	"$(json "'{attach} {uid}'.format(**$(of "$JVM_PID"))")"

# hsperfdata of an exited JVM does not turn another process with its PID into a JVM.
cp "/tmp/hsperfdata_nobody/$JVM_PID" "$W/ghost"
stop "$JVM_PID"
sleep 600 &
ghost=$!
disown
track "$ghost"
mkdir -p /tmp/hsperfdata_root
cp "$W/ghost" "/tmp/hsperfdata_root/$ghost"
to_remove+=("/tmp/hsperfdata_root/$ghost")
jt list --json
same "stale hsperfdata: list does not show the process" \
	False "$(json "$ghost in [v['pid'] for v in j['jvms']]")"
refuses 3 "not a JVM" "stale hsperfdata: jcmd is refused" jcmd "$ghost" VM.version
check "stale hsperfdata: the process survives" alive "$ghost"

# One visible JVM, in a PID namespace with a /tmp of its own: TARGET may be omitted.
# alone SCRIPT: runs the script in $W beside one JVM.
alone() {
	mkdir -p "$W/alone"
	rc=0
	# shellcheck disable=SC2016 # expanded by the inner shell
	JVM_CLASSES=$W/classes timeout -k 1 120 unshare --mount --pid --fork --kill-child \
		--mount-proc bash -c '
		mount -t tmpfs tmpfs /tmp && cd "$1/alone" || exit
		start() {
			rm -f "ready$1"
			java -Xmx64m -XX:+UseSerialGC -cp "$JVM_CLASSES" Idle \
				< <(exec sleep 600) >"ready$1" 2>&1 &
			until grep -qs -x READY "ready$1"; do
				kill -0 $! || exit
				sleep 0.05
			done
		}
		start 1
		eval "$2"' - "$W" "$1" >"$W/out" 2>"$W/err" || rc=$?
}
for words in info stat perf threads props agentprops flags 'heaphisto -n 1' classes \
	'class java.lang.String' 'retained -n 1' patches counters leaks \
	'refpaths java.lang.Class'; do
	alone "../jtool $words"
	same "one JVM: $words: it works without TARGET" "0 1" \
		"$rc $(grep -c -E "^jtool: [a-z]+: JVM [0-9]+: Idle$" "$W/err")"
done
alone '../jtool threads | head -n 1; ../jtool heapdump Idle; echo "$?" heapdump-*.hprof'
same "heapdump without FILE: its name" 1 \
	"$(grep -c -E -x '0 heapdump-Idle-[0-9]+-[0-9]{8}T[0-9]{6}\.hprof' "$W/out")"
alone '../jtool refpaths --to bootstrap; ../jtool refpaths --to bootstrap Idle'
same "one JVM: refpaths --to: TARGET may be omitted or given" "1 2" \
	"$(grep -c 'refpaths: JVM [0-9]*: Idle' "$W/err") $(grep -c 'never unloads' "$W/err")"
alone '../jtool heapdump'
same "one JVM: heapdump wants it named" "2 1" "$rc $(grep -c 'missing TARGET' "$W/err")"
# shellcheck disable=SC2016 # expanded by the other shell
alone '../jtool stat 1s $(../jtool list -q)'
same "one JVM: a TARGET after INTERVAL is not a COUNT" "2 1" \
	"$rc $(grep -c 'is a JVM, and TARGET comes first: jtool stat [0-9]* 1s$' "$W/err")"
alone 'start 2; ../jtool threads'
same "two JVMs: TARGET is wanted" "2 1" "$rc $(grep -c 'missing TARGET: 2 JVMs are running' "$W/err")"
