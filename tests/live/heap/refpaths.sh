#!/usr/bin/env bash
# refpaths: the path to objects that are reachable in a known way, on every version, by both
# engines.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/../lib.sh"

# leads NAME EXPECTED ARGUMENT...: the paths, as refpaths.py prints them.
leads() {
	local name=$1 expected=$2 got

	shift 2
	jt refpaths --json --engine "$engine" "$@"
	if [ "$rc" -ne 0 ] || [ -s "$W/err" ]; then
		fail "$name" "$(jt_details)"
		return
	fi
	got=$(python3 "$live_dir/heap/refpaths.py" "$W/out" 2>&1)
	if [ "$got" = "$expected" ]; then
		pass "$name"
	else
		fail "$name" "$(diff <(echo "$expected") <(echo "$got"))"
	fi
}

in_thread=': java.lang.Thread -field threadLocals-> java.lang.ThreadLocal$ThreadLocalMap -field table-> java.lang.ThreadLocal$ThreadLocalMap$Entry[] -[*]-> java.lang.ThreadLocal$ThreadLocalMap$Entry -field value-> '
in_list='class: Reached$Holder -static LEAKED-> java.util.ArrayList -field elementData-> java.lang.Object[] -[*]-> '
in_linked='class: Reached$Holder -static LINKED-> java.util.LinkedList -field'
hostile='Rea\x1b"\nd$Twin'
to_loader=' -class-> Reached$Twin -class loader-> Reached$Shop'

# all_ways: one line for each of the victim's classes.
all_ways() {
	sort <<-END
		1 stack local keeper of one Reached.waitWith: Reached\$ByLocal
		1 class: Reached\$Holder -static one-> Reached\$ByStatic
		1 class: Reached\$Holder -static supplier-> Reached\$\$Lambda -field arg\$1-> Reached\$ByLambda
		1 thread worker${in_thread}Reached\$ByThreadLocal
		3 stack local pool-1-thread-N Reached.waitWith: Reached\$ByPool
		1000 class: Reached\$Holder -static ARRAY-> java.util.ArrayList -field elementData-> java.lang.Object[] -[*]-> Reached\$ByArrayList
		1000 class: Reached\$Holder -static CONCURRENT-> java.util.concurrent.ConcurrentHashMap -field table-> java.util.concurrent.ConcurrentHashMap\$Node[] -[*]-> java.util.concurrent.ConcurrentHashMap\$Node -field val-> Reached\$ByConcurrentMap
		1000 class: Reached\$Holder -static CUBE-> java.lang.Object[][] -[*]-> java.lang.Object[] -[*]-> Reached\$ByArray
		1000 class: Reached\$Holder -static HASH-> java.util.HashMap -field table-> java.util.HashMap\$Node[] -[*]-> java.util.HashMap\$Node -field value-> Reached\$ByHashMap
		1000 class: Reached\$Holder -static TREE-> java.util.TreeMap -field root-> java.util.TreeMap\$Entry -field value-> Reached\$ByTreeMap
		500 $in_linked first-> java.util.LinkedList\$Node -field item-> Reached\$ByLinkedList
		500 $in_linked last-> java.util.LinkedList\$Node -field item-> Reached\$ByLinkedList
	END
	echo "6008 6007 1"
}

# paths: the last run's paths, without the number of the pool's example thread.
paths() {
	python3 "$live_dir/heap/refpaths.py" "$W/out" 2>&1 |
		sed -E 's/(pool-1-thread-)[0-9]+/\1N/'
}

# by_engine NAME: everything that does not depend on the engine.
by_engine() {
	local pid=$JVM_PID

	jt refpaths --json --engine "$engine" -n 100 "$pid" 'Reached$By*'
	same "$1: refpaths: exit code" 0 "$rc"
	same "$1: each way of being reachable" "$(all_ways)" "$(paths)"
	leads "$1: an inner class's outer instance" \
		'1 class: Reached$Holder -static inner-> Reached$Outer$Inner -field this$0-> Reached$Outer
1 1 0' "$pid" 'Reached$Outer'
	leads "$1: subclasses" \
		'1 class: Reached$Holder -static SPECIAL-> Reached$Special
1 class: Reached$Holder -static one-> Reached$ByStatic
2 2 0' --subclasses "$pid" 'Reached$ByStatic'
	leads "$1: no instances" '0 0 0' "$pid" 'Reached$ByNothing'
	leads "$1: --weak" '1 class: Reached$Holder -static REFERENCES-> java.util.ArrayList -field elementData-> java.lang.Object[] -[*]-> java.lang.ref.SoftReference -field referent (soft)-> Reached$BySoft
1 1 0' --weak "$pid" 'Reached$BySoft'
	leads "$1: loaders that leak" "$(sort <<-END
		1 class: Reached\$Holder -static hostile-> $hostile -class-> $hostile -class loader-> Reached\$Shop
		1 thread forgetful${in_thread}Reached\$Twin$to_loader
		2 ${in_list}Reached\$Twin$to_loader
	END
	)"$'\n4 4 0' --to 'Reached$Shop' "$pid"
	prints "$1: a hostile name" '^    static hostile  Rea\\x1B"\\x0Ad\$Twin$' \
		refpaths --engine "$engine" "$pid" 'Rea?"?d$Twin'
	refuses 1 "no class matches 'ByLokal': did you mean Reached.ByLocal\\?" \
		"$1: an unknown class is refused" \
		refpaths --engine "$engine" "$pid" ByLokal
	refuses 1 "no class loader matches 'Shap'; choose from Reached.Shop @" \
		"$1: an unknown loader is refused" \
		refpaths --engine "$engine" --to Shap "$pid"
	refuses 1 "never unloads class loader 'app'" \
		"$1: --to app: refused, the loader is never unloaded" \
		refpaths --engine "$engine" --to app "$pid"
	unharmed "$1" 'READY|done weak'
}

