#!/usr/bin/env bash
# jfr: a recording's round trip on every version: settings, start, dump, stop, record; what
# arrives is whole and readable, and nothing is left in the target, however jtool ends.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

jfr_says='.*\[(info|warning)\].*jfr.*' # from JDK 11 on, about paths of recordings

# chunks FILE: how many a recording has; fails when they do not end where the file does.
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

# arrived NAME FILE VERSION: whole, the caller's alone, and the JDK's own tool reads it.
arrived() {
	local name=$1 file=$W/$2 version=${3/own/17} text=

	if [ "$rc" -ne 0 ] || ! text=$(chunks "$file" 2>&1); then
		fail "$name: it arrived whole" "$(jt_details)" "$text"
		return
	fi
	same "$name: nobody else may read it" "600 ${JT_AS:-0}" "$(stat -c '%a %u' "$file")"
	has_jdk "$version" || return 0
	text=$(chroot "${jdk_root[$version]}" "${jdk_home[$version]}/bin/jfr" \
		summary "$IW/$2" 2>&1)
	if [[ $text == *jdk.JVMInformation* ]]; then
		pass "$name: jfr summary reads it"
	else
		fail "$name: jfr summary reads it" "$text"
	fi
}

# recordings PID: how many there are.
recordings() {
	"$JTOOL" jfr "$1" check | grep -c '^Recording '
}

recording() {
	[ "$(recordings "$1")" -gt 0 ]
}

not_recording() {
	"$JTOOL" jfr "$1" check | grep -q '^No available recordings'
}

# left VERSION PID: nothing of jtool's beside the JVM.
left() {
	local root=${jdk_root[$1]:-}

	check "$1: nothing is left in the target" nothing_left "$root" "$2" 0 "${W#"$root"}"
}

settings() {
	local version=$1 pid=$2

	prints "$version: configure shows the settings" '^stackdepth=64$' jfr "$pid" configure
	works "$version: configure --json" jfr "$pid" configure --json
	same "$version: sizes in bytes" "$pid 20 524288 8192 10485760 12582912" \
		"$(json "' '.join(str(x) for x in [j['pid']] + [j['settings'][k] for k in
		('globalbuffercount', 'globalbuffersize', 'thread_buffer_size', 'memorysize',
		'maxchunksize')])")"
	prints "$version: configure changes one" '^stackdepth: 64 -> 80$' \
		jfr "$pid" configure stackdepth=80 memorysize=16m
	prints "$version: and the other" '^memorysize=16m$' jfr "$pid" configure
	works "$version: configure --json with a change" \
		jfr "$pid" configure --json dumppath=/tmp maxchunksize=2m
	same "$version: old and new" "12582912 2097152 /tmp" \
		"$(json "'{old} {new}'.format(**j['changed']['maxchunksize']) + ' ' +
		j['changed']['dumppath']['new']")"
	refuses 1 'nosuch' "$version: no such setting" jfr "$pid" configure nosuch=1
	refuses 1 'maxchunksize.*at least 1048576' "$version: a value that is none" \
		jfr "$pid" configure maxchunksize=1
}

