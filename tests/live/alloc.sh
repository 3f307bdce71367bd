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

# makes LINE SECONDS: the victim started last does that; its counts go to $W/counts.
makes() {
	[ "$(ask "$1" '^ran ' "${2:-60}")" = "ran ${1% *}" ] || fail "the application does $1"
	ask counts '^counts ' 30 >"$W/counts"
}

clear() {
	ask clear '^cleared$' >/dev/null
}

# counted NAME N OPTION...: all phases, N times, while all is counted.
counted() {
	local name="$1, $2 times" n=$2

	clear
	begin_alloc "$name" --exact --json "${@:3}" || return
	makes "all $n" 120
	end_trace "$name"
	check "$name: exact" compare exact "$W/counts" "$W/trace.out"
}

# By the heap: all that is made is kept.
measured() {
	local name="$1: kept"

	ask 'keep 1' '^keeps' >/dev/null
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
	ask 'keep 0' '^keeps' >/dev/null
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

	finalized
	before=$n_finalized
	begin_alloc "$name" --exact --json || return
	ask 'run finals 20000' '^ran ' >/dev/null
	end_trace "$name"
	ask 'run finals 1000' '^ran ' >/dev/null
	clear
	if poll 20 finalized_all $((before + 2000 + 100 + 2)); then
		pass "$name run"
	else
		fail "$name run" "$n_finalized"
	fi
}

finalized() {
	read -r _ n_finalized < <(ask finalized '^finalized ')
}

finalized_all() {
	finalized
	[ "$n_finalized" -ge "$1" ]
}

# Where: the line that made it.
places() {
	local name="$1: lines"

	begin_alloc "$name" --exact --json || return
	ask 'lines 50' '^lines ' >"$W/lines"
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
	ask 'loads 400' '^counts ' 60 >"$W/counts"
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
	if [ $# -eq 2 ]; then
		measured "$name"
		places "$name"
	fi
	if [ $# -eq 2 ] && is_full "$version"; then
		counted "$name" 1
		differences "$name"
		globs "$name"
		finalizers "$name"
	fi
	[ $# -gt 2 ] || as_before "$name"
	unharmed "$name" 'counts .*|ran .*|cleared|keeps .*|lines .*|finalized .*'
	check "$name: nothing left" \
		poll 5 nothing_left "${jdk_root[$version]}" "$JVM_PID" 0 "${IW#/}"
	stop "$JVM_PID"
}

# mixes NAME MILLIS OPTION...: while it makes its mix; its counts go to $W/mixed.
mixes() {
	begin_alloc "$1" --json "${@:3}" --collapsed "$W/collapsed" --flamegraph "$W/page.html" \
		--force || return
	ask "mix $2" '^mixed ' 120 >"$W/mixed"
	end_trace "$1"
}

sampled() {
	local version=$1 name="$1: sampled"

	start_jvm "$version" parallel AllocWork -Xmx256m || return
	mixes "$name, exact" 1000 --exact
	cp "$W/mixed" "$W/mixed.exact"
	cp "$W/trace.out" "$W/profile.exact"
	check "$name, exact: collapsed stacks are the profile" \
		compare collapsed "$W/collapsed" "$W/trace.out" bytes
	ask 'mix 2000' '^mixed ' >/dev/null # it is compiled anew
	mixes "$name" 10000
	check "$name: estimates are right" compare shares "$W/mixed" "$W/trace.out" \
		"$W/mixed.exact" "$W/profile.exact"
	check "$name: collapsed stacks are the profile" \
		compare collapsed "$W/collapsed" "$W/trace.out" bytes
	check "$name: the page has them" grep -q 'AllocWork$Mix.p13' "$W/page.html"
	check "$name: the page needs nothing else" \
		bash -c "! grep -i -E '(src|href)=.?(https?:)?//' '$W/page.html'"
	unharmed "$name" 'mixed .*'
	stop "$JVM_PID"
}

# leaked: how many there are, of a thousand bytes each.
leaked() {
	ask leaked '^leaked ' | cut -d' ' -f2
}

lives() {
	local version=$1 name="$1: what lives" how options before

	start_jvm "$version" serial AllocLeak -Xmx64m -Xmn10m || return
	for how in $([ "$version" -eq 8 ] || echo chosen sampled) exact; do
		options=(--live --age 3 -d 4)
		case $how in
		sampled) options+=(--interval 4k) ;;
		exact) options+=(--exact) ;;
		esac
		before=$(leaked)
		jt alloc "$JVM_PID" "${options[@]}" --json
		same "$name, $how: exit" 0 "$rc"
		check "$name, $how: the leak comes first" compare leak 'byte[]' AllocLeak.leak "$how" \
			$(($(leaked) - before)) "$W/out"
	done
	[ "$version" -eq 8 ] || {
		works "$name, young, too" alloc "$JVM_PID" --live -d 2 --interval 4k --json
		same "$name, young: the cache" True "$(json "1000 < sum(s['live_count']
			for s in j['sites'] if s['class'] == 'AllocLeak\$Cached') < 20000")"
	}
	unharmed "$name" 'leaked [0-9]+'
	stop "$JVM_PID"
}

# Thousands of virtual threads: none stands still, and all are counted.
virtuals() {
	local version=$1 name="$1: virtual threads" made options

	start_jvm "$version" default AllocVirtual -Xmx200m -- 3000 || return
	for options in --exact '--interval 4k' '--live'; do
		ask quiet '^quiet ' 30 >/dev/null
		# shellcheck disable=SC2086 # words
		begin_alloc "$name: $options" $options --json || return
		ask loud '^loud ' >/dev/null
		sleep 2 # they work
		check "$name: $options: they go on" test "$(ask beats '^beats ' | cut -d' ' -f2)" -gt 1000
		sleep 0.5
		check "$name: $options: and on" test "$(ask beats '^beats ' | cut -d' ' -f2)" -gt 100
		made=$(ask quiet '^quiet ' 30 | cut -d' ' -f2)
		end_trace "$name: $options"
		cp "$W/trace.out" "$W/out"
		case $options in
		--exact) same "$name: all of them" "[$made, $((made / 10))]" "$(json "[sum(s['count']
			for s in j['sites'] if s['class'] == 'AllocVirtual\$Made' + dimensions)
			for dimensions in ('', '[]')]")" ;;
		*4k) same "$name: about so many as $made" True "$(json "(lambda n: abs(n / $made - 1)
			< 0.1)(sum(s['count'] for s in j['sites'] if s['class'] == 'AllocVirtual\$Made'))")" ;;
		esac
		same "$name: $options: from where" True "$(json "all('AllocVirtual.run' in ' '.join(s['stack'])
			for s in j['sites'] if s['class'] == 'AllocVirtual\$Made')")"
	done
	ask loud '^loud ' >/dev/null
	sleep 0.5
	check "$name: afterwards" test "$(ask beats '^beats ' | cut -d' ' -f2)" -gt 100
	unharmed "$name" '(quiet|loud|beats) [0-9]+'
	stop "$JVM_PID"
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
	check "$name: the other one can again" poll 5 may_hold
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

