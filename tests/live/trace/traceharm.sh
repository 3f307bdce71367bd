#!/usr/bin/env bash
# trace under load: whatever is traced and however the client ends, the application continues, its
# checks pass, and nothing remains in the JVM. JTOOL_SOAK=1: 200 kills on every JDK.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/../lib.sh"
. "$live_dir/tracing.sh"

kills=$(in_soak 200 20)

# Patterns and options: classes of the application and of the JDK.
ways=('TraceLoad$Work.*' 'TraceLoad$Work.* --summary' 'TraceLoad$Work.* --stack --rate 0 -c 0'
	'TraceLoad$Work.* java.util.HashMap.* --no-args --rate 0 -c 0'
	'java.util.HashMap.* java.lang.String.* --rate 0 -c 0')

killed() {
	local version=$1 i threads fds rss grown way client

	# The heap, metaspace and code cache have limits, and RSS grows until these are reached.
	start_load "$version" -XX:+UseSerialGC -Xms100m -XX:+AlwaysPreTouch -XX:MaxMetaspaceSize=28m \
		-XX:TieredStopAtLevel=1 || return
	save_classes "$version: under load" 'TraceLoad*'
	for way in "${ways[@]}"; do
		read -r -a way <<<"$way"
		jt trace "$JVM_PID" "${way[@]}" --budget 0 -d 0.3
		[ "$rc" -eq 0 ] || fail "$version: ${way[*]}" "$(jt_details)"
	done
	poll "$PATIENCE" no_agent
	threads=$(minimum_of lasting_threads "$JVM_PID") fds=$(minimum_of fd_count "$JVM_PID")
	rss=$(rss_after_gc)
	for ((i = 0; i < kills; i++)); do
		# By then metaspace, in which each trace creates new class versions, has reached its
		# maximum.
		[ $i -ne 60 ] || rss=$(rss_after_gc)
		read -r -a way <<<"${ways[i % ${#ways[@]}]}"
		(cd "$W" && exec ./jtool trace "$JVM_PID" "${way[@]}" --budget 0 >"$W/killed.out" 2>&1) &
		client=$!
		sleep "0.$(printf '%03d' $((RANDOM % 600)))" # at a random moment
		kill -9 $client 2>/dev/null
		wait $client 2>/dev/null
		app_works "$version: kill $i" || return
	done
	classes_restored "$version: $kills clients killed"
	grown=$(($(rss_after_gc) - rss))
	check "$version: RSS grows by $grown KB" test $grown -lt "$(in_soak 20000 60000)"
	unharmed_after_kills "$version" "$kills" "$threads" "$fds"
}

# Classes of the JDK that all code uses.
jdk_patterns=('java.util.HashMap.*' 'java.lang.String.*' 'java.lang.Thread.*'
	'java.util.concurrent.*.*' 'java.lang.ClassLoader.*' 'java.lang.Object.*'
	'java.lang.VirtualThread.*' 'jdk.internal.vm.*.*')
option_sets=("--stack" "--rate 0 --budget 0 -c 0")
if [ "$(in_soak 1 0)" -eq 1 ]; then
	jdk_patterns+=('java.lang.Throwable.*' 'java.lang.Class.*' 'java.lang.StringBuilder.*'
		'java.io.*.*' 'java.lang.ThreadLocal.*' 'java.lang.invoke.*.*' 'java.lang.ref.*.*'
		'java.util.concurrent.locks.*.*' 'java.lang.*.*')
	option_sets+=("--summary" "--stack --rate 0 --budget 0 -c 0")
fi

