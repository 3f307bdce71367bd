#!/usr/bin/env bash
# stat and perf: every column equals that of jstat and jcmd of the same JDK; intervals and counts;
# metrics, read with two Prometheus parsers; JVMs without perf data.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

# tool VERSION NAME ARGUMENT...: runs a tool of that JDK in the root of its JVMs.
tool() {
	local version=$1 name=$2

	shift 2
	if [ "$version" = own ]; then
		"$name" "$@"
	else
		chroot "${jdk_root[$version]}" "${jdk_home[$version]}/bin/$name" "$@"
	fi
}

# read_both OURS THEIRS: runs both commands; sets `ours` and `theirs`, read while no counter of the
# JVM changed. The clock, which is a counter up to JDK 21, always changes.
read_both() {
	local again try

	for try in 1 2 3 4 5 6 7 8; do
		ours=$($1)
		theirs=$($2)
		again=$($1)
		[ "$ours" = "$again" ] && return 0
	done
	ours="counters still change after $try tries"
}

our_table() {
	"$W/jtool" stat "$JVM_PID" -t "$table" 2>&1
}

their_table() {
	tool "$version" jstat "-$table" "$JVM_PID" 2>&1
}

# named TABLE: each value with its column name. jstat of JDK 8 has no CGC and CGCT.
named() {
	awk 'NR == 1 { n = split($0, name) }
	NR == 2 { for (i = 1; i <= n; i++) if (name[i] !~ /^CGCT?$/ || $i != "-")
		print name[i] "=" $i }' <<<"$1"
}

# agrees NAME: jtool's table `table` of the JVM that was started last equals jstat's of `version`.
agrees() {
	read_both our_table their_table
	case $version in
	8 | 11) same "$1" "$(named "$theirs")" "$(named "$ours")" ;;
	*) same "$1, byte for byte" "$theirs" "$ours" ;;
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
		works "$version $gc: jcmd GC.run works" jcmd "$JVM_PID" GC.run
		for table in gc gccapacity gccause gcmetacapacity gcnew gcnewcapacity gcold \
			gcoldcapacity gcutil; do
			agrees "$version $gc: stat -t $table equals jstat"
		done
		if [ "$gc" = serial ] || [ "$version" = own ]; then
			for table in class compiler printcompilation; do
				agrees "$version: stat -t $table equals jstat"
			done
			for table in $(tool "$version" jstat -options); do
				works "$version: stat $table: it works" stat "$JVM_PID" "$table"
			done
			read_both our_counters their_counters
			same "$version: perf equals PerfCounter.print, byte for byte" \
				"$theirs" "$ours"
			works "$version: jcmd PerfCounter.print works" \
				jcmd "$JVM_PID" PerfCounter.print
			same "$version: jcmd PerfCounter.print equals perf" "$ours" \
				"$(grep -v '^sun.os.hrt.ticks=' "$W/out")"
			works "$version: perf GLOB: it works" perf "$JVM_PID" \
				'sun.perfdata.*Version'
			same "$version: perf GLOB: it prints the matches" \
				$'sun.perfdata.majorVersion=2\nsun.perfdata.minorVersion=0' \
				"$(cat "$W/out")"
			works "$version: perf --json: it works" \
				perf "$JVM_PID" --json 'sun.rt.java*'
			same "$version: perf --json: its keys" "{'schema': 1, 'pid': $JVM_PID, \
'counters': {'sun.rt.javaCommand': 'Idle'}}" "$(json j)"
		fi
		works "$version $gc: stat --openmetrics: it works" stat "$JVM_PID" --openmetrics
		check "$version $gc: stat --openmetrics: promtool accepts it" \
			promtool check metrics <"$W/out"
		cp "$W/out" "$W/metrics"
		jt stat "$JVM_PID" -t gc --json
		same "$version $gc: stat --openmetrics: the values of -t gc" "[True, True, True]" \
			"$(/usr/bin/python3 "$live_dir/vm/metrics.py" "$W/metrics" "[
			abs(value('jvm_memory_pool_used_bytes', pool='old') / 1024 - \
				$(json "j['samples'][0]['OU'] or 0")) < 0.06,
			abs(sum(s.value for s in samples if s.name == 'jvm_gc_collection_seconds_sum') \
				- $(json "j['samples'][0]['GCT']")) < 0.002,
			value('jvm_info', main='Idle', container='', pid='$JVM_PID') == 1]")"
		unharmed "$version $gc"
		stop "$JVM_PID"
	done
done

