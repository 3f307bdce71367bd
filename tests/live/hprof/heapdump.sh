#!/usr/bin/env bash
# heapdump: whole, as the JVM's own file would be, with the caller or not at all, whatever happens
# on the way. JTOOL_SOAK=1: many more kills.
# shellcheck source-path=SCRIPTDIR source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/lib.sh"

kills=$(in_soak 50 3)
classes=(Heap 'Heap$Node' 'Heap$Wide' 'Heap$Leaf')
mkdir "$W/dumps" "$W/full"

# parse FILE: what the parser finds goes to $W/out, for `json`.
parse() {
	python3 "$live_dir/hprof.py" "$1" "${classes[@]}" >"$W/out"
}

# counts: the instances of each class of ours by jtool's own histogram.
counts() {
	jt heaphisto --live --json "$JVM_PID"
	json "sorted((c['class'], c['instances']) for c in j['classes']
		if c['class'].startswith('Heap'))"
}

# own_size FILE: the bytes of the JVM's own dump to a file.
own_size() {
	rm -f "$W/dumps/$1"
	jattach "$JVM_PID" jcmd "GC.heap_dump $(dirname "$(classes_of "$version")")/dumps/$1" \
		>/dev/null
	stat -c %s "$W/dumps/$1"
}

# The JVM's own dumps before and after, for what little changes in between.
size_as_own() {
	local before after size

	own_size warm-up >/dev/null
	before=$(own_size before)
	jt heapdump --force "$JVM_PID" "$W/dumps/d"
	after=$(own_size after)
	size=$(stat -c %s "$W/dumps/d")
	check "$1: as large as the JVM's own ($before, $size, $after)" \
		test "$before" -le "$size" -a "$size" -le "$after"
}

# no_dump NAME: neither the file nor anything else of it is with the caller.
no_dump() {
	same "$1: nothing with the caller" "" "$(ls -A "$2")"
}

nothing_left_here() {
	nothing_left "${jdk_root[$version]:-}" "$JVM_PID" 0
}

# clean NAME [PATTERN]: as if nothing had been.
clean() {
	check "$1: nothing left in the target" poll 30 nothing_left_here
	unharmed "$@"
}

# What JDK 22 and newer log when nobody takes what they put together from their segments.
merge_failed='\[.*\]\[error\]\[heapdump\] .* segmented heap file .*'

dumps() {
	local wanted

	wanted=$(counts)
	works "$version: a dump" heapdump "$JVM_PID" dumps/live
	same "$version: says what it wrote" \
		"wrote dumps/live: $(stat -c %s "$W/dumps/live") bytes, live objects" \
		"$(cat "$W/out")"
	same "$version: only for its owner" 600 "$(stat -c %a "$W/dumps/live")"
	check "$version: it can be parsed" parse "$W/dumps/live"
	same "$version: instances as heaphisto counts them" "$wanted" \
		"$(json "sorted(j['of'].items())")"
	same "$version: it has classes, arrays and roots" True \
		"$(json "min(j[k] for k in ('classes', 'object_arrays', 'primitive_arrays',
			'roots')) > 100")"
	size_as_own "$version"

	refuses 2 'exists' "$version: does not overwrite" heapdump "$JVM_PID" dumps/live
	works "$version: --all --force --json" heapdump --all --force --json "$JVM_PID" dumps/live
	same "$version: keys" "bytes file live pid" "$(json "' '.join(sorted(j))")"
	same "$version: values" "dumps/live False $(stat -c %s "$W/dumps/live")" \
		"$(json "'{file} {live} {bytes}'.format(**j)")"
	check "$version: all objects can be parsed" parse "$W/dumps/live"
	refuses 2 stdout "$version: no JSON into the dump" heapdump --json "$JVM_PID" -
	(cd "$W" && exec ./jtool heapdump "$JVM_PID" - 2>"$W/err") | cat >"$W/dumps/piped"
	check "$version: to a pipe" parse "$W/dumps/piped"
	same "$version: nothing but the dump" "" "$(cat "$W/err")"
}

compressed() {
	# By the JVM's own word: JDK 15 brought it, 11 has it from some update on.
	jt jcmd "$JVM_PID" help GC.heap_dump
	if ! grep -q -e '-gz' "$W/out"; then
		refuses 1 'gzip >' "$version: cannot compress, but says who can" \
			heapdump --gzip "$JVM_PID" dumps/gz
		return
	fi
	works "$version: --gzip" heapdump --gzip "$JVM_PID" dumps/gz
	check "$version: --gzip can be parsed" parse "$W/dumps/gz"
	same "$version: it is compressed" True "$(json "j['gzip'] and
		j['bytes'] > 2 * $(stat -c %s "$W/dumps/gz")")"
}

full_disk() {
	mount -t tmpfs -o size=4m tmpfs "$W/full"
	refuses 7 'full/d .*No space left' "$version: full disk here" heapdump "$JVM_PID" full/d
	no_dump "$version: full disk here" "$W/full"
	umount "$W/full"
	clean "$version: full disk here"
}

# keepers: of this test's jtool only.
keepers() {
	local pid

	for pid in $(pgrep -x jtool-keeper); do
		[ "$(readlink "/proc/$pid/exe")" != "$W/jtool" ] || echo "$pid"
	done
}

