#!/usr/bin/env bash
# heapdump from a snapshot: the same objects, values, classes and roots as in the JVM's own dump of
# the idle JVM, on each JDK and collector; JVMs without snapshots; nothing is left in the JVM if
# jtool or the snapshot's process is killed.  JTOOL_SOAK=1: many more kills.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/../lib.sh"

kills=$(in_soak 50 5)
mkdir "$W/dumps"

# configurations VERSION: the flags of the JVMs, one per line; the first word is the collector.
configurations() {
	echo g1
	echo parallel
	echo serial
	[ "$1" -lt 17 ] || echo shenandoah
	echo g1 -XX:-UseCompressedOops
	[ "$1" -lt 17 ] || echo g1 -XX:-UseCompressedOops -XX:-UseCompressedClassPointers
	case $1 in
	25) echo g1 -XX:+UseCompactObjectHeaders ;;
	27) echo g1 -XX:-UseCompactObjectHeaders ;;
	17) echo parallel -XX:ObjectAlignmentInBytes=16 && echo serial -XX:HeapBaseMinAddress=40g ;;
	esac
}

# Fields and classes that may differ: the JVM itself changes them, JVMTI does not list them, or they
# are the agent's thread's, which is missing in the JVM's own dump of a Shenandoah heap: it is no
# longer reachable then.
may_differ="{'java/lang/Thread.threadStatus', 'java/lang/Thread\$FieldHolder.threadStatus',
	'java/lang/Thread.eetop', 'java/lang/Thread.group', 'java/lang/Throwable.backtrace',
	'java/lang/Thread.inheritedAccessControlContext', 'java/lang/ref/Reference.discovered',
	'java/lang/Throwable', 'jdk/internal/reflect/ConstantPool', 'sun/reflect/ConstantPool'}"

compares() {
	local name=$1

	works "$name: heapdump: it works" heapdump --engine snapshot --force --json "$JVM_PID" dumps/ours
	same "$name: heapdump: engine and pause" "snapshot True" \
		"$(json "'%s %s' % (j['engine'], j['pause'] > 0)")"
	works "$name: heapdump --all: it works" heapdump --all --force "$JVM_PID" dumps/own
	check "$name: its records are consistent" \
		python3 "$live_dir/hprof/hprof.py" "$W/dumps/ours" Values
	python3 "$live_dir/hprof/same_dump.py" "$W/dumps/ours" "$W/dumps/own" LATIN WIDE >"$W/out" \
		2>"$W/compared" || fail "$name: the dumps are compared" "$(cat "$W/compared")"
	for part in instances 'object arrays' 'primitive arrays' classes statics; do
		same "$name: $part are the same" True "$(json "j['$part']['same'] > 100 and
			not set(j['$part']['different']) - $may_differ")"
		same "$name: $part: none is too much" True \
			"$(json "sum(j['$part']['extra'].values()) <= 4")"
	done
	same "$name: stacks are the same" "True 0" \
		"$(json "'%s %d' % (j['stacks']['same'] >= 4, len(j['stacks']['different']))")"
	same "$name: thread, local and monitor roots are those of the JVM" "" "$(json "' '.join(
		k for k in ('thread', 'local', 'monitor') if j['roots'].get(k, {}).get('absent'))")"
	same "$name: local variables have their frames" "True 0" \
		"$(json "'%s %d' % (j['locals with a frame'] > 0, j['without'])")"
	same "$name: only archived classes are missing" True \
		"$(json "set(j['dangling']) <= {'[Ljava/lang/Object;', '[Ljava/lang/Class;'}")"
	same "$name: classes have constants" True "$(json "j['classes']['constants'] > 1000")"
	same "$name: strings are readable" 'café secret-latin|€ secret-wide 中' \
		"$(json "'{LATIN}|{WIDE}'.format(**j['texts'])")"
}

