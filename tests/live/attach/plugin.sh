#!/usr/bin/env bash
# kubectl-jtool with pods that fail and pods that are hostile.  A pod is a root directory, kubectl the
# stand-in of the theme `image`, and jtool a shell, which writes the results of a test.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
# shellcheck disable=SC2016 # expanded in a pod, or by the engine

# In a mount namespace of its own, for the pods' /proc.
[ "${1:-}" = unshared ] || exec unshare -m bash "$0" unshared
. "$(dirname "$0")/../lib.sh"

D=$W/plugin
here=$D/here
pods=$D/pods
mkdir -p "$D/bin" "$D/faults" "$here"
cp "$live_dir/attach/kubectl" "$top_srcdir/packaging/kubectl/kubectl-jtool" "$D/bin"
cp /bin/dash "$D/bin/jtool"

# add_pod NAME: a pod with the programs that the plugin needs.
add_pod() {
	local root=$pods/$1 program

	mkdir -p "$root"/{bin,dev,proc,srv/data,tmp}
	mknod -m 666 "$root/dev/null" c 1 3
	for program in sh cat chmod ln mkdir mkfifo mv rm sleep tar wc; do
		cp -L "$(command -v $program)" "$root/bin"
	done
	ldd "$root"/bin/* | grep -o '/[^ ]*' | grep -v ':$' | sort -u |
		while read -r program; do
			[ -e "$root$program" ] || install -D "$program" "$root$program"
		done
	mount -t proc proc "$root/proc"
	mounts+=("$root/proc")
}

# The engine of the stand-in.  $D/faults/POD, if it exists, is read before each command in the pod:
# it may end, or run "$@" in another way.  STEP is the plugin's step.
cat >"$D/engine" <<'ENGINE'
#!/usr/bin/env bash
D=$(dirname "$0")
case $1 in
ps) printf 'pod/%s\n' shop-1 shop-2 shop-3 ;;
run) exit 0 ;;
inspect) echo true ;;
exec)
	shift
	[ "$1" = -i ] && shift || exec </dev/null
	pod=$1
	shift
	if [[ $pod == jtool-* ]]; then # an ephemeral container
		echo "ran $*"
		exit 3
	fi
	case $* in
	'sh -c umask 022 '*) STEP=create ;;
	'sh -c cat >'*) STEP=copy ;;
	'sh -c cd "$0/out" && '*) STEP=run ;;
	'sh -c cd "$0/out" || '*) STEP=list ;;
	'cat '*) STEP=fetch ;;
	*) STEP=remove ;;
	esac
	set -- env PATH=/bin /usr/sbin/chroot "$D/pods/$pod" "$@"
	[ ! -e "$D/faults/$pod" ] || . "$D/faults/$pod"
	exec "$@"
	;;
esac
ENGINE
chmod 755 "$D/engine"
export ENGINE=$D/engine KUBECTL_LOG=$D/calls
: >"$KUBECTL_LOG"

# plugin WORD...: runs it as kubectl does. Sets `rc`.
plugin() {
	rc=0
	(cd "$here" && PATH=$D/bin:$PATH exec kubectl-jtool "$@") >"$W/out" 2>"$W/err" || rc=$?
}

# fault POD TEXT: TEXT runs before each command in the pod.
fault() {
	echo "$2" >"$D/faults/$1"
}

# reset: as before the first test.
reset() {
	rm -rf "${here:?}" "$D"/faults/* "$pods"/*/tmp/*
	mkdir "$here"
}

# remains POD: the names that the plugin has left in the pod, without its directory.
remains() {
	(cd "$pods/$1/tmp" && find . -path '*/out/*' | sed 's|.*/out/||' | sort | paste -s -d ' ')
}

# is_kept NAME POD FILES: the plugin ended with 7, and FILES are in the pod as the message says.
is_kept() {
	local path='(/tmp/kubectl-jtool\.[0-9a-f]{16})/out' remote

	remote=$(sed -nE "s|^kubectl jtool: $2: the results remain in $path: .*|\1|p" "$W/err")
	same "$1: the exit status and the files that remain" "7 $3" "$rc $(remains "$2")"
	check "$1: the message names their directory" test -d "$pods/$2${remote:-/nothing}/out"
	reset
}

