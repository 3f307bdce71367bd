#!/usr/bin/env bash
# capture: one archive that is complete and has no secrets; if the capture is stopped, the archive
# is valid and has all files up to then.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

secrets=(hunter2 s3cr3t-value tok-4711 'two words' second-line)
planted=("-Ddb.password=${secrets[0]}" "-Durl=jdbc:x://bob:${secrets[1]}@host/db"
	"-Dkey.value=${secrets[3]}")
export JTOOL_LIVE_SECRET=$'first\n'"${secrets[4]}"

# log_flags VERSION: flags for a log with the command line, and thus with the secrets.
log_flags() {
	if [ "$1" -ge 9 ]; then
		echo "-Xlog:gc*,arguments=debug:file=$IW/vm-%p.log"
	else
		echo "-Xloggc:$IW/vm-%p.log"
	fi
}

# unpack FILE: the files of an archive, in $W/unpacked.
# shellcheck disable=SC2317 # called by check
unpack() {
	rm -rf "$W/unpacked"
	mkdir "$W/unpacked"
	tar xzf "$1" -C "$W/unpacked"
}

files() {
	(cd "$W/unpacked" && printf '%s ' *)
}

mkdir -m 777 "$W/other"
for version in $(newest_of 8) "${jdks[-1]}"; do
	logs=("$(log_flags "$version")")
	[ "$version" -lt 9 ] || logs+=("-Xlog:safepoint:file=$IW/other/vm-%p.log")
	start_jvm "$version" default Idle "${planted[@]}" "${logs[@]}" -- \
		--api-token "${secrets[2]}" || continue
	jt jcmd "$JVM_PID" GC.run # JDK 8 writes nothing to its log before the first collection
	if [ "$version" = 8 ]; then
		works "$version: --json: it works" capture --json "$JVM_PID"
		file=$(json "j['file']")
		check "$version: --json: the name of the result" \
			grep -q -E "^capture-Idle-$JVM_PID-[0-9T-]+\.tar\.gz$" <<<"$file"
		same "$version: --json: its size" "$(stat -c %s "$W/$file")" "$(json "j['bytes']")"
		same "$version: --json: no part has an error" "[]" \
			"$(json "[f for f in j['files'] if f['error'] or not f['bytes']]")"
		mv "$W/$file" "$W/case.$version.tar.gz"
	else
		works "$version: it works" capture "$JVM_PID" "case.$version.tar.gz"
		check "$version: the result is named" grep -q -E \
			"^wrote case.$version.tar.gz: [0-9.]+ KiB, [0-9]+ files$" "$W/out"
	fi
	same "$version: only the owner may read it" 600 "$(stat -c %a "$W/case.$version.tar.gz")"
	check "$version: tar reads it" unpack "$W/case.$version.tar.gz"
	wanted='README.txt classloaders.txt environment.txt flags.txt heap.txt heaphisto.json info.txt list.txt logging.txt logs memory.json memory.txt metaspace.txt properties.json stat.json threads-1.txt threads-2.txt threads-3.txt threads-virtual.json threads.json '
	[ "$version" -ge 11 ] ||
		wanted=$(sed -E 's/(heap.txt|logging.txt|metaspace.txt) //g' <<<"$wanted")
	[ "$version" -ge 21 ] || wanted=${wanted/threads-virtual.json /}
	same "$version: its files" "$wanted" "$(files)"
	same "$version: README.txt describes each of them" "" "$(for f in $(files); do
		[ "$f" = README.txt ] || grep -q -E "^$f(/vm-[^ ]*)? +[0-9].*cost to the JVM" "$W/unpacked/README.txt" ||
			echo "$f"
	done)"
	for f in memory threads heaphisto stat properties; do
		check "$version: $f.json is a document" python3 -m json.tool "$W/unpacked/$f.json"
	done
	same "$version: README.txt says how long the JVM was at safepoints" True "$(
		[ "$(grep -c 'at safepoints for [0-9.]* ms' "$W/unpacked/README.txt")" -ge 14 ] && echo True)"
	check "$version: the log of the JVM" bash -c "[ -s '$W'/unpacked/logs/vm-*'$JVM_PID'* ]"
	same "$version: two logs with one name" "${#logs[@]}" \
		"$(find "$W/unpacked/logs" -name '*vm-*' | wc -l)"
	# Commands show the archive again.
	case=case.$version.tar.gz
	works "$version: threads: the archive" threads "$case" --json
	same "$version: threads: the archive" True "$(json "any(t['name'] == 'main' and
		t['cpu'] is not None for t in j['threads']) and j['file'] == '$case'")"
	works "$version: threads --samples: the archive" threads "$case" --samples 3 --json
	same "$version: threads --samples: main has not moved" True \
		"$(json "'main' in {t['name'] for t in j['threads']}")"
	works "$version: threads --raw: the archive" threads "$case" --raw
	same "$version: threads --raw: three dumps" 3 "$(grep -c '^Full thread dump' "$W/out")"
	works "$version: memory: the archive" memory "$case" --json
	cp "$W/out" "$W/shown"
	same "$version: memory: what was captured" True "$(python3 -c "import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
