#!/usr/bin/env bash
# jfr: a recording's life on every version: configure, start, dump, stop, record. The file is
# complete and readable, and no file remains in the target, however jtool ends.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

jfr_says='.*\[(info|warning)\].*jfr.*' # JDK 11 and later log the paths of recordings

# chunks FILE: the number of chunks in a recording; fails if the last one does not end at the end of
# the file.
chunks() {
	python3 -c 'import struct, sys
data = open(sys.argv[1], "rb").read()
at = n = 0
while at < len(data):
    magic, size = struct.unpack(">4s4xQ", data[at:at + 16])
    assert magic == b"FLR\0" and size >= 68
    at += size
    n += 1
assert at == len(data) and n > 0
print(n)' "$1"
}

# arrived NAME FILE VERSION: the file is complete, only the caller may read it, and the JDK's jfr
# reads it.
arrived() {
	local name=$1 file=$W/$2 version=${3/own/17} text=

	if [ "$rc" -ne 0 ] || ! text=$(chunks "$file" 2>&1); then
		fail "$name: the file is complete" "$(jt_details)" "$text"
		return
	fi
	same "$name: only the caller may read it" "600 ${JT_AS:-0}" "$(stat -c '%a %u' "$file")"
	has_jdk "$version" || return 0
	text=$(chroot "${jdk_root[$version]}" "${jdk_home[$version]}/bin/jfr" \
		summary "$IW/$2" 2>&1)
	if [[ $text == *jdk.JVMInformation* ]]; then
		pass "$name: jfr summary reads it"
	else
		fail "$name: jfr summary reads it" "$text"
	fi
}

# recordings PID: the number of its recordings.
recordings() {
	"$JTOOL" jfr "$1" check | grep -c '^Recording '
}

recording() {
	[ "$(recordings "$1")" -gt 0 ]
}

not_recording() {
	"$JTOOL" jfr "$1" check | grep -q '^No available recordings'
}

# left VERSION PID: no file of jtool remains in the target.
left() {
	local root=${jdk_root[$1]:-}

	check "$1: no file remains in the target" nothing_left "$root" "$2" 0 "${W#"$root"}"
}

settings() {
	local version=$1 pid=$2

	prints "$version: jfr configure: it prints the settings" \
		'^stackdepth=64$' jfr "$pid" configure
	works "$version: jfr configure --json: it works" jfr "$pid" configure --json
	same "$version: jfr configure --json: sizes in bytes" \
		"$pid 20 524288 8192 10485760 12582912" \
		"$(json "' '.join(str(x) for x in [j['pid']] + [j['settings'][k] for k in
		('globalbuffercount', 'globalbuffersize', 'thread_buffer_size', 'memorysize',
		'maxchunksize')])")"
	prints "$version: jfr configure: it changes one setting" '^stackdepth: 64 -> 80$' \
		jfr "$pid" configure stackdepth=80 memorysize=16m
	prints "$version: jfr configure: it changes two settings" \
		'^memorysize=16m$' jfr "$pid" configure
	works "$version: jfr configure --json with a change: it works" \
		jfr "$pid" configure --json dumppath=/tmp maxchunksize=2m
	same "$version: jfr configure --json with a change: the old and new value" \
		"12582912 2097152 /tmp" \
		"$(json "'{old} {new}'.format(**j['changed']['maxchunksize']) + ' ' +
		j['changed']['dumppath']['new']")"
	refuses 1 'nosuch' "$version: jfr configure: an unknown setting is refused" \
		jfr "$pid" configure nosuch=1
	refuses 1 'maxchunksize.*at least 1048576' \
		"$version: jfr configure: an invalid value is refused" \
		jfr "$pid" configure maxchunksize=1
}

