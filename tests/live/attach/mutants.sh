#!/usr/bin/env bash
# Sessions of a hostile agent: errors are inserted into the answers of a JVM and its agent, and into
# dumps, recordings, reports and class files. jtool neither crashes nor hangs, and its memory and
# disk space are limited. JTOOL_SOAK=1: 10,000 sessions and as many files. JTOOL_SESSIONS is another
# number of both, so that a long run can be done in parts. A build of --enable-dev has sanitizers.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

sessions=${JTOOL_SESSIONS:-$(in_soak 10000 200)}
files=${JTOOL_SESSIONS:-$(in_soak 10000 40)}
seed=${JTOOL_SEED:-$RANDOM}
sanitizers=without
! grep -q __asan_init "$JTOOL" || sanitizers=with
echo "# mutants: $sessions sessions, $files files, $sanitizers sanitizers, JTOOL_SEED=$seed"

truncate -s 4096 "$W/libjvm.so"
mkdir "$W/small" "$W/mutants"
mount -t tmpfs -o size=64m tmpfs "$W/small"
mounts+=("$W/small")

start_jvm own serial Idle -Xmx32m || exit
jt jcmd "$JVM_PID" JFR.start disk=false
same "a recording is started" 0 "$rc"
cp "$W/classes/Idle.class" "$W/mutants"
jt heapdump --engine hprof "$JVM_PID" mutants/base.hprof
same "a heap dump to change" 0 "$rc"
jt heaphisto "$JVM_PID" --save mutants/saved.json
same "a histogram to change" 0 "$rc"
jt memory "$JVM_PID" --save mutants/memory.json
same "a division of the memory to change" 0 "$rc"
gzip -1 -c "$W/mutants/base.hprof" >"$W/mutants/base.hprof.gz"
jar --create --file "$W/mutants/Idle.jar" -C "$W/classes" Idle.class -C "$W/classes" Victim.class
cp "$top_srcdir/tests/fuzz/corpus/alloc_report/sampled.txt" "$W/mutants/report.txt"

TMPDIR=$W/small python3 "$live_dir/attach/mutants.py" "$W/jtool" "$W/libjvm.so" "$JVM_PID" \
	"$sessions" "$files" "$seed" "$W/mutants" >"$W/mutants.out" 2>&1
last=$(tail -n 1 "$W/mutants.out")
echo "# mutants: $last"
n=$((sessions + files))
if [[ $last =~ ^"runs $n bad 0 "peak ]]; then
	pass "$n runs: none crashes, hangs or takes too much memory"
else
	fail "$n runs: none crashes, hangs or takes too much memory" "$(cat "$W/mutants.out")"
fi
check "$n runs: sessions that work are among them" grep -q -E ' 0:[0-9]{2}' <<<"$last"
check "$n runs: sessions that fail are among them" grep -q -E ' [67]:[0-9]' <<<"$last"
same "$n runs: no file remains in TMPDIR" "" "$(ls -A "$W/small")"
unharmed "$n runs"
stop "$JVM_PID"
