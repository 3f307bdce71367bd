#!/usr/bin/env bash
# retained: objects with known retained sizes, on every version, by both engines. The theme graphs
# tests all collectors.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/../lib.sh"

# bytes_of CLASS: the size of all its instances in the histogram in $W/histo.
bytes_of() {
	python3 -c 'import json, sys
rows = json.load(open(sys.argv[1]))["classes"]
print(sum(c["bytes"] for c in rows if c["class"] == sys.argv[2]))' "$W/histo" "$1"
}

# row KEY CLASS: a value in the last run's rows.
row() {
	json "[c['$1'] for c in j['classes'] if c['class'] == '$2'][0]"
}

# nodes: a Python expression for all nodes of the tree in one list.
nodes='(lambda f: f(f, j["tree"]))(lambda f, l: [y for x in l for y in [x] + f(f, x["children"])])'

# retains NAME OPTION...: retained works, with a retry if the machine was too busy for the agent.
retains() {
	local name=$1 i

	shift
	for ((i = 0; i < 3; i++)); do
		jt retained "$@" "$JVM_PID"
		[ "$rc" -eq 7 ] || break
		grep -q 'did not receive the data fast enough' "$W/err" || break
	done
	if [ "$rc" -eq 0 ] && [ ! -s "$W/err" ]; then
		pass "$name"
		return
	fi
	fail "$name" "retained $*" "$(jt_details)"
	return 1
}

# shows NAME PATTERN OPTION...: retained prints a line that matches.
shows() {
	local name=$1 pattern=$2

	shift 2
	retains "$name" "$@" && check "$name: the line" grep -q -e "$pattern" "$W/out"
}

# known NAME OPTION...: the sizes of the known objects with --json.
known() {
	local name=$1 slots cells cache array

	shift
	retains "$name: retained works" --json "$@" || return
	slots=$(bytes_of 'Retained$Slot') cells=$(bytes_of 'Retained$Cell[]')
	cache=$(bytes_of 'Retained$Cache') array=$(bytes_of 'Retained$Slot[]')
	same "$name: the sizes of the cache" "1 $cache $((cache + array + slots + cells))" \
		"$(row instances 'Retained$Cache') $(row shallow 'Retained$Cache') $(
			row retained 'Retained$Cache')"
	same "$name: the sizes of its entries" "100000 $slots $((slots + cells))" \
		"$(row instances 'Retained$Slot') $(row shallow 'Retained$Slot') $(
			row retained 'Retained$Slot')"
	same "$name: the sizes of a list" "100000 $(bytes_of 'Retained$Node')" \
		"$(row instances 'Retained$Node') $(row retained 'Retained$Node')"
	same "$name: two arrays do not retain what they share" "$(bytes_of 'Retained$Shared[]')" \
		"$(row retained 'Retained$Shared[]')"
	same "$name: the rows add up to the total" True "$(json "j['total'] == {
		'instances': sum(c['instances'] for c in j['classes']),
		'bytes': sum(c['shallow'] for c in j['classes'])}")"
	# Skipped if System.gc() has cleared the soft references, which depends on the collector.
	if [ "$(bytes_of 'short[]')" -ge 600000 ]; then
		same "$name: softly reachable bytes" True \
			"$(json "600000 <= j['held']['soft']['bytes'] < 1000000 or j['held']")"
	fi
}

# as_heaphisto: saves the histogram of an idle JVM in $W/histo.
as_heaphisto() {
	jt heaphisto --live --json "$JVM_PID"
	cp "$W/out" "$W/histo"
}

tree() {
	local name=$1

	shift
	retains "$name: --tree works" --json --tree --strings "$@" || return
	same "$name: --tree: the path to the array" "static INSTANCE, field slots, 100000" \
		"$(json "', '.join(['%s' % x['via'] for x in $nodes
			if x['class'] in ('Retained\$Cache', 'Retained\$Slot[]') and x['via']]
			+ ['%d' % x['length'] for x in $nodes if x['class'] == 'Retained\$Slot[]'])")"
	same "$name: --tree: the remaining elements" "100000 Retained\$Slot" \
		"$(json "['%d %s' % (x['rest']['instances'], x['rest']['classes'][0]['class'])
			for x in $nodes if x['class'] == 'Retained\$Slot[]'][0]")"
	same "$name: --tree: a large array" "static BLOB 5000000" \
		"$(json "['%s %d' % (x['via'], x['length']) for x in $nodes
			if x['length'] == 5000000][0]")"
	same "$name: --tree: a String" "static TEXT All work and no play." \
		"$(json "['%s %s' % (x['via'], x['text'][:21]) for x in $nodes if x['text']][0]")"
	same "$name: --tree: a thread" "worker-17" \
		"$(json "[x['thread'] for x in $nodes if x['thread']][0]")"
}

