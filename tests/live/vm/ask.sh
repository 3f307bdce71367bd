#!/usr/bin/env bash
# threads, props, agentprops, flags: the results of attach operations, on every version.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

# dump_form: the parts of a thread dump that do not depend on what its threads are doing.
dump_form() {
	sed -nE 's/^("[^"]*").*/\1/p; s/^(Full thread dump|JNI global ref).*/\1/p' | sort
}

check_threads() {
	works "$version: threads --raw: it works" threads --raw "$pid"
	same "$version: threads --raw: the dump has the form of jattach's" \
		"$(jattach "$pid" threaddump | dump_form)" "$(dump_form <"$W/out")"
	check "$version: threads --raw: it prints stacks" grep -q 'at Props.main' "$W/out"
	same "$version: threads --raw: it prints no locks" 0 "$(grep -c 'Locked ownable' "$W/out")"
	prints "$version: threads -l: it prints locks" \
		'Locked ownable synchronizers' threads "$pid" -l
	same "$version: threads -l: it prints no extended data" 0 "$(grep -c 'allocated=' "$W/out")"
	if [ "$feature" -ge 11 ]; then
		prints "$version: threads -e: it prints extended data" \
			'^"main".* allocated=.* defined_classes=' \
			threads "$pid" -e
		same "$version: threads -e: it prints no locks" \
			0 "$(grep -c 'Locked ownable' "$W/out")"
		prints "$version: threads -l -e: it prints extended data" \
			'^"main".* allocated=' threads -l "$pid" -e
		check "$version: threads -l -e: it prints locks" grep -q 'Locked ownable' "$W/out"
	else
		refuses 1 'JDK 11.*omit -e' "$version: threads -e: refused" threads "$pid" -e
		refuses 1 'JDK 11.*omit -e' "$version: threads -le: refused" threads "$pid" -le
	fi
	works "$version: threads --json: it works" threads --json "$pid" --locks
	same "$version: threads --json: its keys" "True $pid 0" \
		"$(json "'Locked ownable' in j['output'], j['pid'], j['code']" | tr -d "(),")"
}

# property NAME EXPRESSION: props --json reports exactly this value.
property() {
	same "$version: property $1" True "$(json "j['properties']['$1'] == $2")"
}

check_props() {
	jt props "$pid" # the first request makes the JVM set user.timezone
	ask properties '^properties ' >"$W/expected" \
		|| fail "$version: the victim prints its properties"
	works "$version: props --json: it works" props "$pid" --json
	same "$version: props --json: equal to the JVM's properties" same \
		"$(python3 "$live_dir/vm/ask.py" properties "$W/out" "$W/expected")"
	same "$version: props --json: its keys" "['schema', 'pid', 'properties']" "$(json 'list(j)')"
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

	prints "$version: props: it escapes control characters" \
		'^given.control=\\x01\\x1B\[31m\\x7F$' props "$pid"
	prints "$version: props: it escapes newlines" '^given.newline=a\\x0Ab$' props "$pid"
	same "$version: props: sorted by name" "" \
		"$(cut -d= -f1 "$W/out" | grep -v '^odd' | sort -c 2>&1)"
	works "$version: props NAME: it works" props "$pid" given.control
	same "$version: props NAME: it prints the raw value" \
		"$(printf '\001\033[31m\177\n' | md5sum)" \
		"$(md5sum <"$W/out")"
	works "$version: props line.separator: it works" props "$pid" line.separator
	same "$version: props line.separator: a newline and the end of the line" \
		2 "$(wc -l <"$W/out")"
	works "$version: props: a value with a NUL" props "$pid" odd.zero
	same "$version: props: a value with a NUL is complete" 4 "$(wc -c <"$W/out")"
	works "$version: props GLOB: it works" props "$pid" 'given.*'
	same "$version: props GLOB: it prints the matches" 7 "$(grep -c '^given\.' "$W/out")"
	works "$version: props --json NAME: it works" props --json "$pid" odd.text
	same "$version: props --json NAME: it prints only this property" \
		"['odd.text']" "$(json "list(j['properties'])")"
	refuses 1 'no property java.versoin: did you mean java.version' \
		"$version: props: an unknown name is refused" props "$pid" java.versoin
	refuses 1 'no property matches' "$version: props: a pattern without a match is refused" \
		props "$pid" 'x*y*z'

	prints "$version: agentprops: it works" '^sun.jvm.args=.*-Dgiven.equals==a=b:c' \
		agentprops "$pid"
	prints "$version: agentprops NAME: it works" '^Props$' agentprops "$pid" sun.java.command
	works "$version: agentprops --json: it works" agentprops "$pid" --json
	same "$version: agentprops --json: its keys" "True $pid" "$(json \
		"j['properties']['sun.java.command'] == 'Props', j['pid']" | tr -d "(),")"
}

