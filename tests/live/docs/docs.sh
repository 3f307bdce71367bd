#!/usr/bin/env bash
# The examples in README.md and docs/: each command is run, and its output compared with the page.
#
#   docs.sh [--update [PAGE...]]
#
# --update writes the outputs into the pages.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

if ! command -v javac >/dev/null || [ ! -d /usr/share/tomcat10-examples/examples ]; then
	skip "the pages" "javac or tomcat10-examples is not installed"
	exit 0
fi

update=${1:-}
[ $# -eq 0 ] || shift
# A page without examples is left out.
[ $# -gt 0 ] || mapfile -t pages < <(cd "$top_srcdir" && grep -l '^```console' README.md docs/*.md)
[ $# -eq 0 ] || pages=("$@")

for page in "${pages[@]}"; do
	fixture=$(sed -n 's/^<!-- examples: \([a-z]*\) -->$/\1/p' "$top_srcdir/$page")
	dir=$(mktemp -d "$W/page.XXXXXX")
	if unshare -p -n -m -f --mount-proc --kill-child bash "$live_dir/docs/page" "$page" \
		"${fixture:-shop}" "$JTOOL" "$dir" "$dir/results" ${update:+"$update"} >"$dir/log" 2>&1; then
		pass "$page: the examples ran"
	else
		fail "$page: the examples ran" "$(cat "$dir/log")"
	fi
	[ -s "$dir/results" ] || continue
	name=
	detail=()
	while IFS= read -r line; do
		case $line in
		'# '*) detail+=("$line") && continue ;;
		esac
		[ -z "$name" ] || fail "$name" "${detail[@]}"
		name=
		detail=()
		case $line in
		'ok '*) pass "$page: ${line#ok }" ;;
		'not ok '*) name="$page: ${line#not ok }" ;;
		esac
	done < <(cat "$dir/results" && echo end)
done