round_trip() {
	local version=$1 pid=$2

	prints "$version: start" '^Started recording 1' \
		jfr "$pid" start name="two words" settings=profile
	prints "$version: check" '^Recording 1: name=two words .*\(running\)' jfr "$pid" check
	works "$version: check --json" jfr --json "$pid" check name="two words"
	same "$version: its keys" "$pid 0 True" "$(json "f\"{j['pid']} {j['code']} \" +
		str('name=two words' in j['output'])")"
	# JDK 17 would take it, and die of what it writes behind its arrays.
	refuses 1 'stackdepth.*initialised already' "$version: stackdepth, too late" \
		jfr "$pid" configure stackdepth=200
	jt jfr "$pid" dump all.jfr
	arrived "$version: dump" all.jfr "$version"
	refuses 2 'exists.*--force' "$version: an existing file" jfr "$pid" dump all.jfr
	jt jfr "$pid" dump --force filename=all.jfr name="two words"
	arrived "$version: dump --force" all.jfr "$version"
	refuses 1 'Could not find nix' "$version: dump of no such recording" \
		jfr "$pid" dump nix.jfr name=nix
	check "$version: leaves no file" test ! -e "$W/nix.jfr"
	refuses 7 'cannot be written' "$version: stop, to where nothing can be written" \
		jfr "$pid" stop name="two words" no/such/dir/x.jfr
	same "$version: it still records" 1 "$(recordings "$pid")"
	jt jfr "$pid" stop name="two words" stopped.jfr --json
	same "$version: stop --json" "$pid stopped.jfr $(stat -c %s "$W/stopped.jfr")" \
		"$(json "'{pid} {file} {bytes}'.format(**j)")"
	arrived "$version: stop" stopped.jfr "$version"
	refuses 1 'JFR.stop: Could not (find|stop)' "$version: stop of no such recording" \
		jfr "$pid" stop name="two words"
	prints "$version: start, to be thrown away" '^Started' jfr "$pid" start name=x
	prints "$version: stop without a file says so" 'discarded' jfr "$pid" stop name=x
	refuses 1 'parse settings|find file' "$version: no such settings file" \
		jfr "$pid" start settings=nosuch
	left "$version" "$pid"
	rm -f "$W"/*.jfr
}

record() {
	local version=$1 pid=$2 jtool

	jt jfr "$pid" record -d 1 r.jfr settings=profile
	arrived "$version: record" r.jfr "$version"
	jt jfr "$pid" record -d 100ms -
	cp "$W/out" "$W/piped.jfr"
	chmod 600 "$W/piped.jfr"
	arrived "$version: record to stdout" piped.jfr "$version"

	env --default-signal=INT "$JTOOL" jfr "$pid" record -d 60 "$W/early.jfr" >"$W/out" \
		2>"$W/err" &
	jtool=$!
	check "$version: record begins" poll 20 recording "$pid"
	kill -INT "$jtool"
	rc=0
	wait "$jtool" || rc=$?
	arrived "$version: record, ended by Ctrl-C" early.jfr "$version"
	same "$version: and stopped" 0 "$(recordings "$pid")"

	rm -f "$W"/*.jfr

	# Killed: no file, and a recording that ends by itself.
	"$JTOOL" jfr "$pid" record -d 1 --timeout 1 "$W/killed.jfr" >/dev/null 2>&1 &
	jtool=$!
	poll 20 recording "$pid"
	kill -9 "$jtool"
	wait "$jtool" 2>/dev/null
	check "$version: record, killed: its recording has an end" \
		grep -q 'duration=' <("$JTOOL" jfr "$pid" check)
	[ "${JTOOL_SOAK:-0}" != 1 ] || check "$version: it ended, and is gone" \
		poll 90 not_recording "$pid"
	# Here is the JVM's working directory, too.
	same "$version: and there is no file" "" "$(find "$W" -name '*.jfr')"
	left "$version" "$pid"
}

refuses 2 'is none of start, check' "no such subcommand" jfr 1 nosuch
refuses 2 'which recording.*name=' "stop without a name" jfr 1 stop
refuses 2 'stop takes name= and filename=' "stop with more" jfr 1 stop name=x maxage=1h
refuses 2 'to which file' "dump without a file" jfr 1 dump name=x
refuses 2 'to which file' "record without a file" jfr 1 record settings=profile
refuses 2 'two files' "two files" jfr 1 dump a.jfr filename=b.jfr
refuses 2 'record takes no duration=' "record with a duration" jfr 1 record a.jfr duration=1s
refuses 2 '-d is for record' "-d elsewhere" jfr 1 start -d 5
refuses 2 '--force' "--force without a file" jfr 1 check --force
refuses 2 'both kinds of quotes' "what cannot be quoted" jfr 1 start "name=a'b\"c"
refuses 2 'stdout' "--json and - at once" jfr --json 1 dump -

for version in $(in_soak own "") "${jdks[@]}"; do
	start_jvm "$version" serial Idle || continue
	settings "$version" "$JVM_PID"
	round_trip "$version" "$JVM_PID"
	record "$version" "$JVM_PID"
	unharmed "$version: jfr" "$jfr_says"
	stop "$JVM_PID"
done

# A JVM that ends meanwhile.
start_jvm own serial Idle
"$JTOOL" jfr "$JVM_PID" record -d 60 "$W/gone.jfr" >"$W/out" 2>"$W/err" &
jtool=$!
poll 20 recording "$JVM_PID"
stop "$JVM_PID"
rc=0
wait "$jtool" || rc=$?
same "the JVM ends while it is recorded: exit 7" 7 "$rc"
check "and it is told" grep -q '^jtool: jfr: .*went away' "$W/err"
check "and there is no file" test ! -e "$W/gone.jfr"

# A JVM without a flight recorder.
start_jvm own serial Idle -XX:-FlightRecorder
refuses 1 'Flight Recorder is disabled' "disabled: start" jfr "$JVM_PID" start
refuses 1 'Flight Recorder is disabled' "disabled: configure" jfr "$JVM_PID" configure
refuses 1 'Flight Recorder is disabled' "disabled: record" jfr "$JVM_PID" record -d 1 x.jfr
check "disabled: there is no file" test ! -e "$W/x.jfr"
stop "$JVM_PID"

# A JVM whose recorder would end it: there is no room for the repository.
mkdir "$W/full" "$W/roomy"
mount -t tmpfs -o size=4m tmpfs "$W/full"
mounts+=("$W/full")
start_jvm own serial Idle "-Djava.io.tmpdir=$W/full"
refuses 1 "$W/full of JVM.*8 MB free.*repositorypath=DIR" "no room for a repository: record" \
	jfr "$JVM_PID" record -d 1 full.jfr
refuses 1 '8 MB free' "no room for a repository: start" jfr "$JVM_PID" start
check "no room for a repository: nothing records" not_recording "$JVM_PID"
works "no room for a repository: another directory" \
	jfr "$JVM_PID" configure "repositorypath=$W/roomy"
works "room for a repository: record" jfr "$JVM_PID" record -d 300ms full.jfr
stop "$JVM_PID"

# boxed NAME NSPID UID: record from the JVM in the container that was spawned last, whose owner is
# UID out here.
boxed() {
	local init=$JVM_PID

	await_ready || return
	jt list --json # others may run their own tests: $IW is nobody else's
	JVM_PID=$(json "[v['pid'] for v in j['jvms']
		if (v['nspid'], v['uid'], v['args']) == ($2, $3, '$IW')][0]")
	jt jfr "$JVM_PID" record -d 500ms boxed.jfr
	arrived "$version, $1" boxed.jfr "$version"
	check "$version, $1: nothing is left in it" \
		nothing_left "/proc/$JVM_PID/root" "$2" "${4:-$3}" "$IW/cwd.$3"
	unharmed "$version, $1" "$jfr_says"
	stop "$init" "$JVM_PID"
	rm -f "$W/boxed.jfr"
}

# One write(2) each, as the kernel wants it.
map_ids() {
	[ "$(readlink "/proc/$1/ns/user")" != "$(readlink /proc/self/ns/user)" ] &&
		env printf '0 %d 1\n1000 %d 1\n' $owner $mapped >"/proc/$1/gid_map" &&
		env printf '0 %d 1\n1000 %d 1\n' $owner $mapped >"/proc/$1/uid_map"
}

box=$live_dir/box
owner=4321   # an unprivileged user here
mapped=70000 # what uid 1000 inside of a rootless container is out here
version=$(newest_of "${jdks[@]}")
java=("${jdk_home[$version]}/bin/java" -Xmx64m -XX:+UseSerialGC -cp "$IW/classes" Idle "$IW")
for uid in 1000 $mapped; do
	mkdir "$W/cwd.$uid"
	chown "$uid:$uid" "$W/cwd.$uid"
done
spawn unshare -p -f -m -n --kill-child "$box" pivot "${jdk_root[$version]}" 1000 "$IW/cwd.1000" \
	rw "${java[@]}"
boxed "own pid, net, root and user, /tmp in memory" 1 1000
# shellcheck disable=SC2016 # expanded by the inner shell
spawn setpriv --reuid=$owner --regid=$owner --clear-groups unshare -U bash -c '
	until [ "$(id -u)" = 0 ]; do sleep 0.02; done
	exec "$@"' wait-for-map unshare -m -p -f --kill-child \
	"$box" chroot "${jdk_root[$version]}" 1000 "$IW/cwd.$mapped" rw "${java[@]}"
check "a user namespace" poll 10 map_ids "$JVM_PID"
boxed "rootless" 1 $mapped 1000
