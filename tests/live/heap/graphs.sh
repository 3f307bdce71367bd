#!/usr/bin/env bash
# retained and refpaths are exact, by each engine: random graphs of objects against brute force,
# before and after a collection; extreme heaps; and, with JTOOL_SOAK=1, heaps that change all the
# time, each for JTOOL_SOAK_SECONDS (600).
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/../lib.sh"

engines=(agent snapshot hprof)
seconds=${JTOOL_SOAK_SECONDS:-600}
rounds=$(in_soak 12 1) # random graphs for each version and collector
seed=0                 # selects one of six shapes

python3 "$live_dir/heap/made.py" >"$W/Made.java"
javac --release 8 -Xlint:-options -cp "$W/classes" -d "$W/classes" "$W/Made.java"

compare() {
	python3 "$live_dir/heap/graphs.py" "$@"
}

collectors() {
	if ! is_thorough "$1"; then
		case $1 in
		11) echo shenandoah ;;
		21) echo z ;;
		*) echo g1 ;;
		esac
		return
	fi
	echo serial parallel g1
	[ "$1" = own ] || [ "$1" -lt 11 ] || echo z shenandoah
}

# expect FILE: the brute-force result for the victim's present graph.
expect() {
	ask expect '^\{.*]\}\}$' >"$W/$1"
}

# answer FILE ARGUMENT...: jtool's answer.
answer() {
	local file=$1

	shift
	jt "$@"
	if [ "$rc" -ne 0 ] || [ -s "$W/err" ]; then
		fail "$name: $1" "jtool $*" "$(jt_details)"
		return 1
	fi
	mv "$W/out" "$W/$file"
}

# answers_of ENGINE: all of jtool's answers about the graph.
answers_of() {
	answer retained retained --engine "$1" --tree --min 1 --depth 100 --json "$JVM_PID" &&
		answer strong refpaths --engine "$1" -n 1000 --json "$JVM_PID" 'Made$*' &&
		answer weak refpaths --engine "$1" -n 1000 --weak --json "$JVM_PID" 'Made$*'
}

# agrees ENGINE: jtool agrees with brute force. A collection in between may clear a reference; then
# it tries again.
agrees() {
	local name="$name, $1" tries

	for ((tries = 0; tries < 3; tries++)); do
		expect before
		answers_of "$1" && answer histogram heaphisto --json "$JVM_PID" || return
		expect after
		! cmp -s "$W/before" "$W/after" || break
	done
	check "$name: retained and refpaths agree with brute force" compare graph \
		"$W"/{after,histogram,retained,strong,weak}
}

# random_graph: builds a graph and compares, before and after a collection.
random_graph() {
	local engine

	ask "build $seed" '^built$' >/dev/null
	name="$version $gc: graph $seed"
	agrees "${engines[seed % ${#engines[@]}]}"
	ask gc '^collected$' >/dev/null
	name+=" after a collection"
	for engine in "${engines[@]}"; do
		agrees "$engine"
		answer live heaphisto --live --engine agent --json "$JVM_PID" &&
			check "$name, $engine: retained agrees with heaphisto --live" \
				compare live "$W"/{live,retained}
	done
	seed=$((seed + 1))
}

for version in $(in_soak own "") "${jdks[@]}"; do
	for gc in $(collectors "$version"); do
		start_jvm "$version" "$gc" Graphs || continue
		engines=(agent snapshot hprof)
		[ "$gc" != z ] || engines=(agent hprof) # snapshot.sh: it refuses one
		for ((round = 0; round < rounds; round++)); do
			random_graph
		done
		unharmed "$version $gc: random graphs" 'built|collected|\{.*'
		stop "$JVM_PID"
	done
done

# Extreme heaps.

n_elements=10000000
n_links=1000000

# row CLASS: instances, shallow and retained size of a class in the last answer.
row() {
	json "' '.join('{instances} {shallow} {retained}'.format(**c) for c in j['classes']
		if c['class'] == '$1')"
}

