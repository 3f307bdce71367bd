#!/usr/bin/env bash
# `jtool agent`: the bundled agent is stored where no other user can change it.
set -u
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

built=${top_builddir:-.}/agent/jtool-agent.so
export HOME=$work/home
unset XDG_CACHE_HOME
mkdir "$HOME"

# same FILE WHAT: FILE is the agent.
same() {
	checks=$((checks + 1))
	cmp -s "$built" "$1" || complain "$2: $1 is not the agent"
}

# refuses PATTERN ARGUMENT...: exit code 7, and one line that matches.
refuses() {
	local pattern=$1
	shift
	run agent "$@"
	equal 7 "$status" "exit status of: jtool agent $*"
	equal '' "$out" "stdout of: jtool agent $*"
	matches "^jtool: agent: $pattern" "$err" "stderr of: jtool agent $*"
}

# The cache.
run agent
equal 0 "$status" 'exit status of: jtool agent'
equal '' "$err" 'stderr of: jtool agent'
matches "^$HOME/\.cache/jtool/jtool-agent-[0-9a-f]{16}\.so$" "$out" 'agent: the path'
path=$out
same "$path" 'agent: the first copy'
equal 700 "$(stat -c %a "$HOME/.cache/jtool")" 'agent: the mode of the directory'
inode=$(stat -c %i "$path")
run agent
equal "$path" "$out" 'agent: the same path again'
equal "$inode" "$(stat -c %i "$path")" 'agent: the existing file is kept'
run agent --json
equal "{\"schema\":1,\"path\":\"$path\",\"build\":\"$("$jtool" --version | cut -d' ' -f2)\",\"bytes\":$(
	stat -c %s "$built")}" "$out" 'agent --json: the document'

# Files in the cache that are not the agent.
exec 3<"$path"
printf x | dd of="$path" bs=1 seek=5000 conv=notrunc status=none
run agent
same "$path" 'damaged file: replaced'
checks=$((checks + 1))
! cmp -s "$path" /dev/fd/3 || complain \
	'damaged file: overwritten in place, where a JVM may have mapped it'
exec 3<&-
rm "$path"
echo precious >"$work/precious"
ln -s "$work/precious" "$path"
run agent
same "$path" 'symlink: replaced'
equal precious "$(cat "$work/precious")" "symlink: its target is unchanged"
chmod 777 "$path"
run agent
same "$path" 'writable file: replaced'
equal '' "$(find "$path" -perm /022)" 'writable file: the new mode'
rm "$path"
mkdir "$path"
refuses "cannot store .*: a file of another kind or owner has this name and cannot be removed; use --extract"
rmdir "$path"
equal '' "$(ls -A "$HOME/.cache/jtool")" 'the cache: no other file remains'

# Cache directories that other users can change.
chmod 777 "$HOME/.cache/jtool"
refuses "cannot store the agent in '.*/\.cache/jtool': other users can write to it; use --extract"
rmdir "$HOME/.cache/jtool"
mkdir "$work/elsewhere"
ln -s "$work/elsewhere" "$HOME/.cache/jtool"
refuses "cannot store the agent in '.*/\.cache/jtool': "
rm "$HOME/.cache/jtool"
chmod 777 "$HOME/.cache"
refuses "cannot store the agent in '.*/\.cache': other users can write to it"
chmod 755 "$HOME/.cache"
XDG_CACHE_HOME=$work/caches run agent
matches "^$work/caches/jtool/jtool-agent-" "$out" 'XDG_CACHE_HOME'
XDG_CACHE_HOME=relative run agent
matches "^$HOME/\.cache/jtool/jtool-agent-" "$out" 'a relative XDG_CACHE_HOME is ignored'
(unset HOME; refuses 'neither HOME nor XDG_CACHE_HOME names a cache.*--extract'; [ $failures -eq 0 ]) ||
	complain 'without HOME'

# Files of the caller.
run agent --extract "$work/mine.so"
equal "$work/mine.so" "$out" 'agent --extract: the path'
same "$work/mine.so" 'agent --extract: the copy'
run agent --extract "$work/mine.so"
equal 2 "$status" 'agent --extract: exit status for an existing file'
matches "^jtool: agent: .*mine.so': file exists" \
	"$err" 'agent --extract: error for an existing file'
echo old >"$work/mine.so"
run agent --extract "$work/mine.so" --force
same "$work/mine.so" 'agent --extract --force: the file is replaced'
jtool=$(realpath "$jtool")
out=$(cd "$work" && "$jtool" agent --extract ./here.so)
equal "$(realpath "$work")/here.so" "$out" 'agent --extract: the path is absolute'
"$jtool" agent --extract - >"$work/piped"
same "$work/piped" 'agent --extract -: the agent on stdout'
"$jtool" agent --extract - 2>"$work/err" >/dev/full
equal 7 $? 'agent --extract -: exit status if stdout cannot be written'
run agent --extract "$work/a=b.so"
matches "no JVM can load .*a=b.so" "$err" "agent --extract: '=' in the path"

finish
