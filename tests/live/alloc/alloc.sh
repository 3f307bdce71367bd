#!/usr/bin/env bash
# alloc: exact profiles equal the application's own counts, to the object and the byte; sampled ones
# are within statistical bounds; live objects are reported; afterwards every class is restored.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/../lib.sh"
. "$live_dir/tracing.sh"

compare() {
	python3 "$live_dir/alloc/alloc.py" "$@"
}

include=$(find -L /usr/lib/jvm/default-java/include -name jni.h -printf '%h\n' | head -n 1)
cc -shared -fPIC "-I$include" "-I$include/linux" -o "$W/sampler.so" "$live_dir/alloc/sampler.c"

# The message of jtool -v when the profile counts allocations.
counting='begun, which took'

# begin_alloc NAME ARGUMENT...: profiles the victim until Ctrl-C.
begin_alloc() {
	begin_background alloc "$counting" "$1" -d 0 -n 0 "${@:2}"
}

# allocates LINE: the victim that was started last obeys LINE; its counts go to $W/counts.
allocates() {
	[ "$(ask "$1" '^ran ' "$(in_soak 900 "$PATIENCE")")" = "ran ${1% *}" ] ||
		fail "the application obeys $1"
	ask counts '^counts ' "$PATIENCE" >"$W/counts"
}

clear() {
	ask clear '^cleared$' "$PATIENCE" >/dev/null
}

# counted NAME N OPTION...: an exact profile of N rounds of all phases.
counted() {
	local name="$1, $2 times" n=$2

	clear
	begin_alloc "$name" --exact --json "${@:3}" || return
	allocates "all $n"
	end_trace "$name"
	check "$name: the profile equals the application's counts" \
		compare exact "$W/counts" "$W/trace.out"
}

# Compares with the heap, which retains every allocated object.
measured() {
	local name="$1: retained objects"

	ask 'keep 1' '^keeps' "$PATIENCE" >/dev/null
	clear
	jt heaphisto "$JVM_PID" --live --engine agent --json
	cp "$W/out" "$W/heap.before"
	begin_alloc "$name" --exact --json || return
	allocates "all 2000"
	end_trace "$name"
	jt heaphisto "$JVM_PID" --json
	cp "$W/out" "$W/heap.after"
	check "$name: the profile equals the growth of the heap" \
		compare exact "$W/counts" "$W/trace.out" "$W/heap.before" "$W/heap.after"
	ask 'keep 0' '^keeps' "$PATIENCE" >/dev/null
	clear
}

# For classes of the JDK: more allocations by the application appear in the profile.
differences() {
	local name="$1: the JDK's classes" n many

	many=$(in_soak 100000 2000)
	# Load all classes before the first profile. After a class is changed, reflection starts
	# with slow calls again.
	allocates "jdk $many"
	for n in 100 "$many"; do
		clear
		begin_alloc "$name, $n" --exact --json || return
		allocates "jdk $n"
		end_trace "$name, $n"
		cp "$W/counts" "$W/counts.$n"
		cp "$W/trace.out" "$W/profile.$n"
	done
	check "$name: the profiles differ by the application's counts" \
		compare jdk "$W/counts.100" "$W/profile.100" "$W/counts.$many" "$W/profile.$many"
}

# Objects with a finalizer are finalized, instrumented or not.
finalizers() {
	local name="$1: finalizers" before

	poll "$PATIENCE" all_finalized || fail "$name: they run before the profile"
	before=$n_finalized
	begin_alloc "$name" --exact --json || return
	ask 'run finals 20000' '^ran ' "$PATIENCE" >/dev/null
	end_trace "$name"
	ask 'run finals 1000' '^ran ' "$PATIENCE" >/dev/null
	if poll "$PATIENCE" all_finalized; then
		same "$name: all run" $((2000 + 100 + 2)) $((n_finalized - before))
	else
		fail "$name: all run" "$n_finalized of $n_final, $before before"
	fi
	clear
}

# all_finalized: all finalizers have run; requests a collection.
all_finalized() {
	read -r _ n_finalized _ n_final < <(ask finalized '^finalized ' "$PATIENCE")
	[ -n "$n_final" ] && [ "$n_finalized" -eq "$n_final" ]
}

