#!/usr/bin/env bash
# Heap dumps read by jtool: each object has its size in the JVM, whatever the JVM's options.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

live_histo() {
	jt heaphisto --live --engine agent --json "$JVM_PID"
	mv "$W/out" "$1"
}

# agrees NAME: jtool's last output lies between the live objects before and after.
agrees() {
	local name=$1

	if [ "$rc" -ne 0 ] || [ -s "$W/err" ]; then
		fail "$name" "$(jt_details)"
		return
	fi
	mv "$W/out" "$W/dumped"
	live_histo "$W/after"
	check "$name" python3 "$live_dir/hprof/hprof_sizes.py" "$W/before" "$W/dumped" "$W/after"
}

# ways VERSION: the object layouts, one set of options per line, separated by commas.
ways() {
	echo default
	is_thorough "$1" || return
	echo default,-XX:-UseCompressedOops
	echo default,-XX:ObjectAlignmentInBytes=16
	[ "$1" -ge 26 ] || echo default,-XX:-UseCompressedClassPointers
	[ "$1" -lt 25 ] || echo default,-XX:+UseCompactObjectHeaders
	[ "$1" -lt 17 ] || echo z
}

# refused NAME WORDS FILE: exit code 7 and one line that names FILE.
refused() {
	jt heaphisto "$3"
	if [ "$rc" -eq 7 ] && grep -q "$3.*$2" "$W/err" && [ "$(wc -l <"$W/err")" -eq 1 ]; then
		pass "$1"
	else
		fail "$1" "$(jt_details)"
	fi
}

damaged() {
	local version=$1 size

	size=$(stat -c %s "$W/dump.hprof")
	head -c $((size / 2)) "$W/dump.hprof" >"$W/cut.hprof"
	refused "$version: half a dump: refused" 'cut off at byte' "$W/cut.hprof"
	head -c $((size - 1)) "$W/dump.hprof" >"$W/cut.hprof"
	refused "$version: a dump without its last byte: refused" 'cut off at byte' "$W/cut.hprof"
	(cat "$W/dump.hprof" && echo more) >"$W/cut.hprof"
	refused "$version: a dump with data after its end: refused" \
		'data follows its end' "$W/cut.hprof"
	gzip -1 <"$W/dump.hprof" | head -c 100000 >"$W/cut.hprof.gz"
	refused "$version: half a compressed dump: refused" 'cut off' "$W/cut.hprof.gz"
	rm "$W"/cut.hprof*
}

# Compressed by the JVM if possible, which writes many gzip members.
compressed() {
	local version=$1

	if [ "$version" -ge 17 ]; then
		jt heapdump --engine hprof --gzip "$JVM_PID" "$W/dump.hprof.gz"
	else
		gzip -1 -k -f "$W/dump.hprof"
	fi
	jt heaphisto --json "$W/dump.hprof.gz"
	agrees "$version: a compressed dump: the live objects"
	rm -f "$W/dump.hprof.gz"
}

named() {
	local version=$1

	# shellcheck disable=SC2016 # a class name
	jt refpaths "$W/dump.hprof" 'Sizes$E'
	check "$version: a dump: roots have their thread and method" \
		grep -q 'local variable of Victim.serve in thread "main"' "$W/out"
	# shellcheck disable=SC2016
	jt refpaths --engine hprof "$JVM_PID" 'Sizes$E'
	check "$version: --engine hprof: roots have their thread and method" \
		grep -q 'local variable of Victim.serve in thread "main"' "$W/out"
}

for version in "${jdks[@]}"; do
	first=yes
	for way in $(ways "$version"); do
		IFS=, read -r gc flag <<<"$way"
		# Class objects of classes in the CDS archive that are not loaded are missing in
		# dumps.
		start_jvm "$version" "$gc" Sizes -Xshare:off ${flag:+"$flag"} || continue
		jt heaphisto --live --engine agent "$JVM_PID" # the first request allocates more
		live_histo "$W/before"
		jt heapdump --engine hprof "$JVM_PID" "$W/dump.hprof"
		jt heaphisto --json "$W/dump.hprof"
		agrees "$version $way: a dump: the live objects and their sizes"
		if [ $first = yes ]; then
			first=no
			damaged "$version"
			named "$version"
			compressed "$version"
			live_histo "$W/before"
		fi
		jt heaphisto --engine hprof --json "$JVM_PID"
		agrees "$version $way: --engine hprof: the live objects and their sizes"
		unharmed "$version $way: dumps" READY '.*UseCompressedClassPointers was deprecated.*'
		rm -f "$W/dump.hprof"
		stop "$JVM_PID"
	done
done

for option in --live --vm --strict "--engine agent"; do
	# shellcheck disable=SC2086 # two words
	jt heaphisto $option /nowhere/heap.hprof
	same "heaphisto $option FILE: refused" 2 "$rc"
done
jt heaphisto /nowhere/heap.hprof
same "a missing dump: exit code 2" 2 "$rc"
