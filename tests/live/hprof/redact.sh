#!/usr/bin/env bash
# heapdump --redact: the dump has no secret, and analyses find the same as in a dump with secrets.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/../lib.sh"

mkdir "$W/dumps"

# secrets FILE: the numbers of secrets that it has, see secrets.py.
secrets() {
	python3 "$live_dir/hprof/secrets.py" "$W/dumps/$1"
}

# found FILE: the results of retained and refpaths for it, without thread names, which are strings.
found() {
	local command

	for command in 'retained -n 0' 'retained --by package' 'retained --by loader' \
		'retained --tree -n 0' 'retained --suspects' \
		'refpaths -n 0 Secrets$Item' 'refpaths --weak java.lang.Class' \
		'refpaths -n 0 java.lang.String' 'heaphisto -n 0'; do
		# shellcheck disable=SC2086 # split into words
		set -- $command
		jt "$1" "dumps/$FILE" "${@:2}" --json
		echo "== $command: $rc"
		cat "$W/err"
		without_threads
	done
}

# without_threads: the last document, without names of threads and of the file; merges paths that
# then are equal.
without_threads() {
	python3 - "$W/out" <<'END'
import json, sys

def strip(v):
    if isinstance(v, dict):
        return {k: strip(x) for k, x in v.items() if k not in ("thread", "threads", "file")}
    return [strip(x) for x in v] if isinstance(v, list) else v

j = strip(json.load(open(sys.argv[1])))
j.pop("path_count", None)
paths = {}
for path in j.pop("paths", []):
    count = path.pop("count", 0)
    key = json.dumps(path, sort_keys=True)
    paths[key] = paths.get(key, 0) + count
for key in sorted(paths):
    print(paths[key], key)
for key in sorted(j):
    print(key, json.dumps(j[key], sort_keys=True, indent=0))
END
}

# same_found NAME FILE: retained and refpaths find in it what they find in dumps/raw.hprof.
same_found() {
	FILE=$2 found >"$W/found.redacted"
	if cmp -s "$W/found.raw" "$W/found.redacted"; then
		pass "$1: retained, refpaths and heaphisto find the same"
	else
		fail "$1: retained, refpaths and heaphisto find the same" \
			"$(diff "$W/found.raw" "$W/found.redacted")"
	fi
}

# read_by_jhat FILE: JDK 8's own analyser counts the victim's objects.
read_by_jhat() {
	local port=$((20000 + RANDOM % 10000)) pid

	chroot "${jdk_root[8]}" "${jdk_home[8]}/bin/jhat" -J-Xmx400m -port $port "$IW/dumps/$1" \
		>"$W/jhat" 2>&1 &
	pid=$!
	track $pid
	poll 120 grep -q '^Server is ready' "$W/jhat"
	python3 -c 'import sys, urllib.request
print(urllib.request.urlopen(sys.argv[1], timeout=60).read().decode())' \
		"http://localhost:$port/histo/" >"$W/jhat.histo"
	stop $pid
	grep -q -E 'Secrets\$Item.*>1000<' <(tr -d '\n' <"$W/jhat.histo")
}

