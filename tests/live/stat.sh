#!/usr/bin/env bash
# stat and perf: column by column what jstat and jcmd of the same JDK show; intervals and their
# ends; metrics, as two parsers of Prometheus' read them; JVMs without perf data.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# tool VERSION NAME ARGUMENT...: a tool of that JDK, where its JVMs are.
tool() {
	local version=$1 name=$2

	shift 2
	if [ "$version" = own ]; then
		"$name" "$@"
	else
		chroot "${jdk_root[$version]}" "${jdk_home[$version]}/bin/$name" "$@"
	fi
}

# beside OURS THEIRS: run both; sets `ours` and `theirs`, read while the JVM counted nothing in
# between.  The clock, which up to JDK 21 is a counter, counts always.
beside() {
	local again try

	for try in 1 2 3 4 5 6 7 8; do
		ours=$($1)
		theirs=$($2)
		again=$($1)
		[ "$ours" = "$again" ] && return 0
	done
	ours="it still counts, after $try tries"
}

our_table() {
	"$W/jtool" stat "$JVM_PID" -t "$table" 2>&1
}

their_table() {
	tool "$version" jstat "-$table" "$JVM_PID" 2>&1
}

# named TABLE: each figure with its column.  jstat of 8 has no CGC and CGCT.
named() {
	awk 'NR == 1 { n = split($0, name) }
	NR == 2 { for (i = 1; i <= n; i++) if (name[i] !~ /^CGCT?$/ || $i != "-")
		print name[i] "=" $i }' <<<"$1"
}

# agrees NAME: the table `table` of the JVM started last, of JDK `version`.
agrees() {
	beside our_table their_table
	case $version in
	8 | 11) same "$1" "$(named "$theirs")" "$(named "$ours")" ;;
	*) same "$1, to the byte" "$theirs" "$ours" ;;
	esac
}

our_counters() {
	"$W/jtool" perf "$JVM_PID" | grep -v '^sun.os.hrt.ticks='
}

their_counters() {
	tool "$version" jcmd "$JVM_PID" PerfCounter.print | sed 1d | grep -v '^sun.os.hrt.ticks='
}

for version in own "${jdks[@]}"; do
	case $version in
	own) gcs=(g1) ;;
	8) gcs=(serial parallel g1) ;;
	17 | 25) gcs=(serial parallel g1 z shenandoah) ;;
	*) gcs=(serial g1 z) ;;
	esac
	for gc in "${gcs[@]}"; do
		start_jvm "$version" "$gc" Idle '-Dquotes="ä"' || continue
		works "$version $gc: a collection, so that there are figures" jcmd "$JVM_PID" GC.run
		for table in gcutil gc; do
			agrees "$version $gc: jstat -$table"
		done
		if [ "$gc" = serial ] || [ "$version" = own ]; then
			for table in class compiler; do
				agrees "$version: jstat -$table"
			done
			beside our_counters their_counters
			same "$version: perf, to the byte" "$theirs" "$ours"
			works "$version: PerfCounter.print" jcmd "$JVM_PID" PerfCounter.print
			same "$version: it is perf" "$ours" \
				"$(grep -v '^sun.os.hrt.ticks=' "$W/out")"
			works "$version: perf, some" perf "$JVM_PID" 'sun.perfdata.*Version'
			same "$version: and only those" \
				$'sun.perfdata.majorVersion=2\nsun.perfdata.minorVersion=0' \
				"$(cat "$W/out")"
			works "$version: perf --json" perf "$JVM_PID" --json 'sun.rt.java*'
			same "$version: its keys" "{'pid': $JVM_PID, 'counters': \
{'sun.rt.javaCommand': 'Idle'}}" "$(json j)"
		fi
		works "$version $gc: --openmetrics" stat "$JVM_PID" --openmetrics
		check "$version $gc: promtool takes it" promtool check metrics <"$W/out"
		cp "$W/out" "$W/metrics"
		jt stat "$JVM_PID" -t gc --json
		same "$version $gc: the same figures as in -t gc" "[True, True, True]" \
			"$(/usr/bin/python3 "$live_dir/metrics.py" "$W/metrics" "[
			abs(value('jvm_memory_pool_used_bytes', pool='old') / 1024 - \
				$(json "j['samples'][0]['OU'] or 0")) < 0.06,
			abs(sum(s.value for s in samples if s.name == 'jvm_gc_collection_seconds_sum') \
				- $(json "j['samples'][0]['GCT']")) < 0.002,
			value('jvm_info', main='Idle', container='', pid='$JVM_PID') == 1]")"
		unharmed "$version $gc"
		stop "$JVM_PID"
	done
