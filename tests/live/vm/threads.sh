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
		if t['id'] is not None)" | own_threads | sort >"$W/got"
	# The heap is small, so the JVM walks it for the owners of java.util.concurrent locks.
	same "$version: states and owners are ThreadMXBean's" "$(cat "$W/wanted")" "$(cat "$W/got")"
	same "$version: every line of the dump has a known form" None "$(json "j['unknown']")"
	same "$version: a row has all columns" "True True True" "$(json "(lambda t: '%s %s %s' % (
		t['daemon'], t['id'] > 0, (t['allocated'] is not None) == ($version >= 11)))(
		j['threads'][0])")"
	same "$version: the busiest thread is the first, with its stack" "spinner True" \
		"$(json "'%s %s' % (j['threads'][0]['name'],
			'Locks.spin' in j['threads'][0]['stack'][0])")"
	same "$version: every thread of the kernel has a row" True \
		"$(json "abs(len([t for t in j['threads'] if not t['virtual']]) -
			$(thread_count "$JVM_PID")) <= 2")"
	same "$version: the deadlocks" 'locks-0 locks-1, mixed-0 mixed-1, monitors-0 monitors-1, three-0 three-1 three-2' \
		"$(json "', '.join(sorted(' '.join(sorted(d)) for d in j['deadlocks']))")"
	jt threads -n 3 "$JVM_PID"
	same "$version: deadlocks are a notice, also with few rows" \
		"0 jtool: threads: 4 deadlocks: jtool threads $JVM_PID --deadlocks shows them" \
		"$rc $(cat "$W/err")"
	jt threads --deadlocks "$JVM_PID"
	same "$version: --deadlocks: the exit status is 1" "1 4" \
		"$rc $(grep -c '^deadlock of [23] threads:$' "$W/out")"
	rc=0
	"$JTOOL" threads --deadlocks "$JVM_PID" >/dev/full 2>"$W/err" || rc=$?
	same "$version: --deadlocks: a result that cannot be written is an error" "7 1" \
		"$rc $(grep -c 'cannot write the result to stdout: ' "$W/err")"
	check "$version: --deadlocks: who holds what" \
		grep -q '^  "monitors-0" .* waits for Locks$Lock 0x.*, held by "monitors-1"$' "$W/out"
	works "$version: --blocked: it works" threads --blocked "$JVM_PID"
	check "$version: --blocked: the thread that holds up most is the root" \
		grep -q '^"owner" .* holds up 4 threads$' "$W/out"
	check "$version: --blocked: an owner of a java.util.concurrent lock" \
		grep -q '^  "queued" .*waits for java.util.concurrent.locks.ReentrantLock' "$W/out"
	jt threads --group --filter 'blocked-*' "$JVM_PID"
	same "$version: --group: deadlocks are a notice" "0 1" \
		"$rc $(grep -c '^jtool: threads: 4 deadlocks: ' "$W/err")"
	check "$version: --group: identical stacks are one row" grep -q \
		'^3 threads, BLOCKED, .*: blocked-[0-2], blocked-[0-2], blocked-[0-2]$' "$W/out"
	jt threads --group --json --filter 'blocked-*' "$JVM_PID"
	same "$version: --group --json: the same row" "[(3, 'BLOCKED', 3)]" \
		"$(json "[(g['count'], g['state'], len(g['threads'])) for g in j['groups']]")"
	refuses 2 'invalid --state .lost.: expected NEW' "$version: --state: an unknown one" \
		threads --state lost "$JVM_PID"
	works "$version: --state: it works" threads --state blocked --json "$JVM_PID"
	same "$version: --state: only such threads" "BLOCKED" \
		"$(json "' '.join(sorted({t['state'] for t in j['threads']}))")"
	jt threads --stack -n 1 "$JVM_PID"
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
	jt threads "$JVM_PID"
	same "no deadlock: no notice" "0 " "$rc $(cat "$W/err")"
	refuses 2 'cannot be combined' "--raw and --group: refused" threads --raw --group "$JVM_PID"
	stop "$JVM_PID"
}

# Two JVMs, one of which has deadlocks: a verdict is a result.
other_jvm_flags=(-Dnumber=1)
# shellcheck disable=SC2016 # expanded by the inner shell
run_among_jvms bash -c 'tail -f /dev/null | java -Xmx32m -cp classes Locks deadlock >locks &
until grep -qs READY locks; do sleep 0.02; done
./jtool threads all --deadlocks'
same "all --deadlocks: one JVM has some: the exit status and both results" "1 2 1 4" \
	"$rc $(grep -c -x '[0-9]*:' "$W/out") $(grep -c -x 'no deadlock' "$W/out") $(
		grep -c '^deadlock of [23] threads:$' "$W/out")"
same "all --deadlocks: the verdict and the sum" "1 1 2" "$(
	grep -c ': JVM [0-9]* has 4 deadlocks: only a restart' "$W/err") $(
	grep -c ': 1 of 2 JVMs failed the check, for the reasons above$' "$W/err") $(wc -l <"$W/err")"