round_trip() {
	local version=$1 pid=$2

	refuses 1 'there is no recording: jtool jfr TARGET start starts one' \
		"$version: jfr dump without a recording" jfr "$pid" dump none.jfr
	prints "$version: jfr start: it works" '^Started recording 1' \
		jfr "$pid" start name="two words" settings=profile
	prints "$version: jfr check: it lists the recording" \
		'^Recording 1: name=two words .*\(running\)' jfr "$pid" check
	works "$version: jfr check --json: it works" jfr --json "$pid" check name="two words"
	same "$version: jfr check --json: its keys" \
		"$pid 0 True" "$(json "f\"{j['pid']} {j['code']} \" +
		str('name=two words' in j['output'])")"
	# JDK 17 would accept it and crash when it writes beyond its arrays.
	refuses 1 'stackdepth.*initialised already' \
		"$version: jfr configure stackdepth: refused once initialised" \
		jfr "$pid" configure stackdepth=200
	jt jfr "$pid" dump all.jfr
	arrived "$version: jfr dump" all.jfr "$version"
	refuses 2 'exists.*--force' "$version: jfr dump: an existing file is refused" \
		jfr "$pid" dump all.jfr
	jt jfr "$pid" dump --force filename=all.jfr name="two words"
	arrived "$version: jfr dump --force" all.jfr "$version"
	refuses 1 'Could not find nix' "$version: jfr dump: an unknown recording is refused" \
		jfr "$pid" dump nix.jfr name=nix
	check "$version: jfr dump of an unknown recording: no file is written" \
		test ! -e "$W/nix.jfr"
	refuses 7 'cannot write' "$version: jfr stop: a missing directory is refused" \
		jfr "$pid" stop name="two words" no/such/dir/x.jfr
	same "$version: jfr stop to a missing directory: the recording continues" \
		1 "$(recordings "$pid")"
	jt jfr "$pid" stop name="two words" stopped.jfr --json
	same "$version: jfr stop --json: its values" \
		"$pid stopped.jfr $(stat -c %s "$W/stopped.jfr")" \
		"$(json "'{pid} {file} {bytes}'.format(**j)")"
	arrived "$version: jfr stop" stopped.jfr "$version"
	refuses 1 'JFR.stop: Could not (find|stop)' \
		"$version: jfr stop: an unknown recording is refused" \
		jfr "$pid" stop name="two words"
	prints "$version: jfr start: it works again" '^Started' jfr "$pid" start name=x
	prints "$version: jfr stop without a file: the message says so" \
		'discarded' jfr "$pid" stop name=x
	refuses 1 'parse settings|find file' \
		"$version: jfr start: a missing settings file is refused" \
		jfr "$pid" start settings=nosuch
	left "$version" "$pid"
	rm -f "$W"/*.jfr
}

record() {
	local version=$1 pid=$2 jtool

	jt jfr "$pid" record -d 1 r.jfr settings=profile
	arrived "$version: jfr record" r.jfr "$version"
	jt jfr "$pid" record -d 100ms -
	cp "$W/out" "$W/piped.jfr"
	chmod 600 "$W/piped.jfr"
	arrived "$version: jfr record to stdout" piped.jfr "$version"

	env --default-signal=INT "$JTOOL" jfr "$pid" record -d 60 "$W/early.jfr" >"$W/out" \
		2>"$W/err" &
	jtool=$!
	check "$version: jfr record: it starts" poll 20 recording "$pid"
	kill -INT "$jtool"
	rc=0
	wait "$jtool" || rc=$?
	arrived "$version: jfr record, ended by Ctrl-C" early.jfr "$version"
	same "$version: jfr record, ended by Ctrl-C: the recording is stopped" \
		0 "$(recordings "$pid")"

	rm -f "$W"/*.jfr

	# Killed: no file, and the recording has a duration.
	"$JTOOL" jfr "$pid" record -d 1 --timeout 1 "$W/killed.jfr" >/dev/null 2>&1 &
	jtool=$!
	poll 20 recording "$pid"
	kill -9 "$jtool"
	wait "$jtool" 2>/dev/null
	check "$version: jfr record, killed: its recording has a duration" \
		grep -q 'duration=' <("$JTOOL" jfr "$pid" check)
	[ "${JTOOL_SOAK:-0}" != 1 ] || check "$version: jfr record, killed: its recording ends" \
		poll 90 not_recording "$pid"
	# $W is also the working directory of the JVM.
	same "$version: jfr record, killed: no file is written" "" "$(find "$W" -name '*.jfr')"
	left "$version" "$pid"
}

refuses 2 "unknown subcommand 'nosuch': choose from start, check" \
	"jfr: an unknown subcommand is refused" jfr 1 nosuch
refuses 2 'missing name=NAME: name the recording' "jfr stop: a missing name is refused" jfr 1 stop
refuses 2 "unknown argument '.*': stop takes name= and filename=" "jfr stop: an unknown argument is refused" \
	jfr 1 stop name=x maxage=1h
refuses 2 'missing FILE: name the file that dump' \
	"jfr dump: a missing file is refused" jfr 1 dump name=x
refuses 2 'missing FILE: name the file that record' \
	"jfr record: a missing file is refused" jfr 1 record settings=profile
refuses 2 'two files' "jfr dump: two files are refused" jfr 1 dump a.jfr filename=b.jfr
refuses 2 'record sets duration= itself' "jfr record: duration= is refused" \
	jfr 1 record a.jfr duration=1s
refuses 2 '-d applies only to record; for start, give duration=30s instead' "jfr start: -d is refused" jfr 1 start -d 5
refuses 2 '--force' "jfr check: --force is refused" jfr 1 check --force
refuses 2 'both kinds of quotes' "jfr start: a value with both kinds of quotes is refused" \
	jfr 1 start "name=a'b\"c"
refuses 2 'stdout' "jfr dump: --json to stdout is refused" jfr --json 1 dump -

for version in $(in_soak own "") "${jdks[@]}"; do
	start_jvm "$version" serial Idle || continue
	settings "$version" "$JVM_PID"
	round_trip "$version" "$JVM_PID"
	record "$version" "$JVM_PID"
	unharmed "$version: jfr" "$jfr_says"
	stop "$JVM_PID"
done

# The JVM exits during a recording.
start_jvm own serial Idle
"$JTOOL" jfr "$JVM_PID" record -d 60 "$W/gone.jfr" >"$W/out" 2>"$W/err" &
jtool=$!
poll 20 recording "$JVM_PID"
stop "$JVM_PID"
rc=0
wait "$jtool" || rc=$?
same "JVM exits during jfr record: exit code 7" 7 "$rc"
check "JVM exits during jfr record: the error says so" \
	grep -q '^jtool: jfr: .*exited during' "$W/err"
check "JVM exits during jfr record: no file is written" test ! -e "$W/gone.jfr"

# JVMs with the flight recorder disabled.
start_jvm own serial Idle -XX:-FlightRecorder
refuses 1 'Flight Recorder is disabled' "recorder disabled: jfr start is refused" \
	jfr "$JVM_PID" start
refuses 1 'Flight Recorder is disabled' "recorder disabled: jfr configure is refused" \
	jfr "$JVM_PID" configure
refuses 1 'Flight Recorder is disabled' "recorder disabled: jfr record is refused" \
	jfr "$JVM_PID" record -d 1 x.jfr
check "recorder disabled: no file is written" test ! -e "$W/x.jfr"
stop "$JVM_PID"

# A file system without room for the repository: the recorder would end the JVM.
mkdir "$W/full" "$W/roomy"
mount -t tmpfs -o size=4m tmpfs "$W/full"
mounts+=("$W/full")
start_jvm own serial Idle "-Djava.io.tmpdir=$W/full"
refuses 1 "$W/full of JVM.*8 MB free.*repositorypath=DIR" \
	"no room for the repository: jfr record is refused" \
	jfr "$JVM_PID" record -d 1 full.jfr
refuses 1 '8 MB free' "no room for the repository: jfr start is refused" jfr "$JVM_PID" start
check "no room for the repository: nothing records" not_recording "$JVM_PID"
# After JFR.check, the JVM reports a repository that does not exist yet.
works "no room for the repository: jfr check works" jfr "$JVM_PID" check
refuses 1 '8 MB free' "no room for the repository: jfr record is refused after jfr check" \
	jfr "$JVM_PID" record -d 1 full.jfr
refuses 1 '8 MB free' "no room for the repository: profile is refused after jfr check" \
	profile "$JVM_PID" -d 1
works "no room for the repository: another one can be configured" \
	jfr "$JVM_PID" configure "repositorypath=$W/roomy"
works "another repository: jfr record works" jfr "$JVM_PID" record -d 300ms full.jfr
stop "$JVM_PID"

# boxed NAME NSPID UID: records from the JVM in the container that was spawned last, whose owner is
# UID on the host.
boxed() {
	local init=$JVM_PID

	await_ready || return
	jt list --json # finds it by $IW, which is unique to this test
	JVM_PID=$(json "[v['pid'] for v in j['jvms']
		if (v['nspid'], v['uid'], v['args']) == ($2, $3, '$IW')][0]")
	jt jfr "$JVM_PID" record -d 500ms boxed.jfr
	arrived "$version, $1" boxed.jfr "$version"
	check "$version, $1: no file remains in the container" \
		nothing_left "/proc/$JVM_PID/root" "$2" "${4:-$3}" "$IW/cwd.$3"
	unharmed "$version, $1" "$jfr_says"
	stop "$init" "$JVM_PID"
	rm -f "$W/boxed.jfr"
}

# The kernel requires one write(2) for each map.
map_ids() {
	[ "$(readlink "/proc/$1/ns/user")" != "$(readlink /proc/self/ns/user)" ] &&
		env printf '0 %d 1\n1000 %d 1\n' $owner $mapped >"/proc/$1/gid_map" &&
		env printf '0 %d 1\n1000 %d 1\n' $owner $mapped >"/proc/$1/uid_map"
}

box=$live_dir/box
owner=4321   # an unprivileged user on the host
mapped=70000 # the uid on the host of uid 1000 in a rootless container
version=$(newest_of "${jdks[@]}")
java=("${jdk_home[$version]}/bin/java" -Xmx64m -XX:+UseSerialGC -cp "$IW/classes" Idle "$IW")
for uid in 1000 $mapped; do
	mkdir "$W/cwd.$uid"
	chown "$uid:$uid" "$W/cwd.$uid"
done
spawn unshare -p -f -m -n --kill-child "$box" pivot "${jdk_root[$version]}" 1000 "$IW/cwd.1000" \
	rw "${java[@]}"
boxed "own PID, network, root and user, /tmp in memory" 1 1000
# shellcheck disable=SC2016 # expanded by the inner shell
spawn setpriv --reuid=$owner --regid=$owner --clear-groups unshare -U bash -c '
	until [ "$(id -u)" = 0 ]; do sleep 0.02; done
	exec "$@"' wait-for-map unshare -m -p -f --kill-child \
	"$box" chroot "${jdk_root[$version]}" 1000 "$IW/cwd.$mapped" rw "${java[@]}"
check "user namespace: its ids are mapped" poll 10 map_ids "$JVM_PID"
boxed "rootless" 1 $mapped 1000