# says NAME LINE: the plugin printed this line.
says() {
	check "$1: the message" grep -q -x -F "kubectl jtool: $2" "$W/err"
}

for pod in shop-1 shop-2 shop-3; do
	add_pod $pod
done

plugin shop-1 -c 'echo data >app.hprof; exit 3'
same "a result is brought back, with jtool's exit status" "3 data" "$rc $(cat "$here/app.hprof")"
same "nothing is left in the pod" "" "$(ls "$pods/shop-1/tmp")"
same "only the user may read it" 600 "$(stat -c %a "$here/app.hprof")"
reset
plugin --all-pods deployment/shop -c 'echo data >app.hprof'
same "--all-pods: only the user may read the results" "0 700 600" \
	"$rc $(stat -c %a "$here/shop-3" "$here/shop-3/app.hprof" | paste -s -d ' ')"
reset

# A hostile pod.
touch "$pods/shop-1/srv/data/precious"
fault shop-2 'echo /srv/data; exit 0'
plugin --all-pods deployment/shop -c 'echo data >app.hprof'
same "a pod that prints a path: no other pod is changed" precious "$(ls "$pods/shop-1/srv/data")"
same "a pod that prints a path: the next one is visited" "7 data" \
	"$rc $(cat "$here/shop-3/app.hprof" 2>&1)"
reset
fault shop-2 '[ $STEP != create ] || exit 1'
plugin --all-pods deployment/shop -c 'echo data >app.hprof'
same "a pod without a shell: the next one is visited" "126 data" \
	"$rc $(cat "$here/shop-3/app.hprof" 2>&1)"
reset
touch "$here/shop-1"
plugin --all-pods deployment/shop -c 'echo data >app.hprof'
same "a file has the name of a pod: the next one is visited" "2 data" \
	"$rc $(cat "$here/shop-2/app.hprof" 2>&1)"
reset
fault shop-1 '[ $STEP != list ] || {
	printf "%s\n" "file 5 ../escaped" "file 5 .bashrc" "file 5 -rf" "file 08 a" end
	exit
}
[ $STEP != fetch ] || { echo evil; exit; }'
plugin shop-1 -c ':'
same "names outside of the directory are not written" "7 " "$rc $(ls -A "$here")"
same "nothing is written outside of the directory" "" "$(ls "$D/escaped" 2>/dev/null)"
reset

# A transfer that fails.
fault shop-1 '[ $STEP != fetch ] || exit 1'
plugin shop-1 -c 'echo data >app.hprof'
same "a transfer that fails writes nothing" "" "$(ls -A "$here")"
says "a transfer that fails" "shop-1: cannot fetch 'app.hprof': 0 of 5 bytes arrived"
is_kept "a transfer that fails" shop-1 app.hprof
fault shop-1 '[ $STEP != fetch ] || { "$@" | head -c 3; exit 0; }'
plugin shop-1 -c 'echo data >app.hprof'
same "a transfer that is cut short writes nothing" "" "$(ls -A "$here")"
says "a transfer that is cut short" "shop-1: cannot fetch 'app.hprof': 3 of 5 bytes arrived"
is_kept "a transfer that is cut short" shop-1 app.hprof
fault shop-1 '[ $STEP != list ] || exit 1'
plugin -n prod -c app shop-1 -c 'echo data >app.hprof'
remote=$(echo "$pods"/shop-1/tmp/*)
remote=/tmp/${remote##*/}
says "a list that fails: how to fetch the results" "shop-1: the results remain in $remote/out: fetch \
them with 'kubectl -n prod exec shop-1 -c app -- cat $remote/out/FILE >FILE', then 'kubectl -n prod \
exec shop-1 -c app -- rm -r $remote'"
is_kept "a list that fails" shop-1 app.hprof
fault shop-1 '[ $STEP != list ] || { "$@" | head -c 8; exit 0; }'
plugin shop-1 -c 'echo data >app.hprof'
is_kept "a list that is cut short" shop-1 app.hprof
for text in 'exit 1' '"$@" </dev/null; exit'; do
	fault shop-1 "[ \$STEP != copy ] || { $text; }"
	plugin shop-1 -c 'echo data >app.hprof'
	same "jtool is not copied ($text): it is not run" "126 " "$rc $(ls -A "$here")"
	says "jtool is not copied ($text)" "shop-1: cannot copy jtool there, for the reason above"
	same "jtool is not copied ($text): nothing is left in the pod" "" "$(ls "$pods/shop-1/tmp")"
	reset