traced_jdk() {
	local version=$1 pattern options

	start_load "$version" || return
	for pattern in "${jdk_patterns[@]}"; do
		case $version:$pattern in
		8:*Virtual* | 11:*Virtual* | 17:*Virtual* | 8:jdk.* | 11:jdk.*) continue ;;
		esac
		for options in "${option_sets[@]}"; do
			read -r -a options <<<"$options"
			jt trace "$JVM_PID" "$pattern" --max-methods 5000 "${options[@]}" -d "$(in_soak 5 0.5)"
			case $rc in
			0 | 7) ;; # 7: over the CPU budget
			*)
				# JDK 21 has no stacks while virtual threads mount or unmount.
				grep -q 'recording stacks in it would deadlock on JDK 19 to 24' "$W/err" ||
					fail "$version: trace $pattern ${options[*]}" "$(jt_details)"
				;;
			esac
			app_keeps_working "$version: trace $pattern ${options[*]}: exit $rc" || return
		done
	done
	check "$version: the agent ends" poll "$PATIENCE" no_agent
	unharmed "$version: classes of the JDK traced" 'beats .*|loaded'
	stop "$JVM_PID"
}

# A method that is called permanently: the limits hold and are reported.
hot() {
	local version=$1 n most

	start_jvm "$version" g1 TraceLoad || return
	ask 'hot 2' '^hot$' "$PATIENCE" >/dev/null
	save_classes "$version: hot" 'TraceLoad*'
	# The rate limit permits 200 calls at once and then 200 per second. On a busy machine the trace
	# takes longer than -d 2.
	most=$(now_ms)
	jt trace "$JVM_PID" 'TraceLoad$Work.tick' -d 2 --budget 0
	most=$((200 + ($(now_ms) - most) / 5))
	n=$(wc -l <"$W/out")
	same "$version: a hot method: exit code" 0 "$rc"
	check "$version: a hot method: the rate holds ($n calls)" test "$n" -ge 100 -a "$n" -le $most
	check "$version: a hot method: the notice names --rate" grep -q -E -e '--rate' "$W/err"
	jt trace "$JVM_PID" 'TraceLoad$Work.tick' --rate 0 --budget 0
	same "$version: a hot method, every call: exit code" 0 "$rc"
	same "$version: a hot method, every call: 10000 calls" 10000 "$(wc -l <"$W/out")"
	check "$version: a hot method, every call: the notice names -c" \
		grep -q -e '-c sets another' "$W/err"
	jt trace "$JVM_PID" 'TraceLoad$Work.tick' -d 20
	same "$version: a hot method over the budget: exit code" 7 "$rc"
	check "$version: a hot method over the budget: the error says so" \
		grep -q -e 'budget' "$W/err"
	jt trace "$JVM_PID" 'TraceLoad$Work.tick' --summary --budget 1 -d 20
	same "$version: a hot method over the budget, --summary: exit code" 7 "$rc"
	classes_restored "$version: a hot method"
	app_keeps_working "$version: a hot method"
	stop "$JVM_PID"
}

# The JVM exits during a trace.
jvm_exits() {
	local version=$1 how

	for how in exit kill; do
		start_load "$version" || return
		begin_trace "$version: $how" 'TraceLoad$Work.*' --budget 0 -c 0 || return
		if [ $how = exit ]; then
			echo exit >&"$JVM_IN"
		else
			kill -9 "$JVM_PID"
		fi
		await_trace "$version: the JVM exits by $how"
		same "$version: the JVM exits by $how: exit code" 7 "$rc"
		check "$version: the JVM exits by $how: the error says so" \
			grep -q '^jtool: trace: ' "$W/trace.err"
		stop "$JVM_PID"
	done
}

# A class whose loader does not find the hooks is not instrumented: its methods would throw.
hidden() {
	local version=$1

	start_jvm "$version" default TraceHides || return
	begin_trace "$version: hidden" 'TraceHides*.*' || return
	same "$version: hidden: the application works" \
		'call: as ever' "$(ask call '^call: ' "$PATIENCE")"
	end_trace "$version: hidden"
	check "$version: hidden: the notice names the loader" \
		grep -q 'its class loader does not find' "$W/trace.err"
	same "$version: hidden: the loader is asked once" 'asked 1' "$(ask asked '^asked ' "$PATIENCE")"
	stop "$JVM_PID"
}

for version in $(jdks_of 8 25); do
	killed "$version"
done
for version in $(jdks_of 21 27); do
	traced_jdk "$version"
done
for version in $(jdks_of 8 27); do
	hidden "$version"
done
for version in $(jdks_of 17 25); do
	hot "$version"
	jvm_exits "$version"
done