# bytes CLASS: the size of one instance, by the histogram.
bytes() {
	jt heaphisto --json --filter "$1" "$JVM_PID"
	json "j['classes'][0]['bytes'] // j['classes'][0]['instances']"
}

long_list() {
	local link tail

	start_jvm "$version" "$gc" Extremes -Xmx200m -- list $n_links || return
	link=$(bytes 'Extremes$Link')
	tail=$(bytes 'Extremes$Tail')
	for engine in "${engines[@]}"; do
		works "$version, $engine: retained of a long list works" \
			retained --engine "$engine" --json "$JVM_PID"
		same "$version, $engine: retained of a long list: its sizes" \
			"$n_links $((n_links * link)) $((n_links * link + tail))" \
			"$(row 'Extremes$Link')"
		works "$version, $engine: refpaths to a long list's end works" \
			refpaths --engine "$engine" --json "$JVM_PID" 'Extremes$Tail'
		same "$version, $engine: refpaths to a long list's end: its length" \
			"1 1 $((n_links + 2)) static held Extremes\$Tail" \
			"$(json "'%d %d %d %s %s' % (j['reached'], len(j['paths']),
				j['paths'][0]['length'], j['paths'][0]['steps'][0]['via'],
				j['paths'][0]['steps'][-1]['class'])")"
	done
	unharmed "$version: a list of a million elements"
	stop "$JVM_PID"
}

# The tree has the arrays' lengths and sizes, the path the index of the last element.
large_arrays() {
	start_jvm "$version" "$gc" Extremes -Xmx400m -- arrays $n_elements || return
	for engine in "${engines[@]}"; do
		works "$version, $engine: retained of large arrays works" \
			retained --engine "$engine" --tree --json "$JVM_PID"
		same "$version, $engine: retained of large arrays: their sizes" \
			"byte[] 1 int[] 4 java.lang.Object[] 4" \
			"$(json "(lambda a: ' '.join(sorted('%s %d' % (c['class'],
				round(c['shallow'] / $n_elements)) for c in a['children']
				if c['length'] == $n_elements)))(next(c for t in j['tree']
				for c in [t, *t['children']] if c['class'] == 'Extremes\$Arrays'))")"
		works "$version, $engine: refpaths to an array's end works" \
			refpaths --engine "$engine" --json "$JVM_PID" 'Extremes$Tail'
		same "$version, $engine: refpaths to an array's end: its index" \
			"static held, field objects, [$((n_elements - 1))], None" \
			"$(json "', '.join(str(s['via']) for s in j['paths'][0]['steps'])")"
	done
	unharmed "$version: arrays of ten million elements"
	stop "$JVM_PID"
}

# in_threads KIND N: each of N threads is the GC root of the object in its stack.
in_threads() {
	start_jvm "$version" "$gc" Extremes -Xmx200m -- "$1" "$2" || return
	for engine in "${engines[@]}"; do
		# Dumps have the stacks of virtual threads since JDK 22: JDK-8299426.
		[ "$1$engine$version" != virtualhprof21 ] || continue
		# A snapshot lacks the methods; see snapshot.sh.
		[ "$1$engine" != virtualsnapshot ] || continue
		works "$version, $engine: refpaths to the objects of $2 $1 works" \
			refpaths --engine "$engine" --json "$JVM_PID" 'Extremes$Held'
		same "$version, $engine: refpaths to the objects of $2 $1: the roots" \
			"$2 $2 True 1" \
			"$(json "'%d %d %s %s' % (j['instances'], sum(p['count'] for p in j['paths']
				if p['root']['kind'] == 'stack local'),
				all('Extremes' in p['root']['method'] for p in j['paths']),
				','.join(sorted({str(p['length']) for p in j['paths']})))")"
		works "$version, $engine: retained of $2 $1 works" \
			retained --engine "$engine" --json "$JVM_PID"
		same "$version, $engine: retained of $2 $1: its sizes" "$2 True" \
			"$(json "next('%d %s' % (c['instances'], c['shallow'] == c['retained'])
				for c in j['classes'] if c['class'] == 'Extremes\$Held')")"
	done
	unharmed "$version: $2 $1"
	stop "$JVM_PID"
}

