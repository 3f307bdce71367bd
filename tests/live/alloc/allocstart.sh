#!/usr/bin/env bash
# alloc from the JVM's start on: -agentpath:$(jtool agent)=alloc,file=REPORT,...
# shellcheck source-path=SCRIPTDIR source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/lib.sh"
. "$live_dir/tracing.sh"

compare() {
	python3 "$live_dir/alloc.py" "$@"
}

works "agent" agent
check "agent: it is there" test -r "$(cat "$W/out")"
cp "$(cat "$W/out")" "$W/bundled.so"
works "agent --extract" agent --extract agent.so
check "agent --extract: a copy" cmp "$W/agent.so" "$W/bundled.so"
refuses '[12]' 'exist' "agent --extract: never over a file" agent --extract agent.so
rm "$W/bundled.so"
chmod 755 "$W/agent.so"
rm -rf "$W/reports"
mkdir "$W/reports"

n_reports=0

# records VERSION CLASS OPTIONS [ARGUMENT...]: a victim that does; its report will be $report.
records() {
	local version=$1 class=$2 options=$3 flags=(-Xmx200m -Xmn4m) given

	shift 3
	n_reports=$((n_reports + 1))
	report=$W/reports/$n_reports
	given=alloc,file=$IW/reports/$n_reports${options:+,$options}
	[ $((n_reports % 2)) -ne 0 ] || given=${given#alloc,},alloc # in any order
	start_jvm "$version" serial "$class" "${flags[@]}" "-agentpath:$IW/agent.so=$given" -- "$@"
}

# whole_report NAME: it is there, and jtool reads it, as --json to $W/out.
whole_report() {
	if ! poll "$PATIENCE" gone "$JVM_PID"; then
		fail "$1: the JVM ends"
		return 1
	fi
	if [ ! -s "$report" ]; then
		fail "$1: a report is written" "$(ls -la "$W/reports")" "$(tail -n 5 "$JVM_ERR")"
		return 1
	fi
	shows "$1: the report is read" "$report" -n 0 --json
}

# shows NAME ARGUMENT...: exit 0; what there is to be known about the figures is on stderr.
shows() {
	jt alloc "${@:2}"
	same "$1" 0 "$rc"
}

# how VERSION: its options, of JDK 8 the only ones.
how() {
	if [ "$1" -gt 8 ]; then
		echo interval=16k
	else
		echo exact
	fi
}

# The JVM ends in each way.
ends() {
	local version=$1 name end

	for end in exit TERM stdin; do
		name="$version: it ends by $end"
		# Sampled: at 16k, hundreds of samples.
		records "$version" AllocCount "$(how "$version")" 3000 || return
		case $end in
		exit) echo exit >&"$JVM_IN" ;;
		TERM) kill -TERM "$JVM_PID" ;;
		stdin) exec {JVM_IN}>&- ;;
		esac
		whole_report "$name" || continue
		same "$name: what it made" True "$(json "any(s['class'].startswith('AllocCount\$')
			and any('AllocCount.main(AllocCount.java:' in f for f in s['stack'])
			for s in j['sites']) and j['recorded']")"
		prints "$name: as a table" 'AllocCount' alloc "$report"
		check "$name: people read it, too" grep -q 'AllocCount' "$report"
		unfit "$name" "$report"
	done
	name="$version: it is killed"
	records "$version" AllocCount "$(how "$version")" || return
	stop "$JVM_PID"
	check "$name: there is no report of half" test ! -s "$report"
}

# unfit NAME REPORT: what is cut off, or was changed, is no report.
unfit() {
	head -c -20 "$2" >"$W/cut"
	refuses '[17]' '.' "$1: a report that was cut off" alloc "$W/cut"
}

# Exact from the first moment.
exactly() {
	local version=$1 name="$1: exact"

	records "$version" AllocCount exact 5000 || return
	ask counts '^counts ' "$PATIENCE" >"$W/counts"
	shows "$name: meanwhile" "$JVM_PID" -n 0 --json
	same "$name: meanwhile: since the start" True "$(json "j['recorded'] and j['exact']")"
	check "$name: meanwhile: as the application counted" compare start "$W/counts" "$W/out"
	ask 'all 100' '^ran ' "$PATIENCE" >/dev/null
	ask counts '^counts ' "$PATIENCE" >"$W/counts"
	unharmed "$name" 'counts .*|ran .*'
	echo exit >&"$JVM_IN"
	whole_report "$name" || return
	check "$name: at the end: as the application counted" compare start "$W/counts" "$W/out"
}

