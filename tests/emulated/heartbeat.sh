# shellcheck shell=sh
# heartbeat.sh CONSOLE: writes the time to an emulated machine's console every 10 seconds, by which
# the host sees that the machine is not frozen, and every minute each process with its state and the
# function of the kernel that it waits in. Few programs are started: an emulated machine is slow.
beats=0
while true; do
	beats=$((beats + 1))
	echo "heartbeat $beats: $(cut -d ' ' -f 1-3 /proc/uptime /proc/loadavg | tr '\n' ' ')"
	if [ $((beats % 6)) -eq 0 ]; then
		for process in /proc/[0-9]*; do
			line='' wchan=''
			read -r line <"$process/cmdline" # ends without a newline
			[ -n "$line" ] || continue       # a thread of the kernel
			while read -r key state; do
				[ "$key" != State: ] || break
			done <"$process/status"
			read -r wchan <"$process/wchan"
			echo "${process#/proc/} $state $wchan $(tr '\0\n' '  ' <"$process/cmdline" | cut -c -100)"
		done 2>/dev/null
	fi
	sleep 10
done >"$1"
