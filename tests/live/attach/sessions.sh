#!/usr/bin/env bash
# Many heaphisto sessions on one JVM, some killed: the JVM's threads, descriptors and memory do not
# grow. JTOOL_SOAK=1: 1,000 sessions and 200 kills.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

sessions=$(in_soak 1000 60)
kills=$(in_soak 200 30)

same_as() {
	[ "$("$1" "$2")" -eq "$3" ]
}

for version in "${jdks[@]}"; do
	# The JVM touches the complete heap at its start, so that RSS does not grow by it later.
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
	same "$version: $sessions sessions: none fails" 0 "$failed"
	[ "$failed" -eq 0 ] || jt_details | sed 's/^/# /'
	check "$version: $sessions sessions: as many threads as before" \
		poll 30 same_as lasting_threads "$pid" "$threads"
	check "$version: $sessions sessions: as many descriptors as before" \
		poll 30 same_as fd_count "$pid" "$fds"
	grown=$(($(rss_kb "$pid") - rss))
	check "$version: $sessions sessions: RSS grows by $grown KB" test $grown -lt 4096
	check "$version: $sessions sessions: no file remains" \
		nothing_left "$root" "$pid" 0 "${IW#/}"
	unharmed "$version: $sessions sessions"

	slow=0
	for ((i = 0; i < kills; i++)); do
		(cd "$W" && exec ./jtool heaphisto "$pid" >/dev/null 2>&1) &
		victim=$!
		sleep "0.$(printf '%03d' $((RANDOM % 120)))" # at a random moment
		kill -9 $victim 2>/dev/null
		wait $victim 2>/dev/null
		begin=$(now_ms)
		jt jcmd --timeout 5 "$pid" VM.version
		[ "$rc" -eq 0 ] && [ $(($(now_ms) - begin)) -lt 2000 ] || slow=$((slow + 1))
	done
	same "$version: $kills kills: the JVM always answers within 2 s" 0 "$slow"
	check "$version: $kills kills: no process of ours remains" poll 30 no_jtool_left
	check "$version: $kills kills: no file remains" \
		poll 30 nothing_left "$root" "$pid" 0 "${IW#/}"
	check "$version: $kills kills: as many threads as before" \
		poll 30 same_as lasting_threads "$pid" "$threads"
	check "$version: $kills kills: as many descriptors as before" \
		poll 30 same_as fd_count "$pid" "$fds"
	grown=$(($(rss_kb "$pid") - rss))
	check "$version: $kills kills: RSS grows by $grown KB" test $grown -lt 4096
	works "$version: $kills kills: heaphisto works" heaphisto "$pid"
	unharmed "$version: $kills kills"
	stop "$pid"
done
