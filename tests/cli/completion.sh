#!/usr/bin/env bash
# The completion scripts: each installed shell accepts its own, and bash completes.
# shellcheck disable=SC2016 # names of classes have dollar signs
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

# Completions at the end of a command line; a script replaces jtool.
mkdir "$work/bin" "$work/files"
cat >"$work/bin/jtool" <<'END'
#!/bin/sh
case $* in
"list -o pid,main") printf 'PID  MAIN\n101  com.acme.Shop\n202  -\n303  $(touch${IFS}pwned)\n' ;;
"jcmd --timeout 2 101") printf 'The following commands are available:\nVM.flags\nVM.version\n\nFor more\n' ;;
"flags --timeout 2 Shop") printf 'NAME           VALUE  ORIGIN\nMaxHeapSize    1      default\nUseG1GC        true   default\n' ;;
"props --timeout 2 101") printf 'java.home=/jre\nuser.dir=/\n' ;;
"jcmd --timeout 2 101 VM.class_hierarchy")
	printf 'java.lang.Object/null\n|--com.acme.Cart/0x1\n|  |--com.acme.Cart$Item/0x1 (intf)\n'
	printf '|--com.acme.Cart$$Lambda$1/0x2/0x1\n|--com.acme.Cart$Gift/0x1\n' ;;
"jcmd --timeout 2 303")
	printf '$(touch${IFS}pwned)\n`touch${IFS}pwned`\n;touch\n"x\nVM.$HOME\n' ;;
esac
END
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
completes '101 com.acme.Shop 202 303 all' jcmd ''
completes 'com.acme.Shop' jcmd com
completes '101 com.acme.Shop 202 303' load ''
COMP_TYPE=63 # the list that a second TAB shows
completes '101 (com.acme.Shop) com.acme.Shop (101) 202 (-) 303 (-)' load ''
unset COMP_TYPE
completes '202' heaphisto 2
completes '101 com.acme.Shop 202 303 all' heaphisto -n 5 --sort = name ''
completes 'bytes count name' heaphisto --sort ''
completes 'bytes' heaphisto --sort = b
completes 'bytes count name' heaphisto --sort =
completes 'class package loader' heaphisto 101 --by ''
completes '--sort --save --strict' heaphisto 101 --s
completes 'agent.so' heaphisto 101 --save ag
completes '' heaphisto -n ''
completes 'agent.so' heaphisto ag
completes 'apple.txt' retained --tree app
completes 'agent.so' threads ag
completes '' info ag
completes 'agent.so' load 101 ag
completes 'start stop' jfr 101 st
completes 'agent.so' jfr 101 dump ag
completes 'view' jfr vi
completes 'agent.so' jfr view ag
completes 'hot-methods' jfr view app.jfr hot
completes 'gc-pause-phases gc-pauses' jfr view app.jfr gc-pau
completes '' frobnicate ''
completes 'com.acme.Cart com.acme.Cart$Gift com.acme.Cart$Item' class 101 com
completes 'com.acme.Cart com.acme.Cart$Gift com.acme.Cart$Item' refpaths -n 3 101 com.acme.C
# Text from a JVM is neither executed nor expanded.
completes 'VM.$HOME' jcmd 303 ''
[ ! -e "$work/files/pwned" ] || complain 'completion of: jtool jcmd 303: it runs what the JVM sent'
completes 'VM.flags VM.version' jcmd 101 VM
completes 'MaxHeapSize UseG1GC' flags -v Shop ''
completes 'user.dir' props 101 u

# fish_completes EXPECTED LINE: fish offers EXPECTED at the end of the line.
# shellcheck disable=SC2016 # expanded by fish
fish_completes() {
	local got

	got=$(cd "$work/files" && HOME=$work fish --no-config -c 'source $argv[1]; complete -C $argv[2]' \
		"$work/fish" "$2" | cut -f1 | sort | tr '\n' ' ')
	equal "$1" "${got% }" "fish: completion of: $2"
}

if command -v fish >/dev/null; then
	fish_completes 'heaphisto' 'jtool heaph'
	fish_completes '$(touch${IFS}pwned) 101 202 303 all com.acme.Shop' 'jtool jcmd '
	fish_completes 'com.acme.Cart com.acme.Cart$Gift com.acme.Cart$Item' 'jtool class 101 com.acme.C'
	fish_completes 'VM.flags VM.version' 'jtool jcmd 101 VM'
	fish_completes 'MaxHeapSize' 'jtool flags Shop M'
	fish_completes 'user.dir' 'jtool props 101 u'
	fish_completes 'apple.txt' 'jtool retained --tree app'
fi

finish
