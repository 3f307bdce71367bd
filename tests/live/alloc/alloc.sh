#!/usr/bin/env bash
# alloc: exact profiles are what the application counts itself, to the object and the byte; sampled
# ones are as near as chance allows; what lives is told; and afterwards every class is what it was.
# shellcheck source-path=SCRIPTDIR source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/lib.sh"
. "$live_dir/tracing.sh"

compare() {
	python3 "$live_dir/alloc.py" "$@"
}

include=$(find -L /usr/lib/jvm/default-java/include -name jni.h -printf '%h\n' | head -n 1)
cc -shared -fPIC "-I$include" "-I$include/linux" -o "$W/sampler.so" "$live_dir/agents/sampler.c"

# What jtool says, with -v, once allocations count.
counting='begun, which took'

# begin_alloc NAME ARGUMENT...: until Ctrl-C.
begin_alloc() {
	begin_aside alloc "$counting" "$1" -d 0 -n 0 "${@:2}"
}

# makes LINE: the victim started last does that; its counts go to $W/counts.
makes() {
	[ "$(ask "$1" '^ran ' "$(in_soak 900 "$PATIENCE")")" = "ran ${1% *}" ] ||
		fail "the application does $1"
	ask counts '^counts ' "$PATIENCE" >"$W/counts"
}

clear() {
	ask clear '^cleared$' "$PATIENCE" >/dev/null
}

# counted NAME N OPTION...: all phases, N times, while all is counted.
counted() {
	local name="$1, $2 times" n=$2

	clear
	begin_alloc "$name" --exact --json "${@:3}" || return
	makes "all $n"
	end_trace "$name"
	check "$name: exact" compare exact "$W/counts" "$W/trace.out"
}

# By the heap: all that is made is kept.
measured() {
	local name="$1: kept"

	ask 'keep 1' '^keeps' "$PATIENCE" >/dev/null
	clear
	jt heaphisto "$JVM_PID" --live --json
	cp "$W/out" "$W/heap.before"
	begin_alloc "$name" --exact --json || return
	makes "all 2000"
	end_trace "$name"
	jt heaphisto "$JVM_PID" --json
	cp "$W/out" "$W/heap.after"
	check "$name: as many objects and bytes as the heap has more" \
		compare exact "$W/counts" "$W/trace.out" "$W/heap.before" "$W/heap.after"
	ask 'keep 0' '^keeps' "$PATIENCE" >/dev/null
	clear
}

# Of the JDK's classes: what more is made is more in the profile.
differences() {
	local name="$1: the JDK's classes" n many

	many=$(in_soak 100000 2000)
	# What the first times load is there; classes that were changed take reflection from its start.
	makes "jdk $many"
	for n in 100 "$many"; do
		clear
		begin_alloc "$name, $n" --exact --json || return
		makes "jdk $n"
		end_trace "$name, $n"
		cp "$W/counts" "$W/counts.$n"
		cp "$W/trace.out" "$W/profile.$n"
	done
	check "$name: exact" compare jdk "$W/counts.100" "$W/profile.100" "$W/counts.$many" "$W/profile.$many"
}

# Objects that have a finalizer get it, hooked or not.
finalizers() {
	local name="$1: finalizers" before

	poll "$PATIENCE" all_finalized || fail "$name run before"
	before=$n_finalized
	begin_alloc "$name" --exact --json || return
	ask 'run finals 20000' '^ran ' "$PATIENCE" >/dev/null
	end_trace "$name"
	ask 'run finals 1000' '^ran ' "$PATIENCE" >/dev/null
	if poll "$PATIENCE" all_finalized; then
		same "$name run" $((2000 + 100 + 2)) $((n_finalized - before))
	else
		fail "$name run" "$n_finalized of $n_final, $before before"
	fi
	clear
}

# all_finalized: that were made until now; asks for a collection.
all_finalized() {
	read -r _ n_finalized _ n_final < <(ask finalized '^finalized ' "$PATIENCE")
	[ -n "$n_final" ] && [ "$n_finalized" -eq "$n_final" ]
}

# Where: the line that made it.
places() {
	local name="$1: lines"

	begin_alloc "$name" --exact --json || return
	ask 'lines 50' '^lines ' "$PATIENCE" >"$W/lines"
	end_trace "$name"
	check "$name: exact" compare lines "$(cat "$W/lines")" 50 "$W/trace.out"
}

