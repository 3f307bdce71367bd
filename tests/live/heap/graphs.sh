#!/usr/bin/env bash
# retained and refpaths: right to the last byte and step, by both engines. Random graphs of
# objects against brute force, before and after a collection; heaps that are large in one way;
# and, with JTOOL_SOAK=1, heaps that never rest, each for JTOOL_SOAK_SECONDS (600).
# shellcheck source-path=SCRIPTDIR source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/lib.sh"

engines=(agent hprof)
seconds=${JTOOL_SOAK_SECONDS:-600}
rounds=$(in_soak 12 1) # random graphs for each version and collector
seed=0                 # they have six shapes, in turn

python3 "$live_dir/made.py" >"$W/Made.java"
javac --release 8 -Xlint:-options -cp "$W/classes" -d "$W/classes" "$W/Made.java"

compare() {
	python3 "$live_dir/graphs.py" "$@"
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

# expect FILE: what brute force finds in the victim as it is now.
expect() {
	ask expect '^\{.*]\}\}$' >"$W/$1"
}

# told FILE ARGUMENT...: what jtool answers.
told() {
	local file=$1

	shift
	jt "$@"
	if [ "$rc" -ne 0 ] || [ -s "$W/err" ]; then
		fail "$name: $1" "jtool $*" "$(jt_details)"
		return 1
	fi
	mv "$W/out" "$W/$file"
}

# tell ENGINE: all answers about the graph.
tell() {
	told retained retained --engine "$1" --tree --min 1 --depth 100 --json "$JVM_PID" &&
		told strong refpaths --engine "$1" -n 1000 --json "$JVM_PID" 'Made$*' &&
		told weak refpaths --engine "$1" -n 1000 --weak --json "$JVM_PID" 'Made$*'
}

# agrees ENGINE: it does with brute force. A collection in between may clear a reference: then
# it is done again.
agrees() {
	local name="$name, $1" tries

	for ((tries = 0; tries < 3; tries++)); do
		expect before
		tell "$1" && told histogram heaphisto --json "$JVM_PID" || return
		expect after
		! cmp -s "$W/before" "$W/after" || break
	done
	check "$name: retained and refpaths" compare graph \
		"$W"/{after,histogram,retained,strong,weak}
}

# random_graph: build one, look at it, collect, and look again.
random_graph() {
	local engine

	ask "build $seed" '^built$' >/dev/null
	name="$version $gc: graph $seed"
	agrees "${engines[seed % 2]}"
	ask gc '^collected$' >/dev/null
	name+=" after a collection"
	for engine in "${engines[@]}"; do
		agrees "$engine"
		told live heaphisto --live --json "$JVM_PID" &&
			check "$name, $engine: as heaphisto --live" \
				compare live "$W"/{live,retained}
	done
	seed=$((seed + 1))
}

for version in $(in_soak own "") "${jdks[@]}"; do
	for gc in $(collectors "$version"); do
		start_jvm "$version" "$gc" Graphs || continue
		for ((round = 0; round < rounds; round++)); do
			random_graph
		done
		unharmed "$version $gc: random graphs" 'built|collected|\{.*'
		stop "$JVM_PID"
	done
done

# Heaps that are large in one way.

n_elements=10000000
n_links=1000000

# row CLASS: instances, shallow and retained of a class in the last run's answer.
row() {
	json "' '.join('{instances} {shallow} {retained}'.format(**c) for c in j['classes']
		if c['class'] == '$1')"
}

# bytes CLASS: of one instance, by the histogram.
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
		works "$version, $engine: a list" retained --engine "$engine" --json "$JVM_PID"
		same "$version, $engine: what a list retains" \
			"$n_links $((n_links * link)) $((n_links * link + tail))" \
			"$(row 'Extremes$Link')"
		works "$version, $engine: to a list's end" \
			refpaths --engine "$engine" --json "$JVM_PID" 'Extremes$Tail'
		same "$version, $engine: the way to a list's end" \
			"1 1 $((n_links + 2)) static held Extremes\$Tail" \
			"$(json "'%d %d %d %s %s' % (j['reached'], len(j['paths']),
				j['paths'][0]['length'], j['paths'][0]['steps'][0]['via'],
				j['paths'][0]['steps'][-1]['class'])")"
	done
	unharmed "$version: a list of a million"
	stop "$JVM_PID"
}

# The array's elements are in the tree's lengths and sizes; the last one's index in the path.
large_arrays() {
	start_jvm "$version" "$gc" Extremes -Xmx400m -- arrays $n_elements || return
	for engine in "${engines[@]}"; do
		works "$version, $engine: large arrays" \
			retained --engine "$engine" --tree --json "$JVM_PID"
		same "$version, $engine: what they retain" \
			"byte[] 1 int[] 4 java.lang.Object[] 4" \
			"$(json "(lambda a: ' '.join(sorted('%s %d' % (c['class'],
				round(c['shallow'] / $n_elements)) for c in a['children']
				if c['length'] == $n_elements)))(next(c for t in j['tree']
				for c in [t, *t['children']] if c['class'] == 'Extremes\$Arrays'))")"
		works "$version, $engine: to an array's end" \
			refpaths --engine "$engine" --json "$JVM_PID" 'Extremes$Tail'
		same "$version, $engine: the way to an array's end" \
			"static held, field objects, [$((n_elements - 1))], None" \
			"$(json "', '.join(str(s['via']) for s in j['paths'][0]['steps'])")"
	done
	unharmed "$version: arrays of ten million"
	stop "$JVM_PID"
}

