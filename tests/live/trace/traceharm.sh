#!/usr/bin/env bash
# trace under load: whatever is traced, however the client ends, the application goes on, what it
# checks is right, and nothing stays in it.  JTOOL_SOAK=1: 200 kills on every JDK.
# shellcheck source-path=SCRIPTDIR source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/lib.sh"
. "$live_dir/tracing.sh"

kills=$(in_soak 200 20)

# As an application may meet it: by any option, of classes of its own and of the JDK's.
ways=('TraceLoad$Work.*' 'TraceLoad$Work.* --summary' 'TraceLoad$Work.* --stack --rate 0 -c 0'
	'TraceLoad$Work.* java.util.HashMap.* --no-args --rate 0 -c 0'
	'java.util.HashMap.* java.lang.String.* --rate 0 -c 0')

killed() {
	local version=$1 i threads fds rss grown way client

	# The JVM's memory, and that of classes and of code, has a size that is reached by and by.
	loaded "$version" -XX:+UseSerialGC -Xms100m -XX:+AlwaysPreTouch -XX:MaxMetaspaceSize=28m \
		-XX:TieredStopAtLevel=1 || return
	whole_before "$version: under load" 'TraceLoad*'
	for way in "${ways[@]}"; do
		read -r -a way <<<"$way"
		jt trace "$JVM_PID" "${way[@]}" --budget 0 -d 0.3
		[ "$rc" -eq 0 ] || fail "$version: ${way[*]}" "$(jt_details)"
	done
	poll "$PATIENCE" no_agent
	threads=$(fewest lasting_threads "$JVM_PID") fds=$(fewest fd_count "$JVM_PID")
	rss=$(resident)
	for ((i = 0; i < kills; i++)); do
		# By then memory of classes, which are made anew each time, is as large as it gets.
		[ $i -ne 60 ] || rss=$(resident)
		read -r -a way <<<"${ways[i % ${#ways[@]}]}"
		(cd "$W" && exec ./jtool trace "$JVM_PID" "${way[@]}" --budget 0 >"$W/killed.out" 2>&1) &
		client=$!
		sleep "0.$(printf '%03d' $((RANDOM % 600)))" # the moment is the test
		kill -9 $client 2>/dev/null
		wait $client 2>/dev/null
		working "$version: kill $i" || return
	done
	as_before "$version: $kills clients killed"
	grown=$(($(resident) - rss))
	check "$version: RSS grew by $grown KB" test $grown -lt "$(in_soak 20000 60000)"
	survived "$version" "$kills" "$threads" "$fds"
}

# What everything stands on.
foundations=('java.util.HashMap.*' 'java.lang.String.*' 'java.lang.Thread.*'
	'java.util.concurrent.*.*' 'java.lang.ClassLoader.*' 'java.lang.Object.*'
	'java.lang.VirtualThread.*' 'jdk.internal.vm.*.*')
ways_in=("--stack" "--rate 0 --budget 0 -c 0")
if [ "$(in_soak 1 0)" -eq 1 ]; then
	foundations+=('java.lang.Throwable.*' 'java.lang.Class.*' 'java.lang.StringBuilder.*'
		'java.io.*.*' 'java.lang.ThreadLocal.*' 'java.lang.invoke.*.*' 'java.lang.ref.*.*'
		'java.util.concurrent.locks.*.*' 'java.lang.*.*')
	ways_in+=("--summary" "--stack --rate 0 --budget 0 -c 0")
fi

