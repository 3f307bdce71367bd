# shellcheck shell=bash
# Functions for the tests in the emulated machine: results, waiting, and a JVM in a container, which
# consists of namespaces and a control group.
set -u

n_passed=0 n_failed=0 n_skipped=0

pass() {
	n_passed=$((n_passed + 1))
	echo "ok $((n_passed + n_failed + n_skipped)) - $1"
}

# fail NAME [DETAIL...]
fail() {
	n_failed=$((n_failed + 1))
	echo "not ok $((n_passed + n_failed + n_skipped)) - $1"
	shift
	[ $# -eq 0 ] || printf '%s\n' "$@" | head -n 20 | cut -c -300 | sed 's/^/#   /'
}

skip() {
	n_skipped=$((n_skipped + 1))
	echo "ok $((n_passed + n_failed + n_skipped)) - $1 # SKIP $2"
}

# same NAME WANTED GOT
same() {
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1" "wanted: $2" "got: $3"
	fi
}

# poll SECONDS COMMAND...: repeats COMMAND until it succeeds; fails after SECONDS.
poll() {
	local end=$((SECONDS + $1))

	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

gone() {
	[ ! -e "/proc/$1" ] || grep -q '^State:[[:space:]]*[ZX]' "/proc/$1/status"
}

pod=/sys/fs/cgroup/pod # the parent of the containers' control groups
app=$pod/app

# read_number FILE: "max" is a large number.
read_number() {
	local value

	value=$(cat "$1")
	[ "$value" = max ] && value=9223372036854775807
	echo "$value"
}

# container_main: runs in new namespaces and ends as a JVM of user `app`. Without the second compiler,
# HotSpot replaces little of the code that it has compiled: in QEMU, where one processor may translate
# code while another one changes it, a JVM has crashed at the entry of such code.
# shellcheck disable=SC2016 # expanded by the inner shell
container_main='
mount -t proc none /proc
mount -t tmpfs -o mode=1777 none /tmp
umount /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup || exit
exec setpriv --reuid=1000 --regid=1000 --clear-groups /jre/bin/java -XX:TieredStopAtLevel=1 "$@"'

jvm_is_ready() {
	grep -q '^READY$' /run/jvm.out || gone "$unshare_pid"
}

# start_jvm FLAG... CLASS ARGUMENT...: starts a JVM in a container, where its pid is 1. Sets JVM_PID
# to its pid on the host.
start_jvm() {
	mkdir -p $app
	echo 1 >$app/memory.oom.group
	rm -f /run/jvm.in
	# Here and not by the background process, which may start only after jvm_is_ready() has seen the
	# last JVM's READY.
	: >/run/jvm.out
	mkfifo /run/jvm.in
	exec 9<>/run/jvm.in
	(
		echo $BASHPID >$app/cgroup.procs
		exec env --default-signal=INT,QUIT unshare -m -p -f -C --kill-child \
			bash -c "$container_main" jvm -cp /classes "$@" 9>&-
	) <&9 >>/run/jvm.out 2>&1 &
	unshare_pid=$!
	if ! poll 600 jvm_is_ready || gone $unshare_pid; then
		fail "the JVM becomes ready" "$(tail -n 5 /run/jvm.out)"
		return 1
	fi
	JVM_PID=$(cat /proc/$unshare_pid/task/$unshare_pid/children)
	JVM_PID=${JVM_PID%% *}
}

stop_jvm() {
	kill -9 "$JVM_PID" "$unshare_pid" 2>/dev/null
	wait "$unshare_pid" 2>/dev/null
	exec 9>&-
	poll 60 rmdir $app || fail "the control group is empty"
}

n_asked=0

# answers: succeeds if the JVM answers a line of input.
answers() {
	n_asked=$((n_asked + 1))
	echo "echo-$n_asked" >&9
	poll 60 answered_or_gone
	grep -q "^echo-$n_asked\$" /run/jvm.out
}

answered_or_gone() {
	grep -q "^echo-$n_asked\$" /run/jvm.out || gone "$JVM_PID"
}

# as PLACE COMMAND...: runs it inside the JVM's container, beside it in a container of its own with
# 64 MB of memory that shares the pid namespace, or on the host; all as root. The JVM's pid is 1
# there, $JVM_PID on the host.
as() {
	local place=$1

	shift
	case $place in
	inside) (
		echo $BASHPID >$app/cgroup.procs
		exec nsenter -t "$JVM_PID" -m -p -C "$@"
	) ;;
	beside) (
		mkdir -p $pod/beside
		echo 67108864 >$pod/beside/memory.max
		echo 1 >$pod/beside/memory.oom.group
		echo $BASHPID >$pod/beside/cgroup.procs
		# shellcheck disable=SC2016 # expanded by the inner shell
		exec nsenter -t "$JVM_PID" -p unshare -m -C bash -c 'mount -t proc none /proc
			mount -t tmpfs -o mode=1777 none /tmp
			umount /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup || exit
			exec "$@"' beside "$@"
	) ;;
	host) "$@" ;;
	esac
}