print(all(a[k] == b[k] for k in ('pid', 'rss', 'limit', 'threads', 'verdicts')) and
	a['parts'] == b['parts'])" "$W/shown" "$W/unpacked/memory.json")"
	works "$version: heaphisto: the archive" heaphisto "$case" --json
	same "$version: heaphisto: the archive" True \
		"$(json "j['total']['classes'] > 100 and j['file'] == '$case'")"
	works "$version: stat: the archive" stat "$case"
	same "$version: stat: ten samples and a heading" 11 "$(wc -l <"$W/out")"
	check "$version: the thread dumps are whole" \
		bash -c "[ \$(grep -l '^JNI global ref' '$W'/unpacked/threads-?.txt | wc -l) = 3 ]"
	for secret in "${secrets[@]}"; do
		same "$version: no file has a secret" "" "$(grep -rl -e "$secret" "$W/unpacked")"
	done
	same "$version: no agent was loaded" 0 "$(grep -c '/\.jtool-' "/proc/$JVM_PID/maps")"
	unharmed "$version: capture"
	stop "$JVM_PID"
done

start_jvm "${jdks[-1]}" default Idle "${planted[@]}" || exit
refuses 2 'exists' "an existing file is kept" capture "$JVM_PID" "case.${jdks[-1]}.tar.gz"
refuses 2 'missing TARGET' "the target is named" capture
tar czf "$W/other.tar.gz" -C "$W" jtool
refuses 2 'has no file threads-1.txt' "threads: another archive" threads other.tar.gz
echo text >"$W/text.tar.gz"
refuses 2 'is cut off or damaged, or is not an archive' "memory: no archive" memory text.tar.gz
refuses 2 'cannot be combined' "--json and -: refused" capture --json "$JVM_PID" -

# Stopped: the archive has all files up to then, and says so.
# Each command has the timeout of the capture.
(cd "$W" && exec env --default-signal=INT ./jtool capture -v --timeout 20.5 "$JVM_PID" \
	stopped.tar.gz) \
	>"$W/out" 2>"$W/err" </dev/null &
client=$!
check "--timeout: it is passed to a command" \
	poll 60 bash -c "pgrep -f '^jtool stat --timeout=20500ms --json $JVM_PID' >/dev/null"
kill -INT "$client"
rc=0
wait "$client" || rc=$?
same "stopped: the exit status and the message" "7 1" "$rc $(grep -c 'stopped: the archive has' "$W/err")"
check "stopped: tar reads it" unpack "$W/stopped.tar.gz"
check "stopped: README.txt says so" grep -q 'was stopped before' "$W/unpacked/README.txt"
check "stopped: what was captured is there" test -s "$W/unpacked/info.txt"
check "stopped: no process of jtool remains" poll 10 bash -c "! pgrep -f '^(./)?jtool .*$JVM_PID' >/dev/null"

