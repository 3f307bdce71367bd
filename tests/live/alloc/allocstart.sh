#!/usr/bin/env bash
# alloc since the JVM's start: -agentpath:$(jtool agent)=alloc,file=REPORT,...
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/../lib.sh"
. "$live_dir/tracing.sh"

compare() {
	python3 "$live_dir/alloc/alloc.py" "$@"
}

mkdir "$W/home"
export HOME=$W/home # the directory of the agent cache
works "agent: it works" agent
check "agent: it prints a readable file" test -r "$(cat "$W/out")"
cp "$(cat "$W/out")" "$W/bundled.so"
works "agent --extract: it works" agent --extract agent.so
check "agent --extract: a copy" cmp "$W/agent.so" "$W/bundled.so"
refuses '[12]' 'exist' "agent --extract: an existing file is refused" agent --extract agent.so
rm "$W/bundled.so"
chmod 755 "$W/agent.so"
rm -rf "$W/reports"
mkdir "$W/reports"

n_reports=0

# records VERSION CLASS OPTIONS [ARGUMENT...]: starts a victim with a recording; its report is
# $report.
records() {
	local version=$1 class=$2 options=$3 flags=(-Xmx200m -Xmn4m) given

	shift 3
	n_reports=$((n_reports + 1))
	report=$W/reports/$n_reports
	given=alloc,file=$IW/reports/$n_reports${options:+,$options}
	[ $((n_reports % 2)) -ne 0 ] || given=${given#alloc,},alloc # options may have any order
	start_jvm "$version" serial "$class" "${flags[@]}" "-agentpath:$IW/agent.so=$given" -- "$@"
}

# report_complete NAME: the report exists, and jtool writes it as JSON to $W/out.
report_complete() {
	if ! poll "$PATIENCE" gone "$JVM_PID"; then
		fail "$1: the JVM exits"
		return 1
	fi
	if [ ! -s "$report" ]; then
		fail "$1: a report is written" "$(ls -la "$W/reports")" "$(tail -n 5 "$JVM_ERR")"
		return 1
	fi
	shows "$1: the report can be read" "$report" -n 0 --json
}

# shows NAME ARGUMENT...: exit code 0; stderr may have notices on the accuracy.
shows() {
	jt alloc "${@:2}"
	same "$1" 0 "$rc"
}

# how VERSION: the kind of recording; JDK 8 supports only exact ones.
how() {
	if [ "$1" -gt 8 ]; then
		echo interval=16k
	else
		echo exact
	fi
}

# The JVM ends in different ways.
ends() {
	local version=$1 name end

	for end in exit TERM stdin; do
		name="$version: exit by $end"
		# Sampled at 16k: hundreds of samples.
		records "$version" AllocCount "$(how "$version")" 3000 || return
		case $end in
		exit) echo exit >&"$JVM_IN" ;;
		TERM) kill -TERM "$JVM_PID" ;;
		stdin) exec {JVM_IN}>&- ;;
		esac
		report_complete "$name" || continue
		same "$name: the report has the application's allocations" \
			True "$(json "any(s['class'].startswith('AllocCount\$')
			and any('AllocCount.main(AllocCount.java:' in f for f in s['stack'])
			for s in j['sites']) and j['recorded']")"
		prints "$name: alloc prints the report as a table" 'AllocCount' alloc "$report"
		check "$name: the report is readable text" grep -q 'AllocCount' "$report"
		unfit "$name" "$report"
	done
	name="$version: killed"
	records "$version" AllocCount "$(how "$version")" || return
	stop "$JVM_PID"
	check "$name: no partial report is written" test ! -s "$report"
}

# unfit NAME REPORT: a truncated report is refused.
unfit() {
	head -c -20 "$2" >"$W/cut"
	refuses '[17]' '.' "$1: a truncated report is refused" alloc "$W/cut"
}

# An exact recording since the start.
exactly() {
	local version=$1 name="$1: exact"

	records "$version" AllocCount exact 5000 || return
	ask counts '^counts ' "$PATIENCE" >"$W/counts"
	shows "$name: while it runs: alloc works" "$JVM_PID" -n 0 --json
	same "$name: while it runs: the profile starts at the JVM's start" \
		True "$(json "j['recorded'] and j['exact']")"
	check "$name: while it runs: the profile equals the application's counts" \
		compare start "$W/counts" "$W/out"
	ask 'all 100' '^ran ' "$PATIENCE" >/dev/null
	ask counts '^counts ' "$PATIENCE" >"$W/counts"
	unharmed "$name" 'counts .*|ran .*'
	echo exit >&"$JVM_IN"
	report_complete "$name" || return
	check "$name: at the end: the report equals the application's counts" \
		compare start "$W/counts" "$W/out"
}

# The report cannot be written when the JVM exits.
unwritten() {
	local version=$1 name="$1: the report is a directory"

	records "$version" AllocCount exact 100 || return
	mkdir "$report"
	echo exit >&"$JVM_IN"
	check "$name: the JVM exits" poll "$PATIENCE" gone "$JVM_PID"
	check "$name: an error says so" grep -q 'no allocation report is written' "$JVM_ERR"
	rmdir "$report"
}