# Some classes only.
globs() {
	local name="$1: globs"

	clear
	begin_alloc "$name" 'AllocCount$Sub*' 'short[]*' --exact --json || return
	makes "all 500"
	end_trace "$name"
	cp "$W/trace.out" "$W/out"
	same "$name: no others" 'AllocCount$Sub AllocCount$SubSub AllocCount$Sub[] AllocCount$Sub[][] short[] short[][] short[][][]' \
		"$(json "' '.join(sorted({s['class'] for s in j['sites']}, key=lambda c: (c[0], c.count('['), c)))")"
	for class in 'AllocCount$Sub' 'AllocCount$Sub[]' 'short[][][]'; do
		same "$name: all of $class" \
			"$(python3 -c 'import json, sys
print(json.loads(sys.argv[1].partition(" ")[2])["own"][sys.argv[2]])' "$(cat "$W/counts")" "$class")" \
			"$(json "sum(s['count'] for s in j['sites'] if s['class'] == '$class')")"
	done
}

# Classes that are loaded meanwhile.
loads() {
	local version=$1 name="$1: classes loaded meanwhile"

	start_jvm "$version" default AllocLoads || return
	begin_alloc "$name" --exact --json || return
	ask 'loads 400' '^counts ' "$PATIENCE" >"$W/counts"
	end_trace "$name"
	check "$name: exact" compare exact "$W/counts" "$W/trace.out"
	unharmed "$name" 'counts .*'
	stop "$JVM_PID"
}

# is_full VERSION: everything is done on it; on the others, what differs most between JVMs.
is_full() {
	[[ " $(in_soak "${jdks[*]}" "8 25") " == *" $1 "* ]]
}

