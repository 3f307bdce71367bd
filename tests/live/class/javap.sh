#!/usr/bin/env bash
# class -c and -b print exactly what javap prints of the class file that dump writes, on every
# version, for classes of all kinds; and classes that exist in memory only.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/../lib.sh"

names=(Victim Kinds 'Kinds$Box' 'Kinds$Shape' 'Kinds$Color' 'Kinds$Mark' 'Kinds$TwinLoader'
	java.lang.Object java.lang.String java.lang.Class java.lang.Comparable java.lang.Math
	java.util.Map java.util.concurrent.ConcurrentHashMap sun.launcher.LauncherHelper)

# alike: removes the parts of javap's output that depend on its version: up to JDK 18 some numbers
# have more digits, and up to 21 `throws` has slashes if there is also a type variable.
alike() {
	sed -E -e 's#(// |= )([Ff]loat|[Dd]ouble) .*#\1\2#' -e '/ throws /s#/#.#g'
}

# files_of: the class files of $names below $W/dumped, one per line.
files_of() {
	local name

	for name in "${names[@]}"; do
		echo "$W/dumped/${name//.//}.class"
	done
}

# shown OPTION FILE: the output of class for each of $names, concatenated.
shown() {
	local name

	for name in "${names[@]}"; do
		jt class "$1" "$JVM_PID" "$name"
		[ "$rc" -eq 0 ] || fail "$version: class $1 $name" "$(jt_details)"
		cat "$W/out"
	done | alike >"$2"
}

# as_javap NAME: class prints what javap prints of all $names.
as_javap() {
	local files

	rm -rf "$W/dumped"
	jt dump -d "$W/dumped" "$JVM_PID" "${names[@]}"
	mapfile -t files < <(files_of)
	javap -p -c "${files[@]}" 2>&1 | alike >"$W/wanted"
	shown -b "$W/got"
	check "$1: class -b: equal to javap's output" diff "$W/wanted" "$W/got"
	javap -p -v "${files[@]}" 2>&1 |
		awk '/^Constant pool:/ { on = 1 } /^{/ { on = 0 } on' | alike >"$W/wanted"
	shown -c "$W/got"
	check "$1: class -c: equal to javap's output" diff "$W/wanted" "$W/got"
	check "$1: class -c: over 4000 lines are compared" test "$(wc -l <"$W/got")" -gt 4000
}

# in_memory NAME: a lambda has bytecode but no class file.
in_memory() {
	jt class -b "$JVM_PID" 'Kinds$$Lambda*'
	check "$1: class -b of a lambda: its bytecode" grep -q -E '^       0: aload_0$' "$W/out"
	check "$1: class -b of a lambda: a note on its source" \
		grep -q -F 'Code: // in memory; JVMTI reports no exception table' \
		"$W/out"
	jt class -c "$JVM_PID" 'Kinds$$Lambda*'
	check "$1: class -c of a lambda: its constants" \
		grep -q -E '^ +#[0-9]+ = (Interface)?Methodref +#[0-9]+\.#[0-9]+ +// "?Kinds.*lambda\$' \
		"$W/out"
}

for version in $(in_soak own "") "${jdks[@]}"; do
	start_jvm "$version" default Kinds || continue
	as_javap "$version"
	[ "$version" = 8 ] || in_memory "$version"
	unharmed "$version: class -c and -b"
	stop "$JVM_PID"
done
