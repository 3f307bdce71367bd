#!/usr/bin/env bash
# heaphisto: the numbers of the JVM's own histogram, on every version and collector.
# shellcheck source-path=SCRIPTDIR source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/lib.sh"

compare() {
	python3 "$live_dir/histo.py" "$@"
}

# vm_histogram FILE [WORD]: the JVM's own, of all objects or, without -all, of the live ones.
vm_histogram() {
	jattach "$JVM_PID" jcmd "GC.class_histogram${2:+ $2}" | tail -n +3 >"$1"
}

# agrees NAME HOW... -- OPTION...: jtool between two of the JVM's own.  HOW is for histo.py.
agrees() {
	local name=$1 how=() all=-all

	shift
	while [ "$1" != -- ]; do
		how+=("$1")
		shift
	done
	shift
	[ "${1:-}" != --live ] || all=
	vm_histogram "$W/before" $all
	jt heaphisto --json "$@" "$JVM_PID"
	vm_histogram "$W/after" $all
	if [ "$rc" -ne 0 ] || [ -s "$W/err" ]; then
		fail "$name" "$(jt_details)"
		return
	fi
	check "$name" compare "${how[@]}" "$W/before" "$W/out" "$W/after"
}

# Reachable objects only, while the JVM goes on working: what serving requests costs comes and
# goes with each collection, 1 % of a million objects is far more than that.
near=(near 1)

collectors() {
	echo serial parallel g1
	[ "$1" -lt 11 ] || echo z shenandoah
}

for version in "${jdks[@]}"; do
	hidden=$((version <= 8 ? 1 : 0))
	for gc in $(collectors "$version"); do
		start_jvm "$version" "$gc" Heap -Xmx400m -Xms400m -- 1 || continue
		how=(between "$hidden")
		case $gc in
		z | shenandoah) how=("${near[@]}") ;;
		esac
		jt heaphisto "$JVM_PID" # what only the first request leaves behind
		vm_histogram /dev/null -all
		agrees "$version $gc: equals the JVM's" "${how[@]}" --
		agrees "$version $gc: --strict equals the JVM's" "${how[@]}" -- --strict
		agrees "$version $gc: --live equals the JVM's" "${near[@]}" -- --live
		unharmed "$version $gc: heaphisto"
		stop "$JVM_PID"
	done

	start_jvm "$version" parallel Heap -Xmx400m -Xms400m -- 1 || continue
	agrees "$version: --vm is the JVM's" between 0 -- --vm
	works "$version: default" heaphisto --json "$JVM_PID"
	cp "$W/out" "$W/default"
	jt heaphisto --json --strict "$JVM_PID"
	cp "$W/out" "$W/strict"
	jt heaphisto --json "$JVM_PID"
	check "$version: --strict equals the default" \
		compare between 0 "$W/default" "$W/strict" "$W/out"
	same "$version: keys" "classes file live pid total / bytes class instances loader module" \
		"$(json "' '.join(sorted(j)) + ' / ' + ' '.join(sorted(j['classes'][0]))")"
	same "$version: sorted by bytes" True \
		"$(json "(lambda b: b == sorted(b, reverse=True))([c['bytes'] for c in j['classes']])")"
	same "$version: no class twice" True \
		"$(json "len(j['classes']) == len({(c['class'], c['loader']) for c in j['classes']})
			or len(j['classes'])")"
	works "$version: --sort name" heaphisto --json --sort name "$JVM_PID"
	same "$version: sorted by name" True \
		"$(json "(lambda n: n == sorted(n))([c['class'] for c in j['classes']])")"
	works "$version: --sort count" heaphisto --json --sort count "$JVM_PID"
	same "$version: sorted by count" True \
		"$(json "(lambda b: b == sorted(b, reverse=True))([c['instances'] for c in j['classes']])")"
	works "$version: -n" heaphisto --json -n 3 "$JVM_PID"
	same "$version: -n hides rows, not the total" "3 True" \
		"$(json "'%d %s' % (len(j['classes']), j['total']['classes'] > 100)")"
	works "$version: --filter, one class" heaphisto --json --filter 'Heap$Node' "$JVM_PID"
	same "$version: its instances" 'Heap$Node 500000' \
		"$(json "' '.join('{class} {instances}'.format(**c) for c in j['classes'])")"
	works "$version: --filter, a glob" heaphisto --json --filter 'Heap$*' "$JVM_PID"
	same "$version: its classes" 'Heap$Leaf Heap$Node Heap$Wide' \
		"$(json "' '.join(sorted(c['class'] for c in j['classes']))")"
	works "$version: --filter, nothing" heaphisto --json --filter 'no.such.*' "$JVM_PID"
	same "$version: no row" 0 "$(json "len(j['classes'])")"
	for by in package loader; do
		prints "$version: --by $by" . heaphisto --by "$by" "$JVM_PID"
	done
	prints "$version: the table" '^ *[0-9,]+ .*Heap\$Node' heaphisto "$JVM_PID"
	works "$version: --save" heaphisto --save "$W/saved.$version" "$JVM_PID"
	check "$version: it was saved" test -s "$W/saved.$version"
	jt heaphisto --diff "$W/saved.$version" "$JVM_PID"
	same "$version: --diff" 0 "$rc"
	same "$version: the victim's classes did not change" "" "$(grep 'Heap\$Node' "$W/out" |
		grep -v -E '[+-]?0 ')"
	refuses '[1267]' '.' "$version: --diff of no such file" \
		heaphisto --diff "$W/no.such.file" "$JVM_PID"
	unharmed "$version: heaphisto's options"
	stop "$JVM_PID"

	# Many classes.
	start_jvm "$version" serial Classes -Xmx400m -- 5000 10 || continue
	jt heaphisto "$JVM_PID"
	agrees "$version: 5,000 generated classes" between "$hidden" --
	unharmed "$version: many classes"
	stop "$JVM_PID"

	# A heap and a set of classes that never rest: the totals of no two walks agree, but the
	# JVM lives, and every object has a class.
	for gc in $(is_thorough "$version" && collectors "$version" || echo g1); do
		start_jvm "$version" "$gc" Churn -Xmx128m || continue
		for ((i = 0; i < $(in_soak 50 4); i++)); do
			jt heaphisto --json "$JVM_PID"
			[ "$rc" -eq 0 ] || break
			jt heaphisto --json --live "$JVM_PID"
			[ "$rc" -eq 0 ] || break
		done
		if [ "$rc" -eq 0 ] && [ ! -s "$W/err" ]; then
			pass "$version $gc: heaphisto under churn"
		else
			fail "$version $gc: heaphisto under churn" "$(jt_details)"
		fi
		unharmed "$version $gc: churn"
		stop "$JVM_PID"
	done

	# -Xcheck:jni finds nothing in what we do.
	start_jvm "$version" serial Heap -Xcheck:jni -Xmx400m -- 1 || continue
	for options in "" --strict --live --by=loader; do
		jt heaphisto ${options:+"$options"} "$JVM_PID"
		same "$version: -Xcheck:jni, heaphisto $options" 0 "$rc"
	done
	# The launcher of JDK 8 is not free of it when there are arguments.
	unharmed "$version: -Xcheck:jni" \
		'WARNING in native method: .* required to from CallStaticObjectMethod'
	stop "$JVM_PID"
done