done

# Texts of the target's: one line each, whatever is in them.
mkdir "$W/jar"
printf 'Main-Class: Idle\n' >"$W/jar/manifest"
jar="$W/we\"ird\\n"$'\n'"{a=b},x.jar"
(cd "$W" && jar cfm "$jar" jar/manifest -C classes .)
jvm_command own serial "-Dlines=a
b" -jar "$jar"
spawn "${argv[@]}"
await_ready || exit
prints "perf: a line is a line" '^java.rt.vmArgs="-Xmx64m .* -Dlines=a\\x0Ab"$' perf "$JVM_PID" \
	java.rt.vmArgs
works "--openmetrics: a main class of any letters" stat "$JVM_PID" --openmetrics
check "promtool takes it" promtool check metrics <"$W/out"
same "and the name is in it" "True" "$(/usr/bin/python3 "$live_dir/metrics.py" "$W/out" \
	"samples[0].labels['main'].endswith(r'/we\"ird\\n\\x0A{a=b},x.jar')")"

# Intervals.
begin=$(now_ms)
works "INTERVAL COUNT" stat "$JVM_PID" 200 3
took=$(($(now_ms) - begin))
same "a heading, and a line each" 4 "$(wc -l <"$W/out")"
check "it took two intervals ($took ms)" [ $((took >= 400 && took < 4000)) -eq 1 ]
works "INTERVAL with a unit" stat "$JVM_PID" 0.02s 3 --json
same "its document" "[$JVM_PID, 3]" "$(json "[j['pid'], len(j['samples'])]")"
same "in one line" 1 "$(wc -l <"$W/out")"
same "its keys are jstat's names" "$(jstat -gcutil "$JVM_PID" | head -n 1 | xargs)" \
	"$(json "' '.join([k for k in j['samples'][0] if k != 'Timestamp'])")"
works "-t class" stat "$JVM_PID" -t class --json
same "no key twice" "['Timestamp', 'Loaded', 'Bytes', 'Unloaded', 'UnloadedBytes', 'Time']" \
	"$(json "list(j['samples'][0])")"
same "what there is not is null" None \
	"$("$W/jtool" stat "$JVM_PID" --json >"$W/out"; json "j['samples'][0]['CGC']")"
(cd "$W" && ./jtool stat "$JVM_PID" 10 2>err | head -n 3 >out)
same "a pipe that is closed ends it" "3 Broken pipe" \
	"$(wc -l <"$W/out") $(grep -o 'Broken pipe' "$W/err")"

# follow ARGUMENT...: an endless run in the background.  Sets FOLLOWER.
follow() {
	(cd "$W" && exec env --default-signal=INT ./jtool stat "$@" >out 2>err) &
	FOLLOWER=$!
	mind "$FOLLOWER"
}

shows() {
	[ "$(grep -o -e "$1" "$W/out" | wc -l)" -ge "$2" ]
}

# ended NAME CODE: the follower has, with this exit code.
ended() {
	rc=0
	wait "$FOLLOWER" || rc=$?
	same "$1" "$2" "$rc"
}

