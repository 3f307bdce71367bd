# shellcheck shell=bash
# Running jtool and comparing what it does; sourced by the tests of the command line.

jtool=${top_builddir:-.}/jtool
work=$(mktemp -d)
checks=0
failures=0
export LC_ALL=C.UTF-8

complain() {
	failures=$((failures + 1))
	printf 'not ok: %s\n' "$*" >&2
}

# Run jtool; leaves $status, $out and $err.
# shellcheck disable=SC2034 # they are for the tests
run() {
	out=$("$jtool" "$@" 2>"$work/err" </dev/null)
	status=$?
	err=$(cat "$work/err")
}

# equal EXPECTED ACTUAL WHAT
equal() {
	checks=$((checks + 1))
	[[ $1 == "$2" ]] || complain "$3: expected '$1', got '$2'"
}

# matches PATTERN ACTUAL WHAT
matches() {
	checks=$((checks + 1))
	[[ $2 =~ $1 ]] || complain "$3: '$2' does not match '$1'"
}

# To be called last: the verdict.
finish() {
	rm -rf "$work"
	echo "$checks checks, $failures failed"
	[ "$checks" -gt 0 ] && [ "$failures" -eq 0 ]
	exit
}
