# shellcheck shell=bash
# Functions for emulated machines: a work directory, which is removed at the end, and QEMU. $apt_set
# is the set of scripts/apt-need that has the required commands.
# shellcheck disable=SC2154 # the caller sets it

# skip REASON: ends the script; nothing is tested.
skip() {
	echo "ok - emulated machine # SKIP $1"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
}

# require COMMAND...: skips if one of them is missing.
require() {
	local command

	for command; do
		command -v "$command" >/dev/null || skip "$command is missing: run scripts/apt-need $apt_set"
	done
}

work=$(mktemp -d /tmp/jtool-emulated.XXXXXX)
qemu=
# shellcheck disable=SC2317,SC2329 # called by the trap
finish() {
	[ -z "$qemu" ] || kill "$qemu" 2>/dev/null || true # timeout passes the signal on
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

# pack DIRECTORY: prints it as an initramfs.
pack() {
	(cd "$1" && find . | cpio -o -H newc --quiet | gzip -1)
}

# A machine whose console has not changed for this many seconds is frozen: heartbeat.sh writes to it
# every 10 seconds.
frozen_after=120

# run_machine SECONDS QEMU ARGUMENT...: runs a machine, with its output in $work/out, and prints the
# output while it runs. Sets why, the reason for the machine's end.
run_machine() {
	local limit=$1 end=$((SECONDS + $1))

	shift
	why="it ended"
	: >"$work/out"
	: >"$work/console"
	: >"$work/all"
	timeout -k 5 $((limit + 60)) "$@" -display none -monitor none -no-reboot -nic none </dev/null &
	qemu=$!
	tail -n +1 --pid=$qemu -s 0.2 -f "$work/out" | sed -u 's|\r$||' | tee "$work/all" |
		grep --line-buffered -v '^exit ' &
	while kill -0 "$qemu" 2>/dev/null; do
		sleep 1
		if [ $(($(date +%s) - $(stat -c %Y "$work/console"))) -gt $frozen_after ]; then
			why="the emulator froze"
		elif [ $SECONDS -ge $end ]; then
			why="there was no end within $limit seconds"
		elif grep -q '^exit ' "$work/all"; then
			why="the tests have ended"
			timeout 10 tail --pid=$qemu -f /dev/null || true # the machine turns itself off
		else
			continue
		fi
		kill "$qemu" 2>/dev/null || true
		break
	done
	wait || true
	qemu=
}

# emulate SECONDS QEMU ARGUMENT...: runs a machine that writes its console to $work/console, and to
# $work/out the output of its tests and then "exit CODE". Prints the output, exits with the code. A
# frozen machine is not a result of jtool: it is started again, at most twice.
emulate() {
	local rc why starts=1

	run_machine "$@"
	while [ "$why" = "the emulator froze" ] && [ $starts -lt 3 ]; do
		echo "# $why, and is started again; its console:"
		console
		starts=$((starts + 1))
		run_machine "$@"
	done
	rc=$(sed -n 's/^exit //p' "$work/all" | tail -n 1)
	if [ -z "$rc" ]; then
		echo "not ok - the tests in the emulated machine come to their end: $why"
		console
		echo "0 passed, 1 failed, 0 skipped"
		exit 1
	fi
	exit "$rc"
}

# console: the console's end, where heartbeat.sh lists the processes.
console() {
	tail -n 60 "$work/console" | tr -d '\r' | sed 's/^/#   /'
}