founded() {
	local version=$1 pattern options

	loaded "$version" || return
	for pattern in "${foundations[@]}"; do
		case $version:$pattern in
		8:*Virtual* | 11:*Virtual* | 17:*Virtual* | 8:jdk.* | 11:jdk.*) continue ;;
		esac
		for options in "${ways_in[@]}"; do
			read -r -a options <<<"$options"
			jt trace "$JVM_PID" "$pattern" --max-methods 5000 "${options[@]}" -d "$(in_soak 5 0.5)"
			case $rc in
			0 | 7) ;; # 7: it costs too much
			*)
				# Where threads change places, JDK 21 has no stacks.
				grep -q 'stays as it is: on JDK 19 to 24' "$W/err" ||
					fail "$version: trace $pattern ${options[*]}" "$(jt_details)"
				;;
			esac
			beating "$version: trace $pattern ${options[*]}: exit $rc" || return
		done
	done
	check "$version: nothing left" poll "$PATIENCE" no_agent
	unharmed "$version: traced the JDK" 'beats .*|loaded'
	stop "$JVM_PID"
}

# A method that is called all the time: the limits hold, and are told.
hot() {
	local version=$1 n most

	start_jvm "$version" g1 TraceLoad || return
	ask 'hot 2' '^hot$' "$PATIENCE" >/dev/null
	whole_before "$version: hot" 'TraceLoad*'
	# 200 at once and 200 a second, for as long as that takes on a machine that is busy.
	most=$(now_ms)
	jt trace "$JVM_PID" 'TraceLoad$Work.tick' -d 2 --budget 0
	most=$((200 + ($(now_ms) - most) / 5))
	n=$(wc -l <"$W/out")
	same "$version: a hot method: exit" 0 "$rc"
	check "$version: a hot method: the rate holds ($n calls)" test "$n" -ge 100 -a "$n" -le $most
	check "$version: a hot method: that is said" grep -q -E -e '--rate' "$W/err"
	jt trace "$JVM_PID" 'TraceLoad$Work.tick' --rate 0 --budget 0
	same "$version: a hot method, every call: exit" 0 "$rc"
	same "$version: a hot method, every call: so many" 10000 "$(wc -l <"$W/out")"
	check "$version: a hot method, every call: that is said" grep -q -e '-c sets another' "$W/err"
	jt trace "$JVM_PID" 'TraceLoad$Work.tick' -d 20
	same "$version: a hot method costs too much: exit" 7 "$rc"
	check "$version: a hot method costs too much: that is said" grep -q -e 'budget' "$W/err"
	jt trace "$JVM_PID" 'TraceLoad$Work.tick' --summary --budget 1 -d 20
	same "$version: a hot method's sums cost too much: exit" 7 "$rc"
	as_before "$version: a hot method"
	beating "$version: a hot method"
	stop "$JVM_PID"
}

# The JVM goes while it is traced.
goes() {
	local version=$1 how

	for how in exit kill; do
		loaded "$version" || return
		begin_trace "$version: $how" 'TraceLoad$Work.*' --budget 0 -c 0 || return
		if [ $how = exit ]; then
			echo exit >&"$JVM_IN"
		else
			kill -9 "$JVM_PID"
		fi
		await_trace "$version: the JVM goes by $how"
		same "$version: the JVM goes by $how: exit" 7 "$rc"
		check "$version: the JVM goes by $how: that is said" grep -q '^jtool: trace: ' "$W/trace.err"
		stop "$JVM_PID"
	done
}

# A class that does not find the hooks would throw instead of doing what it does.
hidden() {
	local version=$1

	start_jvm "$version" default TraceHides || return
	begin_trace "$version: hidden" 'TraceHides*.*' || return
	same "$version: what the hooks are hidden from works" 'call: as ever' "$(ask call '^call: ' "$PATIENCE")"
	end_trace "$version: hidden"
	check "$version: hidden: that is said" grep -q 'its class loader does not find' "$W/trace.err"
	same "$version: hidden: the loader is asked once" 'asked 1' "$(ask asked '^asked ' "$PATIENCE")"
	stop "$JVM_PID"
}

for version in $(on 8 25); do
	killed "$version"
done
for version in $(on 21 27); do
	founded "$version"
done
for version in $(on 8 27); do
	hidden "$version"
done
for version in $(on 17 25); do
	hot "$version"
	goes "$version"
done
