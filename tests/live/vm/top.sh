#!/usr/bin/env bash
# top: the busy thread is the first, rates are those of a known load, and names are complete; on a
# terminal (tmux) keys work, and the terminal is restored however it ends.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2016,SC2317 # functions for poll
. "$(dirname "$0")/../lib.sh"

# tm ARGUMENT...: tmux without configuration, and with a server of its own.
tm() {
	tmux -L "jtool-top-$$" -f /dev/null "$@"
}

# type_line COMMAND: runs it in the shell of the terminal.
type_line() {
	tm send-keys -t top -l "$1"
	tm send-keys -t top Enter
}

keys() {
	tm send-keys -t top "$@"
}

screen() {
	tm capture-pane -t top -p
}

row() {
	screen | sed -n "$1p"
}

shows() {
	screen | grep -q -E -e "$1"
}

shows_not() {
	! shows "$1"
}

# sees NAME PATTERN: the terminal shows the pattern, now or within a minute.
sees() {
	if poll 60 shows "$2"; then
		pass "$1"
	else
		fail "$1" "wanted: /$2/" "$(screen)"
	fi
}

# The first row of the table is that of the busy thread.
busy_first() {
	screen | grep -A 1 '^ *CPU%.*NAME' | tail -n 1 | grep -q ' busy *$'
}

# top_on COMMAND...: runs it in the terminal between two readings of its settings.
top_on() {
	rm -f "$W/before" "$W/after"
	type_line "clear; stty -g >before; ($*; echo \"ended with \$?\" >after; stty -g >>after)"
}

has_ended() {
	[ "$(wc -l <"$W/after")" -eq 2 ]
}

# restored NAME STATUS: jtool ends with this status, and the terminal is as it was.
restored() {
	if ! poll 60 has_ended; then
		fail "$1: it ends" "$(screen)"
		return
	fi
	same "$1: exit status, settings, screen and cursor" "ended with $2 $(cat "$W/before") 0 1" \
		"$(paste -s -d ' ' "$W/after") $(tm display-message -p -t top \
			'#{alternate_on} #{cursor_flag}')"
}

on_alternate_screen() {
	[ "$(tm display-message -p -t top '#{alternate_on} #{cursor_flag}')" = "1 0" ]
}

# jtool_of_terminal: the pid of the jtool that runs in the terminal.
jtool_of_terminal() {
	pgrep -P "$(pgrep -P "$(tm display-message -p -t top '#{pane_pid}')")" -x jtool
}

# documents EXPRESSION: evaluates it with the documents of the last run as list `d`.
documents() {
	python3 -c 'import json, sys
d = [json.loads(line) for line in open(sys.argv[1])]
try:
    print(eval("(" + sys.argv[2] + ")"))
except Exception as e:
    print(repr(e))' "$W/out" "$1"
}

tm new-session -d -s top -x 110 -y 30 -c "$W" "env -u NO_COLOR bash --norc" || exit
track "$(tm display-message -p '#{pid}')"
track "$(tm display-message -p -t top '#{pane_pid}')"

for version in "${jdks[@]}"; do
	start_jvm "$version" default Load -- 20 10 || continue
	jt top "$JVM_PID" --json 1 6
	same "$version: a document a line at every interval" "0 6 True" \
		"$rc $(documents "'%d %s' % (len(d), all(x['schema'] == 1 and
			x['interval'] > 0 and x['pid'] == $JVM_PID for x in d) and
			5.5 < sum(x['interval'] for x in d) < 60)")"
	same "$version: the busy thread is the first, with its full name" "busy True" \
		"$(documents "'%s %s' % (d[-1]['threads'][0]['name'],
			d[-1]['threads'][0]['cpu_percent'] > 0)")"
	same "$version: threads have names and ids from a dump" True \
		"$(documents "all(any(t['name'] == n and t['id'] and t['daemon'] for t in
			d[0]['threads']) for n in ['allocator', 'idle-0', 'idle-19'])")"
	same "$version: every thread of the kernel has a row" True "$(documents "abs(
		len(d[-1]['threads']) - $(thread_count "$JVM_PID")) <= 3")"
	same "$version: the rate of allocation is that of the load" True "$(documents "
		4 << 20 < sum(x['jvm']['allocation_rate'] or 0 for x in d) / len(d) < 20 << 20")"
	same "$version: heap, collections, safepoints, CPU and its limit" True "$(documents "all(
		0 < x['jvm']['heap_used'] <= x['jvm']['heap_max'] and x['jvm']['rss'] > 1 << 20 and
		x['jvm']['gc_percent'] >= 0 and x['jvm']['safepoint_percent'] >= 0 and
		x['jvm']['cpu_limit'] > 0 and x['jvm']['cpu_percent'] > 0 for x in d)")"
	works "$version: a table without a terminal" top "$JVM_PID" -n 3 -c 1
	same "$version: -n 3: three rows, and how many more" "3 1" "$(grep -c -E \
		'^ +[0-9.]+ .* (running|sleeping) ' "$W/out") $(grep -c '^… [0-9]* more threads' "$W/out")"

	top_on ./jtool top "$JVM_PID" 500ms
	check "$version: terminal: the busy thread is the first" poll 60 busy_first
	check "$version: terminal: alternate screen, no cursor" on_alternate_screen
	keys Enter
	sees "$version: terminal: the stack of the selected thread" 'at Load\.(spin|access)'
	keys Escape
	sees "$version: terminal: back to the table" 'NAME *$'
	keys q
	restored "$version: terminal: q" 0
	unharmed "$version: top"
	stop "$JVM_PID"
