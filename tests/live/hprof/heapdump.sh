#!/usr/bin/env bash
# heapdump --engine hprof: writes the JVM's own dump completely, or no file at all, whatever happens
# meanwhile; snapdump.sh tests dumps from snapshots. JTOOL_SOAK=1: many more kills.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/../lib.sh"

kills=$(in_soak 50 3)
classes=(Heap 'Heap$Node' 'Heap$Wide' 'Heap$Leaf')
mkdir "$W/dumps" "$W/full"

# parse FILE: writes what the parser finds to $W/out, for `json`.
parse() {
	python3 "$live_dir/hprof/hprof.py" "$1" "${classes[@]}" >"$W/out"
}

# counts: the instances of each victim class by jtool's histogram.
counts() {
	jt heaphisto --live --engine agent --json "$JVM_PID"
	json "sorted((c['class'], c['instances']) for c in j['classes']
		if c['class'].startswith('Heap'))"
}

# own_size FILE: the size in bytes of the dump that the JVM itself writes.
own_size() {
	rm -f "$W/dumps/$1"
	jattach "$JVM_PID" jcmd "GC.heap_dump $(dirname "$(classes_of "$version")")/dumps/$1" \
		>/dev/null
	stat -c %s "$W/dumps/$1"
}

# The JVM's own dumps before and after, because the heap changes a little in between.
size_as_own() {
	local before after size

	own_size warm-up >/dev/null
	before=$(own_size before)
	jt heapdump --engine hprof --force "$JVM_PID" "$W/dumps/d"
	after=$(own_size after)
	size=$(stat -c %s "$W/dumps/d")
	check "$1: the dump is as large as the JVM's own ($before, $size, $after)" \
		test "$before" -le "$size" -a "$size" -le "$after"
}

# no_dump NAME DIR: neither the dump nor a part of it is in DIR.
no_dump() {
	same "$1: no file in the output directory" "" "$(ls -A "$2")"
}

# clean NAME [PATTERN]: no file remains in the target, and the JVM is unharmed.
clean() {
	check "$1: no file remains in the target" poll 30 nothing_left_here
	unharmed "$@"
}

# in_mib FILE: its size in MiB with three digits.
in_mib() {
	stat -c %s "$1" | awk '{ m = $1 / 1048576; printf m < 9.995 ? "%.2f" : m < 99.95 ? "%.1f" : "%.0f", m }'
}

dumps() {
	local wanted

	wanted=$(counts)
	works "$version: heapdump FILE: it works" heapdump --engine hprof "$JVM_PID" dumps/live
	same "$version: heapdump FILE: it prints the size" \
		"wrote dumps/live: $(in_mib "$W/dumps/live") MiB, live objects" \
		"$(cat "$W/out")"
	same "$version: heapdump FILE: mode 600" 600 "$(stat -c %a "$W/dumps/live")"
	check "$version: heapdump FILE: it can be parsed" parse "$W/dumps/live"
	same "$version: heapdump FILE: the instances equal heaphisto's" "$wanted" \
		"$(json "sorted(j['of'].items())")"
	same "$version: heapdump FILE: it has classes, arrays and roots" True \
		"$(json "min(j[k] for k in ('classes', 'object_arrays', 'primitive_arrays',
			'roots')) > 100")"
	size_as_own "$version"

	refuses 2 'exists' "$version: heapdump: an existing file is refused" \
		heapdump "$JVM_PID" dumps/live
	works "$version: heapdump --all --force --json: it works" \
		heapdump --all --force --json "$JVM_PID" dumps/live
	same "$version: heapdump --json: its keys" \
		"bytes engine file live pause pid redacted schema" "$(json "' '.join(sorted(j))")"
	same "$version: heapdump --json: its values" \
		"dumps/live False $(stat -c %s "$W/dumps/live")" \
		"$(json "'{file} {live} {bytes}'.format(**j)")"
	check "$version: heapdump --all: it can be parsed" parse "$W/dumps/live"
	refuses 2 stdout "$version: heapdump --json -: refused" heapdump --json "$JVM_PID" -
	(cd "$W" && exec ./jtool heapdump --engine hprof "$JVM_PID" - 2>"$W/err") | cat >"$W/dumps/piped"
	check "$version: heapdump -: it can be parsed" parse "$W/dumps/piped"
	same "$version: heapdump -: no message" "" "$(cat "$W/err")"
}

