# shellcheck shell=bash disable=SC2154 # app is that of guest.sh
# The limits of a control group of version 2, seen on the host and inside the container: top shows a
# quota of CPU and the throttled time, memory compares the JVM with the limit of memory.

# number KEY: the value of the key's first occurrence in the JSON document $text.
number() {
	grep -o "\"$1\":[0-9.]*" <<<"$text" | head -n 1 | cut -d: -f2
}

for place in host inside; do
	start_jvm -Xmx64m Busy 100 || continue
	pid=$JVM_PID
	[ $place = host ] || pid=1
	echo "50000 100000" >"$app/cpu.max"
	text=$(as $place jtool top --json "$pid" 3 2 | tail -n 1)
	same "$place: top: half a CPU" 0.5 "$(number cpu_limit)"
	if [[ $(number throttled_percent) =~ ^[1-9] ]]; then
		pass "$place: top: throttled for $(number throttled_percent) %"
	else
		fail "$place: top: throttled" "$text"
	fi
	text=$(as $place jtool top --json all 3 2 | tail -n 1)
	same "$place: top all: half a CPU" 0.5 "$(number cpu_limit)"
	echo "max 100000" >"$app/cpu.max"
	text=$(as $place jtool memory --json "$pid")
	same "$place: memory: no limit" "0 " "$? $(number limit)"
	heap_max=$(number heap_max)
	outside_heap=$(number outside_heap)
	# 0: an empty operand would end this script and leave the JVM behind.
	sum=$((${heap_max:-0} + ${outside_heap:-0}))
	echo $((sum + (16 << 20))) >"$app/memory.max"
	text=$(as $place jtool memory "$pid" 2>&1)
	same "$place: memory: a limit above the sum" "0 1" \
		"$? $(grep -c '^a heap of at most .* is below the limit of ' <<<"$text")"
	echo $((sum - (16 << 20))) >"$app/memory.max"
	text=$(as $place jtool memory "$pid" 2>&1)
	same "$place: memory: a limit below the sum" "1 1" \
		"$? $(grep -c '^a heap of at most .* exceeds the limit of ' <<<"$text")"
	if answers; then
		pass "$place: the JVM answers"
	else
		fail "$place: the JVM answers" "$(tail -n 5 /run/jvm.out)"
	fi
	stop_jvm
done
