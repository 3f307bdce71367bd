#!/usr/bin/env bash
# profile: the known shares of a program, on every version; profiles of recordings equal their
# events; the operator's recording continues, and nothing remains, also after an interrupt.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

# verified NAME WORD...: profile.py with these arguments finds no fault.
verified() {
	local name=$1 text

	shift
	if text=$(python3 "$live_dir/jfr/profile.py" "$@" 2>&1); then
		pass "$name: ${text##*$'\n'}"
	else
		fail "$name" "$text" "$(jt_details)"
	fi
}

# cpu_of NAME: the CPU time of the victim's thread, in clock ticks.
cpu_of() {
	local task

	for task in "/proc/$JVM_PID/task"/*; do
		[ "$(cat "$task/comm" 2>/dev/null)" != "$1" ] ||
			sed 's/.*) //' "$task/stat" | awk '{ print $12 + $13 }'
	done
}

cpu_of_all() {
	local sum=0 name

	for name in first second native; do
		sum=$((sum + $(cpu_of "$name")))
	done
	echo "$sum"
}

# left VERSION: no recording but `operator` and no file of jtool's remain.
left() {
	same "$1: only the operator's recording continues" operator \
		"$("$JTOOL" jfr "$JVM_PID" check | sed -n 's/^Recording .*name=\([^ ]*\) .*(running).*/\1/p')"
	check "$1: no file remains" nothing_left "${jdk_root[$version]}" "$JVM_PID" 0 \
		"${W#"${jdk_root[$version]}"}"
}

known_shares() {
	local version=$1 native all share=

	# JDK 8 finds the loops only with debug information.
	start_jvm "$version" default Profiled -XX:+UnlockDiagnosticVMOptions \
		-XX:+DebugNonSafepoints || return
	refuses 1 'at most 64 frames.*stackdepth=100' "$version: --depth beyond stackdepth" \
		profile "$JVM_PID" --depth 100
	works "$version: the operator starts a recording" jfr "$JVM_PID" start name=operator
	native=$(cpu_of native)
	all=$(cpu_of_all)
	JT_LIMIT=120 jt profile "$JVM_PID" -d "$(in_soak 60s 6s)" --interval 2ms --threads --json --collapsed stacks
	native=$(($(cpu_of native) - native))
	all=$(($(cpu_of_all) - all))
	[ "$version" -lt 25 ] || share=$((100 * native / all))
	same "$version: profile: exit code" 0 "$rc"
	cp "$W/out" "$W/profile.json"
	verified "$version: the shares are those of the program" shares "$version" \
		"$W/profile.json" $share
	check "$version: collapsed stacks begin with the thread" \
		grep -q '^\[first\];.*Profiled\.sixty:[0-9]* [0-9]*$' "$W/stacks"
	left "$version"
	interrupted "$version"
	stop "$JVM_PID"
}

interrupted() {
	local pid

	(cd "$W" && exec env --default-signal=INT ./jtool profile "$JVM_PID" -d 300s >early 2>&1) &
	pid=$!
	poll 60 recording_of_ours || fail "$1: profile starts a recording"
	sleep 1 # samples
	kill -INT "$pid"
	rc=0
	wait "$pid" || rc=$?
	same "$1: interrupted: exit code" 0 "$rc"
	check "$1: interrupted: what was recorded is shown" grep -q 'Profiled\.sixty$' "$W/early"
	left "$1: interrupted"
}

recording_of_ours() {
	"$JTOOL" jfr "$JVM_PID" check | grep -q 'name=jtool-'
}

build_id_of() {
	readelf -n "$1" | sed -n 's/^ *Build ID: //p'
}