compressed() {
	# The JVM's help shows whether it can compress: JDK 15 and later can, and updates of 11.
	jt jcmd "$JVM_PID" help GC.heap_dump
	if ! grep -q -e '-gz' "$W/out"; then
		refuses 1 'gzip >' "$version: heapdump --gzip: refused, the message suggests gzip" \
			heapdump --engine vm --gzip "$JVM_PID" dumps/gz
		return
	fi
	works "$version: heapdump --gzip: it works" heapdump --engine vm --gzip "$JVM_PID" dumps/gz
	check "$version: heapdump --gzip: it can be parsed" parse "$W/dumps/gz"
	same "$version: heapdump --gzip: it is compressed" True "$(json "j['gzip'] and
		j['bytes'] > 2 * $(stat -c %s "$W/dumps/gz")")"
}

full_disk() {
	mount -t tmpfs -o size=4m tmpfs "$W/full"
	refuses 7 "cannot write 'full/d': too little space would stay" "$version: full disk: heapdump is refused" \
		heapdump --engine hprof "$JVM_PID" full/d
	refuses 7 "cannot write 'full/d': too little space would stay" \
		"$version: full disk: a dump from a snapshot is refused" \
		heapdump --engine snapshot "$JVM_PID" full/d
	no_dump "$version: full disk" "$W/full"
	umount "$W/full"
	clean "$version: full disk"
}

# helpers: the PIDs of the helper processes of this test's jtool.
helpers() {
	local pid

	for pid in $(pgrep -x jtool-helper); do
		[ "$(readlink "/proc/$pid/exe")" != "$W/jtool" ] || echo "$pid"
	done
}

# killed NAME SIGNAL jtool|helper|both: sends a signal to these processes at a random moment of a
# dump.
killed() {
	local name=$1 signal=$2 who=$3 pid slow=0 i begin merge_failed=

	# From JDK 22 on the JVM merges a dump from segments, and logs this if nobody reads the dump.
	[ "$who" = jtool ] || merge_failed='\[.*\]\[error\]\[heapdump\] .* segmented heap file .*'
	for ((i = 0; i < kills; i++)); do
		(cd "$W" && exec ./jtool heapdump --engine hprof "$JVM_PID" killed/d >/dev/null 2>&1) &
		pid=$!
		sleep "0.$(printf '%03d' $((RANDOM % 150)))" # at a random moment
		case $who in
		jtool) echo $pid ;;
		helper) helpers ;;
		both) echo $pid && helpers ;;
		esac | xargs -r kill "-$signal" 2>/dev/null
		wait $pid 2>/dev/null
		[ ! -e "$W/killed/d" ] || parse "$W/killed/d" \
			|| fail "$name: the file is complete or missing"
		rm -f "$W/killed/d"
		begin=$(now_ms)
		jt jcmd --timeout 5 "$JVM_PID" VM.version
		[ "$rc" -eq 0 ] && [ $(($(now_ms) - begin)) -lt 3000 ] || slow=$((slow + 1))
	done
	same "$name: $kills kills: the JVM always answers within 3 s" 0 "$slow"
	no_dump "$name" "$W/killed"
	# The next helper removes the files of a killed one.
	[ "$who" = jtool ] || works "$name: the next dump works" heapdump --engine hprof --force "$JVM_PID" dumps/d
	clean "$name" "$merge_failed"
}

