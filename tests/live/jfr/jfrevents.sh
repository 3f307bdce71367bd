#!/usr/bin/env bash
# JFR rewrites event classes. dump and class -b show what commit() does before and during a
# recording, for a class that is loaded before the recording and for one that is loaded during it.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/../lib.sh"

javac --release 11 -cp "$W/classes" -d "$W/classes" "$live_dir/jfr/Events.java"

# commit: the instructions of this method in the output of javap or class -b.
commit() {
	awk '/ void commit\(\);$/ { on = 1 } /^$/ { on = 0 } on && /^ +[0-9]+: /'
}

# writes CODE: the code asks whether the event is enabled, and passes it to JFR.
writes() {
	grep -q 'isEnabled:()Z' <<<"$1" && grep -q -E 'jdk/jfr/internal/.*Event(Handler|Writer)' <<<"$1"
}

# dumped CLASS: its commit() in the file that dump writes; sets rc and $W/err.
dumped() {
	rm -rf "$W/dump"
	jt dump -d "$W/dump" "$JVM_PID" "$1"
	javap -p -c "$W/dump/$1.class" >"$W/javap" 2>&1
	dumped=$(commit <"$W/javap")
}

# shown CLASS: prints the commit() of the class as class -b shows it.
shown() {
	jt class -b "$JVM_PID" "$1"
	shown=$(commit <"$W/out")
}

# is_empty NAME CLASS: its commit() does nothing.
is_empty() {
	shown "$2"
	same "$1: $2.commit() is empty" '       0: return' "$shown"
	dumped "$2"
	same "$1: $2.commit() is empty in the dump" '0        0: return' "$rc $dumped"
}

# is_rewritten NAME CLASS: its commit() writes an event.
is_rewritten() {
	shown "$2"
	check "$1: $2.commit() writes an event" writes "$shown"
	prints "$1: class $2: it says that JFR rewrote it" \
		'^Instrumented: +JFR: writes events$' class "$JVM_PID" "$2"
	dumped "$2"
}

for version in own "${jdks[@]}"; do
	[ "$version" != 8 ] || continue # Events requires JDK 11
	start_jvm "$version" default Events || continue
	is_empty "$version: before" 'Events$Early'
	works "$version: jfr start: it works" jfr "$JVM_PID" start name=events
	ask late '^late ' >/dev/null
	is_rewritten "$version: recording" 'Events$Early'
	if [ "${version/own/17}" -le 17 ]; then
		check "$version: recording: the dump of Early writes an event" writes "$dumped"
	else
		# The JVM has rewritten it without calling the hooks of agents.
		same "$version: recording: the dump of Early differs from the running code" \
			'7        0: return' "$rc $dumped"
		check "$version: recording: dump reports other code for Early" \
			grep -q 'dumped, with other code in memory: .*: Events\$Early$' "$W/err"
		shown 'Events$Early'
		check "$version: recording: class -b marks it" \
			grep -q 'Code: // in memory, differs from the class file' "$W/out"
	fi
	is_rewritten "$version: recording" 'Events$Late'
	# Up to JDK 17, JFR rewrites a class at load slightly differently than later: rc may be 7.
	check "$version: recording: the dump of Late writes an event" writes "$dumped"
	same "$version: events are still written" 'early 3' "$(ask early '^early ')"
	unharmed "$version: event classes" '(early|late) [0-9]+|.*\[(info|warning)\].*jfr.*'
	stop "$JVM_PID"
done
