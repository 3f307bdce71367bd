#!/usr/bin/env bash
# jtool opens only files that it has checked: another user has set traps at the caller's paths, and
# so has a target. The other user is OTHER; devices are harmless ones (/dev/null).
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

OTHER=12345

other=(setpriv "--reuid=$OTHER" "--regid=$OTHER" --clear-groups)
as_other() {
	"${other[@]}" "$@"
}

# background COMMAND...: runs it, which must not be a function, and sets BACKGROUND to its pid.
background() {
	"$@" &
	BACKGROUND=$!
	disown
	track $BACKGROUND
}

# untouched NAME: root's file is as it was.
untouched() {
	same "$1: root's file is untouched" precious "$(cat "$W/precious")"
}

echo precious >"$W/precious"
chmod 600 "$W/precious"
mkdir -m 1777 "$W/shared"
mkdir "$W/theirs" "$W/rootdir"
chown $OTHER "$W/theirs"

start_jvm "${jdks[0]}" serial Idle || exit

# A pipe of another user at a name that root is expected to use. Its reader must get nothing.
for dir in shared theirs; do
	as_other mkfifo -m 600 "$W/$dir/dump"
	background "${other[@]}" cat "$W/$dir/dump" >"$W/stolen"
	for force in "" --force; do
		# shellcheck disable=SC2086 # no word if empty
		JT_LIMIT=20 refuses 7 "another user's pipe" "heapdump to a pipe in $dir $force: refused" \
			heapdump $force "$JVM_PID" "$W/$dir/dump"
	done
	JT_LIMIT=20 refuses 7 "another user's pipe" "agent --extract to a pipe in $dir: refused" \
		agent --extract "$W/$dir/dump"
	JT_LIMIT=20 refuses 7 "another user's pipe" "heaphisto --save to a pipe in $dir: refused" \
		heaphisto "$JVM_PID" --save "$W/$dir/dump"
	stop "$BACKGROUND"
	same "pipe in $dir: its reader gets nothing" 0 "$(stat -c %s "$W/stolen")"
done

# A link of another user to a device. In a sticky directory the kernel refuses to follow it.
for dir in shared theirs; do
	as_other ln -s /dev/null "$W/$dir/device"
	for force in "" --force; do
		# shellcheck disable=SC2086 # no word if empty
		refuses 7 "another user's symbolic link" \
			"heapdump to a link to a device in $dir $force: refused" \
			heapdump $force "$JVM_PID" "$W/$dir/device"
	done
done

# The name is a pipe and a link to root's file in turn.
as_other mkfifo -m 666 "$W/theirs/a"
as_other ln -s "$W/precious" "$W/theirs/b"
background "${other[@]}" cat "$W/theirs/a" >"$W/stolen"
reader=$BACKGROUND
background "${other[@]}" python3 -c 'import ctypes, sys
libc = ctypes.CDLL(None)
a, b = sys.argv[1].encode(), sys.argv[2].encode()
while True: libc.renameat2(-100, a, -100, b, 2)' "$W/theirs/a" "$W/theirs/b"
codes=
for ((i = 0; i < $(in_soak 1000 100); i++)); do
	JT_LIMIT=20 jt agent --extract "$W/theirs/a"
	[[ " $codes " == *" $rc "* ]] || codes+=" $rc"
done
stop "$BACKGROUND" "$reader"
same "pipe and link in turn: refused each time" 7 "${codes# }"
untouched "pipe and link in turn"
same "pipe and link in turn: no reader gets anything" 0 "$(stat -c %s "$W/stolen")"

# A directory of dump -d, at the end of its path and on the way.
as_other ln -s "$W/rootdir" "$W/theirs/out"
for out in out out/ out/new; do
	refuses 7 "another user's symbolic link" "dump -d $out, a link of another user: refused" \
		dump "$JVM_PID" Idle -d "$W/theirs/$out"
done
same "dump -d: nothing is in the other directory" "" "$(ls -A "$W/rootdir")"

# A file that exists is not touched without --force; heaphisto --save and dump always replace files.
cp -p "$W/precious" "$W/mine"
state=$(stat -c '%i %Y %Z %s' "$W/mine")
jt jcmd "$JVM_PID" JFR.start
for command in "heapdump $JVM_PID mine" "jfr $JVM_PID dump mine" "agent --extract mine" \
	"alloc $JVM_PID -d 0.1 --collapsed mine" \
	"trace $JVM_PID Idle.* -d 0.1 --flamegraph mine"; do
	# shellcheck disable=SC2086 # words
	refuses 2 "'mine'.*file exists; use --force" "${command/$JVM_PID/}: exists: refused" $command
done
same "a file that exists: it is as it was" "precious $state" \
	"$(cat "$W/mine") $(stat -c '%i %Y %Z %s' "$W/mine")"
works "a file that exists: replaced with --force" heapdump --force "$JVM_PID" mine

# Special files that a caller may name.
mkfifo "$W/own"
timeout 60 cat "$W/own" >"$W/read" &
works "heapdump to the caller's own pipe" heapdump "$JVM_PID" "$W/own"
wait $!
same "heapdump to the caller's own pipe: its reader gets a dump" "JAVA PROFILE 1.0.2" \
	"$(head -c 18 "$W/read")"
(
	sleep 1
	timeout 60 cat "$W/own" >"$W/read"
) &
works "heapdump to a pipe whose reader starts later" heapdump "$JVM_PID" "$W/own"
wait $!
same "heapdump to a pipe whose reader starts later: it gets a dump" "JAVA PROFILE 1.0.2" \
	"$(head -c 18 "$W/read")"