check_flag_list() {
	local name on='command line'

	[ "$feature" -ge 11 ] || on=changed
	jt jcmd "$pid" 'VM.flags -all'
	cp "$W/out" "$W/expected"
	works "$version: flags --json: it works" flags "$pid" --json
	same "$version: flags --json: equal to the JVM's list" same \
		"$(python3 "$live_dir/vm/ask.py" flags "$W/out" "$W/expected")"
	same "$version: flags --json: over 400 flags" True "$(json "len(j['flags']) > 400")"
	same "$version: flags --json: the keys of a flag" \
		"['name', 'type', 'value', 'kind', 'origin', 'manageable']" \
		"$(json "list(j['flags'][0])")"
	prints "$version: flags: the table" "^UseSerialGC +bool +product +$on +true\$" flags "$pid"
	prints "$version: flags: a value with spaces and braces" \
		"^OnError +ccstrlist +product +$on +echo a b; echo \{c\}\$" flags "$pid"
	check "$version: flags: an empty value" grep -qE \
		'^HeapDumpPath +ccstr +manageable +default *$' \
		"$W/out"
	works "$version: flags GLOB: it works" flags "$pid" 'HeapDump*'
	check "$version: flags GLOB: it prints the matches" \
		test "$(grep -c ^HeapDump "$W/out")" -eq $(($(wc -l <"$W/out") - 1))
	for name in UseSerialGC UseG1GC MaxHeapSize MinHeapFreeRatio OnError HeapDumpPath \
		MaxRAMPercentage HeapDumpOnOutOfMemoryError; do
		jt op "$pid" printflag "$name"
		cp "$W/out" "$W/expected"
		jt flags "$pid" "$name"
		check "$version: flags $name: the output of printflag" cmp "$W/out" "$W/expected"
	done
	prints "$version: flags -XX:NAME: it works" \
		'^-XX:\+UseSerialGC$' flags "$pid" -XX:UseSerialGC
	works "$version: flags NAME --json: it works" flags "$pid" MaxHeapSize --json
	same "$version: flags NAME --json: its value" "67108864 $on False" \
		"$(json "f\"{j['value']} {j['origin']} {j['manageable']}\"")"
}

# sets NAME LINE WORD...: flags with these words prints LINE.
sets() {
	local name=$1 line=$2

	shift 2
	works "$version: flags $name: it works" flags "$pid" "$@" &&
		same "$version: flags $name: the old and new value" "$line" "$(cat "$W/out")"
}

# flag_is TEXT NAME: jattach's printflag confirms the new value.
flag_is() {
	same "$version: flags: printflag confirms $1" \
		"$1" "$(jattach "$pid" printflag "$2" | tail -n +3 | head -n 1)"
}

