#!/usr/bin/env bash
# No target hangs jtool: a user who stops every process that acts with that user's ids, and file
# systems that never answer.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

user=4713 # of no other theme: its children are stopped, too
version=$(newest_of 8 11 17)
mkdir "$W/cwd"
chmod 777 "$W/cwd"

# The JVM's user stops root's children as soon as they have taken its ids.
cc -O2 -o "$W/stopper" "$live_dir/attach/stopper.c"
chmod 755 "$W/stopper"
JVM_AS=$user:$user JVM_CWD=$IW/cwd start_jvm "$version" serial Idle
pid=$JVM_PID
setpriv --reuid=$user --regid=$user --clear-groups "$W/stopper" >"$W/stopped" &
stopper=$!
disown
track $stopper
poll 10 grep -q READY "$W/stopped" || fail "stopper: it starts"
slowest=0
hung=
for _ in $(seq "$(in_soak 100 8)"); do
	for args in "jcmd $pid VM.version" "heaphisto $pid"; do
		begin=$(now_ms)
		# shellcheck disable=SC2086 # several words
		JT_LIMIT=25 jt $args --timeout 2
		took=$(($(now_ms) - begin))
		[ "$took" -le "$slowest" ] || slowest=$took
		[ $rc -ne 124 ] && [ $rc -ne 137 ] || hung=$args
		# What was stopped must not hold the next command up.
		sed -n 's/^stopped //p' "$W/stopped" | xargs -r kill -CONT 2>/dev/null
	done
done
kill $stopper
if grep -q '^stopped' "$W/stopped"; then
	same "stopped children: no command hangs" "" "$hung"
	check "stopped children: the slowest command took $slowest ms" [ "$slowest" -le 14000 ]
else
	skip "stopped children: no command hangs" "no child was caught"
fi
sed -n 's/^stopped //p' "$W/stopped" | xargs -r kill -CONT 2>/dev/null
unharmed "stopped children"
stop "$pid"