begin=$(now_ms)
refuses 7 "no process reads from this pipe; start the reader" "a pipe without a reader: refused" \
	heapdump "$JVM_PID" "$W/own"
check "a pipe without a reader: refused in time" test $(($(now_ms) - begin)) -lt 15000
works "heapdump to /dev/null" heapdump "$JVM_PID" /dev/null
for name in /dev/stdout /dev/fd/1 /proc/self/fd/1; do
	jt heapdump "$JVM_PID" $name
	same "heapdump to $name, a file: its start" "JAVA PROFILE 1.0.2" \
		"$(head -c 18 "$W/out" | tr -d '\0')"
	same "heapdump to $name, a pipe: its start" "JAVA PROFILE 1.0.2" \
		"$(timeout 60 "$W/jtool" heapdump "$JVM_PID" $name 2>"$W/err" | head -c 18 | tr -d '\0')"
done
same "heapdump to >(a process): its start" "JAVA PROFILE 1.0.2" \
	"$(timeout 60 "$W/jtool" heapdump "$JVM_PID" >(head -c 18 >"$W/head"; cat >"$W/rest") >"$W/out"
		poll 10 test -s "$W/rest"; tr -d '\0' <"$W/head")"
check "heapdump to the terminal's device: it is not refused for its kind" \
	script -qec "$W/jtool heaphisto $JVM_PID -n 1 --save /dev/tty" /dev/null
works "heaphisto --save" heaphisto "$JVM_PID" --save "$W/saved"
for from in '<(cat saved)' '/dev/stdin <saved' '<(sleep 1; cat saved)'; do
	check "heaphisto --diff $from" \
		bash -c "cd $W && timeout 60 ./jtool heaphisto $JVM_PID --diff $from"
done
# shellcheck disable=SC2016 # expanded by the inner shell
check "heaphisto --diff /dev/fd/3, a pipe of another user" timeout 60 bash -c \
	'cd "$1" && exec 3< <(cat saved) && chown $3 /proc/self/fd/3 &&
		./jtool heaphisto "$2" --diff /dev/fd/3' bash "$W" "$JVM_PID" $OTHER

# A file of the caller's that is missing or of the wrong kind: exit code 2 everywhere.
mkfifo "$W/pipe.hprof" "$W/pipe.class" "$W/pipe.so" "$W/pipe.jar"
for words in "retained @.hprof" "refpaths @.hprof java.lang.String" "heaphisto @.hprof" \
	"alloc ./@.report" "heaphisto $JVM_PID --diff ./@" "redefine $JVM_PID @.class" \
	"redefine $JVM_PID @.jar" "dump $JVM_PID Idle --diff @.jar" "load $JVM_PID @.so" \
	"load $JVM_PID ./@.so" "load $JVM_PID @.jar"; do
	for name in nosuch pipe; do
		[ $name != pipe ] || [[ $words != *.report* && $words != *--diff\ ./* ]] || continue
		why="No such file"
		[ $name != pipe ] || why="not a regular file"
		# shellcheck disable=SC2086 # words
		JT_LIMIT=20 refuses 2 "$why" "${words//$JVM_PID/PID}, $name: refused" ${words//@/$name}
	done
done
unharmed "files of the caller"
stop "$JVM_PID"

# A target that is not a JVM, in its own mount namespace, with a /tmp and a directory of its own.
cp /bin/true "$W/libjvm.so"
cp "$live_dir/attach/fake_jvm.py" "$W"
mkdir "$W/view" "$W/node"
cp /bin/true "$W/view/agent.so"
mknod -m 666 "$W/node/agent.so" c 1 3

# start_fake HOW [TARGET]
start_fake() {
	# shellcheck disable=SC2016 # expanded by the inner shell
	spawn unshare -m bash -c 'mount -t tmpfs -o mode=1777 none /tmp &&
		mount --bind "$1/node" "$1/view" && shift && exec python3 "$@"' bash "$W" \
		"$W/fake_jvm.py" "$W/libjvm.so" "$1" "$W/view" "${@:2}"
	await_ready
}

if start_fake device; then
	JT_LIMIT=20 refuses 7 "not a regular file of the JVM's user" \
		"jfr dump: a device as recording: refused" jfr "$JVM_PID" dump "$W/got.jfr"
	same "jfr dump: a device as recording: not opened" "opens 0" "$(ask opens '^opens')"
	# Only the notice of the copy is checked: the fake JVM loads no agent.
	JT_LIMIT=20 jt load -v "$JVM_PID" "$W/view/agent.so"
	same "load: a device in the place of the caller's file: not opened" "opens 0" \
		"$(ask opens '^opens')"
	check "load: a device in the place of the caller's file: a copy is made" \
		grep -q 'copied to' "$W/err"
	stop "$JVM_PID"
fi

# The target's socket becomes a link to a socket that it cannot reach, but root can.
background python3 -c 'import os, socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o600)
s.listen(100)
while True:
    c, _ = s.accept()
    print("connected", flush=True)
    c.close()' "$W/host.sock" >"$W/connected"
poll 10 test -S "$W/host.sock"
if start_fake swap "$W/host.sock"; then
	for ((i = 0; i < $(in_soak 1000 60); i++)); do
		JT_LIMIT=20 jt jcmd --timeout 1 "$JVM_PID" VM.version
	done
	same "a socket and a link in turn: no connection to the other socket" 0 \
		"$(wc -l <"$W/connected")"
fi