# killed NAME SIGNAL WHO: a dump whose jtool or keeper gets a signal at any moment.
killed() {
	local name=$1 signal=$2 who=$3 pid slow=0 i begin

	for ((i = 0; i < kills; i++)); do
		(cd "$W" && exec ./jtool heapdump "$JVM_PID" killed/d >/dev/null 2>&1) &
		pid=$!
		sleep "0.$(printf '%03d' $((RANDOM % 150)))" # the moment is the test
		case $who in
		jtool) echo $pid ;;
		keeper) keepers ;;
		both) echo $pid && keepers ;;
		esac | xargs -r kill "-$signal" 2>/dev/null
		wait $pid 2>/dev/null
		[ ! -e "$W/killed/d" ] || parse "$W/killed/d" || fail "$name: a whole file or none"
		rm -f "$W/killed/d"
		begin=$(now_ms)
		jt jcmd --timeout 5 "$JVM_PID" VM.version
		[ "$rc" -eq 0 ] && [ $(($(now_ms) - begin)) -lt 3000 ] || slow=$((slow + 1))
	done
	same "$name: $kills kills, after which the JVM did not answer" 0 "$slow"
	no_dump "$name" "$W/killed"
	# A killed keeper's things go with the next one.
	[ "$who" = jtool ] || works "$name: the next dump" heapdump --force "$JVM_PID" dumps/d
	clean "$name" "$merge_failed"
}

for version in "${jdks[@]}"; do
	start_jvm "$version" g1 Heap -Xms100m -Xmx100m -- 0.1 || continue
	dumps
	compressed
	clean "$version: dumps"
	full_disk
	mkdir -p "$W/killed"
	killed "$version: jtool killed" KILL jtool
	if is_thorough "$version"; then
		killed "$version: jtool interrupted" INT jtool
		killed "$version: keeper killed" KILL keeper
		killed "$version: both killed" KILL both
	fi
	stop "$JVM_PID"
	rm -f "$W"/dumps/*
done

has_place() {
	compgen -G "$1/.jtool-0-$JVM_PID-*"
}

# The JVM ends in the middle of it.
for version in "${jdks[@]}"; do
	start_jvm "$version" serial Heap -Xms200m -Xmx200m -- 1 || continue
	jt jcmd "$JVM_PID" VM.version
	(poll 10 has_place "${jdk_root[$version]}/tmp" && kill -9 "$JVM_PID") &
	jt heapdump "$JVM_PID" killed/d
	same "$version: the JVM is killed: exit code and lines" "7 1" "$rc $(wc -l <"$W/err")"
	no_dump "$version: the JVM is killed" "$W/killed"
	check "$version: the JVM is killed: nothing left" poll 30 nothing_left_here
	stop "$JVM_PID"
done

# Its own, seen from here under the same paths; and a slow reader does not hold it.
version=own
if start_jvm own g1 Threads -- 200; then
	(cd "$W" && exec ./jtool heapdump "$JVM_PID" -) | (sleep 2 && cat) >"$W/dumps/slow"
	ms=$(ask gap '^gap [0-9]+$' 20)
	check "own: a slow reader of the dump" parse "$W/dumps/slow"
	check "own: the largest gap was ${ms#gap } ms" test "${ms#gap }" -lt 1000
	clean "own: slow reader"

	stop "$JVM_PID"
fi

# A jtool that is stopped in the middle does not hold the JVM: one that writes to us while it
# stands still, and one that puts segments together.
for version in own $(newest_of "${jdks[@]}"); do
	start_jvm "$version" serial Heap -Xms200m -Xmx200m -- 1 || continue
	jt jcmd "$JVM_PID" VM.version
	(cd "$W" && exec ./jtool heapdump "$JVM_PID" dumps/stopped >"$W/out" 2>"$W/err") &
	pid=$!
	poll 10 has_place "${jdk_root[$version]:-}/tmp"
	kill -STOP $pid
	check "$version: the JVM answers while jtool is stopped" answers
	kill -CONT $pid
	wait $pid
	same "$version: jtool goes on" 0 $?
	check "$version: and its dump is whole" parse "$W/dumps/stopped"
	rm -f "$W/dumps/stopped"
	clean "$version: stopped"
	stop "$JVM_PID"
done

# One that takes a while, which --timeout is not about; on a terminal a line tells how far it is.
if start_jvm own serial Heap -Xms200m -Xmx200m -- 1; then
	jt jcmd "$JVM_PID" VM.version
	begin=$(now_ms)
	script -qec "$W/jtool heapdump --gzip=9 --timeout 500ms $JVM_PID $W/dumps/tty" /dev/null \
		>"$W/tty" </dev/null
	took=$(($(now_ms) - begin))
	check "own: a dump of $took ms, with a limit of 500" test "$took" -gt 500
	check "own: it can be parsed" parse "$W/dumps/tty"
	same "own: progress, and then its end" $'\r\e[Kwrote\r' \
		"$(grep -o -z -P 'heap dump: [1-9]\d* MB\K\r\e\[Kwrote' "$W/tty" | tr -d '\0')"$'\r'
	clean "own: a long one"
	stop "$JVM_PID"
fi
