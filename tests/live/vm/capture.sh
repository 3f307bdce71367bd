#!/usr/bin/env bash
# capture: one archive that is complete, without secrets, and whole up to where it was stopped.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

secrets=(hunter2 s3cr3t-value tok-4711)
planted=("-Ddb.password=${secrets[0]}" "-Durl=jdbc:x://bob:${secrets[1]}@host/db")

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

for version in $(newest_of 8) "${jdks[-1]}"; do
	start_jvm "$version" default Idle "${planted[@]}" -- --api-token "${secrets[2]}" || continue
	works "$version: it works" capture "$JVM_PID" "case.$version.tar.gz"
	check "$version: the result is named" grep -q -E \
		"^wrote case.$version.tar.gz: [0-9.]+ KiB, [0-9]+ files$" "$W/out"
	same "$version: only the owner may read it" 600 "$(stat -c %a "$W/case.$version.tar.gz")"
	check "$version: tar reads it" unpack "$W/case.$version.tar.gz"
	wanted='README.txt classloaders.txt environment.txt flags.txt heap.txt heaphisto.json info.txt list.txt logging.txt memory.json memory.txt metaspace.txt properties.json stat.json threads-1.txt threads-2.txt threads-3.txt threads.json '
	[ "$version" -ge 11 ] ||
		wanted=$(sed -E 's/(heap|logging|metaspace).txt //g' <<<"$wanted")
	same "$version: its files" "$wanted" "$(files)"
	same "$version: README.txt describes each of them" "" "$(for f in $(files); do
		[ "$f" = README.txt ] || grep -q "^$f  *[0-9].*cost to the JVM" "$W/unpacked/README.txt" ||
			echo "$f"
	done)"
	for f in memory threads heaphisto stat properties; do
		check "$version: $f.json is a document" python3 -m json.tool "$W/unpacked/$f.json"
	done
	check "$version: the thread dumps are whole" \
		bash -c "[ \$(grep -l '^JNI global ref' '$W'/unpacked/threads-?.txt | wc -l) = 3 ]"
	for secret in "${secrets[@]}"; do
		same "$version: no file has a secret" "" "$(grep -rl -e "$secret" "$W/unpacked")"
	done
	unharmed "$version: capture"
	stop "$JVM_PID"
done

start_jvm "${jdks[-1]}" default Idle "${planted[@]}" || exit
refuses 2 'exists' "an existing file is kept" capture "$JVM_PID" "case.${jdks[-1]}.tar.gz"
refuses 2 'missing TARGET' "the target is named" capture
refuses 2 'exclude each other' "--json and -: refused" capture --json "$JVM_PID" -

# Stopped: the archive is whole up to there, and says so.
(cd "$W" && exec env --default-signal=INT ./jtool capture -v "$JVM_PID" stopped.tar.gz) \
	>"$W/out" 2>"$W/err" </dev/null &
client=$!
poll 60 pgrep -f "^jtool stat --json $JVM_PID" >/dev/null
kill -INT "$client"
rc=0
wait "$client" || rc=$?
same "stopped: the exit status and the message" "7 1" "$rc $(grep -c 'stopped: the archive has' "$W/err")"
check "stopped: tar reads it" unpack "$W/stopped.tar.gz"
check "stopped: README.txt says so" grep -q 'was stopped before' "$W/unpacked/README.txt"
check "stopped: what was captured is there" test -s "$W/unpacked/info.txt"
check "stopped: no process of jtool remains" poll 10 bash -c "! pgrep -f '^(./)?jtool .*$JVM_PID' >/dev/null"

# To stdout, with secrets, as a document of JSON.
(cd "$W" && exec timeout 120 ./jtool capture --no-mask "$JVM_PID" -) >"$W/piped.tar.gz" 2>"$W/err"
check "stdout: tar reads it" unpack "$W/piped.tar.gz"
check "--no-mask: secrets are there" grep -q "${secrets[0]}" "$W/unpacked/info.txt"
unharmed "capture"
stop "$JVM_PID"
finish