options() {
	local name=$1

	shift
	shows "$name: --tree as text" 'static INSTANCE: Retained\$Cache$' --tree "$@"
	retains "$name: --suspects works" --json --suspects "$@"
	same "$name: --suspects: the suspects" \
		"Retained\$Shared 1000, Retained\$Slot[] 1, byte[] 1" \
		"$(json "', '.join(sorted('%s %d' % (s['class'], s['instances'])
			for s in j['suspects']))")"
	same "$name: --suspects: the path to one" \
		"Retained\$Cache static INSTANCE, Retained\$Cache field slots, Retained\$Slot[] None" \
		"$(json "', '.join('%s %s' % (x['class'], x['via']) for s in j['suspects']
			if s['class'] == 'Retained\$Slot[]' for x in s['path']['steps'])")"
	shows "$name: --suspects as text" '^  reachable through static Retained\$Cache.INSTANCE$' \
		--suspects "$@"

	retains "$name: --by package works" --json --by package "$@"
	same "$name: --by package: the rows add up to the total" \
		True "$(json "j['total']['bytes'] ==
		sum(c['shallow'] for c in j['classes'])")"
	same "$name: --by package: the size of a package" \
		True "$(json "[c['retained'] > 15000000 for c in j['classes']
		if c['class'] == '(default)'][0]")"
	retains "$name: --by loader works" --json --by loader "$@"
	retains "$name: -n, --sort, --filter: they work" --json -n 3 --sort count \
		--filter 'Retained$*' "$@"
	same "$name: -n, --sort, --filter: the rows" \
		"Retained\$Cell[] Retained\$Node Retained\$Slot" \
		"$(json "' '.join(sorted(c['class'] for c in j['classes']))")"
	retains "$name: --weak works" --json --weak "$@"
	same "$name: --weak: no weakly reachable bytes" 0 \
		"$(json "sum(h['bytes'] for h in j['held'].values())")"
	shows "$name: the table" '^ *100000 .* Retained\$Slot$' "$@"
}

for version in $(in_soak own "") "${jdks[@]}"; do
	# No collection clears a soft reference between two commands, however long they take.
	start_jvm "$version" g1 Retained -XX:SoftRefLRUPolicyMSPerMB=1000000 || continue
	as_heaphisto
	for engine in agent hprof; do
		known "$version $engine" --engine "$engine"
		tree "$version $engine" --engine "$engine"
		# The text output does not depend on the version.
		[ "$(in_soak 17 "$version")" = 17 ] || continue
		options "$version $engine" --engine "$engine"
	done
	retains "$version: retained works" --json
	same "$version: retained --json: its keys" \
		"classes engine file held pause pid schema total unreachable / class instances loader retained shallow" \
		"$(json "' '.join(sorted(j)) + ' / ' + ' '.join(sorted(j['classes'][0]))")"
	same "$version: retained: sorted by retained size" True \
		"$(json "(lambda b: b == sorted(b, reverse=True))([c['retained'] for c in j['classes']])")"
	near=$(json "j['total']['bytes']")
	jt heaphisto --live --json "$JVM_PID"
	# A histogram includes fillers and, on JDK 11, all objects of the CDS archive.
	archive=0
	[ "$version" != 11 ] || archive=1000000
	same "$version: retained: the total of heaphisto --live" True \
		"$(json "(lambda d: -0.002 * $near < d < 0.002 * $near + $archive or (d, $near))(
			sum(c['bytes'] for c in j['classes'] if 'Filler' not in c['class']) - $near)")"
	works "$version: heapdump works" heapdump "$JVM_PID" "$W/dump.hprof"
	works "$version: retained FILE works" retained --json ./dump.hprof
	same "$version: retained FILE: file and cache" "./dump.hprof None 1" \
		"$(json "'%s %s' % (j['file'], j['pid'])") $(row instances 'Retained$Cache')"
	same "$version: retained FILE: few unreachable bytes" \
		True "$(json "0 <= j['unreachable']['bytes'] <
		0.03 * j['total']['bytes'] or j['unreachable']")"
	works "$version: retained FILE --tree works" retained --json --tree ./dump.hprof
	same "$version: retained FILE --tree: a thread and the array" \
		"worker-17 static INSTANCE, field slots" \
		"$(json "[x['thread'] for x in $nodes if x['thread']][0] + ' ' + ', '.join(
			x['via'] for x in $nodes if x['via'] and
			x['class'] in ('Retained\$Cache', 'Retained\$Slot[]'))")"
	rm -f "$W/dump.hprof"
	refuses 7 'memory' "$version: --max-memory 1: refused" retained --max-memory 1 "$JVM_PID"
	unharmed "$version: retained"
	stop "$JVM_PID"
done

# The reflection data of a class is reachable through a soft reference, and refers to the class.
for version in "${jdks[@]}"; do
	start_jvm "$version" default Plugins -Xmx64m || continue
	for engine in snapshot agent hprof; do
		retains "$version $engine: --suspects of a leak of class loaders" \
			--json --suspects --engine "$engine" || continue
		same "$version $engine: --suspects: the list that keeps the loaders" \
			"java.lang.Object[], static stopped" \
			"$(json "[s['class'] + ', ' + s['path']['steps'][0]['via']
				for s in j['suspects'] if s['retained'] > 10000000][0]")"
	done
	stop "$JVM_PID"
done

# HotSpot crashes if a walk along references reaches a virtual thread that is being created.
for version in "${jdks[@]}"; do
	[ "$version" -ge 21 ] || continue
	start_jvm "$version" default VirtualMade -Xint || continue
	for i in {1..6}; do
		works "$version: retained works while virtual threads are created, $i" \
			retained "$JVM_PID" || break
	done
	unharmed "$version: virtual threads are created"
	stop "$JVM_PID"
done
