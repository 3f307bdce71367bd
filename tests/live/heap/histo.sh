#!/usr/bin/env bash
# heaphisto: its counts equal the JVM's own histogram, on every version and collector.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/../lib.sh"

compare() {
	python3 "$live_dir/heap/histo.py" "$@"
}

# vm_histogram FILE [-all]: the JVM's own histogram of all objects, or of live ones without -all.
vm_histogram() {
	jattach "$JVM_PID" jcmd "GC.class_histogram${2:+ $2}" | tail -n +3 >"$1"
}

# agrees NAME HOW... -- OPTION...: jtool's histogram lies between two of the JVM's own. HOW is for
# histo.py.
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

# Live objects while the JVM runs: a collection frees what earlier requests have allocated, which is
# far less than 1 % of a million objects.
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
		jt heaphisto "$JVM_PID" # the first request allocates more
		vm_histogram /dev/null -all
		agrees "$version $gc: equals the JVM's" "${how[@]}" --
		agrees "$version $gc: --strict equals the JVM's" "${how[@]}" -- --strict
		agrees "$version $gc: --live equals the JVM's" "${near[@]}" -- --live --engine agent
		unharmed "$version $gc: heaphisto"
		stop "$JVM_PID"
	done

	start_jvm "$version" parallel Heap -Xmx400m -Xms400m -- 1 || continue
	agrees "$version: --vm equals the JVM's" between 0 -- --vm
	works "$version: heaphisto works" heaphisto --json "$JVM_PID"
	cp "$W/out" "$W/default"
	jt heaphisto --json --strict "$JVM_PID"
	cp "$W/out" "$W/strict"
	jt heaphisto --json "$JVM_PID"
	check "$version: --strict equals the default" \
		compare between 0 "$W/default" "$W/strict" "$W/out"
	same "$version: heaphisto --json: its keys" \
		"classes engine file live pause pid schema total / bytes class instances loader module" \
		"$(json "' '.join(sorted(j)) + ' / ' + ' '.join(sorted(j['classes'][0]))")"
	same "$version: heaphisto --json: engine and pause" "agent True" \
		"$(json "'%s %s' % (j['engine'], 0 < j['pause'] < 60)")"
	for engine in jvmti vm hprof; do
		works "$version: --engine $engine: it works" heaphisto --json --engine $engine "$JVM_PID"
		same "$version: --engine $engine: engine and pause" "$engine $([ $engine = jvmti ] ||
			echo None)" "$(json "'%s %s' % (j['engine'], j['pause'] and '')")"
	done
	for alias in strict vm; do
		works "$version: --$alias: it works" heaphisto --json --$alias "$JVM_PID"
		same "$version: --$alias: it is an engine" "$([ $alias = strict ] && echo jvmti || echo vm)" \
			"$(json "j['engine']")"
	done
	works "$version: heaphisto again" heaphisto --json "$JVM_PID"
	same "$version: heaphisto: sorted by bytes" True \
		"$(json "(lambda b: b == sorted(b, reverse=True))([c['bytes'] for c in j['classes']])")"
	same "$version: heaphisto: no class twice" True \
		"$(json "len(j['classes']) == len({(c['class'], c['loader']) for c in j['classes']})
			or len(j['classes'])")"
	works "$version: --sort name: it works" heaphisto --json --sort name "$JVM_PID"
	same "$version: --sort name: sorted by name" True \
		"$(json "(lambda n: n == sorted(n))([c['class'] for c in j['classes']])")"
	works "$version: --sort count: it works" heaphisto --json --sort count "$JVM_PID"
	same "$version: --sort count: sorted by count" True \
		"$(json "(lambda b: b == sorted(b, reverse=True))([c['instances'] for c in j['classes']])")"
	works "$version: -n: it works" heaphisto --json -n 3 "$JVM_PID"
	same "$version: -n: it limits rows, not the total" "3 True" \
		"$(json "'%d %s' % (len(j['classes']), j['total']['classes'] > 100)")"
	prints "$version: without -n: 20 rows, and how many more" \
		'^… [0-9]+ more classes \(-n 0 shows all\)$' heaphisto "$JVM_PID"
	same "$version: without -n: the number of lines" 23 "$(wc -l <"$W/out")"
	works "$version: -n 0: it works" heaphisto -n 0 "$JVM_PID"
	same "$version: -n 0: all rows, none hidden" "1 0" \
		"$(($(wc -l <"$W/out") > 100)) $(grep -c 'more classes' "$W/out")"
	works "$version: --filter CLASS: it works" heaphisto --json --filter 'Heap$Node' "$JVM_PID"
	same "$version: --filter CLASS: its instances" 'Heap$Node 500000' \
		"$(json "' '.join('{class} {instances}'.format(**c) for c in j['classes'])")"
	works "$version: --filter GLOB: it works" heaphisto --json --filter 'Heap$*' "$JVM_PID"
	same "$version: --filter GLOB: the matches" 'Heap$Leaf Heap$Node Heap$Wide' \
		"$(json "' '.join(sorted(c['class'] for c in j['classes']))")"
	works "$version: --filter without a match: it works" \
		heaphisto --json --filter 'no.such.*' "$JVM_PID"
	same "$version: --filter without a match: no row" 0 "$(json "len(j['classes'])")"
	for by in package loader; do
		prints "$version: --by $by: it works" . heaphisto --by "$by" "$JVM_PID"
	done
	prints "$version: heaphisto: the table" '^ *[0-9,]+ .*Heap\$Node' heaphisto "$JVM_PID"
	works "$version: --save: it works" heaphisto --save "$W/saved.$version" "$JVM_PID"
	check "$version: --save: the file is not empty" test -s "$W/saved.$version"
	jt heaphisto --diff "$W/saved.$version" "$JVM_PID"
	same "$version: --diff: it works" 0 "$rc"
	same "$version: --diff: the victim's classes are unchanged" \
		"" "$(grep 'Heap\$Node' "$W/out" |
		grep -v -E '[+-]?0 ')"
	refuses '[1267]' '.' "$version: --diff of a missing file: refused" \
		heaphisto --diff "$W/no.such.file" "$JVM_PID"
	unharmed "$version: heaphisto's options"
	stop "$JVM_PID"

	# Many classes.
	start_jvm "$version" serial Classes -Xmx400m -- 5000 10 || continue
	jt heaphisto "$JVM_PID"
	agrees "$version: 5,000 generated classes equal the JVM's" between "$hidden" --
	unharmed "$version: many classes"
	stop "$JVM_PID"

	# Heaps and classes that change all the time: two walks differ in their totals, but the JVM
	# survives, and each object has a class.
	for gc in $(is_thorough "$version" && collectors "$version" || echo g1); do
		start_jvm "$version" "$gc" Churn -Xmx128m || continue
		for ((i = 0; i < $(in_soak 50 4); i++)); do
			jt heaphisto --json "$JVM_PID"
			[ "$rc" -eq 0 ] || break
			jt heaphisto --json --live "$JVM_PID"
			[ "$rc" -eq 0 ] || break
		done
		if [ "$rc" -eq 0 ] && [ ! -s "$W/err" ]; then
			pass "$version $gc: heaphisto works under churn"
		else
			fail "$version $gc: heaphisto works under churn" "$(jt_details)"
		fi
		unharmed "$version $gc: churn"
		stop "$JVM_PID"
	done

	# -Xcheck:jni reports nothing.
	start_jvm "$version" serial Heap -Xcheck:jni -Xmx400m -- 1 || continue
	for options in "" --strict --live --by=loader; do
		jt heaphisto ${options:+"$options"} "$JVM_PID"
		same "$version: -Xcheck:jni: heaphisto $options works" 0 "$rc"
	done
	# The launcher of JDK 8 itself causes warnings if there are arguments.
	unharmed "$version: -Xcheck:jni" \
		'WARNING in native method: .* required to from CallStaticObjectMethod'
	stop "$JVM_PID"
done