follow "$JVM_PID" 20
check "rows are seen as they come" poll 10 shows '0\.00' 8
kill -INT "$FOLLOWER"
ended "Ctrl-C ends it, and all is well" 0
check "without a word" [ ! -s "$W/err" ]
follow "$JVM_PID" 20 --json
check "samples are seen as they come" poll 10 shows Timestamp 3
kill -INT "$FOLLOWER"
ended "Ctrl-C ends the document" 0
check "which is whole" [ "$(json "len(j['samples']) >= 3")" = True ]
follow "$JVM_PID" 20 100000 --json
check "before COUNT" poll 10 shows Timestamp 2
kill -TERM "$FOLLOWER"
ended "a signal before COUNT: the result is partial" 7
check "the document is whole all the same" [ "$(json "len(j['samples']) >= 2")" = True ]
check "and why is told" grep -q 'ended by a signal after' "$W/err"

# Whose files are gone, whose owner is another.
JT_AS=1234 refuses 4 'user|root' "another user's" stat "$JVM_PID"
rm "/tmp/hsperfdata_root/$JVM_PID"
works "its file was deleted" stat "$JVM_PID"
works "perf, too" perf "$JVM_PID" sun.rt.javaCommand

follow "$JVM_PID" 20 --json
check "until the JVM ends" poll 10 shows Timestamp 2
stop "$JVM_PID"
ended "its end: what was read stays" 7
check "in a document" [ "$(json "len(j['samples']) >= 2")" = True ]
check "and it is told" grep -q -E '^jtool: stat: .*went away' "$W/err"

# Nothing to read.
for version in "${jdks[@]}"; do
	for flag in -XX:-UsePerfData -XX:+PerfDisableSharedMem; do
		start_jvm "$version" serial Idle $flag || continue
		refuses 1 "UsePerfData|PerfDisableSharedMem" "$version: stat with $flag" \
			stat "$JVM_PID"
		[ "$version" = 17 ] || stop "$JVM_PID"
		[ "$version" = 17 ] || continue
		refuses 1 "started with -XX:.${flag#-XX:?};" "$version: perf with $flag" perf "$JVM_PID"
		refuses 1 "started with -XX:.${flag#-XX:?};" "$version: --openmetrics with $flag" \
			stat "$JVM_PID" --openmetrics
		stop "$JVM_PID"
	done
done

# All: two JVMs, and one that publishes nothing.
company_flags=(-XX:+UseSerialGC -XX:+UseParallelGC -XX:-UsePerfData)
company ./jtool stat all
same "all: one gave nothing" 7 "$rc"
same "all: a heading, and a table each" "2 2 6" "$(grep -c -x '[0-9]*:' "$W/out") \
$(grep -c YGC "$W/out") $(wc -l <"$W/out")"
check "all: which one, and why" grep -q -E '^jtool: stat: [0-9]+: .*-XX:-UsePerfData' "$W/err"
company ./jtool stat all 50 3 --json
same "all, again and again: a document each" "[3, 3] True" "$(python3 -c '
import json, sys
j = [json.loads(line) for line in sys.stdin]
print([len(d["samples"]) for d in j], j[0]["pid"] != j[1]["pid"])' <"$W/out")"
company ./jtool stat all 50 3
same "all, again and again: one table" "1 7" "$(grep -c '^    PID ' "$W/out") $(wc -l <"$W/out")"
company timeout --preserve-status -s INT 0.5 ./jtool stat all 50 -t gc
same "all: Ctrl-C" 7 "$rc"
check "all: and its rows are whole" awk 'NR == 1 { n = NF }
	NF != n { exit 1 } END { exit NR < 4 }' "$W/out"
company ./jtool stat all --openmetrics
same "all --openmetrics: the others are a whole result" 0 "$rc"
check "all --openmetrics: it is told" grep -q UsePerfData "$W/err"
check "all --openmetrics: promtool takes it" promtool check metrics <"$W/out"
same "all --openmetrics: both" "['Parallel', 'Serial']" "$(/usr/bin/python3 \
	"$live_dir/metrics.py" "$W/out" "sorted(s.labels['gc'] for s in samples \
	if s.name == 'jvm_info')")"
company ./jtool perf all sun.rt.javaCommand
same "perf all" 2 "$(grep -c -x 'sun.rt.javaCommand="Idle"' "$W/out")"