# What is printed, and how it ends.
told() {
	local version=$1 name="$1: told" how=()

	[ "$version" -gt 8 ] || how=(--exact)
	start_jvm "$version" serial AllocLeak -Xmx64m || return
	jt alloc "$JVM_PID" "${how[@]}" -d 1 -n 3
	same "$name: exit" 0 "$rc"
	check "$name: a stack with lines" grep -q -E 'AllocLeak.churn\(AllocLeak.java:[0-9]+\)' "$W/out"
	begin_alloc "$name: Ctrl-C" "${how[@]}" || return
	sleep 0.5
	end_trace "$name: Ctrl-C"
	check "$name: Ctrl-C: it prints all the same" grep -q 'AllocLeak.churn' "$W/trace.out"
	begin_alloc "$name: SIGTERM" "${how[@]}" || return
	kill -TERM "$TRACE_PID"
	await_trace "$name: SIGTERM" && same "$name: SIGTERM: exit" 0 "$rc"
	jt alloc "$JVM_PID" "${how[@]}" -d 0.5 --collapsed - -n 0
	check "$name: collapsed stacks on stdout" grep -q -E '^([^;]+;)+[^;]+ [0-9]+$' "$W/out"
	jt alloc "$JVM_PID" "${how[@]}" -d 0.5 --depth 2 --collapsed -
	check "$name: what --depth cuts off is said" grep -q '^(2 frames or more);' "$W/out"
	refuses 2 'interval' "$name: --exact --interval" alloc "$JVM_PID" --exact --interval 1k
	refuses 2 'interval' "$name: --interval" alloc "$JVM_PID" --interval 1x
	[ "$version" -gt 8 ] || refuses 1 '--exact' "$name: no sampling" alloc "$JVM_PID" -d 1
	unharmed "$name"
	check "$name: nothing left" \
		poll 5 nothing_left "${jdk_root[$version]}" "$JVM_PID" 0 "${IW#/}"
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