done
echo old >"$here/b.hprof"
plugin shop-1 -c 'echo data >a.hprof; echo data >b.hprof; echo data >c.hprof'
same "a file that exists is not replaced, others are brought back" "data old data" \
	"$(cat "$here"/?.hprof | paste -s -d ' ')"
says "a file that exists" "shop-1: cannot fetch 'b.hprof': './b.hprof' exists and is not replaced"
is_kept "a file that exists" shop-1 "a.hprof b.hprof c.hprof"
ln -s "$D/elsewhere" "$here/app.hprof"
plugin shop-1 -c 'echo data >app.hprof'
same "a link that exists is not followed" "" "$(ls "$D/elsewhere" 2>/dev/null)"
is_kept "a link that exists" shop-1 app.hprof
fault shop-1 '[ $STEP != remove ] || exit 1'
plugin shop-1 -c 'echo data >app.hprof'
same "a directory that is not removed: the exit status" "7 data" "$rc $(cat "$here/app.hprof")"
reset

# Names and directories.
plugin shop-1 -c 'echo data >"a b\$c_+.hprof"; echo data >_x
mkdir -p com/acme; echo class >com/acme/Cart\$1.class'
same "a name with spaces, and a directory" "0 data data class" "$rc $(cat "$here/a b\$c_+.hprof" \
	"$here/_x" "$here/com/acme/Cart\$1.class" | paste -s -d ' ')"
same "only the user may read a directory" "700 700 600" \
	"$(stat -c %a "$here"/{com,com/acme,com/acme/Cart*} | paste -s -d ' ')"
reset
mkdir -p "$here/com"
plugin shop-1 -c 'mkdir com; echo class >com/Cart.class'
same "a directory that exists is not changed" "" "$(ls "$here/com")"
is_kept "a directory that exists" shop-1 "com com/Cart.class"
for name in .hidden -x 'semi;colon' 'ümlaut'; do
	plugin shop-1 -c "echo data >'$name'"
	same "the name $name: nothing is written" "" "$(ls -A "$here")"
	is_kept "the name $name" shop-1 "$name"
done
plugin shop-1 -c 'echo data >"$(printf "x\033[31m")"'
says "a name with a control character is printed with escapes" \
	"shop-1: cannot fetch \$'x\\E[31m': not a name that is safe here"
reset
plugin shop-1 -c 'ln -s /srv/data link; mkfifo pipe'
says "a link is not followed" "shop-1: cannot fetch 'link': neither a file nor a directory"
says "a FIFO is not read" "shop-1: cannot fetch 'pipe': neither a file nor a directory"
is_kept "a link and a FIFO" shop-1 "link pipe"
mv "$pods/shop-1/bin/tar" "$pods/tar"
plugin shop-1 -c 'mkdir com; echo class >com/Cart.class'
says "a pod without tar" "shop-1: cannot fetch the directory 'com': tar failed in the container"
is_kept "a pod without tar" shop-1 "com com/Cart.class"

# Hostile archives.
python3 - "$D" <<'PYTHON'
import io, sys, tarfile

