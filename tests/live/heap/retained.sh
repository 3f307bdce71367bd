#!/usr/bin/env bash
# retained: what is known to be retained, on every version, by both engines. The theme graphs has
# all collectors.
# shellcheck source-path=SCRIPTDIR source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/lib.sh"

# bytes_of CLASS: of the histogram in $W/histo, all its instances.
bytes_of() {
	python3 -c 'import json, sys
rows = json.load(open(sys.argv[1]))["classes"]
print(sum(c["bytes"] for c in rows if c["class"] == sys.argv[2]))' "$W/histo" "$1"
}

# row KEY CLASS: of the last run.
row() {
	json "[c['$1'] for c in j['classes'] if c['class'] == '$2'][0]"
}

# find NODES: of the tree, all its nodes in one list.
nodes='(lambda f: f(f, j["tree"]))(lambda f, l: [y for x in l for y in [x] + f(f, x["children"])])'

# retains NAME OPTION...: works, with another try when this machine had no time for the agent.
retains() {
	local name=$1 i

	shift
	for ((i = 0; i < 3; i++)); do
		jt retained "$@" "$JVM_PID"
		[ "$rc" -eq 7 ] || break
		grep -q 'did not take fast enough' "$W/err" || break
	done
	if [ "$rc" -eq 0 ] && [ ! -s "$W/err" ]; then
		pass "$name"
		return
	fi
	fail "$name" "retained $*" "$(jt_details)"
	return 1
}

# shows NAME PATTERN OPTION...: prints a line that matches.
shows() {
	local name=$1 pattern=$2

	shift 2
	retains "$name" "$@" && check "$name: a line" grep -q -e "$pattern" "$W/out"
}

# What --json says for the known objects: NAME OPTION...
known() {
	local name=$1 slots cells cache array

	shift
	retains "$name: retained" --json "$@" || return
	slots=$(bytes_of 'Retained$Slot') cells=$(bytes_of 'Retained$Cell[]')
	cache=$(bytes_of 'Retained$Cache') array=$(bytes_of 'Retained$Slot[]')
	same "$name: the cache's" "1 $cache $((cache + array + slots + cells))" \
		"$(row instances 'Retained$Cache') $(row shallow 'Retained$Cache') $(
			row retained 'Retained$Cache')"
	same "$name: its entries'" "100000 $slots $((slots + cells))" \
		"$(row instances 'Retained$Slot') $(row shallow 'Retained$Slot') $(
			row retained 'Retained$Slot')"
	same "$name: a list's" "100000 $(bytes_of 'Retained$Node')" \
		"$(row instances 'Retained$Node') $(row retained 'Retained$Node')"
	same "$name: what two arrays share is neither's" "$(bytes_of 'Retained$Shared[]')" \
		"$(row retained 'Retained$Shared[]')"
	same "$name: rows add up" True "$(json "j['total'] == {
		'instances': sum(c['instances'] for c in j['classes']),
		'bytes': sum(c['shallow'] for c in j['classes'])}")"
	# What System.gc() did not clear already, as some collectors do.
	if [ "$(bytes_of 'short[]')" -ge 600000 ]; then
		same "$name: softly held" True \
			"$(json "600000 <= j['held']['soft']['bytes'] < 1000000 or j['held']")"
	fi
}

# With the histogram beside it, as the JVM is quiet.
as_heaphisto() {
	jt heaphisto --live --json "$JVM_PID"
	cp "$W/out" "$W/histo"
}

tree() {
	local name=$1

	shift
	retains "$name: --tree" --json --tree --strings "$@" || return
	same "$name: the tree leads to the array" "static INSTANCE, field slots, 100000" \
		"$(json "', '.join(['%s' % x['via'] for x in $nodes
			if x['class'] in ('Retained\$Cache', 'Retained\$Slot[]') and x['via']]
			+ ['%d' % x['length'] for x in $nodes if x['class'] == 'Retained\$Slot[]'])")"
	same "$name: what else it holds" "100000 Retained\$Slot" \
		"$(json "['%d %s' % (x['rest']['instances'], x['rest']['classes'][0]['class'])
			for x in $nodes if x['class'] == 'Retained\$Slot[]'][0]")"
	same "$name: a large array" "static BLOB 5000000" \
		"$(json "['%s %d' % (x['via'], x['length']) for x in $nodes
			if x['length'] == 5000000][0]")"
	same "$name: a String" "static TEXT All work and no play." \
		"$(json "['%s %s' % (x['via'], x['text'][:21]) for x in $nodes if x['text']][0]")"
	same "$name: a thread" "worker-17" \
		"$(json "[x['thread'] for x in $nodes if x['thread']][0]")"
}