# The heap library of VisualVM.
library=$(compgen -G "${jdk_root[${jdks[0]}]}/opt/visualvm/usr/share/visualvm/visualvm/modules/*-jfluid-heap.jar")
if [ -n "$library" ]; then
	javac -cp "$library" -d "$W/analyser" "$live_dir/hprof/Analyse.java" || exit 1
else
	skip "VisualVM reads the dump" "it is not installed: see scripts/jdks"
fi

# facts FILE: what VisualVM reads from a dump.  The snapshot has neither the fields that HotSpot
# adds to its own dumps, nor all JNI roots, whose targets java.lang.Class then retains.
facts() {
	rm -rf "$1.hwcache" # the library's, of an earlier dump
	java -cp "$library:$W/analyser" Analyse "$1" |
		grep -a -v -E '^roots|\.<?(resolved_references|init_lock)\>|^retains java.lang.Class '
}

# without_unlinked: drops the classes without instances that only the second file has: on JDK 8, the
# snapshot lacks classes that are loaded but not linked.
without_unlinked() {
	awk '/^\tclass .* instances 0 / { absent[$2] }
		{ lines[NR] = $0 }
		END {
			for (i = 1; i <= NR; i++) {
				split(lines[i], words, " ")
				if (words[1] == "static")
					sub(/\.[^.]*$/, "", words[2])
				if (!(words[2] in absent))
					print lines[i]
			}
		}'
}

# read_by_visualvm NAME: VisualVM reads the same from the snapshot as from the JVM's own live dump.
# Only one of them has the agent's thread and the objects that it refers to.
read_by_visualvm() {
	local n other

	[ -n "$library" ] || return
	works "$1: heapdump by the JVM: it works" heapdump --engine hprof --force "$JVM_PID" dumps/own
	facts "$W/dumps/ours" >"$W/ours" 2>"$W/err"
	facts "$W/dumps/own" >"$W/own" 2>>"$W/err"
	same "$1: VisualVM reads both dumps: no exception" "" "$(cat "$W/err")"
	other=$(comm -3 --nocheck-order "$W/ours" "$W/own" | without_unlinked)
	n=$(wc -l <"$W/ours")
	check "$1: VisualVM reads $n facts" test "$n" -gt 1500
	same "$1: VisualVM reads the same of the victim" "" \
		"$(grep -a -E '(class|static|retains) Values' <<<"$other")"
	check "$1: VisualVM reads the same of other classes but $(wc -l <<<"$other")" \
		test "$(wc -l <<<"$other")" -lt 60
}

has_fds() {
	[ "$(fd_count "$JVM_PID")" = "$1" ]
}

for version in "${jdks[@]}"; do
	while read -r gc flags; do
		# shellcheck disable=SC2086 # flags are words
		start_jvm "$version" "$gc" Values -Xms200m -Xmx200m $flags -- 3000 || continue
		compares "$version $gc${flags:+ $flags}"
		[ -n "$flags" ] || read_by_visualvm "$version $gc"
		# JDK 25 prints these lines about -UseCompressedClassPointers at its start.
		unharmed "$version $gc${flags:+ $flags}" '.*(shared archive|CDS|deprecated|support was removed).*' \
			'.*(shared archive|CDS|deprecated|support was removed).*'
		stop "$JVM_PID"
	done < <(configurations "$version")
done

# JDK 8's jhat resolves the dump.
version=8
if [[ " ${jdks[*]} " == *' 8 '* ]] && start_jvm 8 parallel Values -- 1000; then
	jt heapdump --force "$JVM_PID" dumps/ours
	chroot "${jdk_root[8]}" "${jdk_home[8]}/bin/jhat" -parseonly true "$IW/dumps/ours" \
		>"$W/jhat" 2>&1
	check "8: jhat reads the dump" grep -q 'Snapshot resolved' "$W/jhat"
	same "8: jhat: no error" "" "$(grep -i 'exception\|error' "$W/jhat")"
	stop "$JVM_PID"
