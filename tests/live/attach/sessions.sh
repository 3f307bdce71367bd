#!/usr/bin/env bash
# Many heaphisto sessions on one JVM, and jtool killed in the middle of them: the JVM is as
# before. JTOOL_SOAK=1: 1,000 sessions and 200 kills.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

sessions=$(in_soak 1000 60)
kills=$(in_soak 200 30)

# No process of ours is there any more, keepers included.
no_jtool_left() {
	! find /proc -maxdepth 2 -name exe -lname "$W/jtool*" 2>/dev/null | grep -q .
}

same_as() {
	[ "$("$1" "$2")" -eq "$3" ]
}

for version in "${jdks[@]}"; do
	# A heap that is touched from the start: what grows then is not Java's.
	start_jvm "$version" serial Heap -Xms200m -Xmx200m -XX:+AlwaysPreTouch -- 1 || continue
	pid=$JVM_PID
	root=${jdk_root[$version]}
	for ((i = 0; i < 10; i++)); do
		jt heaphisto "$pid"
	done
	threads=$(lasting_threads "$pid") fds=$(fd_count "$pid") rss=$(rss_kb "$pid")

	failed=0
	for ((i = 0; i < sessions; i++)); do
		jt heaphisto "$pid"
		[ "$rc" -eq 0 ] && [ ! -s "$W/err" ] || failed=$((failed + 1))
	done
	same "$version: $sessions sessions, failures" 0 "$failed"
	[ "$failed" -eq 0 ] || jt_details | sed 's/^/# /'
	check "$version: as many threads as before" poll 30 same_as lasting_threads "$pid" "$threads"
	check "$version: as many descriptors as before" poll 30 same_as fd_count "$pid" "$fds"
	grown=$(($(rss_kb "$pid") - rss))
	check "$version: RSS grew by $grown KB" test $grown -lt 4096
	check "$version: nothing left in any directory" \
		nothing_left "$root" "$pid" 0 "${IW#/}"
	unharmed "$version: $sessions sessions"

	slow=0
	for ((i = 0; i < kills; i++)); do
		(cd "$W" && exec ./jtool heaphisto "$pid" >/dev/null 2>&1) &
		victim=$!
		sleep "0.$(printf '%03d' $((RANDOM % 120)))" # the moment is the test
		kill -9 $victim 2>/dev/null
		wait $victim 2>/dev/null
		begin=$(now_ms)
		jt jcmd --timeout 5 "$pid" VM.version
		[ "$rc" -eq 0 ] && [ $(($(now_ms) - begin)) -lt 2000 ] || slow=$((slow + 1))
	done
	same "$version: $kills kills, after which the JVM did not answer at once" 0 "$slow"
	check "$version: no process of ours stays" poll 30 no_jtool_left
	check "$version: nothing left in any directory after kills" \
		poll 30 nothing_left "$root" "$pid" 0 "${IW#/}"
	check "$version: threads as before after kills" \
		poll 30 same_as lasting_threads "$pid" "$threads"
	check "$version: descriptors as before after kills" \
		poll 30 same_as fd_count "$pid" "$fds"
	grown=$(($(rss_kb "$pid") - rss))
	check "$version: RSS grew by $grown KB after kills" test $grown -lt 4096
	works "$version: heaphisto after kills" heaphisto "$pid"
	unharmed "$version: kills"
	stop "$pid"
done
