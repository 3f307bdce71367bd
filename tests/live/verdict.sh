# shellcheck shell=bash
# Sourced by tests/live/run and tests/release/run.

# verdict THEME STATUS OUTPUT: sets `sum` to the numbers of passed, failed and skipped results of a
# theme that has exited with STATUS. A theme also fails if it was killed, if it tests nothing, or if
# the last line of the file OUTPUT does not agree with the results; then prints the reason.
verdict() {
	local results why=

	sum=(0 0 0)
	results=$(grep -c -E '^(not )?ok [0-9]+ - ' "$3") || true
	if [[ $(tail -n 1 "$3") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
		sum=("${BASH_REMATCH[@]:1}")
		if [ $((sum[0] + sum[1] + sum[2])) -ne "$results" ]; then
			why="its last line disagrees with the $results results it printed"
		elif [ "$2" -ne $((sum[1] > 0)) ]; then
			why="it exited with $2"
		elif [ "$results" -eq 0 ]; then
			why="it tests nothing"
		fi
	else
		why="it did not run to its end and exited with $2"
	fi
	if [ -n "$why" ]; then
		echo "not ok - $1: $why"
		sum[1]=$((sum[1] + 1))
	fi
}