# redacted NAME: dumps of the victim that was started last, and copies of its own dump.
redacted() {
	local raw engine=snapshot pause='; the JVM was paused for [0-9.]* m\?s'

	[[ $1 != *' z'* ]] || engine=hprof pause= # ZGC: the JVM's own dump
	works "$1: the dump with secrets" heapdump "$JVM_PID" dumps/raw.hprof
	raw=$(secrets raw.hprof)
	# The dump without --redact has the secrets. UTF-16 is big-endian only in char[].
	check "$1: the secrets are in it ($raw)" test "$(tr ' ' '\n' <<<"$raw" | grep -c '^100[0-9]$')" -ge 4
	same "$1: hash codes of the secrets are in it" 100 "${raw##* }"
	works "$1: --redact" heapdump --redact "$JVM_PID" dumps/strings.hprof
	check "$1: --redact: the message" grep -q -x \
		"wrote dumps/strings.hprof: [0-9.]* MiB, live objects, strings cleared$pause" "$W/out"
	same "$1: --redact: no secret, but the numbers" "0 0 0 1000 0" "$(secrets strings.hprof)"
	works "$1: --redact=all" heapdump --redact=all --json "$JVM_PID" dumps/all.hprof
	same "$1: --redact=all: the document" "all $engine" "$(json "'{redacted} {engine}'.format(**j)")"
	same "$1: --redact=all: no secret" "0 0 0 0 0" "$(secrets all.hprof)"
	check "$1: no file remains" poll 30 nothing_left_here
	unharmed "$1"

	for mode in strings all; do
		works "$1: a dump file, $mode" heapdump "--redact=$mode" dumps/raw.hprof \
			"dumps/copy.$mode.hprof"
		same "$1: a dump file, $mode: as long" "$(stat -c %s "$W/dumps/raw.hprof")" \
			"$(stat -c %s "$W/dumps/copy.$mode.hprof")"
	done
	same "$1: a dump file, strings: no secret" "0 0 0 1000 0" "$(secrets copy.strings.hprof)"
	same "$1: a dump file, all: no secret" "0 0 0 0 0" "$(secrets copy.all.hprof)"
	FILE=raw.hprof found >"$W/found.raw"
	check "$1: there are paths" grep -q 'Secrets\$Item' "$W/found.raw"
	same_found "$1: strings" copy.strings.hprof
	same_found "$1: all" copy.all.hprof
	if has_jdk 8; then
		check "$1: jhat reads it: strings" read_by_jhat copy.strings.hprof
		check "$1: jhat reads it: all" read_by_jhat copy.all.hprof
	fi
	rm -f "$W"/dumps/*
}

# ways VERSION: the options, one set per line, separated by commas.
ways() {
	echo g1
	is_thorough "$1" || return
	echo g1,-XX:-UseCompressedOops
	[ "$1" -lt 11 ] || echo g1,-XX:-CompactStrings
	[ "$1" -lt 17 ] || echo z
}

for version in "${jdks[@]}"; do
	for way in $(ways "$version"); do
		IFS=, read -ra options <<<"$way"
		start_jvm "$version" "${options[0]}" Secrets "${options[@]:1}" || continue
		redacted "$version ${options[*]}"
		stop "$JVM_PID"
	done
done

# Other kinds of output, dump files as input, and refusals.
version=${jdks[-1]}
if start_jvm "$version" g1 Secrets; then
	works "--via file" heapdump --redact --via file "$JVM_PID" dumps/file.hprof
	same "--via file: no secret" "0 0 0 1000 0" "$(secrets file.hprof)"
	works "--gzip" heapdump --redact=all --gzip=6 "$JVM_PID" dumps/gz.hprof.gz
	check "--gzip: it is compressed" gzip -t "$W/dumps/gz.hprof.gz"
	gunzip -c "$W/dumps/gz.hprof.gz" >"$W/dumps/gz.hprof"
	same "--gzip: no secret" "0 0 0 0 0" "$(secrets gz.hprof)"
	(cd "$W" && exec ./jtool heapdump "$JVM_PID" - --redact 2>"$W/err") >"$W/dumps/piped.hprof"
	same "-: no secret" "0 0 0 1000 0" "$(secrets piped.hprof)"
	works "a compressed dump file" heapdump --redact=all --gzip dumps/gz.hprof.gz dumps/gz2.hprof.gz
	check "a compressed dump file: nothing is left to clear" cmp "$W/dumps/gz.hprof" \
		<(gunzip -c "$W/dumps/gz2.hprof.gz")
	works "a dump file is replaced" heapdump --redact=all --force dumps/piped.hprof dumps/piped.hprof
	same "a dump file is replaced: no secret" "0 0 0 0 0" "$(secrets piped.hprof)"

	refuses 2 'missing --redact' "a dump file without --redact: refused" \
		heapdump dumps/file.hprof dumps/new.hprof
	refuses 2 'missing FILE' "a dump file without FILE: refused" heapdump --redact dumps/file.hprof
	refuses 2 '--all needs a JVM' "a dump file and --all: refused" \
		heapdump --redact --all dumps/file.hprof dumps/new.hprof
	refuses 2 'choose from strings, all' "--redact=other: refused" \
		heapdump --redact=other "$JVM_PID" dumps/new.hprof
	head -c 2000000 "$W/dumps/file.hprof" >"$W/dumps/cut.hprof"
	refuses 7 'cut off' "half a dump: refused" heapdump --redact dumps/cut.hprof dumps/new.hprof
	(head -c 2000000 "$W/dumps/file.hprof"; echo more) >"$W/dumps/cut.hprof"
	refuses 7 'cut off|invalid' "a damaged dump: refused" \
		heapdump --redact dumps/cut.hprof dumps/new.hprof
	check "what is refused writes no file" test ! -e "$W/dumps/new.hprof"

	# jtool is stopped: the JVM goes on.
	(cd "$W" && exec ./jtool heapdump --redact "$JVM_PID" dumps/stopped >"$W/out" 2>"$W/err") &
	pid=$!
	poll 10 compgen -G "${jdk_root[$version]}/tmp/.jtool-0-$JVM_PID-*"
	kill -STOP $pid 2>/dev/null
	check "stopped jtool: the JVM answers" answers
	kill -CONT $pid 2>/dev/null
	wait $pid
	same "stopped jtool: it continues after SIGCONT" 0 $?
	for ((i = 0; i < $(in_soak 100 5); i++)); do
		(cd "$W" && exec ./jtool heapdump --redact "$JVM_PID" dumps/killed >/dev/null 2>&1) &
		pid=$!
		sleep "0.$(printf '%03d' $((RANDOM % 150)))"
		kill -KILL $pid 2>/dev/null
		wait $pid 2>/dev/null
		[ ! -e "$W/dumps/killed" ] || [ "$(secrets killed)" = "0 0 0 1000 0" ] ||
			fail "killed jtool: the file is complete and has no secret"
		rm -f "$W/dumps/killed"
	done
	check "killed jtool: the JVM answers" answers
	check "killed jtool: no file remains" poll 30 nothing_left_here
	stop "$JVM_PID"
fi