# exact VERSION GC [FLAG...]: with flags, the counts alone.
exact() {
	local version=$1 name="${*:1}"

	start_jvm "$version" "$2" AllocCount -Xmx400m "${@:3}" || return
	[ $# -gt 2 ] || whole_before "$name" 'AllocCount*'
	# Interpreted, then compiled.
	counted "$name" "$(in_soak 200000 20000)"
	if [ $# -eq 2 ] && is_full "$version"; then
		counted "$name" 1
		measured "$name"
		places "$name"
		differences "$name"
		globs "$name"
		finalizers "$name"
	fi
	[ $# -gt 2 ] || as_before "$name"
	unharmed "$name" 'counts .*|ran .*|cleared|keeps .*|lines .*|finalized .*'
	check "$name: nothing left" \
		poll "$PATIENCE" nothing_left "${jdk_root[$version]}" "$JVM_PID" 0 "${IW#/}"
	stop "$JVM_PID"
}

# mixes NAME MILLIS OPTION...: while it makes its mix; its counts go to $W/mixed.
mixes() {
	begin_alloc "$1" --json "${@:3}" --collapsed "$W/collapsed" --flamegraph "$W/page.html" \
		--force || return
	ask "mix $2" '^mixed ' "$PATIENCE" >"$W/mixed"
	end_trace "$1"
}

sampled() {
	local version=$1 name="$1: sampled"

	start_jvm "$version" parallel AllocWork -Xmx256m || return
	mixes "$name, exact" 1000 --exact
	cp "$W/trace.out" "$W/profile.exact"
	check "$name, exact: all is told" compare mix "$W/mixed" "$W/trace.out"
	check "$name, exact: collapsed stacks are the profile" \
		compare collapsed "$W/collapsed" "$W/trace.out" bytes
	# The long form is what people do; the short one has more samples in less time.
	if [ "$(in_soak 1 0)" -eq 1 ]; then
		mixes "$name" 10000
	else
		mixes "$name" 3000 --interval 16k
	fi
	check "$name: estimates are right" compare shares "$W/mixed" "$W/trace.out" \
		"$W/profile.exact"
	check "$name: collapsed stacks are the profile" \
		compare collapsed "$W/collapsed" "$W/trace.out" bytes
	check "$name: the page has them" grep -q 'AllocWork$Mix.p13' "$W/page.html"
	check "$name: the page needs nothing else" \
		bash -c "! grep -i -E '(src|href)=.?(https?:)?//' '$W/page.html'"
	unharmed "$name" 'mixed .*'
	stop "$JVM_PID"
}

# leaks ROUNDS: AllocLeak does; sets n_leaked, and n_old, of those how many are old.
leaks() {
	read -r _ n_leaked n_old < <(ask "leak $1" '^leaked ' $((3 * PATIENCE)))
}

lives() {
	local version=$1 name="$1: what lives" how

	start_jvm "$version" serial AllocLeak -Xmx64m -Xmn4m || return
	[ "$version" -eq 8 ] || {
		begin_alloc "$name, chosen" --live --age 3 --json || return
		ask 'churn 300' '^leaked ' "$PATIENCE" >/dev/null # the interval is chosen
		leaks 1500
		lived "$name" chosen
		begin_alloc "$name, sampled" --live --age 3 --interval 4k --json || return
		# A thread's first gap is still of the former interval.
		ask 'churn 150' '^leaked ' "$PATIENCE" >/dev/null
		leaks 1000
		lived "$name" sampled
		begin_alloc "$name, young, too" --live --interval 128 --json || return
		ask 'churn 250' '^leaked ' "$PATIENCE" >/dev/null
		end_trace "$name, young, too"
		check "$name, young: the cache" compare young "$W/trace.out"
	}
	begin_alloc "$name, exact" --live --age 3 --exact --json || return
	leaks 600
	lived "$name" exact
	unharmed "$name" 'leaked .*|forgot'
	stop "$JVM_PID"
}

# lived NAME HOW: after leaks.
lived() {
	end_trace "$1, $2"
	check "$1, $2: the leak comes first" compare leak "$2" "$n_leaked" "$n_old" "$W/trace.out"
	ask forget '^forgot$' "$PATIENCE" >/dev/null
}

# Thousands of virtual threads: none stands still, and all are counted.
virtuals() {
	local version=$1 name="$1: virtual threads" n=3000 made options

	start_jvm "$version" default AllocVirtual -Xmx200m -- $n || return
	for options in --exact '--interval 1k' '--live'; do
		# shellcheck disable=SC2086 # words
		begin_alloc "$name: $options" $options --json || return
		# A carrier's first gap is still of the former interval.
		ask warm '^warm$' "$PATIENCE" >/dev/null
		ask loud '^loud$' "$PATIENCE" >/dev/null
		check "$name: $options: they all go on" poll "$PATIENCE" awake $n
		ask again '^again$' "$PATIENCE" >/dev/null
		check "$name: $options: and on" poll "$PATIENCE" awake $n
		poll "$PATIENCE" made_many || fail "$name: $options: they make many"
		made=$(ask quiet '^quiet ' "$PATIENCE" | cut -d' ' -f2)
		end_trace "$name: $options"
		cp "$W/trace.out" "$W/out"
		case $options in
		--exact) same "$name: all of them" "[$made, $((made / 10))]" "$(json "[sum(s['count']
			for s in j['sites'] if s['class'] == 'AllocVirtual\$Made' + dimensions)
			for dimensions in ('', '[]')]")" ;;
		*1k)	# More than 3000 samples: the bound is five times what chance moves.
			same "$name: about so many as $made" True "$(json "(lambda n: abs(n / $made - 1)
			< 0.09)(sum(s['count'] for s in j['sites'] if s['class'] == 'AllocVirtual\$Made'))")" ;;
		esac
		same "$name: $options: from where" True "$(json "all('AllocVirtual.run' in ' '.join(s['stack'])
			for s in j['sites'] if s['class'] == 'AllocVirtual\$Made')")"
	done
	ask again '^again$' "$PATIENCE" >/dev/null
	ask loud '^loud$' "$PATIENCE" >/dev/null
	check "$name: afterwards" poll "$PATIENCE" awake $n
	unharmed "$name" '(quiet|awake|made) [0-9]+|warm|loud|again'
	stop "$JVM_PID"
}

awake() {
	[ "$(ask awake '^awake ' "$PATIENCE")" = "awake $1" ]
}

made_many() {
	[ "$(ask made '^made ' "$PATIENCE" | cut -d' ' -f2)" -ge 200000 ]
}

# Another agent samples: that is said; and what we had is free again.
held() {
	local version=$1 name="$1: another agent samples"

	start_jvm "$version" serial Churn || return
	jt load "$JVM_PID" "$W/sampler.so" hold
	same "$name: it does" 0 "$rc"
	refuses 1 'another agent|already' "$name" alloc "$JVM_PID" -d 1
	check "$name: and what to do is said" grep -q -e '--exact' "$W/err"
	jt load "$JVM_PID" "$W/sampler.so" release
	same "$name: it has ended" 0 "$rc"
	works "$name: and we can" alloc "$JVM_PID" -d 0.5
	prints "$name: nothing is of an age that it cannot have" 'nothing can be that old' \
		alloc "$JVM_PID" -d 0.5 --age 100000
	refuses 2 'same file' "$name: two files of one name" \
		alloc "$JVM_PID" --collapsed x --flamegraph x
	begin_alloc "$name: no more" || return
	jt load "$JVM_PID" "$W/sampler.so" hold
	same "$name: while we sample, nobody else does" 1 "$rc"
	refuses 1 'another jtool' "$name: nor another of us" alloc "$JVM_PID" -d 0.5
	end_trace "$name"
	check "$name: the other one can again" poll "$PATIENCE" may_hold
	unharmed "$name" '.*' '.*'
	stop "$JVM_PID"
}

may_hold() {
	jt load "$JVM_PID" "$W/sampler.so" hold && [ "$rc" -eq 0 ]
}

# async-profiler, where it is in that JDK's root.
beside_other() {
	local version=$1 name="$1: async-profiler" profiler

	profiler=$(cd "${jdk_root[$version]}" && echo usr/lib/*/jni/libasyncProfiler.so)
	if [ ! -e "${jdk_root[$version]}/$profiler" ]; then
		skip "$name" "it is not in ${jdk_root[$version]}"
		return
	fi
	start_jvm "$version" serial Churn || return
	works "$name: jtool first" alloc "$JVM_PID" -d 0.5
	jt load "$JVM_PID" "/$profiler" start,event=alloc
	same "$name: it starts afterwards" 0 "$rc"
	refuses 1 'another agent|already' "$name: while it samples" alloc "$JVM_PID" -d 1
	jt load "$JVM_PID" "/$profiler" "stop,file=$IW/other.txt"
	# It keeps the capability for good.
	refuses 1 '--exact' "$name: and when it has ended" alloc "$JVM_PID" -d 1
	jt alloc "$JVM_PID" -d 0.5 --exact
	same "$name: counting needs none of it" 0 "$rc"
	stop "$JVM_PID"
}

# begin_told NAME OPTION...: until Ctrl-C, and there is something to tell of: with the default
# interval some forty samples.
begin_told() {
	begin_aside alloc "$counting" "$1" -d 0 "${@:2}" || return
	ask 'churn 300' '^leaked ' "$PATIENCE" >/dev/null
}

# What is printed, and how it ends.
told() {
	local version=$1 name="$1: told" how=()

	[ "$version" -gt 8 ] || how=(--exact)
	start_jvm "$version" serial AllocLeak -Xmx64m || return
	jt alloc "$JVM_PID" "${how[@]}" -d 1 -n 3
	same "$name: exit" 0 "$rc"
	begin_told "$name: Ctrl-C" "${how[@]}" -n 3 || return
	end_trace "$name: Ctrl-C"
	check "$name: Ctrl-C: a stack with lines" \
		grep -q -E 'AllocLeak.churn\(AllocLeak.java:[0-9]+\)' "$W/trace.out"
	begin_told "$name: SIGTERM" "${how[@]}" || return
	kill -TERM "$TRACE_PID"
	await_trace "$name: SIGTERM" && same "$name: SIGTERM: exit" 0 "$rc"
	check "$name: SIGTERM: it prints all the same" grep -q 'AllocLeak.churn' "$W/trace.out"
	begin_told "$name: --collapsed" "${how[@]}" --collapsed - || return
	end_trace "$name: --collapsed"
	check "$name: collapsed stacks on stdout" grep -q -E '^([^;]+;)+[^;]+ [0-9]+$' "$W/trace.out"
	begin_told "$name: --depth" "${how[@]}" --depth 2 --collapsed - || return
	end_trace "$name: --depth"
	check "$name: what --depth cuts off is said" grep -q '^(2 frames or more);' "$W/trace.out"
	refuses 2 'interval' "$name: --exact --interval" alloc "$JVM_PID" --exact --interval 1k
	refuses 2 'interval' "$name: --interval" alloc "$JVM_PID" --interval 1x
	[ "$version" -gt 8 ] || refuses 1 '--exact' "$name: no sampling" alloc "$JVM_PID" -d 1
	unharmed "$name" 'leaked .*'
	check "$name: nothing left" \
		poll "$PATIENCE" nothing_left "${jdk_root[$version]}" "$JVM_PID" 0 "${IW#/}"
	stop "$JVM_PID"
}

for version in "${jdks[@]}"; do
	exact "$version" serial
done
for version in $(on 8 25); do
	exact "$version" default -XX:-TieredCompilation
	loads "$version"
	lives "$version"
	told "$version"
done
for version in $(on 17); do
	exact "$version" default -XX:TieredStopAtLevel=1
	held "$version"
	beside_other "$version"
done
for version in $(on 25); do
	sampled "$version"
	held "$version"
done
for version in $(on 21); do
	virtuals "$version"
done
if [ "$(in_soak 1 0)" -eq 1 ]; then
	for version in "${jdks[@]}"; do
		exact "$version" g1 -Xint
		exact "$version" parallel -Xcomp
		exact "$version" default -Xcheck:jni
		exact "$version" default -Xverify:all
	done
fi
