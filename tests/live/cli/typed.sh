#!/usr/bin/env bash
# The command line as users type it: each line of typed.cases, beside one JVM.
#
#   typed.sh [--record]
#
# --record prints the lines with the exit code and the last line of the output of $JTOOL, and checks
# nothing.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

record=${1:-}

# The script in the namespace: starts the JVM, then runs each command line with its output in a file.
cat >"$W/each" <<'SCRIPT'
mount -t tmpfs tmpfs /tmp && cd "$1" || exit
mkdir typed
export PATH=$1:$PATH
java -Xmx64m -XX:+UseSerialGC -Dred=$'\e[31m' -cp "$1/classes" Idle < <(exec sleep 600) >ready 2>&1 &
P=$!
until grep -qs -x READY ready; do
	kill -0 "$P" || exit
	sleep 0.05
done
cd typed || exit
n=0
set -o pipefail
while IFS= read -r line; do
	n=$((n + 1))
	(eval "$line") >"../out.$n" 2>&1 </dev/null
	echo $? >"../rc.$n"
done <../lines
SCRIPT

mapfile -t cases < <(grep -v '^#' "$live_dir/cli/typed.cases")
printf '%s\n' "${cases[@]%% | before:*}" >"$W/lines"
timeout -k 1 300 unshare --mount --pid --fork --kill-child --mount-proc bash "$W/each" "$W" \
	>"$W/log" 2>&1 || fail "the JVM starts" "$(cat "$W/log")"

n=0
for case in "${cases[@]}"; do
	n=$((n + 1))
	line=${case%% | before:*}
	rc=$(cat "$W/rc.$n")
	if [ -n "$record" ]; then
		printf '%s | before: %s, %s\n' "$line" "$rc" "$(tail -n 1 "$W/out.$n" | cut -c -100)"
		continue
	fi
	rest=${case#* | before:* | }
	wanted=${rest%% | *} pattern=${rest#* | }
	if [ "$rc" = "$wanted" ] && grep -q -E -e "$pattern" "$W/out.$n"; then
		pass "$line"
	else
		fail "$line" "wanted: $wanted, /$pattern/" "got: $rc" "$(head -n 20 "$W/out.$n")"
	fi
done