# Strings of the target: each one is on one line, whatever it contains.
mkdir "$W/jar"
printf 'Main-Class: Idle\n' >"$W/jar/manifest"
jar="$W/we\"ird\\n"$'\n'"{a=b},x.jar"
(cd "$W" && jar cfm "$jar" jar/manifest -C classes .)
jvm_command own serial "-Dlines=a
b" -jar "$jar"
spawn "${argv[@]}"
await_ready || exit
prints "perf: newlines are escaped" '^java.rt.vmArgs="-Xmx64m .* -Dlines=a\\x0Ab"$' \
	perf "$JVM_PID" \
	java.rt.vmArgs
works "stat --openmetrics: a jar name with special characters" stat "$JVM_PID" --openmetrics
check "stat --openmetrics: promtool accepts special characters" promtool check metrics <"$W/out"
same "stat --openmetrics: the jar name is escaped" \
	"True" "$(/usr/bin/python3 "$live_dir/vm/metrics.py" "$W/out" \
	"samples[0].labels['main'].endswith(r'/we\"ird\\n\\x0A{a=b},x.jar')")"

# Intervals.
begin=$(now_ms)
works "stat INTERVAL COUNT: it works" stat "$JVM_PID" 200 3
took=$(($(now_ms) - begin))
same "stat INTERVAL COUNT: a heading and a line per sample" 4 "$(wc -l <"$W/out")"
check "stat INTERVAL COUNT: it takes two intervals ($took ms)" \
	[ $((took >= 400 && took < 4000)) -eq 1 ]
works "stat INTERVAL with a unit: it works" stat "$JVM_PID" 0.02s 3 --json
same "stat --json: its samples" "[$JVM_PID, 3]" "$(json "[j['pid'], len(j['samples'])]")"
same "stat --json: one line" 1 "$(wc -l <"$W/out")"
same "stat --json: its keys are jstat's columns" "$(jstat -gcutil "$JVM_PID" | head -n 1 | xargs)" \
	"$(json "' '.join([k for k in j['samples'][0] if k != 'Timestamp'])")"
works "stat -t class: it works" stat "$JVM_PID" -t class --json
same "stat -t class --json: unique keys" \
	"['Timestamp', 'Loaded', 'Bytes', 'Unloaded', 'UnloadedBytes', 'Time']" \
	"$(json "list(j['samples'][0])")"
works "stat -t gccause: it works" jstat -gccause "$JVM_PID" --json
same "stat -t gccause --json: a text" "No GC" "$(json "j['samples'][0]['GCC']")"
same "stat --json: a missing counter is null" None \
	"$("$W/jtool" stat "$JVM_PID" --json >"$W/out"; json "j['samples'][0]['CGC']")"
(cd "$W" && ./jtool stat "$JVM_PID" 10 2>err | head -n 3 >out)
same "stat: a closed pipe ends it silently" "3 0" "$(wc -l <"$W/out") $(wc -l <"$W/err")"

# follow ARGUMENT...: runs an endless stat in the background. Sets FOLLOWER.
follow() {
	(cd "$W" && exec env --default-signal=INT ./jtool stat "$@" >out 2>err) &
	FOLLOWER=$!
	track "$FOLLOWER"
}

shows() {
	[ "$(grep -o -e "$1" "$W/out" | wc -l)" -ge "$2" ]
}

# ended NAME CODE: the follower exits with CODE.
ended() {
	rc=0
	wait "$FOLLOWER" || rc=$?
	same "$1" "$2" "$rc"
}

follow "$JVM_PID" 20
check "stat INTERVAL: rows are printed immediately" poll 10 shows '0\.00' 8
kill -INT "$FOLLOWER"
ended "stat INTERVAL: Ctrl-C ends it with exit code 0" 0
check "stat INTERVAL: Ctrl-C prints no message" [ ! -s "$W/err" ]
follow "$JVM_PID" 20 --json
check "stat INTERVAL --json: samples are printed immediately" poll 10 shows Timestamp 3
kill -INT "$FOLLOWER"
ended "stat INTERVAL --json: Ctrl-C ends it with exit code 0" 0
check "stat INTERVAL --json: Ctrl-C completes the document" \
	[ "$(json "len(j['samples']) >= 3")" = True ]
follow "$JVM_PID" 20 100000 --json
check "stat INTERVAL COUNT --json: it prints samples" poll 10 shows Timestamp 2
kill -TERM "$FOLLOWER"
ended "stat INTERVAL COUNT --json: a signal before COUNT: exit code 7" 7
check "stat INTERVAL COUNT --json: a signal completes the document" \
	[ "$(json "len(j['samples']) >= 2")" = True ]
