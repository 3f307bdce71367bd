#!/usr/bin/env bash
# jfr view: recordings of every version, made with the default and the profile settings and with all
# events on, equal what the JDK's own jfr prints: each event field by field, the summary, the views.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

# The newest reader reads all recordings.
reader=
for version in 27 25; do
	! has_jdk "$version" || reader=$version
done
[ -n "$reader" ] || {
	skip "jfr view" "JDK 25 or 27 is needed to compare with"
	exit
}

# jfr_of ARG...: the JDK's jfr; paths are those inside its root.
jfr_of() {
	TZ=UTC chroot "${jdk_root[$reader]}" "${jdk_home[$reader]}/bin/jfr" "$@"
}

# all_events VERSION: the default settings with every event enabled, without thresholds.
all_events() {
	local home=${jdk_home[$1]} file

	for file in "$home/lib/jfr/default.jfc" "$home/jre/lib/jfr/default.jfc"; do
		chroot "${jdk_root[$1]}" cat "$file" 2>/dev/null
	done | sed -E '/name="enabled"/ {s/ control="[^"]*"//; s/>[^<]*</>true</}
		/name="threshold"/ {s/ control="[^"]*"//; s/>[^<]*</>0 ms</}'
}

# record VERSION SETTINGS FILE: runs the victim for two seconds.
record() {
	chroot "${jdk_root[$1]}" "${jdk_home[$1]}/bin/java" -Xmx64m -cp "$IW/classes" \
		-XX:StartFlightRecording="settings=$2,filename=$IW/$3,dumponexit=true" \
		Recorded 2 >"$W/recorded" 2>&1 || fail "$1: the victim runs" "$(cat "$W/recorded")"
}

# equal SCRIPT NAME FILE: a script of this folder compares jtool's output with that of the JDK's jfr.
equal() {
	local text

	if text=$(python3 "$live_dir/jfr/$1" "$JTOOL" "$W/$3" \
		chroot "${jdk_root[$reader]}" "${jdk_home[$reader]}/bin/jfr" -- "$IW/$3" 2>&1); then
		pass "$2: ${text##*$'\n'}"
	else
		fail "$2" "$text"
	fi
}

equal_summary() {
	jt jfr view "$2" summary
	same "$1: the summary equals jfr summary" "$(jfr_of summary "$IW/$2")" "$(cat "$W/out")"
}

cut_recording() {
	head -c $(($(stat -c %s "$W/$2") - 1000)) "$W/$2" >"$W/cut.jfr"
	jt jfr view cut.jfr hot-methods
	same "$1: a recording that is cut off: exit code 7" 7 "$rc"
	check "$1: a recording that is cut off: the reason" \
		grep -q 'the file ends within this chunk' "$W/err"
}

running() {
	local version=$1

	start_jvm "$version" default Recorded -- 120 || return
	works "$version: jfr start: it works" jfr --timeout 60s "$JVM_PID" start name=view
	sleep 2
	prints "$version: jfr view TARGET: a page" '^JVM$' jfr view "$JVM_PID"
	prints "$version: jfr view TARGET EVENT --filter: rows" '"jvmName":"[^"]*Server VM"' \
		jfr view "$JVM_PID" JVMInformation --filter 'jvmName=*Server*' --last 60s --json
	works "$version: jfr view TARGET --json: it works" jfr view "$JVM_PID" --json
	same "$version: jfr view TARGET --json: the page" "('overview', True, True)" "$(json \
		"(j['view'], j['events'] > 0, any(v['view'] == 'jvm-information' for v in j['rows']))")"
	prints "$version: jfr view TARGET events: the types" '^jdk.JVMInformation +[1-9]' \
		jfr view "$JVM_PID" events
	refuses 2 'neither a view nor an event type' "$version: jfr view TARGET NoSuch: refused" \
		jfr view "$JVM_PID" NoSuch
	check "$version: jfr view TARGET: no file remains" \
		nothing_left "${jdk_root[$version]}" "$JVM_PID" 0 "${W#"${jdk_root[$version]}"}"
	stop "$JVM_PID"
}

# settings_of VERSION: the settings to test. All events only in the long form: the JDK's jfr takes a
# minute to print such a recording.
settings_of() {
	if [ "${JTOOL_SOAK:-0}" = 1 ]; then
		echo "default profile $IW/all.jfc"
	elif [ "$1" = "${jdks[-1]}" ]; then
		echo "default profile"
	else
		echo default
	fi
}

for version in "${jdks[@]}"; do
	all_events "$version" >"$W/all.jfc"
	for settings in $(settings_of "$version"); do
		name="$version, ${settings##*/}"
		record "$version" "$settings" recorded.jfr
		equal_summary "$name" recorded.jfr
		equal compare.py "$name: every field of every event equals jfr print" recorded.jfr
		[ "$settings" = default ] ||
			equal compare_views.py "$name: the views equal jfr view" recorded.jfr
	done
	cut_recording "$version" recorded.jfr
	rm -f "$W"/*.jfr
	running "$version"
done
