#!/usr/bin/env bash
# threads, props, agentprops, flags: what attach operations tell, on every version.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# What a thread dump is about, whatever its threads are doing at the moment.
dump_form() {
	sed -nE 's/^("[^"]*").*/\1/p; s/^(Full thread dump|JNI global ref).*/\1/p' | sort
}

check_threads() {
	works "$version: threads" threads "$pid"
	same "$version: a dump of the same form as jattach got" \
		"$(jattach "$pid" threaddump | dump_form)" "$(dump_form <"$W/out")"
	check "$version: with stacks" grep -q 'at Props.main' "$W/out"
	same "$version: without locks" 0 "$(grep -c 'Locked ownable' "$W/out")"
	prints "$version: threads -l" 'Locked ownable synchronizers' threads "$pid" -l
	same "$version: without more" 0 "$(grep -c 'allocated=' "$W/out")"
	if [ "$feature" -ge 11 ]; then
		prints "$version: threads -e" '^"main".* allocated=.* defined_classes=' \
			threads "$pid" -e
		same "$version: without locks" 0 "$(grep -c 'Locked ownable' "$W/out")"
		prints "$version: threads -l -e" '^"main".* allocated=' threads -l "$pid" -e
		check "$version: both" grep -q 'Locked ownable' "$W/out"
	else
		refuses 1 'JDK 11.*leave -e' "$version: threads -e is refused" threads "$pid" -e
		refuses 1 'JDK 11.*leave -e' "$version: threads -le, too" threads "$pid" -le
	fi
	works "$version: threads --json" threads --json "$pid" --locks
	same "$version: its keys" "True $pid 0" \
		"$(json "'Locked ownable' in j['output'], j['pid'], j['code']" | tr -d "(),")"
}

# property NAME EXPRESSION: exactly that, in JSON.
property() {
	same "$version: property $1" True "$(json "j['properties']['$1'] == $2")"
}

check_props() {
	jt props "$pid" # the first time, the JVM finds out user.timezone for the time it tells
	ask properties '^properties ' >"$W/told" || fail "$version: the victim tells its own"
	works "$version: props --json" props "$pid" --json
	same "$version: props as the JVM itself has them" same \
		"$(python3 "$live_dir/ask.py" properties "$W/out" "$W/told")"
	same "$version: no more keys" "['pid', 'properties']" "$(json 'list(j)')"
	property line.separator "'\\n'"
	property given.newline "'a\\nb'"
	property given.tab "'a\\tb'"
	property given.escapes "'c:\\\\dir\\\\u0041 #!=:'"
	property given.equals "'=a=b:c'"
	property given.blanks "'  \\t x '"
	property given.text "'\\u00e4\\u20ac'"
	property given.control "'\\x01\\x1b[31m\\x7f'"
	property odd.lines "'\\n\\r\\n\\ta\\f\\\\b=c:d#e!f \\x85\\u2028'"
	property odd.text "'\\u00e4\\u20ac\\U0001f600'"
	property odd.lone "'a\\ufffd.\\ufffd'"
	property odd.zero "'a\\0b'"
	property 'odd name=:#!\u00e9' "'v'"
	property '' "'no name'"

	prints "$version: props shows no control character" \
		'^given.control=\\x01\\x1B\[31m\\x7F$' props "$pid"
	prints "$version: nor a newline" '^given.newline=a\\x0Ab$' props "$pid"
	same "$version: sorted by name" "" \
		"$(cut -d= -f1 "$W/out" | grep -v '^odd' | sort -c 2>&1)"
	works "$version: props NAME" props "$pid" given.control
	same "$version: is the value as it is" "$(printf '\001\033[31m\177\n' | md5sum)" \
		"$(md5sum <"$W/out")"
	works "$version: props line.separator" props "$pid" line.separator
	same "$version: is a newline, and one behind it" 2 "$(wc -l <"$W/out")"
	works "$version: props NAME with a NUL" props "$pid" odd.zero
	same "$version: is whole" 4 "$(wc -c <"$W/out")"
	works "$version: props GLOB" props "$pid" 'given.*'
	same "$version: is those that match" 7 "$(grep -c '^given\.' "$W/out")"
	works "$version: props --json NAME" props --json "$pid" odd.text
	same "$version: is that one" "['odd.text']" "$(json "list(j['properties'])")"
	refuses 1 'no property java.versoin: did you mean java.version' \
		"$version: an unknown property" props "$pid" java.versoin
	refuses 1 'no property matches' "$version: a pattern without a match" \
		props "$pid" 'x*y*z'

	prints "$version: agentprops" '^sun.jvm.args=.*-Dgiven.equals==a=b:c' agentprops "$pid"
	prints "$version: agentprops NAME" '^Props$' agentprops "$pid" sun.java.command
	works "$version: agentprops --json" agentprops "$pid" --json
	same "$version: its keys" "True $pid" "$(json \
		"j['properties']['sun.java.command'] == 'Props', j['pid']" | tr -d "(),")"
}