def add(archive, name, kind=tarfile.REGTYPE, link=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, link, 0o755
    info.size = 5 if kind == tarfile.REGTYPE else 0
    archive.addfile(info, io.BytesIO(b"evil\n"))

out = sys.argv[1]
members = {
    "parent": [("./com", tarfile.DIRTYPE), ("./com/../../../escaped",), ("../../escaped",)],
    "root": [("./com", tarfile.DIRTYPE), (f"{out}/escaped",)],
    "link": [("./com", tarfile.SYMTYPE, out), ("./com/escaped",)],
    "inner": [("./com", tarfile.DIRTYPE), ("./com/up", tarfile.SYMTYPE, "../../.."),
              ("./com/up/escaped",)],
    "control": [("./com", tarfile.DIRTYPE), ("./com/\033[31m",)],
    "device": [("./com", tarfile.DIRTYPE), ("./com/fifo", tarfile.FIFOTYPE)],
}
for name, rows in members.items():
    with tarfile.open(f"{out}/{name}.tar", "w") as archive:
        for row in rows:
            add(archive, *row)
PYTHON
printf '#!/bin/sh\nexec cat /srv/evil.tar\n' >"$pods/shop-1/bin/tar"
chmod 755 "$pods/shop-1/bin/tar"
for archive in parent root link inner control device; do
	cp "$D/$archive.tar" "$pods/shop-1/srv/evil.tar"
	plugin shop-1 -c 'mkdir com'
	same "a hostile archive ($archive): nothing is written outside" "" \
		"$(find "$D" -path '*/proc' -prune -o -name 'escaped*' -print)"
	case $archive in
	root) reset ;; # its name is outside of the directory that is unpacked
	*)
		same "a hostile archive ($archive): nothing is written" "" "$(ls -A "$here")"
		is_kept "a hostile archive ($archive)" shop-1 com
		;;
	esac
done
mv "$pods/tar" "$pods/shop-1/bin/tar"

# The process of jtool, and no other.
sleep 1000 &
other=$!
track $other
plugin shop-1 -c "echo $other >../pid"
check "a process that has jtool's pid now is not killed" alive $other
kill $other
cp "$(command -v sleep)" "$D/sleep"
# shellcheck disable=SC2009 # by its argument
sleepers() {
	ps -e -o stat=,args= | grep -v '^Z' | grep -c "[.]/jtool 54[3]21"
}
(cd "$here" && PATH=$D/bin:$PATH exec kubectl-jtool --binary "$D/sleep" shop-1 54321) 2>"$W/err" &
running=$!
track $running
one_sleeps() {
	[ "$(sleepers)" = 1 ]
}
check "jtool runs in the pod" poll 30 one_sleeps
kill -TERM $running
rc=0
wait $running || rc=$?
same "SIGTERM: the exit status" 143 "$rc"
none_sleeps() {
	[ "$(sleepers)" = 0 ]
}
check "SIGTERM: jtool is ended in the pod" poll 30 none_sleeps
same "SIGTERM: nothing is left in the pod" "" "$(ls "$pods/shop-1/tmp")"
reset

# Files of the user.
echo mine >"$here/app.hprof.part"
plugin shop-1 -c 'echo data >app.hprof'
same "a file NAME.part is not changed" "0 mine" "$rc $(cat "$here/app.hprof.part")"
reset
fault shop-1 '[ $STEP != fetch ] || { echo part; sleep 2; }'
(cd "$here" && PATH=$D/bin:$PATH exec kubectl-jtool shop-1 -c 'echo data >app.hprof') 2>"$W/err" &
running=$!
track $running
is_fetching() {
	[ -n "$(ls -A "$here")" ]
}
check "a file is being fetched" poll 30 is_fetching
kill -TERM $running
rc=0
wait $running || rc=$?
same "SIGTERM in a transfer: no part of a file is left" "143 " "$rc $(ls -A "$here")"
reset

# --image.
KUBECTL_CONTAINERS="shop-1=web shop-2= shop-3=app" \
	plugin --all-pods --image localhost/jtool -l app=shop list
same "--all-pods --image: the container of each pod is the target" "web app" \
	"$(sed -nE 's/^debug .*--target=([^ ]*) .*/\1/p' "$KUBECTL_LOG" | paste -s -d ' ')"
says "--all-pods --image: a pod that cannot be read" \
	"shop-2: cannot read the name of its first container, for the reason above"
same "--image: the exit status is jtool's" 3 "$rc"
same "--image: jtool runs by kubectl exec" 2 "$(grep -c -x 'ran /jtool list' "$W/out")"
reset

# A selector with expressions.
plugin deployment/picky list
same "a deployment with matchExpressions: the exit status" 2 "$rc"
says "a deployment with matchExpressions" \
	"deployment/picky selects its pods by matchExpressions, too: use -l"

same "the stand-in knew every call" "" "$(grep unexpected "$KUBECTL_LOG")"