check "stat INTERVAL COUNT --json: the message names the signal" \
	grep -q 'ended by a signal after' "$W/err"

# Deleted hsperfdata, and another user's JVM.
JT_AS=1234 refuses 4 'user|root' "another user's JVM: stat is refused" stat "$JVM_PID"
rm "/tmp/hsperfdata_root/$JVM_PID"
works "deleted hsperfdata: stat works" stat "$JVM_PID"
works "deleted hsperfdata: perf works" perf "$JVM_PID" sun.rt.javaCommand

follow "$JVM_PID" 20 --json
check "killed JVM: stat prints samples before" poll 10 shows Timestamp 2
stop "$JVM_PID"
ended "killed JVM: stat exits with 7" 7
check "killed JVM: stat completes the document" [ "$(json "len(j['samples']) >= 2")" = True ]
check "killed JVM: stat reports it" grep -q -E '^jtool: stat: .*exited' "$W/err"

# A damaged file: jcmd is suggested only if it can attach.
if start_jvm own serial Idle -XX:+DisableAttachMechanism; then
	printf XXXX | dd of="/tmp/hsperfdata_root/$JVM_PID" conv=notrunc status=none
	refuses 1 'it is damaged; attaching is disabled, too' \
		"damaged hsperfdata, attach disabled: stat is refused" stat "$JVM_PID"
	stop "$JVM_PID"
fi

# JVMs without perf data.
for version in "${jdks[@]}"; do
	for flag in -XX:-UsePerfData -XX:+PerfDisableSharedMem; do
		start_jvm "$version" serial Idle $flag || continue
		refuses 1 "UsePerfData|PerfDisableSharedMem" "$version: $flag: stat is refused" \
			stat "$JVM_PID"
		[ "$version" = 17 ] || stop "$JVM_PID"
		[ "$version" = 17 ] || continue
		refuses 1 "started with -XX:.${flag#-XX:?};" \
			"$version: $flag: perf is refused" perf "$JVM_PID"
		refuses 1 "started with -XX:.${flag#-XX:?};" \
			"$version: $flag: stat --openmetrics is refused" \
			stat "$JVM_PID" --openmetrics
		stop "$JVM_PID"
	done
done

# All JVMs: two with perf data and one without.
other_jvm_flags=(-XX:+UseSerialGC -XX:+UseParallelGC -XX:-UsePerfData)
run_among_jvms ./jtool stat all
same "stat all: one JVM fails: exit code 7" 7 "$rc"
same "stat all: a heading and a table per JVM" "2 2 6" "$(grep -c -x '[0-9]*:' "$W/out") \
$(grep -c YGC "$W/out") $(wc -l <"$W/out")"
check "stat all: the failure names the JVM and the flag" \
	grep -q -E '^jtool: stat: [0-9]+: .*-XX:-UsePerfData' "$W/err"
run_among_jvms ./jtool stat all 50 3 --json
same "stat all INTERVAL COUNT --json: a document per JVM" "[1] [3, 3] 3" "$(python3 -c '
import json, sys
j = [json.loads(line) for line in sys.stdin]
print([d["error"]["code"] for d in j if "error" in d],
	[len(d["samples"]) for d in j if "samples" in d], len({d["pid"] for d in j}))' <"$W/out")"
run_among_jvms ./jtool stat all 50 3
same "stat all INTERVAL COUNT: one table" "1 7" "$(grep -c '^    PID ' "$W/out") $(wc -l <"$W/out")"
run_among_jvms timeout --preserve-status -s INT 0.5 ./jtool stat all 50 -t gc
same "stat all INTERVAL: Ctrl-C: exit code 7" 7 "$rc"
check "stat all INTERVAL: Ctrl-C leaves complete rows" awk 'NR == 1 { n = NF }
	NF != n { exit 1 } END { exit NR < 4 }' "$W/out"
run_among_jvms ./jtool stat all --openmetrics
same "stat all --openmetrics: one JVM fails: exit code 0" 0 "$rc"
check "stat all --openmetrics: the failure is reported" grep -q UsePerfData "$W/err"
check "stat all --openmetrics: promtool accepts it" promtool check metrics <"$W/out"
same "stat all --openmetrics: both JVMs are in it" "['Parallel', 'Serial']" "$(/usr/bin/python3 \
	"$live_dir/vm/metrics.py" "$W/out" "sorted(s.labels['gc'] for s in samples \
	if s.name == 'jvm_info')")"
run_among_jvms ./jtool perf all sun.rt.javaCommand
same "perf all: one line per JVM" 2 "$(grep -c -x 'sun.rt.javaCommand="Idle"' "$W/out")"