# pprof_of VERSION: go tool pprof reads the profile.
pprof_of() {
	if ! command -v go >/dev/null; then
		skip "$1: go tool pprof prints the same values" "golang-go is not installed"
		return
	fi
	jt profile "$JVM_PID" -d 3s --json --pprof cpu.pb.gz --force
	same "$1: profile --pprof: exit code" 0 "$rc"
	cp "$W/out" "$W/cpu.json"
	verified "$1: go tool pprof prints the same values" pprof "$W/cpu.pb.gz" "$W/cpu.json"
	same "$1: go tool pprof prints the build id of the JVM" \
		"1 $(build_id_of "${jdk_root[$1]}${jdk_home[$1]}/lib/server/libjvm.so") [FN][FL][LN]" \
		"$(go tool pprof -raw "$W/cpu.pb.gz" 2>"$W/err" |
			sed -n 's|^1: .*/lib/server/libjvm\.so |1 |p')"
	check "$1: go tool pprof has no complaint" test ! -s "$W/err"
}

# differences VERSION: --diff accepts an earlier profile in each format that jtool writes.
differences() {
	local base

	jt profile recorded.jfr --collapsed base.txt --pprof base.pb.gz --force
	same "$1: files for --diff: exit code" 0 "$rc"
	gunzip -c "$W/base.pb.gz" >"$W/base.pprof"
	for base in recorded.jfr base.txt base.pb.gz base.pprof; do
		jt profile recorded.jfr --diff "$base" --flamegraph "diff-$base.html" --force
		same "$1: --diff $base: exit code" 0 "$rc"
		check "$1: --diff $base: the flame graph is that of the recording" \
			cmp "$W/diff-recorded.jfr.html" "$W/diff-$base.html"
	done
	head -c $(($(stat -c %s "$W/base.pb.gz") / 2)) "$W/base.pb.gz" >"$W/cut.pb.gz"
	refuses 2 'not a profile in the format of pprof' "$1: --diff with a damaged profile" \
		profile recorded.jfr --diff cut.pb.gz --flamegraph diff.html --force
	rm -f "$W"/base.* "$W"/diff-*.html "$W/cut.pb.gz"
}

events() {
	local version=$1

	start_jvm "$version" default Recorded -- 120 || return
	for kind in wall lock alloc exceptions; do
		jt profile "$JVM_PID" -e "$kind" -d 2s --json
		same "$version: profile -e $kind: exit code" 0 "$rc"
		same "$version: profile -e $kind: it has events" True \
			"$(json "j['value'] > 0 and j['samples'] > 0 and len(j['stacks']) > 0")"
	done
	[ "$version" -lt 25 ] || pprof_of "$version"
	jt jfr "$JVM_PID" record -d 3s recorded.jfr settings=profile
	same "$version: a recording: exit code" 0 "$rc"
	verified "$version: profiles of a recording are the sums of its events" \
		events "$JTOOL" "$W/recorded.jfr"
	differences "$version"
	refuses 2 'only to a new recording' "$version: -d with a file" \
		profile recorded.jfr -d 3s
	head -c $(($(stat -c %s "$W/recorded.jfr") - 1000)) "$W/recorded.jfr" >"$W/cut.jfr"
	jt profile cut.jfr
	same "$version: a recording that is cut off: exit code" 7 "$rc"
	rm -f "$W"/*.jfr
	stop "$JVM_PID"
}

for version in "${jdks[@]}"; do
	known_shares "$version"
	rm -f "$W/stacks"
	! is_thorough "$version" || events "$version"
done

if start_jvm "${jdks[-1]}" default Idle; then
	jt profile "$JVM_PID" -e lock -d 1s --interval 900ms
	same "no wait: a notice says what that means" "0 1" "$rc $(grep -c \
		'^jtool: profile: no wait for a lock of 900 ms or longer has ended in this time: ' \
		"$W/err")"
	jt profile "$JVM_PID" -e io -d 1s --interval 900ms
	same "no I/O: a notice" "0 1" \
		"$rc $(grep -c 'no read or write of 900 ms or longer has ended in this time$' "$W/err")"
	stop "$JVM_PID"
fi