done

version=${jdks[-1]}
start_jvm "$version" default Load -- 20 0 && {
	top_on ./jtool top "$JVM_PID" 200ms
	check "keys: the busy thread is the first" poll 60 busy_first
	sees "names are complete" 'VM Periodic Task Thread'
	keys s
	sees "keys: s: sorted by time" 'sort: time'
	keys s r
	sees "keys: s, r: sorted by name, reversed" 'sort: name, reversed'
	keys r s s
	check "keys: s: again by CPU" poll 60 busy_first
	keys Space
	sees "keys: Space: paused" '^paused'
	before=$(screen)
	sleep 1
	same "keys: Space: nothing changes" "$before" "$(screen)"
	keys Space
	check "keys: Space: it goes on" poll 60 shows_not '^paused'
	keys '?'
	sees "keys: ?: the help" '^Keys and columns'
	keys '?' j
	sees "keys: j: all JVMs" "^ *$JVM_PID .* Load *\$"
	keys t
	check "keys: t: the threads of the last JVM" poll 60 busy_first
	keys End
	sleep 0.5
	same "keys: End: the last row is selected" 1 "$(tm capture-pane -t top -p -e |
		sed -n 29p | grep -c $'\e\[7m')"
	keys Home End Enter # in one read
	sees "keys: End and Enter at once: the stack of the last thread" ', tid [0-9]'
	keys Escape
	sees "keys: Escape: back to the table" 'NAME *$'

	tm resize-window -t top -x 50 -y 15
	sees "resize: the status is in the last row of 15" '^q quit'
	poll 60 shows_not ' TID '
	same "resize: the last row is the status" "q quit" "$(row 15 | cut -c 1-6)"
	tm resize-window -t top -x 110 -y 30
	sees "resize: back: all columns" 'TID'

	ask 'name evil\e[31m\nname-\u00e9' '^named$' >/dev/null
	keys Home s s
	sees "a new thread is named, its control characters are escaped" 'evil\\x1B\[31m\\x0Aname-'
	keys C-z
	poll 60 shows 'Stopped'
	same "Ctrl-Z: the terminal is the shell's" "0 1" \
		"$(tm display-message -p -t top '#{alternate_on} #{cursor_flag}')"
	type_line fg
	check "fg: it goes on" poll 60 on_alternate_screen
	sees "fg: it draws everything" 'NAME *$'
	keys C-c
	restored "Ctrl-C" 0

	top_on ./jtool top "$JVM_PID"
	poll 60 busy_first
	kill -TERM "$(jtool_of_terminal)"
	restored "SIGTERM" 0
	top_on ./jtool top "$JVM_PID"
	poll 60 busy_first
	kill -HUP "$(jtool_of_terminal)"
	restored "SIGHUP" 0
	top_on ./jtool top "$JVM_PID" 1h
	sees "an interval of 1 h: the threads" ' busy *$'
	keys C-s s # top waits until the terminal, which is stopped, takes the table
	sleep 0.5
	kill -TERM "$(jtool_of_terminal)"
	sleep 0.2
	keys C-q
	restored "SIGTERM while the terminal is stopped" 0
	top_on ./jtool top "$JVM_PID" -d 2
	restored "-d 2" 0

	top_on ./jtool top "$JVM_PID"
	poll 60 busy_first
	stop "$JVM_PID"
	sees "the JVM is killed: it says so" "^JVM $JVM_PID exited"
	check "the JVM is killed: the last table stays" shows ' busy *$'
	keys q
	restored "the JVM is killed" 7
}

start_jvm "$version" default Load -- 1 0 && {
	one=$JVM_PID
	top_on ./jtool top all 200ms
	sees "all: the JVM has a row" "^ *$one .* Load *\$"
	start_jvm "$version" default Load -- 2 0
	sees "all: one that starts enters" "^ *$JVM_PID .* Load *\$"
	stop "$one"
	check "all: the row of one that ends goes" poll 60 shows_not "^ *$one "
	keys q
	restored "all" 0
	jt top all --json 1 1
	same "all: --json: the JVM is in it" "0 True" "$rc $(documents "any(x['pid'] == $JVM_PID and
		x['main'] == 'Load' and x['cpu_percent'] > 0 for x in d[0]['jvms'])")"
	(sleep 3 && kill -9 "$JVM_PID") &
	jt top "$JVM_PID" --json 200ms
	same "--json: the JVM ends: exit status 7, complete lines" "7 True" \
		"$rc $(documents "len(d) > 1")"
	stop "$JVM_PID"
}