options() {
	local name=$1

	shift
	shows "$name: the tree as text" 'static INSTANCE: Retained\$Cache$' --tree "$@"
	retains "$name: --suspects" --json --suspects "$@"
	same "$name: the suspects" "Retained\$Shared 1000, Retained\$Slot[] 1, byte[] 1" \
		"$(json "', '.join(sorted('%s %d' % (s['class'], s['instances'])
			for s in j['suspects']))")"
	same "$name: the path to one" "Retained\$Cache static INSTANCE, Retained\$Cache field slots, Retained\$Slot[] None" \
		"$(json "', '.join('%s %s' % (x['class'], x['via']) for s in j['suspects']
			if s['class'] == 'Retained\$Slot[]' for x in s['path']['steps'])")"
	shows "$name: suspects as text" '^  alive through static Retained\$Cache.INSTANCE$' \
		--suspects "$@"

	retains "$name: --by package" --json --by package "$@"
	same "$name: packages add up" True "$(json "j['total']['bytes'] ==
		sum(c['shallow'] for c in j['classes'])")"
	same "$name: a package's" True "$(json "[c['retained'] > 15000000 for c in j['classes']
		if c['class'] == '(default)'][0]")"
	retains "$name: --by loader" --json --by loader "$@"
	retains "$name: -n, --sort, --filter" --json -n 3 --sort count \
		--filter 'Retained$*' "$@"
	same "$name: those rows" "Retained\$Cell[] Retained\$Node Retained\$Slot" \
		"$(json "' '.join(sorted(c['class'] for c in j['classes']))")"
	retains "$name: --weak" --json --weak "$@"
	same "$name: nothing is only held then" 0 \
		"$(json "sum(h['bytes'] for h in j['held'].values())")"
	shows "$name: the table" '^ *100000 .* Retained\$Slot$' "$@"
}

for version in $(in_soak own "") "${jdks[@]}"; do
	start_jvm "$version" g1 Retained || continue
	as_heaphisto
	for engine in agent hprof; do
		known "$version $engine" --engine "$engine"
		tree "$version $engine" --engine "$engine"
		# How it is shown does not depend on the version.
		[ "$(in_soak 17 "$version")" = 17 ] || continue
		options "$version $engine" --engine "$engine"
	done
	retains "$version: the default" --json
	same "$version: keys" "classes file held pid total unreachable / class instances loader retained shallow" \
		"$(json "' '.join(sorted(j)) + ' / ' + ' '.join(sorted(j['classes'][0]))")"
	same "$version: sorted by what they retain" True \
		"$(json "(lambda b: b == sorted(b, reverse=True))([c['retained'] for c in j['classes']])")"
	near=$(json "j['total']['bytes']")
	jt heaphisto --live --json "$JVM_PID"
	# A histogram counts what the JVM fills gaps with, and all that JDK 11 has in its archive.
	archive=0
	[ "$version" != 11 ] || archive=1000000
	same "$version: as much as heaphisto --live counts" True \
		"$(json "(lambda d: -0.002 * $near < d < 0.002 * $near + $archive or (d, $near))(
			sum(c['bytes'] for c in j['classes'] if 'Filler' not in c['class']) - $near)")"
	works "$version: a dump" heapdump "$JVM_PID" "$W/dump.hprof"
	works "$version: retained of the dump" retained --json ./dump.hprof
	same "$version: its file and cache" "./dump.hprof None 1" \
		"$(json "'%s %s' % (j['file'], j['pid'])") $(row instances 'Retained$Cache')"
	same "$version: what the dump has besides" True "$(json "0 <= j['unreachable']['bytes'] <
		0.03 * j['total']['bytes'] or j['unreachable']")"
	works "$version: the tree of the dump" retained --json --tree ./dump.hprof
	same "$version: its thread and array" "worker-17 static INSTANCE, field slots" \
		"$(json "[x['thread'] for x in $nodes if x['thread']][0] + ' ' + ', '.join(
			x['via'] for x in $nodes if x['via'] and
			x['class'] in ('Retained\$Cache', 'Retained\$Slot[]'))")"
	rm -f "$W/dump.hprof"
	refuses 7 'memory' "$version: too little memory" retained --max-memory 1 "$JVM_PID"
	unharmed "$version: retained"
	stop "$JVM_PID"
done

# HotSpot crashes when a walk along references comes to a virtual thread that is being made.
for version in "${jdks[@]}"; do
	[ "$version" -ge 21 ] || continue
	start_jvm "$version" default VirtualMade -Xint || continue
	for i in {1..6}; do
		works "$version: virtual threads are being made: $i" retained "$JVM_PID" || break
	done
	unharmed "$version: virtual threads are being made"
	stop "$JVM_PID"
done
