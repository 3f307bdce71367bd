# shellcheck shell=bash
# Runs jtool and checks its results; sourced by the tests of the command line.

[ "${JTOOL_TEST_ENV:-}" = $$ ] ||
	exec "$(dirname "${BASH_SOURCE[0]}")/../../scripts/test-env" bash "$0" "$@"

jtool=${top_builddir:-.}/jtool
work=$(mktemp -d)
checks=0
failures=0

complain() {
	failures=$((failures + 1))
	printf 'not ok: %s\n' "$*" >&2
}

# Runs jtool; sets $status, $out and $err.
# shellcheck disable=SC2034 # used by the tests
run() {
	out=$("$jtool" "$@" 2>"$work/err" </dev/null)
	status=$?
	err=$(cat "$work/err")
}

# equal EXPECTED ACTUAL WHAT: the strings are equal.
equal() {
	checks=$((checks + 1))
	[[ $1 == "$2" ]] || complain "$3: expected '$1', got '$2'"
}

# matches PATTERN ACTUAL WHAT: ACTUAL matches the regular expression.
matches() {
	checks=$((checks + 1))
	[[ $2 =~ $1 ]] || complain "$3: '$2' does not match '$1'"
}

# finish: call it last; prints the counts and returns the verdict.
finish() {
	rm -rf "$work"
	echo "$checks checks, $failures failed"
	[ "$checks" -gt 0 ] && [ "$failures" -eq 0 ]
	exit
}