check_flag_list() {
	local name on='command line'

	[ "$feature" -ge 11 ] || on=changed
	jt jcmd "$pid" 'VM.flags -all'
	cp "$W/out" "$W/told"
	works "$version: flags --json" flags "$pid" --json
	same "$version: flags as the JVM lists them" same \
		"$(python3 "$live_dir/ask.py" flags "$W/out" "$W/told")"
	same "$version: hundreds" True "$(json "len(j['flags']) > 400")"
	same "$version: the keys of one" \
		"['name', 'type', 'value', 'kind', 'origin', 'manageable']" \
		"$(json "list(j['flags'][0])")"
	prints "$version: flags" "^UseSerialGC +bool +product +$on +true\$" flags "$pid"
	prints "$version: a text with blanks and braces" \
		"^OnError +ccstrlist +product +$on +echo a b; echo \{c\}\$" flags "$pid"
	check "$version: an empty text" grep -qE '^HeapDumpPath +ccstr +manageable +default *$' \
		"$W/out"
	works "$version: flags GLOB" flags "$pid" 'HeapDump*'
	check "$version: is those that match" \
		test "$(grep -c ^HeapDump "$W/out")" -eq $(($(wc -l <"$W/out") - 1))
	for name in UseSerialGC UseG1GC MaxHeapSize MinHeapFreeRatio OnError HeapDumpPath \
		MaxRAMPercentage HeapDumpOnOutOfMemoryError; do
		jt op "$pid" printflag "$name"
		cp "$W/out" "$W/told"
		jt flags "$pid" "$name"
		check "$version: flags $name, as printflag spells it" cmp "$W/out" "$W/told"
	done
	prints "$version: flags -XX:NAME" '^-XX:\+UseSerialGC$' flags "$pid" -XX:UseSerialGC
	works "$version: flags NAME --json" flags "$pid" MaxHeapSize --json
	same "$version: its value" "67108864 $on False" \
		"$(json "f\"{j['value']} {j['origin']} {j['manageable']}\"")"
}

# sets NAME LINE WORD...: flags with these words prints this line.
sets() {
	local name=$1 line=$2

	shift 2
	works "$version: $name" flags "$pid" "$@" && same "$version: shows it" "$line" "$(cat "$W/out")"
}

# flag_is TEXT: what printflag, by another tool, says of a flag that was set.
flag_is() {
	same "$version: so it is: $1" "$1" "$(jattach "$pid" printflag "$2" | tail -n +3 | head -n 1)"
}

