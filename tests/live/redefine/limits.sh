#!/usr/bin/env bash
# redefine --check: it says yes where the JVM does, and no, in words, where it does.
#
# limits/cases has pairs of classes, and limits.py damages one in many ways.  They are compiled
# for the JVM that they run on (own), for JDK 8 (eight), and the running one for JDK 8 and the new
# one not (mixed).  A Java agent then asks the JVM itself to do what jtool has judged.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

cases=$live_dir/limits/cases
here=$W/limits
mkdir -p "$here/eight"

limits() {
	python3 "$live_dir/limits.py" "$@"
}

# compile VERSION DIRECTORY SOURCES [FLAG...]: by that JDK's own javac.
compile() {
	local version=$1 directory=$2 sources=$3

	shift 3
	mkdir -p "$directory"
	(cd "$W" && find "${sources#"$W/"}" -name '*.java') >"$here/files"
	chroot "${jdk_root[$version]}" env -C "$IW" "${jdk_home[$version]}/bin/javac" -nowarn \
		-J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC -proc:none "$@" -d "${directory#"$W/"}" @limits/files
}

javac --release 8 -Xlint:-options -d "$here/agent" "$live_dir/agents/Verdict.java"
printf 'Premain-Class: Verdict\nCan-Redefine-Classes: true\n' >"$here/manifest"
jar cfm "$here/verdict.jar" "$here/manifest" -C "$here/agent" .
# Where a JDK 8 is missing, its class files are not.
for side in old new; do
	limits sources "$cases" 8 "$here/eight" eight
	limits sources "$cases" 8 "$here/eight" mixed
	compile "$(newest_of 8 11 17)" "$here/eight/$side.classes" "$here/eight/$side" \
		-source 8 -target 8 -Xlint:-options 2>"$here/javac" ||
		fail "javac, for JDK 8" "$(cat "$here/javac")"
done

# prepare VERSION: its classes, below $here/VERSION/old.classes and new.classes.
prepare() {
	local version=$1 at=$here/$1 of

	for of in own mixed damaged; do
		limits sources "$cases" "$version" "$at" $of
	done
	rm -r "$at/old/mixed"
	for side in old new; do
		compile "$version" "$at/$side.classes" "$at/$side" 2>"$here/javac" ||
			fail "$version: javac" "$(cat "$here/javac")"
	done
	cp -r "$here"/eight/old.classes/* "$at/old.classes"
	cp -r "$here"/eight/new.classes/eight "$at/new.classes"
	# What is only in one of both is no class to be redefined.
	(cd "$at/new.classes" && find . -name '*.class') | while read -r file; do
		[ -e "$at/old.classes/$file" ] || rm "$at/new.classes/$file"
	done
	limits damage "$at/new.classes" "$version"
	limits fill "$at/old.classes/damaged/undamaged/C.class" "$at/huge/C.class" new
	limits broken "$at/old.classes/damaged/undamaged/C.class" "$at/broken"
	limits fill "$at/old.classes/damaged/undamaged/C.class" \
		"$at/old.classes/damaged/undamaged/C.class" old
}

# start VERSION [FLAG...]
start() {
	local at=limits/$1

	start_jvm "$1" serial Verdict -javaagent:limits/verdict.jar "${@:2}" \
		-cp "$at/old.classes:limits/verdict.jar" -- "$at/old.classes"
}

# agree NAME VERSION NEW: jtool and then the JVM on the classes below NEW.
agree() {
	local name=$1 version=$2 new=$3 text

	jt redefine --check --json "$JVM_PID" "$new"
	same "$name: one that is refused: exit 1" 1 "$rc"
	cp "$W/out" "$here/ours"
	check "$name: the JVM's own word" ask "verdicts ${new#"$W/"} limits/theirs" '^verdicts$' 60
	text=$(limits compare "$cases" "$version" "$here/theirs" "$here/ours" 2>&1)
	if [ "$(wc -l <<<"$text")" -eq 1 ] && [[ $text =~ ^([0-9]+)\ of\ ([0-9]+)\ classes ]] &&
		[ "${BASH_REMATCH[1]}" -eq "${BASH_REMATCH[2]}" ] && [ "${BASH_REMATCH[1]}" -gt 100 ]; then
		pass "$name: $text"
	else
		fail "$name: jtool and the JVM agree" "$text"
	fi
}

# refused NAME PATTERN FILE: and why.
refused() {
	jt redefine --check "$JVM_PID" "$3"
	if [ "$rc" -eq 1 ] && grep -q -E -e "$2" "$W/err"; then
		pass "$1"
	else
		fail "$1" "wanted: exit 1, /$2/" "$(jt_details)"
	fi
}

# jdk_class CLASS DIRECTORY: have it loaded, and copied below.
jdk_class() {
	mkdir -p "$W/$2"
	check "$version: $1" ask "resource $1 $2/C.class" '^resource$'
}

for version in "${jdks[@]}"; do
	at=$here/$version
	prepare "$version"
	start "$version" || continue

	for file in "$at"/broken/*.class; do
		refused "$version: $(basename "$file" .class)" . "$file"
	done
	refused "$version: too many constants" '65535' "$at/huge/C.class"

	# The JDK's own classes: JDK 8 to 21 do not verify them.
	jdk_class java.util.Observable "limits/$version/boot"
	works "$version: a boot class" redefine --check "$JVM_PID" "$at/boot/C.class"
	limits spoil "$at/boot/C.class" "$at/spoilt/java/util/Observable.class"
	refused "$version: bad code of a boot class" 'method boolean hasChanged\(\)' \
		"$at/spoilt"
	# Before JDK 25 it is accepted, and may end the JVM when it runs: not to be tried.
	if [ "$version" -ge 25 ]; then
		ask "verdicts limits/$version/spoilt limits/theirs" '^verdicts$' >/dev/null
		same "$version: the JVM's word on it" 'java.util.Observable 62' \
			"$(cat "$here/theirs")"
	fi
	jt dump -d "$at/dumped" "$JVM_PID" java.util.Observable
	works "$version: a dumped boot class" redefine --check "$JVM_PID" "$at/dumped"
	if [ "$version" -ge 21 ]; then
		jdk_class jdk.internal.vm.Continuation "limits/$version/fixed"
		refused "$version: unmodifiable" 'nobody' "$at/fixed/C.class"
	fi

	agree "$version" "$version" "$at/new.classes"
	stop "$JVM_PID"

	# With what JDK 13 and later let be switched on.
	[ "$version" -ge 17 ] || continue
	start "$version" -XX:+AllowRedefinitionToAddDeleteMethods --enable-preview || continue
	agree "$version, with all that is allowed" "$version+" "$at/new.classes"
	stop "$JVM_PID"
done