check_flags_set() {
	sets "+NAME" "HeapDumpOnOutOfMemoryError: false -> true" +HeapDumpOnOutOfMemoryError
	flag_is -XX:+HeapDumpOnOutOfMemoryError HeapDumpOnOutOfMemoryError
	sets "+NAME, already set" "HeapDumpOnOutOfMemoryError: true, unchanged" \
		-XX:+HeapDumpOnOutOfMemoryError
	sets "-NAME" "HeapDumpOnOutOfMemoryError: true -> false" -HeapDumpOnOutOfMemoryError
	flag_is -XX:-HeapDumpOnOutOfMemoryError HeapDumpOnOutOfMemoryError
	sets "NAME=true" "HeapDumpOnOutOfMemoryError: false -> true" \
		HeapDumpOnOutOfMemoryError=true
	sets "-XX:-NAME" "HeapDumpOnOutOfMemoryError: true -> false" \
		-XX:-HeapDumpOnOutOfMemoryError
	sets "a value with spaces" "HeapDumpPath: empty -> /var/tmp/x y" "HeapDumpPath=/var/tmp/x y"
	flag_is "-XX:HeapDumpPath=/var/tmp/x y" HeapDumpPath
	sets "an empty value" "HeapDumpPath: /var/tmp/x y -> empty" -XX:HeapDumpPath=
	flag_is "-XX:HeapDumpPath=" HeapDumpPath
	sets "a value of two lines" 'HeapDumpPath: empty -> a {b}\x0Ac' $'HeapDumpPath=a {b}\nc'
	sets "a number" "MinHeapFreeRatio: 40 -> 35" MinHeapFreeRatio=35
	flag_is -XX:MinHeapFreeRatio=35 MinHeapFreeRatio
	works "$version: flags NAME=VALUE --json: it works" flags --json "$pid" MinHeapFreeRatio=36
	same "$version: flags NAME=VALUE --json: the old and new value" "35 36 True" \
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
		"$version: flags +NAME: not manageable: refused" flags "$pid" +UseG1GC
	refuses 1 "cannot be changed.*restart with -XX:MaxHeapSize=134217728" \
		"$version: flags NAME=VALUE: not manageable: refused" flags "$pid" MaxHeapSize=128m
	refuses 1 "no flag NoSuchFlag" "$version: flags: an unknown flag is refused" \
		flags "$pid" +NoSuchFlag
	refuses 1 "no flag HeapDumpPaht.*did you mean HeapDumpPath" \
		"$version: flags: a misspelt flag: the message suggests a name" \
		flags "$pid" HeapDumpPaht=x
	refuses 1 "0.* 100|\[0\.\.\.100\]" "$version: flags: a number out of range is refused" \
		flags "$pid" MinHeapFreeRatio=101
	refuses 1 "expected a whole number" "$version: flags: an invalid number is refused" \
		flags "$pid" MinHeapFreeRatio=12x
	refuses 1 "expected a whole number" "$version: flags: a missing number is refused" \
		flags "$pid" MinHeapFreeRatio=
	refuses 1 "only set boolean flags" "$version: flags: + on a number is refused" \
		flags "$pid" +MinHeapFreeRatio
	refuses 1 "expected true or false" "$version: flags: an invalid boolean is refused" \
		flags "$pid" HeapDumpOnOutOfMemoryError=yes
	refuses 2 "one flag at a time" "$version: flags: a pattern with - is refused" \
		flags "$pid" '-HeapDump*'
	refuses 2 "sign and a value" "$version: flags: a sign with a value is refused" \
		flags "$pid" +A=1
	refuses 2 "the name is missing" "$version: flags: a missing name is refused" flags "$pid" =1
	refuses 2 "one JVM at a time" "$version: flags all: setting a flag is refused" \
		flags all +HeapDumpOnOutOfMemoryError
	refuses 2 "unknown option" "$version: flags: an unknown option is refused" flags "$pid" -x
	works "$version: flags: it works after refused changes" flags "$pid" --json MinHeapFreeRatio
	same "$version: flags: refused changes change nothing" 36 "$(json "j['value']")"
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
	unharmed "$version: threads, props and flags" 'properties .*'
	stop "$pid"
done

# All JVMs.
run_among_jvms ./jtool threads all --raw
same "threads all --raw: a dump of each JVM" "0 2" "$rc $(grep -c '^Full thread dump' "$W/out")"
run_among_jvms ./jtool props all number
same "props all NAME: a value of each JVM" \
	"0 1 2" "$rc $(grep -x '[12]' "$W/out" | tr '\n' ' ' | sed 's/ $//')"
run_among_jvms ./jtool flags all MaxHeapSize --json
same "flags all --json: a line for each JVM" "0 [33554432, 33554432]" "$rc $(python3 -c '
import json, sys
print([json.loads(line)["value"] for line in sys.stdin])' <"$W/out")"