# in_threads KIND N: each of them is the root of what it holds.
in_threads() {
	start_jvm "$version" "$gc" Extremes -Xmx200m -- "$1" "$2" || return
	for engine in "${engines[@]}"; do
		# A dump has their stacks from JDK 22 on: JDK-8299426.
		[ "$1$engine$version" != virtualhprof21 ] || continue
		works "$version, $engine: $2 $1" \
			refpaths --engine "$engine" --json "$JVM_PID" 'Extremes$Held'
		same "$version, $engine: what $2 $1 hold" "$2 $2 True 1" \
			"$(json "'%d %d %s %s' % (j['instances'], sum(p['count'] for p in j['paths']
				if p['root']['kind'] == 'stack local'),
				all('Extremes' in p['root']['method'] for p in j['paths']),
				','.join(sorted({str(p['length']) for p in j['paths']})))")"
		works "$version, $engine: what $2 $1 retain" \
			retained --engine "$engine" --json "$JVM_PID"
		same "$version, $engine: all of it" "$2 True" \
			"$(json "next('%d %s' % (c['instances'], c['shallow'] == c['retained'])
				for c in j['classes'] if c['class'] == 'Extremes\$Held')")"
	done
	unharmed "$version: $2 $1"
	stop "$JVM_PID"
}

many_classes() {
	start_jvm "$version" "$gc" Classes -Xmx400m -- 30000 10 || return
	for engine in "${engines[@]}"; do
		works "$version, $engine: 30,000 classes" \
			retained --engine "$engine" --json "$JVM_PID"
		same "$version, $engine: each has its instances" "30000 10 True" \
			"$(json "(lambda rows: '%d %s %s' % (len(rows),
				','.join(sorted({str(c['instances']) for c in rows})),
				all(c['shallow'] == c['retained'] for c in rows)))(
				[c for c in j['classes'] if '.shop.part' in c['class']])")"
		works "$version, $engine: to one of 30,000 classes" refpaths --engine "$engine" \
			--json "$JVM_PID" com.acme.shop.part7.Made7
		same "$version, $engine: all of its instances" "10 10" \
			"$(json "'%d %d' % (j['reached'], sum(p['count'] for p in j['paths']))")"
	done
	unharmed "$version: 30,000 classes"
	stop "$JVM_PID"
}

gc=g1
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

# Heaps that never rest.

# steady ENGINE: what never changes does not, and all totals are the sums of their rows. Or there
# is no answer at all, as the machine has too much else to do: exit 7, and not one word on stdout.
steady() {
	jt retained --engine "$1" --json "$JVM_PID"
	[ "$rc" -ne 7 ] || [ -s "$W/out" ] || return 0
	[ "$rc" -eq 0 ] && [ ! -s "$W/err" ] && [ "$(row 'Churn$Steady')" = "$wanted" ] &&
		[ True = "$(json "
		sum(c['instances'] for c in j['classes']) == j['total']['instances'] and
		sum(c['shallow'] for c in j['classes']) == j['total']['bytes']")" ] &&
		n_told=$((n_told + 1))
}

# churn: a walk every second, by both engines in turn.
churn() {
	local name="$version $gc" end n=0 n_told=0 engine size wanted before

	start_jvm "$version" "$gc" Churn -Xmx128m || return
	jt retained "$JVM_PID"
	size=$(bytes 'Churn$Steady')
	wanted="2000 $((2000 * size)) $((2000 * size))"
	before="$(fd_count "$JVM_PID") $(lasting_threads "$JVM_PID")"
	for ((end = SECONDS + seconds; SECONDS < end; n++)); do
		engine=${engines[n % 2]}
		if ! steady "$engine"; then
			fail "$name: walk $n under churn, $engine" "wanted: $wanted" \
				"$(row 'Churn$Steady')" "$(jt_details)"
			break
		fi
		sleep 1 # the pace is the test
	done
	check "$name: $n_told of $n walks under churn had an answer" test $((2 * n_told)) -ge "$n"
	unharmed "$name: churn" 'rounds [0-9]+'
	same "$name: descriptors and threads after churn" "$before" \
		"$(fd_count "$JVM_PID") $(lasting_threads "$JVM_PID")"
	check "$name: no file is left" nothing_left "${jdk_root[$version]:-/}" "$JVM_PID" 0
	stop "$JVM_PID"
}

if [ "$(in_soak 1 0)" -eq 1 ]; then
	for version in own "${jdks[@]}"; do
		for gc in $(collectors "$version"); do
			churn
		done
	done
fi