for version in "${jdks[@]}"; do
	start_jvm "$version" g1 Heap -Xms100m -Xmx100m -- 0.1 || continue
	dumps
	compressed
	clean "$version: heapdump"
	full_disk
	mkdir -p "$W/killed"
	killed "$version: jtool killed" KILL jtool
	if is_thorough "$version"; then
		killed "$version: jtool interrupted" INT jtool
		killed "$version: helper killed" KILL helper
		killed "$version: both killed" KILL both
	fi
	stop "$JVM_PID"
	rm -f "$W"/dumps/*
done

has_place() {
	compgen -G "$1/.jtool-0-$JVM_PID-*"
}

# The JVM is killed during the dump.
for version in "${jdks[@]}"; do
	start_jvm "$version" serial Heap -Xms200m -Xmx200m -- 1 || continue
	jt jcmd "$JVM_PID" VM.version
	(poll 10 has_place "${jdk_root[$version]}/tmp" && kill -9 "$JVM_PID") &
	jt heapdump --engine hprof "$JVM_PID" killed/d
	same "$version: JVM killed: exit code 7 and one line" "7 1" "$rc $(wc -l <"$W/err")"
	no_dump "$version: JVM killed" "$W/killed"
	check "$version: JVM killed: no file remains" poll 30 nothing_left_here
	stop "$JVM_PID"
done

# The machine's own JVM, in our root directory; a slow reader of the dump does not block it.
version=own
if start_jvm own g1 Threads -- 200; then
	(cd "$W" && exec ./jtool heapdump --engine hprof "$JVM_PID" -) | (sleep 2 && cat) >"$W/dumps/slow"
	ms=$(ask gap '^gap [0-9]+$' 20)
	check "own: slow reader: the dump can be parsed" parse "$W/dumps/slow"
	check "own: slow reader: the longest pause is ${ms#gap } ms" test "${ms#gap }" -lt 1000
	clean "own: slow reader"

	stop "$JVM_PID"
fi

# A stopped jtool blocks neither a JVM that streams the dump to it during the pause, nor one that
# merges the dump from segments.
for version in own $(newest_of "${jdks[@]}"); do
	start_jvm "$version" serial Heap -Xms200m -Xmx200m -- 1 || continue
	jt jcmd "$JVM_PID" VM.version
	(cd "$W" && exec ./jtool heapdump --engine hprof "$JVM_PID" dumps/stopped >"$W/out" 2>"$W/err") &
	pid=$!
	poll 10 has_place "${jdk_root[$version]:-}/tmp"
	kill -STOP $pid
	check "$version: stopped jtool: the JVM answers" answers
	kill -CONT $pid
	wait $pid
	same "$version: stopped jtool: it continues after SIGCONT" 0 $?
	check "$version: stopped jtool: its dump is complete" parse "$W/dumps/stopped"
	rm -f "$W/dumps/stopped"
	clean "$version: stopped jtool"
	stop "$JVM_PID"
done

# A long dump: --timeout does not limit it, and a progress line is shown on a terminal.
if start_jvm own serial Heap -Xms200m -Xmx200m -- 1; then
	jt jcmd "$JVM_PID" VM.version
	begin=$(now_ms)
	script -qec "$W/jtool heapdump --engine hprof --gzip=9 --timeout 500ms $JVM_PID $W/dumps/tty" /dev/null \
		>"$W/tty" </dev/null
	took=$(($(now_ms) - begin))
	check "own: long dump: --timeout 500ms does not end one of $took ms" test "$took" -gt 500
	check "own: long dump: it can be parsed" parse "$W/dumps/tty"
	same "own: long dump: the progress line is replaced at the end" $'\r\e[Kwrote\r' \
		"$(grep -o -z -P 'heap dump: [1-9]\d* MiB\K\r\e\[Kwrote' "$W/tty" | tr -d '\0')"$'\r'
	clean "own: long dump"
	stop "$JVM_PID"
fi