fi

# The JVM's own dump where no snapshot is possible, and options that exclude each other.
version=$(newest_of 17 21 25 27)
if [ -n "$version" ] && start_jvm "$version" z Values -Xmx200m -- 1000; then
	refuses 7 'cannot take a snapshot .* heap is in shared memory' "$version z: it is refused" \
		heapdump --engine snapshot "$JVM_PID" dumps/z
	jt heapdump -v --json "$JVM_PID" dumps/z
	same "$version z: the JVM's own dump: it works" 0 "$rc"
	same "$version z: the JVM's own dump: engine" "hprof None" \
		"$(json "'{engine} {pause}'.format(**j)")"
	check "$version z: -v says why" grep -q 'shared memory.*; the JVM writes its own dump' "$W/err"
	stop "$JVM_PID"
fi
version=$(newest_of 8 17 25)
if start_jvm "$version" parallel Values -Xms400m -Xmx400m -- 300000; then
	jt heapdump -v --force "$JVM_PID" dumps/text
	same "$version: the text" 0 "$rc"
	check "$version: the pause is told" grep -qE \
		'^wrote dumps/text: [0-9.]+ MiB, live objects; the JVM was paused for [0-9]+ ms$' "$W/out"
	check "$version: -v tells the expected pause" \
		grep -q 'a snapshot will pause the JVM for about' "$W/err"
	works "$version: --gzip" heapdump --engine snapshot --gzip --force "$JVM_PID" dumps/gz
	check "$version: --gzip: it can be parsed" \
		python3 "$live_dir/hprof/hprof.py" "$W/dumps/gz" Values
	(cd "$W" && exec ./jtool heapdump --engine snapshot "$JVM_PID" - 2>"$W/err") |
		cat >"$W/dumps/piped"
	check "$version: -: it can be parsed" python3 "$live_dir/hprof/hprof.py" "$W/dumps/piped"
	same "$version: -: no message" "" "$(cat "$W/err")"
	refuses 2 'cannot be combined' "$version: --all is not a snapshot's" \
		heapdump --engine snapshot --all "$JVM_PID" dumps/none
	refuses 7 'longer than --max-pause' "$version: --max-pause" \
		heapdump --engine snapshot --max-pause 0.001 "$JVM_PID" dumps/none
	jt retained --json --engine snapshot "$JVM_PID"
	live=$(json "next(c['instances'] for c in j['classes'] if c['class'] == 'Values\$Node')")
	jt retained --json dumps/text
	same "$version: retained of the dump: as many nodes" "$live" \
		"$(json "next(c['instances'] for c in j['classes'] if c['class'] == 'Values\$Node')")"

	before=$(fd_count "$JVM_PID")
	for ((i = 0; i < kills; i++)); do
		(cd "$W" && exec ./jtool heapdump --engine snapshot "$JVM_PID" dumps/killed \
			>/dev/null 2>&1) &
		pid=$!
		poll 20 has_child_or_ended
		sleep "0.0$((RANDOM % 10))"
		if [ $((i % 2)) -eq 0 ]; then
			kill -KILL "$pid" 2>/dev/null
		else
			children | xargs -r kill -KILL 2>/dev/null
		fi
		wait "$pid" 2>/dev/null
		[ ! -e "$W/dumps/killed" ] ||
			python3 "$live_dir/hprof/hprof.py" "$W/dumps/killed" >/dev/null ||
			fail "$version: killed: the file is complete or missing"
		rm -f "$W/dumps/killed"
		poll 10 childless || fail "$version: killed: no child remains"
	done
	pass "$version: $kills kills of jtool or the child: the file is complete or missing"
	check "$version: killed: no file remains in the target" poll 30 nothing_left_here
	check "$version: killed: no descriptor remains" poll 30 has_fds "$before"
	unharmed "$version: killed"
	stop "$JVM_PID"
fi