# text NAME: the text output.
text() {
	jt refpaths "$JVM_PID" 'Reached$ByHashMap'
	same "$1: the text output" '100 % (1,000) through static Reached$Holder.HASH
    class        Reached$Holder
    static HASH  java.util.HashMap
    field table  java.util.HashMap$Node[]
    [N]          java.util.HashMap$Node  (1 to N in a row)
    field value  Reached$ByHashMap

1,000 instances of Reached$ByHashMap; 1 kind of path' \
		"$(sed -E 's/\[[0-9]+\] {2,}/[N]          /; s/to [0-9] in/to N in/' "$W/out")"
	prints "$1: the threads of a pool are one kind" \
		'^100 % \(3\) through a local variable of Reached.waitWith in threads "pool-\*-thread-\*"$' \
		refpaths "$JVM_PID" 'Reached$ByPool'
	prints "$1: -n: it limits the paths" '; 12 kinds of paths; 1 only through weak' \
		refpaths -n 2 "$JVM_PID" 'Reached$By*'
	same "$1: -n: the last line counts the others" '… 10 more kinds of paths (-n 0 shows all)' \
		"$(tail -n 1 "$W/out")"
	prints "$1: without -n: five kinds of paths" '^… 7 more kinds of paths' \
		refpaths "$JVM_PID" 'Reached$By*'
	same "$1: five paths are shown" 5 "$(grep -c ' through ' <(grep '^[0-9<].* %' "$W/out"))"
	works "$1: --json: it works" refpaths --json "$JVM_PID" 'Reached$By*'
	same "$1: --json: all kinds of paths" 12 "$(json "len(j['paths'])")"
	works "$1: --json --limit: it works" refpaths --json --limit 2 "$JVM_PID" 'Reached$By*'
	same "$1: --json --limit: two paths" 2 "$(json "len(j['paths'])")"
}

refuses 2 'missing CLASS' "neither a class nor --to: refused" refpaths 1
refuses 2 '--to' "both a class and --to: refused" refpaths 1 a.b.C --to x

for version in $(in_soak own "") "${jdks[@]}"; do
	start_jvm "$version" default Reached -Xmx300m || continue
	engine=agent
	by_engine "$version agent"
	text "$version"
	leads "$version: implementors" \
		'1 class: Reached$Holder -static SPECIAL-> Reached$Special
1 class: Reached$Holder -static one-> Reached$ByStatic
2 2 0' --subclasses "$JVM_PID" 'Reached$Marked'
	works "$version: refpaths SIMPLE: it works" refpaths --json "$JVM_PID" Runtime
	same "$version: refpaths SIMPLE: it is java.lang.Runtime" 1 "$(json "j['instances']")"
	ask weak '^done weak$' >/dev/null
	leads "$version: a weakly reachable object" '1 0 1' "$JVM_PID" 'Reached$ByWeak'
	leads "$version: --weak: a weakly reachable object" \
		'1 class: Reached$Holder -static REFERENCES-> java.util.ArrayList -field elementData-> java.lang.Object[] -[*]-> java.lang.ref.WeakReference -field referent (weak)-> Reached$ByWeak
1 1 0' --weak "$JVM_PID" 'Reached$ByWeak'

	engine=hprof
	by_engine "$version hprof"

	works "$version: heapdump works" heapdump "$JVM_PID" "$W/live.hprof"
	jt refpaths --json -n 100 "$W/live.hprof" 'Reached$By*'
	same "$version: the same paths from a dump" "$(all_ways)" "$(paths)"
	rm "$W/live.hprof"

	ask million '^done million$' 60 >/dev/null
	for engine in agent hprof; do
		leads "$version $engine: a list of a million elements" \
			"500000 $in_linked first-> java.util.LinkedList\$Node -field item-> Reached\$ByLinkedList
500000 $in_linked last-> java.util.LinkedList\$Node -field item-> Reached\$ByLinkedList
1000000 1000000 0" "$JVM_PID" 'Reached$ByLinkedList'
	done
	same "$version: a dump of the JVM: engine and pause" "hprof None" \
		"$(json "'%s %s' % (j['engine'], j['pause'])")"
	jt refpaths --json --engine agent --max-pause 5ms "$JVM_PID" 'Reached$ByLinkedList'
	same "$version: --max-pause: exit code 7 and a partial result" "7 1 True" \
		"$rc $(wc -l <"$W/err") $(json "j['partial'] and j['instances'] < 1000000")"
	same "$version: a walk: engine and pause" "agent True" \
		"$(json "'%s %s' % (j['engine'], j['pause'] > 0.001)")"
	unharmed "$version" 'READY|done (weak|million)'
	stop "$JVM_PID"
done
