# shellcheck shell=sh
# heartbeat.sh CONSOLE: writes the time to an emulated machine's console every 10 seconds, by which
# the host sees that the machine is not frozen, and every minute each process with its state and the
# function of the kernel that it waits in.
beats=0
while true; do
	beats=$((beats + 1))
	echo "heartbeat $beats: $(cut -d ' ' -f 1-3 /proc/uptime /proc/loadavg | tr '\n' ' ')"
	if [ $((beats % 6)) -eq 0 ]; then
		for process in /proc/[0-9]*; do
			[ -s "$process/cmdline" ] || continue # a thread of the kernel
			echo "${process#/proc/} $(sed -n 's/^State:.//p' "$process/status")" \
				"$(cat "$process/wchan") $(tr '\0' ' ' <"$process/cmdline" | cut -c -100)"
		done 2>/dev/null
	fi
	sleep 10
done >"$1"
