#!/usr/bin/env bash
# Recordings of async-profiler: every field of every event, the summary and the views equal what the
# JDK's own jfr prints, and profiles are the sums of the events.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

# The async-profiler of Debian, 3.0, crashes JDK 25 and later.
writer=
for version in 21 17; do
	! has_jdk "$version" || writer=$version
done
reader=25
if [ -z "$writer" ] || ! has_jdk "$reader"; then
	skip "async-profiler" "JDK 17 or 21 is needed to record, and JDK 25 to compare with"
	exit
fi
library=$(cd "${jdk_root[$writer]}" && echo usr/lib/*/jni/libasyncProfiler.so)

jfr_of=(chroot "${jdk_root[$reader]}" "${jdk_home[$reader]}/bin/jfr")

# prints_sums NAME COMMAND...: the command succeeds; its last line is part of the result's name.
prints_sums() {
	local text

	if text=$("${@:2}" 2>&1); then
		pass "$1: ${text##*$'\n'}"
	else
		fail "$1" "$text"
	fi
}

check "it is installed" test -e "${jdk_root[$writer]}/$library"
# The JDK refuses the other views of these recordings.
export VIEWS="hot-methods contention-by-thread contention-by-class contention-by-site tlabs
	jvm-information active-settings cpu-load events-by-count native-libraries"
for mode in cpu,interval=2ms,alloc=512k,lock=100us itimer,interval=2ms wall,interval=20ms; do
	name=${mode%%,*}
	chroot "${jdk_root[$writer]}" "${jdk_home[$writer]}/bin/java" -Xmx64m -cp "$IW/classes" \
		"-agentpath:/$library=start,event=$mode,jfr,file=$IW/$name.jfr" Recorded 4 \
		>"$W/recorded" 2>&1 || fail "$name: the victim runs" "$(cat "$W/recorded")"
	jt jfr view "$name.jfr" summary
	same "$name: the summary equals jfr summary" \
		"$(TZ=UTC "${jfr_of[@]}" summary "$IW/$name.jfr")" "$(cat "$W/out")"
	for script in compare compare_views; do
		prints_sums "$name: $script: equal to the JDK's" \
			python3 "$live_dir/jfr/$script.py" "$JTOOL" "$W/$name.jfr" \
			"${jfr_of[@]}" -- "$IW/$name.jfr"
	done
	prints_sums "$name: profiles are the sums of the events" \
		python3 "$live_dir/jfr/profile.py" foreign "$JTOOL" "$W/$name.jfr" "$name"
	rm -f "$W/$name.jfr"
done