# Output to files, during the recording and from the report.
in_files() {
	local version=$1 name="$1: in files"

	records "$version" AllocCount exact 100 || return
	shows "$name: while it runs: alloc --collapsed works" \
		"$JVM_PID" --recorded --collapsed "$W/$n_reports.txt" --json -n 0
	check "$name: while it runs: the collapsed stacks equal the profile" \
		compare collapsed "$W/$n_reports.txt" "$W/out" bytes
	echo exit >&"$JVM_IN"
	report_complete "$name" || return
	shows "$name: alloc REPORT --flamegraph works" \
		"$report" --flamegraph "$W/$n_reports.html" -n 1
	check "$name: the flame graph has the stacks" grep -q 'AllocCount' "$W/$n_reports.html"
}

# A recording with samples and live objects.
living() {
	local version=$1 name="$1: live"

	records "$version" AllocLeak "$([ "$version" -gt 8 ] && echo interval=16k || echo exact),live,age=3" || return
	ask 'leak 500' '^leaked ' $((3 * PATIENCE)) >/dev/null || fail \
		"$name: the application leaks"
	shows "$name: while it runs: alloc --live works" "$JVM_PID" --json --recorded --live
	same "$name: while it runs: the leak is the first row" \
		"byte[]" "$(json "j['sites'][0]['class']")"
	jt info "$JVM_PID"
	check "$name: info reports the recording" grep -q 'agent.so, of jtool; recording since the JVM.s start' "$W/out"
	jt detach "$JVM_PID"
	check "$name: detach names the recording" \
		grep -q "^still running: alloc since the JVM's start, " "$W/out"
	kill -TERM "$JVM_PID"
	report_complete "$name" || return
	same "$name: at the end: the leak is the first row" \
		"byte[] True" "$(json "(lambda s: s['class'] + ' ' + str(any(
		'AllocLeak.leak(' in f for f in s['stack'])))(max(j['sites'],
		key=lambda s: s['live_bytes'] or 0))")"
}

# detach --force ends a recording: it writes the report, and the JVM continues without hooks.
ended_early() {
	local version=$1 options name how working

	for options in exact "$(how "$version"),live"; do
		name="$version: ended early: $options"
		how=()
		[[ $options != exact* ]] || how=(--exact)
		records "$version" AllocCount "$options" 3000 || return
		prints "$name: detach --force ends it" "^ended: alloc since the JVM's start, " \
			detach "$JVM_PID" --force
		check "$name: the report is written" test -s "$report"
		shows "$name: the report can be read" "$report" -n 0 --json
		check "$name: the report has the application's allocations" \
			grep -q 'AllocCount' "$W/out"
		prints "$name: then nothing is left" 'holds nothing' detach "$JVM_PID"
		refuses 1 'record' "$name: alloc --recorded is refused" alloc "$JVM_PID" --recorded
		# An idle application may have no sample.
		ask 'all 20000' '^ran ' "$PATIENCE" >"$W/ran" &
		working=$!
		jt alloc "$JVM_PID" -d 500ms -n 1 "${how[@]}"
		check "$name: then a profile can begin" grep -q ' objects, ' "$W/out"
		wait "$working"
		same "$name: the application works" 'ran all' "$(cat "$W/ran")"
		unharmed "$name" 'counts .*|ran .*'
		cp "$report" "$W/early"
		echo exit >&"$JVM_IN"
		poll "$PATIENCE" gone "$JVM_PID" || fail "$name: the JVM exits"
		check "$name: the JVM's exit does not change the report" cmp "$W/early" "$report"
	done
}

# refused VERSION NAME PATTERN OPTIONS: the JVM does not start, and one line says why.
refused() {
	local version=$1 name="$1: $2" pattern=$3 options=$4

	launch_jvm "$version" serial Idle "-agentpath:$IW/agent.so${options:+=$options}"
	poll "$PATIENCE" gone "$JVM_PID" || fail "$name: the JVM does not start"
	if [ ! -s "$JVM_OUT" ] || ! grep -q READY "$JVM_OUT"; then
		check "$name: the error says why" grep -q -i -E "^jtool.*($pattern)" "$JVM_ERR"
	else
		fail "$name: the JVM does not start" "$(head -n 3 "$JVM_OUT" "$JVM_ERR")"
	fi
	stop "$JVM_PID"
}

refusals() {
	local version=$1

	refused "$version" "missing file=" file alloc
	refused "$version" "another command" alloc trace,file=/tmp/x
	refused "$version" "an unknown option" 'wrong|unknown|option' "alloc,file=$IW/reports/x,wrong=5"
	refused "$version" "an invalid interval" interval "alloc,file=$IW/reports/x,interval=often"
	refused "$version" "a missing directory" 'file|directory' "alloc,file=/no/such/directory/x"
	refused "$version" "an invalid depth" depth "alloc,file=$IW/reports/x,depth=1000"
}

# A JVM without a recording, and a file that is not a report.
nothing() {
	local version=$1

	start_jvm "$version" serial Idle || return
	refuses 1 'record' "$version: alloc --recorded without a recording: refused" \
		alloc "$JVM_PID" --recorded
	stop "$JVM_PID"
	echo 'some text' >"$W/text"
	refuses '[23]' '.' "a file that is not a report: refused" alloc "$W/text"
}

for version in "${jdks[@]}"; do
	exactly "$version"
	unwritten "$version"
done
for version in $(jdks_of 8 25); do
	ends "$version"
	living "$version"
	ended_early "$version"
done
for version in $(jdks_of 8); do
	refused "$version" "sampling on JDK 8" exact "alloc,file=$IW/reports/x"
done
for version in $(jdks_of 25); do
	in_files "$version"
	refusals "$version"
done
for version in $(jdks_of 17); do
	nothing "$version"
done
