#!/usr/bin/env bash
# threads: states, owners and deadlocks are those of ThreadMXBean on every JDK; CPU times are those
# of the kernel; large dumps.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/../lib.sh"

# states: name=STATE=OWNER of each thread, by the JVM's own ThreadMXBean.
states() {
	ask states '^states' | cut -f 2- | tr '\t' '\n' | own_threads | sort
}

# Only the victim's threads, whose state does not change.
own_threads() {
	grep -E '^(spinner|sleeper|waiter|parker|owner|blocked|queued|monitors|locks|mixed|three)'
}

for version in "${jdks[@]}"; do
	start_jvm "$version" default Locks -- deadlock || continue
	states >"$W/wanted"
	jt threads --json "$JVM_PID"
	json "'\n'.join('%s=%s=%s' % (t['name'], t['state'],
		t['waits_for'] and t['waits_for']['owner'] or 'null') for t in j['threads']
		if t['id'] is not None)" | own_threads | grep -v '^queued' | sort >"$W/got"
	# Without -l, the owners of java.util.concurrent locks are known in deadlocks only.
	same "$version: states and owners are ThreadMXBean's" "$(grep -v '^queued' "$W/wanted")" \
		"$(cat "$W/got")"
	same "$version: the busiest thread is the first, with its stack" "spinner True" \
		"$(json "'%s %s' % (j['threads'][0]['name'],
			'Locks.spin' in j['threads'][0]['stack'][0])")"
	same "$version: every thread of the kernel has a row" True \
		"$(json "abs(len([t for t in j['threads'] if not t['virtual']]) -
			$(thread_count "$JVM_PID")) <= 2")"
	same "$version: the deadlocks" 'locks-0 locks-1, mixed-0 mixed-1, monitors-0 monitors-1, three-0 three-1 three-2' \
		"$(json "', '.join(sorted(' '.join(sorted(d)) for d in j['deadlocks']))")"
	jt threads --deadlocks "$JVM_PID"
	same "$version: --deadlocks: the exit status is 1" "1 4" \
		"$rc $(grep -c '^deadlock of [23] threads:$' "$W/out")"
	check "$version: --deadlocks: who holds what" \
		grep -q '^  "monitors-0" .* waits for Locks$Lock 0x.*, held by "monitors-1"$' "$W/out"
	works "$version: --blocked: it works" threads --blocked "$JVM_PID"
	check "$version: --blocked: the thread that holds up most is the root" \
		grep -q '^"owner" .* holds up 4 threads$' "$W/out"
	check "$version: --blocked: an owner of a java.util.concurrent lock" \
		grep -q '^  "queued" .*waits for java.util.concurrent.locks.ReentrantLock' "$W/out"
	works "$version: --group: it works" threads --group --filter 'blocked-*' "$JVM_PID"
	check "$version: --group: identical stacks are one row" grep -q \
		'^3 threads, BLOCKED, .*: blocked-[0-2], blocked-[0-2], blocked-[0-2]$' "$W/out"
	works "$version: --state: it works" threads --state blocked --json "$JVM_PID"
	same "$version: --state: only such threads" "BLOCKED" \
		"$(json "' '.join(sorted({t['state'] for t in j['threads']}))")"
	works "$version: --stack -n 1: it works" threads --stack -n 1 "$JVM_PID"
	check "$version: --stack -n 1: the frames are below the row" bash -c \
		"sed -n 3p '$W/out' | grep -q '^ *at Locks.spin(Locks.java:'"
	check "$version: -n 1: the others are counted" \
		grep -q '^… [0-9]* more threads (-n 0 shows all)$' "$W/out"
	works "$version: --samples: it works" threads --samples 2 --json "$JVM_PID"
	same "$version: --samples: threads that have not moved" "True True" "$(json "'%s %s' % (
		{'waiter', 'owner'} <= {t['name'] for t in j['threads']},
		all(t['stack'] for t in j['threads']))")"
	unharmed "$version: threads" 'states.*'
	stop "$JVM_PID"
done

start_jvm "${jdks[-1]}" default Locks && {
	works "no deadlock: exit status 0" threads --deadlocks "$JVM_PID"
	same "no deadlock: it says so" "no deadlock" "$(cat "$W/out")"
	refuses 2 'exclude each other' "--raw and --group: refused" threads --raw --group "$JVM_PID"
	stop "$JVM_PID"
}

# The kernel's times, in a pid namespace of its own, where the JVM's thread ids are others.
start_jvm "${jdks[-1]}" default Threads -Xss256k -- 10000 2 && {
	jt threads --json "$JVM_PID"
	same "10,000 threads: each has a row" True \
		"$(json "len([t for t in j['threads'] if t['name'].startswith('deep-')]) == 10000")"
	unharmed "10,000 threads"
	stop "$JVM_PID"
}

run_among_jvms bash -c './jtool threads -n 0 --json "$(./jtool list -q | head -n 1)"'
same "another pid namespace: CPU times are found" "0 True" "$rc $(json "any(
	t['name'] == 'main' and t['cpu_percent'] is not None and t['cpu'] > 0
	for t in j['threads'])")"
finish
