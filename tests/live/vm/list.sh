#!/usr/bin/env bash
# list, and names instead of pids: what is shown of each JVM, and of those that hide.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# of PID: the object of one JVM in the last run's JSON, as a Python expression.
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
	works "$version: list --json" list --json
	same "$version: every key of the contract" "$keys" "$(json "sorted($(of "$pid"))")"
	same "$version: pid, inner pid, uid, user" "$pid $pid 0 root" \
		"$(json "'{pid} {nspid} {uid} {user}'.format(**$(of "$pid"))")"
	feature=$(json "$(of "$pid")['version']")
	feature=${feature#1.}
	same "$version: its version" "$version" "${feature%%[._-]*}"
	same "$version: GC, main, arguments" "Serial Idle one two" \
		"$(json "'{gc} {main} {args}'.format(**$(of "$pid"))")"
	same "$version: flags" True "$(json "'-Dsome=thing' in $(of "$pid")['flags']")"
	same "$version: figures are sane" True "$(json "(lambda v:
		0 <= v['uptime'] < 600 and 0 <= v['heap_used'] <= v['heap_max'] <= 64 << 20
		or v)($(of "$pid"))")"
	same "$version: ready" ready "$(json "$(of "$pid")['attach']")"
	jt jcmd "$pid" VM.version
	jt list --json
	same "$version: listening after a command" listening "$(json "$(of "$pid")['attach']")"
	unharmed "$version: list"
	stop "$pid"
	jt list --json
	same "$version: gone when it is killed, though its files stay" False \
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
			same "$version: GC $name" "$name" "$(json "$(of "$JVM_PID")['gc']")"
			stop "$JVM_PID"
		done
	fi
done

# The options of the table.
start_jvm own serial Idle -Xss1m -- alpha beta
pid=$JVM_PID
prints "list: pid and main class" "^ *$pid .*Idle" list
prints "list -q: pids only" "^$pid\$" list -q
same "list -q: nothing else" "" "$(grep -v -x '[0-9]*' "$W/out")"
prints "list -m: arguments" "$pid .*Idle.*alpha beta" list -m
prints "list -v: flags" "$pid .*-Xss1m" list -v
prints "list -l" "$pid .*Idle" list -l
prints "list -o: chosen columns" "^ *PID +MAIN *\$" list -o pid,main
same "list -o: and only these" "$pid Idle" \
	"$(awk -v pid="$pid" '$1 == pid { print $1, $2 }' "$W/out")"
refuses 2 "nonsense" "list -o: an unknown column" list -o nonsense
refuses 2 "" "list: an unknown option" list --nonsense

# Names: a jar that only this run has, and a class that it has twice.
jar=live-$$-$RANDOM.jar
(cd "$W" && printf 'Main-Class: Idle\n' >manifest && jar cfm "$jar" manifest -C classes .)
spawn java -Xmx64m -jar "$W/$jar"
await_ready
named=$JVM_PID
prints "a JVM by its jar's file name" "." jcmd "$jar" VM.version
prints "by a part of it" "." jcmd "${jar%.jar}" VM.version
jt list --json
same "main is the jar's path" "$W/$jar" "$(json "$(of "$named")['main']")"
prints "list -l: the jar's path" "$W/$jar" list -l
spawn java -Xmx64m -jar "$W/$jar" second
await_ready
jt jcmd "$jar" VM.version
same "an ambiguous name: exit 3" 3 "$rc"
check "and the candidates, one a line" grep -E -q "^ *$named .*$jar" "$W/err"
check "both of them" grep -E -q "^ *$JVM_PID .*$jar" "$W/err"
same "an error line at the end" 1 "$(grep -c '^jtool: jcmd: ' "$W/err")"
stop "$JVM_PID"
jt jcmd no.such.Main VM.version
same "an unknown name: exit 3" 3 "$rc"
check "and an error line" grep -q '^jtool: jcmd: .*no.such.Main' "$W/err"
refuses 3 "no such process" "a pid that is not there" jcmd 4194303 VM.version
refuses 3 "not a JVM" "a pid that is no JVM" jcmd $$ VM.version
stop "$named" "$pid"

# Those that hide.
for version in own "${jdks[@]}"; do
	for flag in -XX:-UsePerfData -XX:+PerfDisableSharedMem; do
		start_jvm "$version" serial Idle $flag || continue
		check "$version $flag: listed" listed "$JVM_PID"
		same "$version $flag: with its main class" Idle \
			"$(json "$(of "$JVM_PID")['main']")"
		prints "$version $flag: attach works" . jcmd "$JVM_PID" VM.version
		unharmed "$version $flag"
		stop "$JVM_PID"
	done
done
start_jvm own serial Idle -XX:+DisableAttachMechanism
jt list --json
same "attach disabled: said so" disabled "$(json "$(of "$JVM_PID")['attach']")"
unharmed "attach disabled: list"
stop "$JVM_PID"

# Starting: PauseAtStartup holds a JVM before its signal handlers are there.
for version in own 25; do
	has_jdk "$version" || [ "$version" = own ] || continue
	mkdir "$W/paused.$version"
	JVM_CWD=$IW/paused.$version
	[ "$version" != own ] || JVM_CWD=$W/paused.own
	launch_jvm "$version" serial Idle -XX:+UnlockDiagnosticVMOptions -XX:+PauseAtStartup
	unset JVM_CWD
	poll 10 test -e "$W/paused.$version/vm.paused.$JVM_PID"
	jt list --json
	same "$version: a JVM that is starting" starting "$(json "$(of "$JVM_PID")['attach']")"
	rm -f "$W/paused.$version/vm.paused.$JVM_PID"
	await_ready
	unharmed "$version: seen while starting"
	stop "$JVM_PID"
done

# Users.
start_jvm own serial Idle
JT_AS=65534 jt list --json
same "another user's JVM: denied, if it is shown at all" True \
	"$(json "all(v['attach'] == 'denied' for v in j['jvms'] if v['pid'] == $JVM_PID)")"
stop "$JVM_PID"
JVM_AS=65534:65534 JVM_CWD=/ start_jvm own serial Idle
JT_AS=65534 jt list --json
same "its own user sees it" "ready Idle nobody" \
	"$(json "'{attach} {main} {user}'.format(**$(of "$JVM_PID"))")"
jt list --json
same "and so does root" "ready 65534" \
	"$(json "'{attach} {uid}'.format(**$(of "$JVM_PID"))")"

# A ghost: hsperfdata of a JVM that is no more must not make its successor a JVM.
cp "/tmp/hsperfdata_nobody/$JVM_PID" "$W/ghost"
stop "$JVM_PID"
sleep 600 &
ghost=$!
disown
mind "$ghost"
mkdir -p /tmp/hsperfdata_root
cp "$W/ghost" "/tmp/hsperfdata_root/$ghost"
litter+=("/tmp/hsperfdata_root/$ghost")
jt list --json
same "hsperfdata alone makes no JVM" False "$(json "$ghost in [v['pid'] for v in j['jvms']]")"
refuses 3 "not a JVM" "nor one to attach to" jcmd "$ghost" VM.version
check "it lives" alive "$ghost"
