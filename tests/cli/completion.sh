#!/usr/bin/env bash
# The completion scripts: each installed shell accepts its own, and bash completes.
set -u
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

for shell in bash zsh fish; do
	run --completion "$shell"
	equal 0 "$status" "exit status of --completion $shell"
	printf '%s\n' "$out" >"$work/$shell"
	if ! command -v "$shell" >/dev/null; then
		echo "SKIP: $shell is not installed"
		continue
	fi
	"$shell" -n "$work/$shell" || complain "$shell: it rejects its completion script"
done

# What bash completes at the end of a command line; a script stands in for jtool list -q.
mkdir "$work/bin" "$work/files"
printf '#!/bin/sh\n[ "$*" = "list -q" ] && printf "101\\n202\\n"\n' >"$work/bin/jtool"
chmod +x "$work/bin/jtool"
touch "$work/files/agent.so" "$work/files/apple.txt"
PATH=$work/bin:$PATH
# shellcheck disable=SC1091 # written above
. "$work/bash"

# completes EXPECTED WORD...: the words as bash splits them; the last one is completed.
completes() {
	local expected=$1
	shift
	COMP_WORDS=(jtool "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	pushd "$work/files" >/dev/null || exit
	_jtool
	popd >/dev/null || exit
	equal "$expected" "${COMPREPLY[*]}" "completion of: jtool $*"
}

completes 'heaphisto' heaph
completes '--help' --h
completes '101 202 all' jcmd ''
completes '101 202' load ''
completes '202' heaphisto 2
completes '101 202 all' heaphisto -n 5 --sort = name ''
completes 'bytes count name' heaphisto --sort ''
completes 'bytes' heaphisto --sort = b
completes 'bytes count name' heaphisto --sort =
completes 'class package loader' heaphisto 101 --by ''
completes '--sort --save --strict' heaphisto 101 --s
completes 'agent.so' heaphisto 101 --save ag
completes '' heaphisto -n ''
completes 'agent.so' heaphisto ag
completes 'apple.txt' retained --tree app
completes '' threads ag
completes 'agent.so' load 101 ag
completes 'start stop' jfr 101 st
completes 'agent.so' jfr 101 dump ag
completes '' frobnicate ''

finish
