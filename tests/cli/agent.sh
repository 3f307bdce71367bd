#!/usr/bin/env bash
# `jtool agent`: a copy of the bundled agent that nobody else can have changed.
set -u
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

built=${top_builddir:-.}/agent/jtool-agent.so
export HOME=$work/home
unset XDG_CACHE_HOME
mkdir "$HOME"

# same FILE WHAT: it is the agent.
same() {
	checks=$((checks + 1))
	cmp -s "$built" "$1" || complain "$2: $1 is not the agent"
}

# refuses PATTERN ARGUMENT...: partial, one line that matches.
refuses() {
	local pattern=$1
	shift
	run agent "$@"
	equal 7 "$status" "exit status of: jtool agent $*"
	equal '' "$out" "stdout of: jtool agent $*"
	matches "^jtool: agent: $pattern" "$err" "stderr of: jtool agent $*"
}

# the cache
run agent
equal 0 "$status" 'exit status of: jtool agent'
equal '' "$err" 'stderr of: jtool agent'
matches "^$HOME/\.cache/jtool/jtool-agent-[0-9a-f]{16}\.so$" "$out" 'the path'
path=$out
same "$path" 'the first copy'
equal 700 "$(stat -c %a "$HOME/.cache/jtool")" 'mode of the directory'
inode=$(stat -c %i "$path")
run agent
equal "$path" "$out" 'the path, again'
equal "$inode" "$(stat -c %i "$path")" 'what is there is left there'
run agent --json
equal "{\"path\":\"$path\",\"build\":\"$("$jtool" --version | cut -d' ' -f2)\",\"bytes\":$(
	stat -c %s "$built")}" "$out" 'as JSON'

# what is there is not the agent
exec 3<"$path"
printf x | dd of="$path" bs=1 seek=5000 conv=notrunc status=none
run agent
same "$path" 'a damaged one'
checks=$((checks + 1))
! cmp -s "$path" /dev/fd/3 || complain 'a JVM that has the damaged one mapped was given another'
exec 3<&-
rm "$path"
echo precious >"$work/precious"
ln -s "$work/precious" "$path"
run agent
same "$path" 'where a link was'
equal precious "$(cat "$work/precious")" "what the link led to"
chmod 777 "$path"
run agent
same "$path" 'one that others could change'
equal '' "$(find "$path" -perm /022)" 'now they cannot'
rm "$path"
mkdir "$path"
refuses '.*something else has its name; --extract'
rmdir "$path"
equal '' "$(ls -A "$HOME/.cache/jtool")" 'nothing else is left'

# directories that somebody else could change
chmod 777 "$HOME/.cache/jtool"
refuses '.*/\.cache/jtool cannot keep the agent: others may write to it; --extract'
rmdir "$HOME/.cache/jtool"
mkdir "$work/elsewhere"
ln -s "$work/elsewhere" "$HOME/.cache/jtool"
refuses '.*/\.cache/jtool cannot keep the agent: '
rm "$HOME/.cache/jtool"
chmod 777 "$HOME/.cache"
refuses '.*/\.cache cannot keep the agent: others may write to it'
chmod 755 "$HOME/.cache"
XDG_CACHE_HOME=$work/caches run agent
matches "^$work/caches/jtool/jtool-agent-" "$out" 'XDG_CACHE_HOME'
XDG_CACHE_HOME=relative run agent
matches "^$HOME/\.cache/jtool/jtool-agent-" "$out" 'one that is not absolute does not count'
(unset HOME; refuses 'neither HOME nor XDG_CACHE_HOME says where.*--extract'; [ $failures -eq 0 ]) ||
	complain 'without HOME'

# files of the caller's
run agent --extract "$work/mine.so"
equal "$work/mine.so" "$out" 'the path of a copy'
same "$work/mine.so" 'a copy'
run agent --extract "$work/mine.so"
equal 2 "$status" 'exit status where the file exists'
matches "^jtool: agent: .*mine.so exists" "$err" 'error where the file exists'
echo old >"$work/mine.so"
run agent --extract "$work/mine.so" --force
same "$work/mine.so" 'one that was replaced'
jtool=$(realpath "$jtool")
out=$(cd "$work" && "$jtool" agent --extract ./here.so)
equal "$(realpath "$work")/here.so" "$out" 'the path is absolute'
"$jtool" agent --extract - >"$work/piped"
same "$work/piped" 'on stdout'
"$jtool" agent --extract - 2>"$work/err" >/dev/full
equal 7 $? 'exit status of what cannot be written'
run agent --extract "$work/a=b.so"
matches "cannot load .*a=b.so" "$err" "a '=' in the path"

finish