# Compares the CPU time of a thread that is busy for 30 % of the time. The victim measures it in the
# same second, because a busy machine gives the thread less.
# shellcheck disable=SC2317 # called by poll
load_is_measured() {
	ask load '^load ' >"$W/load" &
	local answer=$!

	jt threads --json "$JVM_PID"
	wait "$answer"
	[ "$(json "abs([t for t in j['threads'] if t['name'] == 'load'][0]['cpu_percent'] -
		$(cut -d' ' -f2 "$W/load")) <= 2")" = True ]
}

for version in "${jdks[@]}"; do
	start_jvm "$version" default Busy -- 30 || continue
	check "$version: a known load, within 2 points" poll 30 load_is_measured
	stop "$JVM_PID"
done

# Virtual threads: their states, locks and owners.
for version in 21 25 27; do
	has_jdk "$version" || continue
	# JDK 21 pins threads that hold a monitor.
	start_jvm "$version" default Virtual -Djdk.virtualThreadScheduler.parallelism=8 -- 1000 ||
		continue
	works "$version: --virtual: it works" threads --virtual --json "$JVM_PID"
	same "$version: --virtual: all of them and no other" "1004 True" \
		"$(json "'%d %s' % (len(j['threads']), all(t['virtual'] for t in j['threads']))")"
	same "$version: --virtual: who runs on which thread" True \
		"$(json "any(t['carrier'] for t in j['threads'])")"
	if [ "$version" -ge 25 ]; then
		same "$version: --virtual: states and owners" \
			"blocked BLOCKED owner, owner TIMED_WAITING None, queued WAITING owner, spinner RUNNABLE None" \
			"$(json "', '.join(sorted('%s %s %s' % (t['name'], t['state'],
			t['waits_for'] and t['waits_for']['owner']) for t in j['threads'] if t['name']))")"
		works "$version: --virtual --blocked: it works" threads --virtual --blocked "$JVM_PID"
		check "$version: --virtual --blocked: the owner is the root" \
			grep -q '^"owner" (TIMED_WAITING) holds up 2 threads$' "$W/out"
	fi
	works "$version: --virtual --group: it works" threads --virtual --group "$JVM_PID"
	check "$version: --virtual --group: one row for 1000 threads" \
		grep -q -E '^1000 threads, WAITING' "$W/out"
	works "$version: --virtual --raw: it works" threads --virtual --raw "$JVM_PID"
	check "$version: --virtual --raw: the JVM's document" python3 -m json.tool "$W/out"
	same "$version: --virtual: no file remains" "" "$(ls -d "$matrix"/{tmp,var/tmp}/.jtool-*-"$JVM_PID"* 2>/dev/null)"
	works "$version: carriers have rows" threads --json "$JVM_PID"
	same "$version: carriers have rows, every line of the dump is known" "True None" \
		"$(json "'%s %s' % (any(t['carries'] for t in j['threads']), j['unknown'])")"
	unharmed "$version: --virtual"
	stop "$JVM_PID"
done
start_jvm "$(newest_of 8 11 17)" default Idle && {
	refuses 1 'has no virtual threads, which need JDK 21' "--virtual without them: refused" \
		threads --virtual "$JVM_PID"
	stop "$JVM_PID"
}

# The flight recorder's sampler thread, which JDK 17 to 24 print without a name: jtool shows the
# kernel's name.
for version in 17 21 25; do
	has_jdk "$version" || continue
	start_jvm "$version" default Idle -XX:StartFlightRecording=settings=profile || continue
	check "$version: the flight recorder samples" poll 60 bash -c \
		"grep -q '^JFR .*Samp' /proc/$JVM_PID/task/*/comm"
	jt threads --json "$JVM_PID"
	same "$version: the sampler of the flight recorder has a row" "1 None" "$(json "'%d %s' % (len([
		t for t in j['threads'] if t['name'].startswith('JFR') and 'Samp' in t['name'] and
		t['state'] == 'runnable']), j['unknown'])")"
	stop "$JVM_PID"
done

# A large dump.
start_jvm "${jdks[-1]}" default Threads -Xss256k -- 10000 2 && {
	jt threads --json "$JVM_PID"
	same "10,000 threads: each has a row" True \
		"$(json "len([t for t in j['threads'] if t['name'].startswith('deep-')]) == 10000")"
	unharmed "10,000 threads"
	stop "$JVM_PID"
}

# The kernel's CPU times, from a pid namespace in which the JVM's threads have other ids.
run_among_jvms bash -c './jtool threads -n 0 --json "$(./jtool list -q | head -n 1)"'
same "another pid namespace: CPU times are found" "0 True" "$rc $(json "any(
	t['name'] == 'main' and t['cpu_percent'] is not None and t['cpu'] > 0
	for t in j['threads'])")"
finish