# In files: while it is recorded, and of the report.
in_files() {
	local version=$1 name="$1: in files"

	records "$version" AllocCount exact 100 || return
	shows "$name: meanwhile" "$JVM_PID" --recorded --collapsed "$W/$n_reports.txt" --json -n 0
	check "$name: meanwhile: collapsed stacks" \
		compare collapsed "$W/$n_reports.txt" "$W/out" bytes
	echo exit >&"$JVM_IN"
	whole_report "$name" || return
	shows "$name: a flame graph" "$report" --flamegraph "$W/$n_reports.html" -n 1
	check "$name: a flame graph: is one" grep -q 'AllocCount' "$W/$n_reports.html"
}

# Samples, and what lives at the end.
living() {
	local version=$1 name="$1: live"

	records "$version" AllocLeak "$([ "$version" -gt 8 ] && echo interval=16k || echo exact),live,age=3" || return
	ask 'leak 500' '^leaked ' $((3 * PATIENCE)) >/dev/null || fail "$name: it leaks"
	shows "$name: meanwhile" "$JVM_PID" --json --recorded --live
	same "$name: meanwhile: the leak comes first" "byte[]" "$(json "j['sites'][0]['class']")"
	jt info "$JVM_PID"
	check "$name: info says that it records" grep -q 'agent.so, of jtool: records' "$W/out"
	jt detach "$JVM_PID"
	check "$name: detach says that it goes on" grep -q 'goes on until it ends' "$W/err"
	kill -TERM "$JVM_PID"
	whole_report "$name" || return
	same "$name: at the end, too" "byte[] True" "$(json "(lambda s: s['class'] + ' ' + str(any(
		'AllocLeak.leak(' in f for f in s['stack'])))(max(j['sites'],
		key=lambda s: s['live_bytes'] or 0))")"
}

# refused VERSION NAME PATTERN OPTIONS: a line that says why, and no JVM.
refused() {
	local version=$1 name="$1: $2" pattern=$3 options=$4

	launch_jvm "$version" serial Idle "-agentpath:$IW/agent.so${options:+=$options}"
	poll "$PATIENCE" gone "$JVM_PID" || fail "$name: the JVM does not start"
	if [ ! -s "$JVM_OUT" ] || ! grep -q READY "$JVM_OUT"; then
		check "$name: it says why" grep -q -i -E "^jtool.*($pattern)" "$JVM_ERR"
	else
		fail "$name: the JVM does not start" "$(head -n 3 "$JVM_OUT" "$JVM_ERR")"
	fi
	stop "$JVM_PID"
}

refusals() {
	local version=$1

	refused "$version" "no file" file alloc
	refused "$version" "no options" alloc ''
	refused "$version" "another command" alloc trace,file=/tmp/x
	refused "$version" "an unknown option" 'wrong|unknown|option' "alloc,file=$IW/reports/x,wrong=5"
	refused "$version" "no interval" interval "alloc,file=$IW/reports/x,interval=often"
	refused "$version" "no such directory" 'file|directory' "alloc,file=/no/such/directory/x"
	refused "$version" "no depth" depth "alloc,file=$IW/reports/x,depth=1000"
}

# Nothing is recorded, and no report.
nothing() {
	local version=$1

	start_jvm "$version" serial Idle || return
	refuses 1 'record' "$version: nothing is recorded" alloc "$JVM_PID" --recorded
	stop "$JVM_PID"
	echo 'some text' >"$W/text"
	refuses '[23]' '.' "a file that is no report" alloc "$W/text"
}

for version in "${jdks[@]}"; do
	exactly "$version"
done
for version in $(on 8 25); do
	ends "$version"
	living "$version"
done
for version in $(on 8); do
	refused "$version" "no samples" exact "alloc,file=$IW/reports/x"
done
for version in $(on 25); do
	in_files "$version"
	refusals "$version"
done
for version in $(on 17); do
	nothing "$version"
done
