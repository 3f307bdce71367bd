#!/usr/bin/env bash
# class -c and -b: to the blank what javap prints of the class file that dump writes, on every
# version, of classes of all kinds; and what is in memory alone.
# shellcheck source-path=SCRIPTDIR source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/lib.sh"

names=(Victim Kinds 'Kinds$Box' 'Kinds$Shape' 'Kinds$Color' 'Kinds$Mark' 'Kinds$TwinLoader'
	java.lang.Object java.lang.String java.lang.Class java.lang.Comparable java.lang.Math
	java.util.Map java.util.concurrent.ConcurrentHashMap sun.launcher.LauncherHelper)

# alike: javap's output without what depends on its own version: up to JDK 18 some numbers have
# more digits, and up to 21 what is thrown has slashes where there is a type variable, too.
alike() {
	sed -E -e 's#(// |= )([Ff]loat|[Dd]ouble) .*#\1\2#' -e '/ throws /s#/#.#g'
}

# files_of: the class files of $names below $W/dumped, one a line.
files_of() {
	local name

	for name in "${names[@]}"; do
		echo "$W/dumped/${name//.//}.class"
	done
}

# shown OPTION FILE: what class shows of each of $names, one behind the other.
shown() {
	local name

	for name in "${names[@]}"; do
		jt class "$1" "$JVM_PID" "$name"
		[ "$rc" -eq 0 ] || fail "$version: class $1 $name" "$(jt_details)"
		cat "$W/out"
	done | alike >"$2"
}

# as_javap NAME: all of $names.
as_javap() {
	local files

	rm -rf "$W/dumped"
	jt dump -d "$W/dumped" "$JVM_PID" "${names[@]}"
	mapfile -t files < <(files_of)
	javap -p -c "${files[@]}" 2>&1 | alike >"$W/wanted"
	shown -b "$W/got"
	check "$1: bytecode as javap" diff "$W/wanted" "$W/got"
	javap -p -v "${files[@]}" 2>&1 |
		awk '/^Constant pool:/ { on = 1 } /^{/ { on = 0 } on' | alike >"$W/wanted"
	shown -c "$W/got"
	check "$1: constants as javap" diff "$W/wanted" "$W/got"
	check "$1: that was a lot" test "$(wc -l <"$W/got")" -gt 4000
}

# in_memory NAME: a lambda has no class file, but code.
in_memory() {
	jt class -b "$JVM_PID" 'Kinds$$Lambda*'
	check "$1: a lambda's code" grep -q -E '^       0: aload_0$' "$W/out"
	check "$1: and where it is" grep -q -F 'Code: // in memory; JVMTI tells no exception table' \
		"$W/out"
	jt class -c "$JVM_PID" 'Kinds$$Lambda*'
	check "$1: a lambda's constants" \
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