check_flags_set() {
	sets "+NAME" "HeapDumpOnOutOfMemoryError: false -> true" +HeapDumpOnOutOfMemoryError
	flag_is -XX:+HeapDumpOnOutOfMemoryError HeapDumpOnOutOfMemoryError
	sets "+NAME again" "HeapDumpOnOutOfMemoryError: true, as before" \
		-XX:+HeapDumpOnOutOfMemoryError
	sets "-NAME" "HeapDumpOnOutOfMemoryError: true -> false" -HeapDumpOnOutOfMemoryError
	flag_is -XX:-HeapDumpOnOutOfMemoryError HeapDumpOnOutOfMemoryError
	sets "NAME=true" "HeapDumpOnOutOfMemoryError: false -> true" \
		HeapDumpOnOutOfMemoryError=true
	sets "-XX:-NAME" "HeapDumpOnOutOfMemoryError: true -> false" \
		-XX:-HeapDumpOnOutOfMemoryError
	sets "a text with blanks" "HeapDumpPath: empty -> /var/tmp/x y" "HeapDumpPath=/var/tmp/x y"
	flag_is "-XX:HeapDumpPath=/var/tmp/x y" HeapDumpPath
	sets "an empty text" "HeapDumpPath: /var/tmp/x y -> empty" -XX:HeapDumpPath=
	flag_is "-XX:HeapDumpPath=" HeapDumpPath
	sets "a text of two lines" 'HeapDumpPath: empty -> a {b}\x0Ac' $'HeapDumpPath=a {b}\nc'
	sets "a number" "MinHeapFreeRatio: 40 -> 35" MinHeapFreeRatio=35
	flag_is -XX:MinHeapFreeRatio=35 MinHeapFreeRatio
	works "$version: set with --json" flags --json "$pid" MinHeapFreeRatio=36
	same "$version: old and new" "35 36 True" \
		"$(json "f\"{j['old']} {j['value']} {j['manageable']}\"")"
	if [ "$feature" -ge 17 ]; then
		sets "a size with a unit" "SoftMaxHeapSize: 67108864 -> 33554432" SoftMaxHeapSize=32m
		flag_is -XX:SoftMaxHeapSize=33554432 SoftMaxHeapSize
		sets "a fraction" "G1PeriodicGCSystemLoadThreshold: 0.000000 -> 0.500000" \
			G1PeriodicGCSystemLoadThreshold=0.5
	fi
}

check_flags_refused() {
	refuses 1 "cannot be changed.*restart with -XX:\+UseG1GC" \
		"$version: a flag that is not manageable" flags "$pid" +UseG1GC
	refuses 1 "cannot be changed.*restart with -XX:MaxHeapSize=134217728" \
		"$version: another" flags "$pid" MaxHeapSize=128m
	refuses 1 "no flag NoSuchFlag" "$version: an unknown flag" flags "$pid" +NoSuchFlag
	refuses 1 "no flag HeapDumpPaht.*did you mean HeapDumpPath" \
		"$version: a misspelt one" flags "$pid" HeapDumpPaht=x
	refuses 1 "0.* 100|\[0\.\.\.100\]" "$version: out of range" flags "$pid" MinHeapFreeRatio=101
	refuses 1 "wants a whole number" "$version: no number" flags "$pid" MinHeapFreeRatio=12x
	refuses 1 "wants a whole number" "$version: no value" flags "$pid" MinHeapFreeRatio=
	refuses 1 "not on or off" "$version: no switch" flags "$pid" +MinHeapFreeRatio
	refuses 1 "wants true or false" "$version: a switch" \
		flags "$pid" HeapDumpOnOutOfMemoryError=yes
	refuses 2 "one flag at a time" "$version: a pattern" flags "$pid" '-HeapDump*'
	refuses 2 "sign and a value" "$version: sign and value" flags "$pid" +A=1
	refuses 2 "names no flag" "$version: no name" flags "$pid" =1
	refuses 2 "one JVM at a time" "$version: in all" flags all +HeapDumpOnOutOfMemoryError
	refuses 2 "unknown option" "$version: an option" flags "$pid" -x
	works "$version: and nothing was changed" flags "$pid" --json MinHeapFreeRatio
	same "$version: as the last one set it" 36 "$(json "j['value']")"
}

for version in $(in_soak own "") "${jdks[@]}"; do
	start_jvm "$version" serial Props $'-Dgiven.newline=a\nb' $'-Dgiven.tab=a\tb' \
		'-Dgiven.escapes=c:\dir\u0041 #!=:' -Dgiven.equals==a=b:c \
		$'-Dgiven.blanks=  \t x ' -Dgiven.text=ä€ $'-Dgiven.control=\001\033[31m\177' \
		'-XX:OnError=echo a b; echo {c}' || continue
	pid=$JVM_PID
	feature=${version/own/17}
	check_threads
	check_props
	check_flag_list
	check_flags_set
	check_flags_refused
	unharmed "$version: asked" 'properties .*'
	stop "$pid"
done

# All.
company ./jtool threads all
same "threads all" "0 2" "$rc $(grep -c '^Full thread dump' "$W/out")"
company ./jtool props all number
same "props all NAME" "0 1 2" "$rc $(grep -x '[12]' "$W/out" | tr '\n' ' ' | sed 's/ $//')"
company ./jtool flags all MaxHeapSize --json
same "flags all --json" "0 [33554432, 33554432]" "$rc $(python3 -c '
import json, sys
print([json.loads(line)["value"] for line in sys.stdin])' <"$W/out")"
