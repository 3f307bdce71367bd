#!/usr/bin/env bash
# redefine --check: it accepts what the JVM accepts, and refuses the rest with a reason.
#
# limits.cases has pairs of classes, and limits.py damages another class in many ways (damaged). The
# pairs are compiled for the JVM that runs them (own), for JDK 8 (eight), or the running class for
# JDK 8 and the new one for the JVM (mixed). A Java agent then redefines the classes, and the JVM's
# result is compared with jtool's.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

cases=$live_dir/redefine/limits.cases
here=$W/limits
mkdir -p "$here/eight"

limits() {
	python3 "$live_dir/redefine/limits.py" "$@"
}

# compile VERSION DIRECTORY SOURCES [FLAG...]: compiles all sources below SOURCES with the javac of
# that JDK.
compile() {
	local version=$1 directory=$2 sources=$3

	shift 3
	mkdir -p "$directory"
	(cd "$W" && find "${sources#"$W/"}" -name '*.java') >"$here/files"
	chroot "${jdk_root[$version]}" env -C "$IW" "${jdk_home[$version]}/bin/javac" -nowarn \
		-J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC -proc:none "$@" -d "${directory#"$W/"}" @limits/files
}

javac --release 8 -Xlint:-options -d "$here/agent" "$live_dir/redefine/Verdict.java"
printf 'Premain-Class: Verdict\nCan-Redefine-Classes: true\n' >"$here/manifest"
jar cfm "$here/verdict.jar" "$here/manifest" -C "$here/agent" .
# If JDK 8 is not installed, another JDK compiles its class files.
for side in old new; do
	limits sources "$cases" 8 "$here/eight" eight
	limits sources "$cases" 8 "$here/eight" mixed
	compile "$(newest_of 8 11 17)" "$here/eight/$side.classes" "$here/eight/$side" \
		-source 8 -target 8 -Xlint:-options 2>"$here/javac" ||
		fail "javac: it compiles for JDK 8" "$(cat "$here/javac")"
done

# prepare VERSION: creates its classes below $here/VERSION/old.classes and new.classes.
prepare() {
	local version=$1 at=$here/$1 of

	for of in own mixed damaged; do
		limits sources "$cases" "$version" "$at" $of
	done
	rm -r "$at/old/mixed"
	for side in old new; do
		compile "$version" "$at/$side.classes" "$at/$side" 2>"$here/javac" ||
			fail "$version: javac: it compiles the cases" "$(cat "$here/javac")"
	done
	cp -r "$here"/eight/old.classes/* "$at/old.classes"
	cp -r "$here"/eight/new.classes/eight "$at/new.classes"
	# A class that is missing in old.classes cannot be redefined.
	(cd "$at/new.classes" && find . -name '*.class') | while read -r file; do
		[ -e "$at/old.classes/$file" ] || rm "$at/new.classes/$file"
	done
	limits damage "$at/new.classes" "$version"
	limits fill "$at/old.classes/damaged/undamaged/C.class" "$at/huge/C.class" new
	limits broken "$at/old.classes/damaged/undamaged/C.class" "$at/broken"
	limits fill "$at/old.classes/damaged/undamaged/C.class" \
		"$at/old.classes/damaged/undamaged/C.class" old
}

# start VERSION [FLAG...]: starts the JVM with the old classes.
start() {
	local at=limits/$1

	start_jvm "$1" serial Verdict -javaagent:limits/verdict.jar "${@:2}" \
		-cp "$at/old.classes:limits/verdict.jar" -- "$at/old.classes"
}

# agree NAME VERSION NEW: jtool and the JVM agree on the classes below NEW.
agree() {
	local name=$1 version=$2 new=$3 text

	jt redefine --check --json "$JVM_PID" "$new"
	same "$name: a refused class: exit code 1" 1 "$rc"
	cp "$W/out" "$here/ours"
	check "$name: the JVM redefines the classes" \
		ask "verdicts ${new#"$W/"} limits/theirs" '^verdicts$' 300
	text=$(limits compare "$cases" "$version" "$here/theirs" "$here/ours" 2>&1)
	if [ "$(wc -l <<<"$text")" -eq 1 ] && [[ $text =~ ^([0-9]+)\ of\ ([0-9]+)\ classes ]] &&
		[ "${BASH_REMATCH[1]}" -eq "${BASH_REMATCH[2]}" ] && [ "${BASH_REMATCH[1]}" -gt 100 ]; then
		pass "$name: $text"
	else
		fail "$name: jtool and the JVM agree" "$text"
	fi
}

# refused NAME PATTERN FILE: exit code 1, and a message that matches.
refused() {
	jt redefine --check "$JVM_PID" "$3"
	if [ "$rc" -eq 1 ] && grep -q -E -e "$2" "$W/err"; then
		pass "$1"
	else
		fail "$1" "wanted: exit 1, /$2/" "$(jt_details)"
	fi
}

# jdk_class CLASS DIRECTORY: loads it in the JVM, and copies its file to DIRECTORY.
jdk_class() {
	mkdir -p "$W/$2"
	check "$version: $1 is copied" ask "resource $1 $2/C.class" '^resource$'
}

for version in "${jdks[@]}"; do
	at=$here/$version
	prepare "$version"
	start "$version" || continue

	for file in "$at"/broken/*.class; do
		refuses 2 'is not a class file' "$version: $(basename "$file" .class)" \
			redefine --check "$JVM_PID" "$file"
	done
	refused "$version: too many constants: refused" '65535' "$at/huge/C.class"

	# Classes of the JDK: JDK 8 to 21 do not verify them.
	jdk_class java.util.Observable "limits/$version/boot"
	works "$version: a boot class: it can be redefined" \
		redefine --check "$JVM_PID" "$at/boot/C.class"
	limits spoil "$at/boot/C.class" "$at/spoilt/java/util/Observable.class"
	refused "$version: a boot class with invalid code: refused" \
		'method boolean hasChanged\(\)' \
		"$at/spoilt"
	# JDKs before 25 accept the class, which may crash the JVM when it runs: not tried there.
	if [ "$version" -ge 25 ]; then
		ask "verdicts limits/$version/spoilt limits/theirs" '^verdicts$' >/dev/null
		same "$version: a boot class with invalid code: the JVM refuses it, too" \
			'java.util.Observable 62' \
			"$(cat "$here/theirs")"
	fi
	jt dump -d "$at/dumped" "$JVM_PID" java.util.Observable
	works "$version: a dumped boot class: it can be redefined" \
		redefine --check "$JVM_PID" "$at/dumped"
	if [ "$version" -ge 21 ]; then
		jdk_class jdk.internal.vm.Continuation "limits/$version/fixed"
		refused "$version: an unmodifiable class: refused" \
			'the JVM does not allow changes of this class' "$at/fixed/C.class"
	fi

	agree "$version" "$version" "$at/new.classes"
	stop "$JVM_PID"

	# With all relevant flags that exist from JDK 13 on.
	[ "$version" -ge 17 ] || continue
	start "$version" -XX:+AllowRedefinitionToAddDeleteMethods --enable-preview || continue
	agree "$version, with everything enabled" "$version+" "$at/new.classes"
	stop "$JVM_PID"
done