many_classes() {
	start_jvm "$version" "$gc" Classes -Xmx400m -- 30000 10 || return
	for engine in "${engines[@]}"; do
		works "$version, $engine: retained of 30,000 classes works" \
			retained --engine "$engine" --json "$JVM_PID"
		same "$version, $engine: retained of 30,000 classes: their instances" \
			"30000 10 True" \
			"$(json "(lambda rows: '%d %s %s' % (len(rows),
				','.join(sorted({str(c['instances']) for c in rows})),
				all(c['shallow'] == c['retained'] for c in rows)))(
				[c for c in j['classes'] if '.shop.part' in c['class']])")"
		works "$version, $engine: refpaths to one of 30,000 classes works" \
			refpaths --engine "$engine" \
			--json "$JVM_PID" com.acme.shop.part7.Made7
		same "$version, $engine: refpaths to one of 30,000 classes: all instances" "10 10" \
			"$(json "'%d %d' % (j['reached'], sum(p['count'] for p in j['paths']))")"
	done
	unharmed "$version: 30,000 classes"
	stop "$JVM_PID"
}

gc=g1
engines=(agent snapshot hprof)
for version in "${jdks[@]}"; do
	case $version in
	8 | 25) ;;
	*) [ "$(in_soak all some)" = all ] || continue ;;
	esac
	long_list
	large_arrays
	in_threads threads 2000
done
for version in "${jdks[@]}"; do
	[ "$version" -lt 21 ] || in_threads virtual 500
done
version=$(newest_of 8 11 17 21 25 27)
[ -z "$version" ] || many_classes

# Heaps that change all the time.

# steady ENGINE: the unchanged objects have their sizes, and all totals are the sums of their rows.
# Or, on a busy machine, there is no answer: exit code 7 and an empty stdout.
steady() {
	jt retained --engine "$1" --json "$JVM_PID"
	[ "$rc" -ne 7 ] || [ -s "$W/out" ] || return 0
	[ "$rc" -eq 0 ] && [ ! -s "$W/err" ] && [ "$(row 'Churn$Steady')" = "$wanted" ] &&
		[ True = "$(json "
		sum(c['instances'] for c in j['classes']) == j['total']['instances'] and
		sum(c['shallow'] for c in j['classes']) == j['total']['bytes']")" ] &&
		n_answers=$((n_answers + 1))
}

# churn: a walk every second, alternating the engines.
churn() {
	local name="$version $gc" end n=0 n_answers=0 engine size wanted before

	start_jvm "$version" "$gc" Churn -Xmx128m || return
	engines=(agent snapshot hprof)
	[ "$gc" != z ] || engines=(agent hprof)
	jt retained "$JVM_PID"
	size=$(bytes 'Churn$Steady')
	wanted="2000 $((2000 * size)) $((2000 * size))"
	before="$(fd_count "$JVM_PID") $(lasting_threads "$JVM_PID")"
	for ((end = SECONDS + seconds; SECONDS < end; n++)); do
		engine=${engines[n % ${#engines[@]}]}
		if ! steady "$engine"; then
			fail "$name: walk $n under churn, $engine" "wanted: $wanted" \
				"$(row 'Churn$Steady')" "$(jt_details)"
			break
		fi
		sleep 1 # one walk per second
	done
	check "$name: $n_answers of $n walks under churn have an answer" \
		test $((2 * n_answers)) -ge "$n"
	unharmed "$name: churn" 'rounds [0-9]+'
	same "$name: as many descriptors and threads after churn" "$before" \
		"$(fd_count "$JVM_PID") $(lasting_threads "$JVM_PID")"
	check "$name: no file remains after churn" \
		nothing_left "${jdk_root[$version]:-/}" "$JVM_PID" 0
	stop "$JVM_PID"
}

if [ "$(in_soak 1 0)" -eq 1 ]; then
	for version in own "${jdks[@]}"; do
		for gc in $(collectors "$version"); do
			churn
		done
	done
fi