# The allocation site of each object: its source line.
source_lines() {
	local name="$1: lines"

	begin_alloc "$name" --exact --json || return
	ask 'lines 50' '^lines ' "$PATIENCE" >"$W/lines"
	end_trace "$name"
	check "$name: each line has its allocations" \
		compare lines "$(cat "$W/lines")" 50 "$W/trace.out"
}

# A profile of some classes.
globs() {
	local name="$1: globs"

	clear
	begin_alloc "$name" 'AllocCount$Sub*' 'short[]*' --exact --json || return
	allocates "all 500"
	end_trace "$name"
	cp "$W/trace.out" "$W/out"
	same "$name: no other classes" \
		'AllocCount$Sub AllocCount$SubSub AllocCount$Sub[] AllocCount$Sub[][] short[] short[][] short[][][]' \
		"$(json "' '.join(sorted({s['class'] for s in j['sites']}, key=lambda c: (c[0], c.count('['), c)))")"
	for class in 'AllocCount$Sub' 'AllocCount$Sub[]' 'short[][][]'; do
		same "$name: every allocation of $class" \
			"$(python3 -c 'import json, sys
print(json.loads(sys.argv[1].partition(" ")[2])["own"][sys.argv[2]])' "$(cat "$W/counts")" "$class")" \
			"$(json "sum(s['count'] for s in j['sites'] if s['class'] == '$class')")"
	done
}

# '?' matches one character both in the agent, which counts, and in jtool, which prints.
characters() {
	local version=$1 name="$1: a class whose name is not ASCII" glob

	start_jvm "$version" serial AllocNames || return
	for glob in 'AllocNames$Caf?' 'AllocNames$Café' 'AllocNames$?' 'AllocNames$😀'; do
		begin_alloc "$name: $glob" "$glob" --exact --json || return
		ask 'make 500' '^made ' "$PATIENCE" >/dev/null
		end_trace "$name: $glob"
		cp "$W/trace.out" "$W/out"
		same "$name: $glob: counted and printed" \
			500 "$(json "sum(s['count'] for s in j['sites'])")"
		[[ $glob != *Caf* ]] || same "$name: $glob: no other class" "{'AllocNames\$Café'}" \
			"$(json "{s['class'] for s in j['sites']}")"
	done
	unharmed "$name" 'made .*'
	stop "$JVM_PID"
}

# Classes that are loaded during the profile.
loads() {
	local version=$1 name="$1: classes loaded during the profile"

	start_jvm "$version" default AllocLoads || return
	begin_alloc "$name" --exact --json || return
	ask 'loads 400' '^counts ' "$PATIENCE" >"$W/counts"
	end_trace "$name"
	check "$name: the profile equals the application's counts" \
		compare exact "$W/counts" "$W/trace.out"
	unharmed "$name" 'counts .*'
	stop "$JVM_PID"
}

# is_full VERSION: succeeds if everything is tested on this version. On the others, only what
# differs most between JVMs is tested.
is_full() {
	[[ " $(in_soak "${jdks[*]}" "8 25") " == *" $1 "* ]]
}

