#!/usr/bin/env bash
# alloc under load: however the client ends, the application goes on, what it checks is right, and
# nothing stays in it.  JTOOL_SOAK=1: 100 kills of each kind on every JDK.
# shellcheck source-path=SCRIPTDIR source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/lib.sh"
. "$live_dir/tracing.sh"

kills=$(in_soak 100 10)

# ways VERSION: as an application may meet it, one a line.
ways() {
	[ "$1" -eq 8 ] || printf '%s\n' '' '--interval 16k --live' '--interval 1k --depth 8'
	printf '%s\n' --exact '--exact --live --age 2' '--exact TraceLoad* java.lang.String'
}

# ended_early SIGNAL: that, at a random moment, most of them while classes are hooked.
ended_early() {
	local client

	(cd "$W" && exec env --default-signal=INT ./jtool alloc "$JVM_PID" "${way[@]}" -d 60 \
		>"$W/killed.out" 2>&1) &
	client=$!
	sleep "$((RANDOM % 2)).$(printf '%03d' $((RANDOM % 1000)))" # the moment is the test
	kill "-$1" $client 2>/dev/null
	wait $client 2>/dev/null
}

# What it takes beside its metaspace, which HotSpot lets grow as classes are replaced.
beside_classes() {
	local metaspace

	metaspace=$("$W/jtool" perf "$JVM_PID" sun.gc.metaspace.capacity) || return
	echo $(($(resident) - ${metaspace#*=} / 1024))
}

# grows NAME KB WAY...: how much larger it stays after each of these.
grows() {
	local name=$1 limit=$2 rss grown line way

	shift 2
	poll "$PATIENCE" no_agent
	rss=$(beside_classes)
	for line; do
		read -r -a way <<<"$line"
		jt alloc "$JVM_PID" "${way[@]}" -d 0.5
		same "$name: ${way[*]}: exit" 0 "$rc"
		working "$name: ${way[*]}" || return
	done
	poll "$PATIENCE" no_agent
	grown=$(($(beside_classes) - rss))
	check "$name: RSS grew by $grown KB" test "$grown" -lt "$limit"
}

killed() {
	local version=$1 i threads fds rss grown way all

	# The JVM's memory, and that of classes and of code, has a size that is reached by and by.
	loaded "$version" -XX:+UseSerialGC -Xms100m -XX:+AlwaysPreTouch -XX:MaxMetaspaceSize=80m \
		-XX:TieredStopAtLevel=1 || return
	whole_before "$version: under load" 'TraceLoad*' 'Generated*'
	mapfile -t all < <(ways "$version")
	if [ "$version" -gt 8 ]; then
		# What the first one brings with it: the library.
		grows "$version: sampled first" 8192 ''
		grows "$version: sampled" 4096 "${all[@]:0:3}"
	fi
	# HotSpot keeps the class files of classes that were changed, and compiles all code anew.
	grows "$version: exact first" 16384 --exact
	grows "$version: exact" 32768 "${all[@]: -3}"
	as_before "$version: after each way"
	threads=$(fewest lasting_threads "$JVM_PID") fds=$(fewest fd_count "$JVM_PID")
	rss=$(beside_classes)
	for ((i = 0; i < kills; i++)); do
		read -r -a way <<<"${all[i % ${#all[@]}]}"
		ended_early KILL
		working "$version: kill $i of ${way[*]}" || return
	done
	poll "$PATIENCE" no_agent
	as_before "$version: $i clients killed"
	grown=$(($(beside_classes) - rss))
	check "$version: $i kills: RSS grew by $grown KB" test $grown -lt "$(in_soak 60000 20000)"
	survived "$version" $i "$threads" "$fds"
}

# The JVM goes while it is profiled.
goes() {
	local version=$1 how way

	for way in $([ "$version" -eq 8 ] || echo -n --live) --exact; do
		for how in exit kill; do
			loaded "$version" || return
			begin_aside alloc 'begun, which took' "$version: $way, $how" -d 0 "$way" || return
			if [ $how = exit ]; then
				echo exit >&"$JVM_IN"
			else
				kill -9 "$JVM_PID"
			fi
			await_trace "$version: $way: the JVM goes by $how"
			same "$version: $way: the JVM goes by $how: exit" 7 "$rc"
			check "$version: $way: the JVM goes by $how: that is said" \
				grep -q '^jtool: alloc: ' "$W/trace.err"
			stop "$JVM_PID"
		done
	done
}

# A trace and profiles at once, and one of each kind.
together() {
	local version=$1 name="$1: together" first

	loaded "$version" || return
	whole_before "$name" 'TraceLoad*'
	begin_trace "$name" 'TraceLoad$Work.*' --summary --budget 0 || return
	first=$TRACE_PID
	jt alloc "$JVM_PID" --exact -d 1
	same "$name: beside a trace: exit" 0 "$rc"
	check "$name: beside a trace: it counts" grep -q -F 'TraceLoad$Work' "$W/out"
	working "$name"
	kill -INT "$first"
	await_trace "$name"
	begin_aside alloc 'begun, which took' "$name: exact" -d 0 --exact || return
	jt alloc "$JVM_PID" --exact -d 1
	same "$name: a second exact one: exit" 1 "$rc"
	check "$name: a second exact one: why not" grep -q 'already' "$W/err"
	[ "$version" -eq 8 ] || works "$name: a sampled one beside it" alloc "$JVM_PID" -d 0.5
	end_trace "$name: exact"
	as_before "$name"
	beating "$name"
	stop "$JVM_PID"
}

# A JVM that writes an archive of its classes as it ends crashes there when java.lang.Object was
# replaced, if only for a while: it must not be.
archived() {
	local version=$1 archive=$2 name="$1: ${2%%=*}" file

	file=$IW/${1}archive
	(cd "$W" && jar cf Idle.jar -C classes .) || return
	spawn chroot "${jdk_root[$version]}" "${jdk_home[$version]}/bin/java" -Xmx64m \
		"$archive=$file" -cp "$IW/Idle.jar" Idle
	await_ready || return
	refuses 1 'archive of its classes' "$name: no exact profile" alloc "$JVM_PID" --exact -d 1
	refuses 1 'archive of its classes' "$name: no trace" trace "$JVM_PID" 'java.lang.Object.*' \
		-d 1
	works "$name: sampled" alloc "$JVM_PID" -d 0.5
	kill -TERM "$JVM_PID"
	check "$name: it ends" poll 60 gone "$JVM_PID"
	check "$name: it has written the archive" test -s "${jdk_root[$version]}$file"
	rm -f "${jdk_root[$version]}$file"
}

# One must not be brought to want of memory, least of all one that ends itself then.
tight() {
	local version=$1 name="$1: little metaspace" flags=(-XX:MaxMetaspaceSize=16m -XX:+UseSerialGC)

	start_jvm "$version" default Idle "${flags[@]}" -XX:+ExitOnOutOfMemoryError || return
	refuses 1 'the JVM would end' "$name, and the JVM ends of it" alloc "$JVM_PID" --exact -d 1
	[ "$version" -eq 8 ] || works "$name: sampled" alloc "$JVM_PID" -d 0.5
	stop "$JVM_PID"
	start_jvm "$version" default Idle "${flags[@]}" || return
	refuses 1 'would get OutOfMemoryError' "$name" alloc "$JVM_PID" --exact -d 1
	stop "$JVM_PID"
}

for version in $(on 8 17 25); do
	tight "$version"
done
for version in $(on 17 25); do
	archived "$version" -XX:ArchiveClassesAtExit
done
for version in $(on 25); do
	archived "$version" -XX:AOTCacheOutput
done
for version in $(on 8 25); do
	killed "$version"
done
for version in $(on 17); do
	goes "$version"
done
for version in $(on 21); do
	together "$version"
done
