#!/usr/bin/env bash
# alloc under load: however the client ends, the application continues, its checks pass, and nothing
# remains in the JVM. JTOOL_SOAK=1: 100 kills of each kind on every JDK.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/../lib.sh"
. "$live_dir/tracing.sh"

kills=$(in_soak 100 10)

# ways VERSION: the options of alloc to test, one set per line.
ways() {
	[ "$1" -eq 8 ] || printf '%s\n' '' '--interval 16k --live' '--interval 1k --depth 8'
	printf '%s\n' --exact '--exact --live --age 2' '--exact TraceLoad* java.lang.String'
}

# ended_early SIGNAL: signals alloc at a random moment, mostly while classes are instrumented.
ended_early() {
	local client

	(cd "$W" && exec env --default-signal=INT ./jtool alloc "$JVM_PID" "${way[@]}" -d 60 \
		>"$W/killed.out" 2>&1) &
	client=$!
	sleep "$((RANDOM % 2)).$(printf '%03d' $((RANDOM % 1000)))" # at a random moment
	kill "-$1" $client 2>/dev/null
	wait $client 2>/dev/null
}

# rss_without_metaspace: the JVM's resident memory without metaspace, which grows when classes are
# replaced.
rss_without_metaspace() {
	local metaspace

	metaspace=$("$W/jtool" perf "$JVM_PID" sun.gc.metaspace.capacity) || return
	echo $(($(rss_after_gc) - ${metaspace#*=} / 1024))
}

# profile_each NAME OPTIONS...: runs a profile with each of these strings of options.
profile_each() {
	local name=$1 line way

	shift
	for line; do
		read -r -a way <<<"$line"
		jt alloc "$JVM_PID" "${way[@]}" -d 0.5
		same "$name: ${way[*]}: exit code" 0 "$rc"
		app_works "$name: ${way[*]}" || return
	done
	poll "$PATIENCE" no_agent
}

# grows NAME KB OPTIONS...: runs a profile with each of these strings of options; RSS grows by less
# than KB over all of them. If it grows by more, a second round decides: a leak grows again, but
# HotSpot and malloc reuse memory that they retained in the first round.
grows() {
	local name=$1 limit=$2 rss grown round

	shift 2
	poll "$PATIENCE" no_agent
	for round in first second; do
		rss=$(rss_without_metaspace) && profile_each "$name" "$@" || return
		grown=$(($(rss_without_metaspace) - rss))
		[ "$grown" -ge "$limit" ] || break
	done
	check "$name: RSS grows by $grown KB in the $round round" test "$grown" -lt "$limit"
}

killed() {
	local version=$1 i threads fds rss grown way all round limit

	limit=$(in_soak 60000 20000)
	# The heap, metaspace and code cache have limits that are reached gradually.
	start_load "$version" -XX:+UseSerialGC -Xms100m -XX:+AlwaysPreTouch -XX:MaxMetaspaceSize=80m \
		-XX:TieredStopAtLevel=1 || return
	save_classes "$version: under load" 'TraceLoad*' 'Generated*'
	mapfile -t all < <(ways "$version")
	if [ "$version" -gt 8 ]; then
		# The first profile loads the agent library.
		grows "$version: sampled first" 8192 ''
		grows "$version: sampled" 4096 "${all[@]:0:3}"
	fi
	# An exact profile takes more memory, because HotSpot keeps the class files of changed classes
	# and recompiles all code.
	grows "$version: exact first" 16384 --exact
	grows "$version: exact" 32768 "${all[@]: -3}"
	classes_restored "$version: after each kind of profile"
	threads=$(minimum_of lasting_threads "$JVM_PID") fds=$(minimum_of fd_count "$JVM_PID")
	# As in grows(), a second round decides.
	for round in first second; do
		rss=$(rss_without_metaspace)
		for ((i = 0; i < kills; i++)); do
			read -r -a way <<<"${all[i % ${#all[@]}]}"
			ended_early KILL
			app_works "$version: kill $i of ${way[*]}" || return
		done
		poll "$PATIENCE" no_agent
		classes_restored "$version: $i clients killed"
		grown=$(($(rss_without_metaspace) - rss))
		[ $grown -ge "$limit" ] || break
	done
	check "$version: $i kills: RSS grows by $grown KB in the $round round" test $grown -lt "$limit"
	unharmed_after_kills "$version" $i "$threads" "$fds"
}

# The JVM exits during a profile.
jvm_exits() {
	local version=$1 how way

	for way in $([ "$version" -eq 8 ] || echo -n --live) --exact; do
		for how in exit kill; do
			start_load "$version" || return
			begin_background alloc 'begun, which took' "$version: $way, $how" -d 0 "$way" || return
			if [ $how = exit ]; then
				echo exit >&"$JVM_IN"
			else
				kill -9 "$JVM_PID"
			fi
			await_trace "$version: $way: the JVM exits by $how"
			same "$version: $way: the JVM exits by $how: exit code" 7 "$rc"
			check "$version: $way: the JVM exits by $how: the error says so" \
				grep -q '^jtool: alloc: ' "$W/trace.err"
			stop "$JVM_PID"
		done
	done
}

# A trace and profiles at the same time, and two profiles of one kind.
together() {
	local version=$1 name="$1: trace and profiles" first

	start_load "$version" || return
	save_classes "$name" 'TraceLoad*'
	begin_trace "$name" 'TraceLoad$Work.*' --summary --budget 0 || return
	first=$TRACE_PID
	jt alloc "$JVM_PID" --exact -d 1
	same "$name: during a trace: exit code" 0 "$rc"
	check "$name: during a trace: allocations are counted" grep -q -F 'TraceLoad$Work' "$W/out"
	app_works "$name"
	kill -INT "$first"
	await_trace "$name"
	begin_background alloc 'begun, which took' "$name: exact" -d 0 --exact || return
	jt alloc "$JVM_PID" --exact -d 1
	same "$name: a second exact profile: exit code" 1 "$rc"
	check "$name: a second exact profile: the error says why" \
		grep -q 'another jtool alloc --exact or recording is running' "$W/err"
	[ "$version" -eq 8 ] || works "$name: a sampled profile during an exact one" \
		alloc "$JVM_PID" -d 0.5
	end_trace "$name: exact"
	classes_restored "$name"
	app_keeps_working "$name"
	stop "$JVM_PID"
}

# A JVM that writes an archive of its classes at its exit crashes if java.lang.Object was ever
# replaced. So jtool must refuse to replace it.
archived() {
	local version=$1 archive=$2 name="$1: ${2%%=*}" file

	file=$IW/${1}archive
	(cd "$W" && jar cf Idle.jar -C classes .) || return
	spawn chroot "${jdk_root[$version]}" "${jdk_home[$version]}/bin/java" -Xmx64m \
		"$archive=$file" -cp "$IW/Idle.jar" Idle
	await_ready || return
	refuses 1 'archive of its classes' "$name: an exact profile is refused" \
		alloc "$JVM_PID" --exact -d 1
	refuses 1 'archive of its classes' "$name: a trace is refused" \
		trace "$JVM_PID" 'java.lang.Object.*' \
		-d 1
	works "$name: a sampled profile works" alloc "$JVM_PID" -d 0.5
	kill -TERM "$JVM_PID"
	check "$name: the JVM ends" poll 60 gone "$JVM_PID"
	check "$name: the JVM has written the archive" test -s "${jdk_root[$version]}$file"
	rm -f "${jdk_root[$version]}$file"
}

# jtool must not exhaust the JVM's memory, in particular if the JVM exits when that happens.
tight() {
	local version=$1 name="$1: little metaspace" flags=(-XX:MaxMetaspaceSize=16m -XX:+UseSerialGC)

	start_jvm "$version" default Idle "${flags[@]}" -XX:+ExitOnOutOfMemoryError || return
	refuses 1 'the JVM would end' "$name, ExitOnOutOfMemoryError: refused" \
		alloc "$JVM_PID" --exact -d 1
	[ "$version" -eq 8 ] || works "$name: a sampled profile works" alloc "$JVM_PID" -d 0.5
	stop "$JVM_PID"
	start_jvm "$version" default Idle "${flags[@]}" -XX:OnOutOfMemoryError=/bin/true || return
	refuses 1 'the JVM would run a command' "$name, OnOutOfMemoryError: refused" \
		alloc "$JVM_PID" --exact -d 1
	stop "$JVM_PID"
	start_jvm "$version" default Idle "${flags[@]}" || return
	refuses 1 'would get OutOfMemoryError' "$name: refused" alloc "$JVM_PID" --exact -d 1
	stop "$JVM_PID"
}

for version in $(jdks_of 8 17 25); do
	tight "$version"
done
for version in $(jdks_of 17 25); do
	archived "$version" -XX:ArchiveClassesAtExit
done
for version in $(jdks_of 25); do
	archived "$version" -XX:AOTCacheOutput
done
for version in $(jdks_of 8 25); do
	killed "$version"
done
for version in $(jdks_of 17); do
	jvm_exits "$version"
done
for version in $(jdks_of 21); do
	together "$version"
done
