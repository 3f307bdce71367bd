# shellcheck shell=bash disable=SC2154 # app, form and the places are guest.sh's
# A JVM near its memory limit, in a control group that is killed as one (memory.oom.group): the OOM
# killer does not kill it because of a command of jtool, wherever jtool runs. A command may refuse,
# with a message.

kills=0

# oom_kills: how many processes the kernel has killed in the JVM's control group.
oom_kills() {
	sed -n 's/^oom_kill //p' "$app/memory.events"
}

# start_at PERCENT: a JVM that uses this share of its memory limit.
start_at() {
	local used

	start_jvm -Xms64m -Xmx64m -XX:+UseSerialGC -XX:+AlwaysPreTouch BigHeap big 0.1 || return
	jtool jcmd "$JVM_PID" VM.version >/dev/null # the attach listener exists
	used=$(read_number "$app/memory.current")
	limit=$((used * 100 / $1))
	echo "$limit" >"$app/memory.max"
}

# command_line WORD...: replaces PID by the pid that the caller sees.
commands=("list" "info PID" "stat PID" "perf PID" "jcmd PID VM.version" "jcmd PID GC.heap_info"
	"threads PID" "threads --stack PID" "threads --blocked PID" "threads --raw -l PID" "props PID"
	"agentprops PID" "flags PID" "op PID threaddump" "memory PID" "memory --no-attach PID"
	"heaphisto PID" "heaphisto --live PID" "heaphisto --strict PID" "heaphisto --vm PID"
	"heaphisto --engine snapshot PID" "heaphisto --engine hprof PID"
	"classes PID" "class PID BigHeap" "dump PID BigHeap -d /tmp/classes"
	"redefine PID /classes/BigHeap.class" "patches PID" "restore PID"
	"refpaths -n 1 PID Wanted" "refpaths --engine snapshot -n 1 PID Wanted"
	"refpaths --engine agent -n 1 PID Wanted" "refpaths --engine hprof -n 1 PID Wanted"
	"retained PID" "retained --suspects PID" "retained --engine snapshot PID"
	"retained --engine agent PID" "retained --engine hprof PID" "heapdump PID -" "heapdump PID /tmp/h"
	"trace PID BigHeap.* -d 1" "alloc PID -d 1" "alloc PID --exact -d 1" "alloc PID --live -d 1"
	"jfr PID record -d 1 /tmp/jfr" "capture PID /tmp/capture" "detach PID")
[ "$form" = long ] || commands=("list" "info PID" "jcmd PID VM.version" "threads PID" "memory PID"
	"heaphisto PID" "heaphisto --live PID" "classes PID" "dump PID BigHeap -d /tmp/classes"
	"refpaths -n 1 PID Wanted" "retained PID" "heapdump PID -" "heapdump PID /tmp/h" "alloc PID -d 1")

# try PLACE COMMAND: runs it once; fails if the JVM dies or jtool is killed.
try() {
	local place=$1 words rc=0 before name="$where: $2" out=/run/out

	before=$(oom_kills)
	target=1
	[ "$place" != host ] || target=$JVM_PID
	# In the file, which is in memory, the output would count for the group of jtool.
	[[ $2 != *" -" ]] || out=/dev/null
	read -r -a words <<<"${2/PID/$target}"
	# A capture takes 25 seconds, and all of its commands are slow here.
	as "$place" timeout -k 10 300 jtool "${words[@]}" >$out 2>/run/err || rc=$?
	rm -rf /tmp/classes /tmp/h /tmp/jfr /tmp/capture
	if gone "$JVM_PID" || ! answers; then
		kills=$((kills + 1))
		fail "$name: the JVM lives" "exit $rc; $(tail -n 2 /run/err)" \
			"limit $limit; kills: $before, then $(oom_kills)" "$(tail -n 3 /run/jvm.out)" \
			"$(dmesg | grep -i -E 'oom|killed process' | tail -n 6)"
		return 1
	fi
	if [ $rc -ge 124 ]; then
		fail "$name: jtool is not killed" "exit $rc; limit $limit" "$(tail -n 2 /run/err)"
	elif [ $rc -ne 0 ] && ! grep -q '^jtool: ' /run/err; then
		fail "$name: an error has a message" "exit $rc" "$(cat /run/err)"
	elif [[ $2 == list ]] && ! grep -q -E ' (ready|listening) +BigHeap' /run/out; then
		fail "$name: it shows the JVM" "$(cat /run/out /run/err)"
	else
		pass "$name: exit $rc$([ $rc -eq 0 ] || printf ': %s' "$(tail -n 1 /run/err | cut -c -160)")"
	fi
}

percents=(65 80 90 95)
[ "$form" = long ] || percents=(90)
places=(inside beside host)
[ "$form" = long ] || places=(inside)

runs=0
for percent in "${percents[@]}"; do
	for place in "${places[@]}"; do
		where="$percent % of memory.max, $place"
		start_at "$percent" || continue
		for command in "${commands[@]}"; do
			runs=$((runs + 1))
			if ! try "$place" "$command"; then
				stop_jvm
				start_at "$percent" || break
			fi
		done
		stop_jvm
	done
done
same "memory.oom.group: JVMs killed in $runs runs" 0 $kills