# Names of the kernel, where nothing can attach.
start_jvm "$version" default Load -XX:+DisableAttachMechanism -- 1 0 && {
	jt top "$JVM_PID" --json -c 1
	same "attaching is disabled: names of the kernel" "0 True 1" "$rc $(documents "any(
		t['name'] == 'busy' and t['id'] is None for t in d[0]['threads'])") $(grep -c \
		'names are those of the kernel' "$W/err")"
	unharmed "attaching is disabled"
	stop "$JVM_PID"
}

start_jvm "$version" default Load -XX:-UsePerfData -- 1 0 && {
	jt top "$JVM_PID" --json -c 1
	same "no counters: threads and CPU all the same" "0 busy None True" "$rc $(documents "'%s %s %s' % (
		d[0]['threads'][0]['name'], d[0]['jvm']['gc_percent'], d[0]['jvm']['rss'] > 0)")"
	stop "$JVM_PID"
}

# Another user's JVM: root may attach, a third user may not even look.
JVM_AS=2101:2101 start_jvm "$version" default Load -- 3 0 && {
	jt top "$JVM_PID" --json -c 1
	same "another user's JVM: root sees names" "0 True" "$rc $(documents "any(
		t['name'] == 'idle-2' and t['id'] for t in d[0]['threads'])")"
	JT_AS=2101 jt top "$JVM_PID" --json -c 1
	same "a user's own JVM: names" "0 True" "$rc $(documents "any(
		t['name'] == 'idle-2' and t['id'] for t in d[0]['threads'])")"
	JT_AS=2102 refuses 4 'belongs to user 2101' "another user's JVM: refused" \
		top "$JVM_PID" -c 1
	JT_AS=2102 jt top all --json -c 1
	same "all: another user's JVM has a row" "0 True" "$rc $(documents "any(
		x['pid'] == $JVM_PID and x['cpu'] > 0 for x in d[0]['jvms'])")"
	unharmed "another user's JVM"
	stop "$JVM_PID"
}

launch_jvm "$version" default Threads -Xss256k -- 10000 2
await_ready 240 && {
	jt top "$JVM_PID" --json 1 2
	same "10,000 threads: each has a row and its name" "0 True" "$rc $(documents "len([t for t in
		d[-1]['threads'] if t['name'].startswith('deep-') and t['id']]) == 10000")"
	# glibc reports the failure of a large write only once.
	rc=0
	timeout 60 bash -c '"$0" top "$1" 300ms -n 0 | head -n 1 >"$2"; exit "${PIPESTATUS[0]}"' \
		"$JTOOL" "$JVM_PID" "$W/out" 2>"$W/err" || rc=$?
	same "10,000 threads: a closed pipe ends top" "141 1" "$rc $(wc -l <"$W/out")"
	rc=0
	timeout 60 "$JTOOL" top "$JVM_PID" 300ms -n 0 >/dev/full 2>"$W/err" || rc=$?
	same "10,000 threads: a full disk ends top" "7 1" "$rc $(grep -c 'No space left' "$W/err")"
	unharmed "10,000 threads"
	stop "$JVM_PID"
}

run_among_jvms bash -c './jtool top "$(./jtool list -q | head -n 1)" --json 1 1'
same "another pid namespace: names and times" "0 True" "$rc $(documents "any(
	t['name'] == 'main' and t['id'] and t['cpu'] > 0 for t in d[0]['threads'])")"

# limited: creates a cgroup that has 5 % of a CPU, and sets `group`.
limited() {
	if [ -d /sys/fs/cgroup/cpu ]; then
		group=/sys/fs/cgroup/cpu/jtool-top-$$
		mkdir "$group" && echo 100000 >"$group/cpu.cfs_period_us" &&
			echo 5000 >"$group/cpu.cfs_quota_us"
	else
		group=/sys/fs/cgroup/jtool-top-$$
		mkdir "$group" && echo "5000 100000" >"$group/cpu.max"
	fi
}
start_jvm "$version" default Load -- 1 0 && {
	if limited 2>/dev/null && echo "$JVM_PID" >"$group/cgroup.procs"; then
		jt top "$JVM_PID" --json 2 2
		same "a quota of 5 %: the limit, and throttled time" "0 True" "$rc $(documents "
			d[-1]['jvm']['cpu_limit'] == 0.05 and d[-1]['jvm']['throttled_percent'] > 5")"
	else
		skip "a quota" "cannot create a cgroup"
	fi
	stop "$JVM_PID"
	[ ! -d "${group:-/none}" ] || poll 10 rmdir "$group"
}

refuses 2 'invalid interval' "a malformed interval" top all 5x
refuses 2 'cannot be combined' "COUNT and --count" top all 1 2 -c 3
refuses 2 'is for JVMs' "--sort rss for threads" top 1 --sort rss
refuses 2 'invalid --state .lost.: expected running' "an unknown state" top 1 --state lost
refuses 2 'is for threads' "--state for JVMs" top --state running
tm kill-server
finish