# exact VERSION GC [FLAG...]: exact profiles; with flags, only the counts.
exact() {
	local version=$1 name="${*:1}"

	start_jvm "$version" "$2" AllocCount -Xmx400m "${@:3}" || return
	[ $# -gt 2 ] || save_classes "$name" 'AllocCount*'
	# First interpreted, then compiled code.
	counted "$name" "$(in_soak 200000 20000)"
	if [ $# -eq 2 ] && is_full "$version"; then
		counted "$name" 1
		measured "$name"
		source_lines "$name"
		differences "$name"
		globs "$name"
		finalizers "$name"
	fi
	[ $# -gt 2 ] || classes_restored "$name"
	unharmed "$name" 'counts .*|ran .*|cleared|keeps .*|lines .*|finalized .*'
	check "$name: no file remains" \
		poll "$PATIENCE" nothing_left "${jdk_root[$version]}" "$JVM_PID" 0 "${IW#/}"
	stop "$JVM_PID"
}

# mixes NAME MILLIS OPTION...: profiles the victim's mix of allocations; its counts go to $W/mixed.
mixes() {
	begin_alloc "$1" --json "${@:3}" --collapsed "$W/collapsed" --flamegraph "$W/page.html" \
		--pprof "$W/pprof" --force || return
	ask "mix $2" '^mixed ' "$PATIENCE" >"$W/mixed"
	end_trace "$1"
}

sampled() {
	local version=$1 name="$1: sampled" types

	start_jvm "$version" parallel AllocWork -Xmx256m || return
	mixes "$name, exact" 1000 --exact
	cp "$W/trace.out" "$W/profile.exact"
	check "$name, exact: every allocation is counted" compare mix "$W/mixed" "$W/trace.out"
	check "$name, exact: the collapsed stacks equal the profile" \
		compare collapsed "$W/collapsed" "$W/trace.out" bytes
	check "$name, exact: the pprof profile equals the profile" \
		compare pprof "$W/pprof" "$W/trace.out"
	# With --sort bytes, JSON has the sites without live objects, too.
	mixes "$name, live" 300 --exact --live --sort bytes
	check "$name, live: the pprof profile has all objects and the live ones" \
		compare pprof "$W/pprof" "$W/trace.out"
	types='alloc_space/bytes alloc_objects/count inuse_space/bytes\[dflt\] inuse_objects/count'
	if command -v go >/dev/null; then
		check "$name, live: go tool pprof shows live bytes by default" \
			bash -c "go tool pprof -raw '$W/pprof' | grep -q -x '$types'"
	else
		skip "$name, live: go tool pprof" "golang-go is not installed"
	fi
	# The long form uses the defaults; the short one takes more samples in less time.
	if [ "$(in_soak 1 0)" -eq 1 ]; then
		mixes "$name" 10000
	else
		mixes "$name" 3000 --interval 16k
	fi
	check "$name: the estimates are within their bounds" \
		compare shares "$W/mixed" "$W/trace.out" \
		"$W/profile.exact"
	check "$name: the collapsed stacks equal the profile" \
		compare collapsed "$W/collapsed" "$W/trace.out" bytes
	check "$name: the flame graph has the stacks" grep -q 'AllocWork$Mix.p13' "$W/page.html"
	check "$name: the flame graph loads nothing" \
		bash -c "! grep -i -E '(src|href)=.?(https?:)?//' '$W/page.html'"
	unharmed "$name" 'mixed .*'
	stop "$JVM_PID"
}

# leaks ROUNDS: makes AllocLeak leak; sets n_leaked, and n_old, how many of the leaked objects are
# old.
leaks() {
	read -r _ n_leaked n_old < <(ask "leak $1" '^leaked ' $((3 * PATIENCE)))
}

live_profiles() {
	local version=$1 name="$1: --live" how

	start_jvm "$version" serial AllocLeak -Xmx64m -Xmn4m || return
	[ "$version" -eq 8 ] || {
		begin_alloc "$name, chosen" --live --age 3 --json || return
		ask 'churn 300' '^leaked ' "$PATIENCE" >/dev/null # jtool chooses the interval
		leaks 1500
		check_leak "$name" chosen
		begin_alloc "$name, sampled" --live --age 3 --interval 4k --json || return
		# A thread's first sample is still taken at the former interval.
		ask 'churn 150' '^leaked ' "$PATIENCE" >/dev/null
		leaks 1000
		check_leak "$name" sampled
		begin_alloc "$name, young objects" --live --interval 128 --json || return
		ask 'churn 250' '^leaked ' "$PATIENCE" >/dev/null
		end_trace "$name, young objects"
		check "$name, young objects: the cache" compare young "$W/trace.out"
	}
	begin_alloc "$name, exact" --live --age 3 --exact --json || return
	leaks 600
	check_leak "$name" exact
	unharmed "$name" 'leaked .*|forgot'
	stop "$JVM_PID"
}

# check_leak NAME HOW: ends the profile; the leak is its first row.
check_leak() {
	end_trace "$1, $2"
	check "$1, $2: the leak is the first row" \
		compare leak "$2" "$n_leaked" "$n_old" "$W/trace.out"
	ask forget '^forgot$' "$PATIENCE" >/dev/null
}

# Thousands of virtual threads: all keep running, and all are counted.
virtuals() {
	local version=$1 name="$1: virtual threads" n=3000 made options

	start_jvm "$version" default AllocVirtual -Xmx200m -- $n || return
	for options in --exact '--interval 1k' '--live'; do
		# shellcheck disable=SC2086 # split into words
		begin_alloc "$name: $options" $options --json || return
		# A carrier thread's first sample is still taken at the former interval.
		ask warm '^warm$' "$PATIENCE" >/dev/null
		ask loud '^loud$' "$PATIENCE" >/dev/null
		check "$name: $options: all threads run" poll "$PATIENCE" awake $n
		ask again '^again$' "$PATIENCE" >/dev/null
		check "$name: $options: all threads still run" poll "$PATIENCE" awake $n
		poll "$PATIENCE" made_many || fail "$name: $options: they allocate many objects"
		made=$(ask quiet '^quiet ' "$PATIENCE" | cut -d' ' -f2)
		end_trace "$name: $options"
		cp "$W/trace.out" "$W/out"
		case $options in
		--exact) same "$name: every allocation" \
			"[$made, $((made / 10))]" "$(json "[sum(s['count']
			for s in j['sites'] if s['class'] == 'AllocVirtual\$Made' + dimensions)
			for dimensions in ('', '[]')]")" ;;
		*1k)	# More than 3000 samples: the bound is five standard deviations.
			same "$name: about $made objects" True \
				"$(json "(lambda n: abs(n / $made - 1)
			< 0.09)(sum(s['count'] for s in j['sites'] if s['class'] == 'AllocVirtual\$Made'))")" ;;
		esac
		same "$name: $options: the stacks" True \
			"$(json "all('AllocVirtual.run' in ' '.join(s['stack'])
			for s in j['sites'] if s['class'] == 'AllocVirtual\$Made')")"
	done
	ask again '^again$' "$PATIENCE" >/dev/null
	ask loud '^loud$' "$PATIENCE" >/dev/null
	check "$name: all threads run afterwards" poll "$PATIENCE" awake $n
	unharmed "$name" '(quiet|awake|made) [0-9]+|warm|loud|again'
	stop "$JVM_PID"
}

awake() {
	[ "$(ask awake '^awake ' "$PATIENCE")" = "awake $1" ]
}

made_many() {
	[ "$(ask made '^made ' "$PATIENCE" | cut -d' ' -f2)" -ge 200000 ]
}

# Another agent samples: the error says so; and jtool releases the sampler afterwards.
sampler_taken() {
	local version=$1 name="$1: another agent samples"

	start_jvm "$version" serial Churn || return
	jt load "$JVM_PID" "$W/sampler.so" hold
	same "$name: it starts" 0 "$rc"
	refuses 1 'another agent|already' "$name: alloc is refused" alloc "$JVM_PID" -d 1
	check "$name: alloc suggests --exact" grep -q -e '--exact' "$W/err"
	jt load "$JVM_PID" "$W/sampler.so" release
	same "$name: it ends" 0 "$rc"
	works "$name: alloc works afterwards" alloc "$JVM_PID" -d 0.5
	jt alloc "$JVM_PID" -d 0.2 --exact --json String
	same "$name: alloc SIMPLE: it works" 0 "$rc"
	same "$name: alloc SIMPLE: only that class" "" \
		"$(json "' '.join({s['class'] for s in j['sites']} - {'java.lang.String'})")"
	prints "$name: an impossible --age: a notice" 'nothing can be that old' \
		alloc "$JVM_PID" -d 0.5 --age 100000
	refuses 2 'same file' "$name: one file for two outputs: refused" \
		alloc "$JVM_PID" --collapsed x --flamegraph x
	begin_alloc "$name: alloc samples" || return
	jt load "$JVM_PID" "$W/sampler.so" hold
	same "$name: another agent cannot sample during alloc" 1 "$rc"
	refuses 1 'another jtool' "$name: a second alloc is refused" alloc "$JVM_PID" -d 0.5
	end_trace "$name"
	check "$name: another agent can sample after alloc" poll "$PATIENCE" may_hold
	unharmed "$name" '.*' '.*'
	stop "$JVM_PID"
}

may_hold() {
	jt load "$JVM_PID" "$W/sampler.so" hold && [ "$rc" -eq 0 ]
}

# With async-profiler, which scripts/jdks installs.
beside_other() {
	local version=$1 name="$1: async-profiler" profiler

	profiler=$(cd "${jdk_root[$version]}" && echo usr/lib/*/jni/libasyncProfiler.so)
	check "$name: it is installed" test -e "${jdk_root[$version]}/$profiler"
	start_jvm "$version" serial Churn || return
	works "$name: alloc works before" alloc "$JVM_PID" -d 0.5
	jt load "$JVM_PID" "/$profiler" start,event=alloc
	same "$name: async-profiler starts after alloc" 0 "$rc"
	refuses 1 'another agent|already' "$name: alloc is refused while async-profiler samples" \
		alloc "$JVM_PID" -d 1
	jt load "$JVM_PID" "/$profiler" "stop,file=$IW/other.txt"
	# async-profiler never releases the capability.
	refuses 1 '--exact' "$name: alloc is refused after async-profiler" alloc "$JVM_PID" -d 1
	jt alloc "$JVM_PID" -d 0.5 --exact
	same "$name: alloc --exact works" 0 "$rc"
	stop "$JVM_PID"
}

# begin_with_samples NAME OPTION...: profiles the victim until Ctrl-C, and makes it allocate: about
# 40 samples with the default interval.
begin_with_samples() {
	begin_background alloc "$counting" "$1" -d 0 "${@:2}" || return
	ask 'churn 300' '^leaked ' "$PATIENCE" >/dev/null
}

# The output, and the ways to end.
output() {
	local version=$1 name="$1: output" how=()

	[ "$version" -gt 8 ] || how=(--exact)
	start_jvm "$version" serial AllocLeak -Xmx64m || return
	jt alloc "$JVM_PID" "${how[@]}" -d 1 -n 3
	same "$name: exit code" 0 "$rc"
	begin_with_samples "$name: Ctrl-C" "${how[@]}" -n 3 || return
	end_trace "$name: Ctrl-C"
	check "$name: Ctrl-C: a stack with line numbers" \
		grep -q -E 'AllocLeak.churn\(AllocLeak.java:[0-9]+\)' "$W/trace.out"
	begin_with_samples "$name: SIGTERM" "${how[@]}" || return
	kill -TERM "$TRACE_PID"
	await_trace "$name: SIGTERM" && same "$name: SIGTERM: exit code" 0 "$rc"
	check "$name: SIGTERM: it prints the profile" grep -q 'AllocLeak.churn' "$W/trace.out"
	begin_with_samples "$name: --collapsed" "${how[@]}" --collapsed - || return
	end_trace "$name: --collapsed"
	check "$name: collapsed stacks on stdout" grep -q -E '^([^;]+;)+[^;]+ [0-9]+$' "$W/trace.out"
	begin_with_samples "$name: --depth" "${how[@]}" --depth 2 --collapsed - || return
	end_trace "$name: --depth"
	check "$name: --depth: omitted frames are marked" \
		grep -q '^(2 frames or more);' "$W/trace.out"
	refuses 2 'interval' "$name: --exact --interval: refused" \
		alloc "$JVM_PID" --exact --interval 1k
	refuses 2 'interval' "$name: an invalid --interval is refused" \
		alloc "$JVM_PID" --interval 1x
	[ "$version" -gt 8 ] || refuses 1 '--exact' "$name: sampling is refused on JDK 8" \
		alloc "$JVM_PID" -d 1
	unharmed "$name" 'leaked .*'
	check "$name: no file remains" \
		poll "$PATIENCE" nothing_left "${jdk_root[$version]}" "$JVM_PID" 0 "${IW#/}"
	stop "$JVM_PID"
}

# A program that allocates so little that HotSpot takes no sample.
quiet() {
	local version=$1 name="$1: a quiet program"

	start_jvm "$version" serial Idle || return
	jt alloc "$JVM_PID" -d 1 --interval 1k
	same "$name: exit code" 0 "$rc"
	check "$name: no number is claimed" grep -q '^1\.[0-9] s: no samples, one in 1' "$W/out"
	check "$name: it names --exact" grep -q -e '--exact counts every object' "$W/out"
	stop "$JVM_PID"
}

for version in "${jdks[@]}"; do
	exact "$version" serial
done
for version in $(jdks_of 8 25); do
	exact "$version" default -XX:-TieredCompilation
	loads "$version"
	live_profiles "$version"
	output "$version"
done
for version in $(jdks_of 17); do
	quiet "$version"
	exact "$version" default -XX:TieredStopAtLevel=1
	characters "$version"
	sampler_taken "$version"
	beside_other "$version"
done
for version in $(jdks_of 25); do
	sampled "$version"
	sampler_taken "$version"
done
for version in $(jdks_of 21); do
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