# To stdout, with secrets.
(cd "$W" && exec timeout 120 ./jtool capture --no-mask "$JVM_PID" -) >"$W/piped.tar.gz" 2>"$W/err"
check "stdout: tar reads it" unpack "$W/piped.tar.gz"
same "stdout: the same files" "${wanted/logs /}" "$(files)"
check "--no-mask: secrets are there" grep -q "${secrets[0]}" "$W/unpacked/info.txt"

# Killed, as when the connection of kubectl exec ends: stdout has the files up to then.
(cd "$W" && exec ./jtool capture "$JVM_PID" -) >"$W/killed.tar.gz" 2>"$W/err" </dev/null &
client=$!
poll 60 pgrep -f "^jtool stat .*--json $JVM_PID" >/dev/null
kill -9 "$client"
wait "$client"
check "killed: tar reads it" unpack "$W/killed.tar.gz"
same "killed: the files before the samples of stat" "1 0" "$(grep -c '^Full thread dump' \
	"$W/unpacked/threads-3.txt") $(find "$W/unpacked" -name stat.json | wc -l)"
works "killed: memory: the archive" memory killed.tar.gz
refuses 2 'has no file stat.json' "killed: stat: the archive" stat killed.tar.gz
unharmed "capture"
stop "$JVM_PID"

# The JVM exits: no further item is captured, because another process may get its pid.
start_jvm "${jdks[-1]}" default Idle || exit
(cd "$W" && exec ./jtool capture "$JVM_PID" exited.tar.gz) >"$W/out" 2>"$W/err" </dev/null &
client=$!
poll 60 pgrep -f "^jtool stat .*--json $JVM_PID" >/dev/null
stop "$JVM_PID"
rc=0
wait "$client" || rc=$?
check "exited: tar reads it" unpack "$W/exited.tar.gz"
check "exited: README.txt says so" grep -q 'the JVM has exited' "$W/unpacked/README.txt"
check "exited: what was captured is there" test -s "$W/unpacked/info.txt"

# A JVM without counters is captured completely: jtool does not know its release, so it tries what
# the JVM may not have.
for version in $(newest_of 8) "${jdks[-1]}"; do
	start_jvm "$version" default Idle -XX:-UsePerfData || continue
	jt capture "$JVM_PID" "nocounters.$version.tar.gz"
	same "$version, no counters: complete, with a notice" "0 1 0" \
		"$rc $(grep -c '^jtool: capture: stat.json is missing: JVM .* started with -XX:-UsePerf' \
			"$W/err") $(grep -c 'reasons above' "$W/err")"
	stop "$JVM_PID"
done

# One reason of many files is one notice.
start_jvm "${jdks[-1]}" default Idle -XX:+DisableAttachMechanism || exit
jt capture "$JVM_PID" noattach.tar.gz
same "attaching disabled: one notice, and the number of files" "7 1 1" \
	"$rc $(grep -c 'properties.json, flags.txt, .* are missing: JVM [0-9]* ' "$W/err") $(
		grep -c 'files are missing from the archive, for the reasons above' "$W/err")"
same "attaching disabled: no reason is repeated" "" \
	"$(sed -n 's/.* missing: //p' "$W/err" | sort | uniq -d)"
stop "$JVM_PID"

# The JVM exits before the first thread dump: the capture does not wait 5 s for each of the others.
start_jvm "${jdks[-1]}" default Idle || exit
suspend "$JVM_PID"
(cd "$W" && exec ./jtool capture "$JVM_PID" early.tar.gz) >"$W/out" 2>"$W/err" </dev/null &
client=$!
poll 60 pgrep -f "^jtool props .*--json $JVM_PID" >/dev/null
stop "$JVM_PID"
begin=$(now_ms)
rc=0
wait "$client" || rc=$?
same "exited early: the exit status, at once" "7 True" \
	"$rc $([ $(($(now_ms) - begin)) -lt 9000 ] && echo True)"
check "exited early: tar reads it" unpack "$W/early.tar.gz"
finish
