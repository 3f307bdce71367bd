#!/usr/bin/env bash
# JFR rewrites event classes: before a recording and in it, of a class that was there before and
# of one that came later, dump or class -b show what commit() does.
# shellcheck source-path=SCRIPTDIR source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/lib.sh"

javac --release 11 -cp "$W/classes" -d "$W/classes" "$live_dir/events/Events.java"

# commit: the instructions of that method in what javap or class -b printed.
commit() {
	awk '/ void commit\(\);$/ { on = 1 } /^$/ { on = 0 } on && /^ +[0-9]+: /'
}

# writes CODE: it asks whether the event is on, and hands it to JFR.
writes() {
	grep -q 'isEnabled:()Z' <<<"$1" && grep -q -E 'jdk/jfr/internal/.*Event(Handler|Writer)' <<<"$1"
}

# dumped CLASS: its commit() in the file that dump writes; leaves dump's rc and err.
dumped() {
	rm -rf "$W/dump"
	jt dump -d "$W/dump" "$JVM_PID" "$1"
	javap -p -c "$W/dump/$1.class" >"$W/javap" 2>&1
	dumped=$(commit <"$W/javap")
}

# shown CLASS: its commit() as class -b shows it.
shown() {
	jt class -b "$JVM_PID" "$1"
	shown=$(commit <"$W/out")
}

# is_empty NAME CLASS
is_empty() {
	shown "$2"
	same "$1: $2.commit() is empty" '       0: return' "$shown"
	dumped "$2"
	same "$1: so is the dump's" '0        0: return' "$rc $dumped"
}

# is_rewritten NAME CLASS
is_rewritten() {
	shown "$2"
	check "$1: $2.commit() writes an event" writes "$shown"
	prints "$1: $2 tells by whom" '^Instrumented: +JFR: writes events$' class "$JVM_PID" "$2"
	dumped "$2"
}

for version in own "${jdks[@]}"; do
	[ "$version" != 8 ] || continue # Events is compiled for 11
	start_jvm "$version" default Events || continue
	is_empty "$version: before" 'Events$Early'
	works "$version: a recording" jfr "$JVM_PID" start name=events
	ask late '^late ' >/dev/null
	is_rewritten "$version: recording" 'Events$Early'
	if [ "${version/own/17}" -le 17 ]; then
		check "$version: recording: the dump of Early, too" writes "$dumped"
	else
		# The JVM has rewritten it where no agent's hook sees it.
		same "$version: recording: the dump of Early is not what runs" \
			'7        0: return' "$rc $dumped"
		check "$version: recording: and dump says so" \
			grep -q 'Events\$Early dumped, with other code in memory' "$W/err"
		shown 'Events$Early'
		check "$version: recording: class -b marks it" \
			grep -q 'Code: // in memory, not as in the class file' "$W/out"
	fi
	is_rewritten "$version: recording" 'Events$Late'
	# Up to JDK 17, JFR rewrites a class at load a little otherwise than later: rc may be 7.
	check "$version: recording: the dump of Late, too" writes "$dumped"
	same "$version: events still come" 'early 3' "$(ask early '^early ')"
	unharmed "$version: event classes" '(early|late) [0-9]+|.*\[(info|warning)\].*jfr.*'
	stop "$JVM_PID"
done
