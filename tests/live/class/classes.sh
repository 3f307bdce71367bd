#!/usr/bin/env bash
# classes and class: every kind of class, on every version; members are compared with javap's
# output.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/../lib.sh"

javac --release 17 -d "$W/classes" "$live_dir/class/Modern.java"

# release VERSION: the JDK release as a number.
release() {
	[ "$1" = own ] && echo 17 || echo "$1"
}

# lists_kinds NAME RELEASE: the last list has one class of every kind.
lists_kinds() {
	local wanted="Kinds\$Box class, Kinds\$Box[][] array, Kinds\$Color enum, Kinds\$Color\$1 class,"

	wanted+=" Kinds\$Mark annotation, Kinds\$Shape interface, int[] array, lambda 1, hidden $((
		$2 >= 15)), record $(($2 >= 17))"
	same "$1: classes: every kind" "$wanted" "$(json "', '.join(
		[c['class'] + ' ' + c['kind'] for c in j['classes'] if c['class'] in ('int[]', 'Kinds\$Box',
			'Kinds\$Box[][]', 'Kinds\$Color', 'Kinds\$Color\$1', 'Kinds\$Mark', 'Kinds\$Shape')] +
		['%s %d' % (kind, len([c for c in j['classes']
			if c['kind'] == kind and c['class'].startswith(start)]))
			for kind, start in (('lambda', 'Kinds\$\$Lambda'), ('hidden', 'Kinds\$Twin/'),
				('record', 'Modern\$Point'))])")"
}

# lists_origins NAME RELEASE: the last list has the loader, module and source of classes.
lists_origins() {
	local jrt=None module=None sql=bootstrap dir

	if [ "$2" -gt 8 ]; then
		jrt=jrt:/java.base
		module=java.base
		sql=platform
	fi
	dir=$(classes_of "$version")/
	same "$1: classes: loader, module and source" \
		"Kinds app None $dir, Kinds\$Twin Kinds\$TwinLoader None /twins/one two.jar,\
 Kinds\$Twin app None $dir, int[] bootstrap $module None, java.lang.String bootstrap $module $jrt" \
		"$(json "', '.join(sorted('%s %s %s %s' % (c['class'], c['loader'].split(' @')[0],
			c['module'], c['source']) for c in j['classes']
			if c['class'] in ('java.lang.String', 'Kinds', 'Kinds\$Twin', 'int[]')))")"
	same "$1: classes: the loader of java.sql" \
		"$sql" "$(json "[c['loader'] for c in j['classes']
		if c['class'] == 'java.sql.Timestamp'][0]")"
}

# counted: the number of classes by the JVM's own counters, without arrays.
counted() {
	jt perf --json "$JVM_PID" 'java.cls.*'
	json "(lambda c: c['java.cls.loadedClasses'] + c['java.cls.sharedLoadedClasses']
		- c['java.cls.unloadedClasses'] - c['java.cls.sharedUnloadedClasses'])(
		{k: int(v) for k, v in j['counters'].items()})"
}

# members: the declarations in the last `class --json`, in javap's form.
members() {
	json "'\n'.join(m['declaration'] + ';' for c in j['classes'][:1]
		for m in c['fields'] + c['methods'])"
}

# jtool's declarations of these classes are compared with all of javap's.
compared=('Kinds$Box' 'Kinds$Shape' 'Kinds$Color' 'Kinds$Mark' Victim)
for class in "${compared[@]}"; do
	javap -p -cp "$W/classes" "$class" >"$W/$class.javap"
done

# declares NAME CLASS: class prints the declarations that javap prints.
declares() {
	jt class --json "$JVM_PID" "$2"
	# javap of JDK 17 prints slashes in `throws` if it also has a type variable.
	same "$1: class $2: equal to javap's output" \
		"$(sed -n 's/ {$//p; s/^  //; s#/#.#g; /;$/p' "$W/$2.javap" | sort)" \
		"$( (json "j['classes'][0]['declaration']" && members) | sort)"
}

refuses_nonsense() {
	refuses 1 'no class .Kinds\$Bx. is loaded: did you mean Kinds\$Box' \
		"$1: class: an unknown name: the message suggests the nearest" \
		class "$JVM_PID" 'Kinds$Bx'
	refuses 1 'did you mean java.util.ArrayList,' \
		"$1: class: a wrong package: the message suggests one" \
		class "$JVM_PID" java.utl.ArrayList
	refuses 1 'no class .nothing.like.it. is loaded; ' \
		"$1: class: an unknown name without suggestion" \
		class "$JVM_PID" nothing.like.it
	refuses 1 'unknown class loader .foo.: choose from bootstrap, ' \
		"$1: classes --loader: an unknown loader is refused" classes --loader foo "$JVM_PID"
	refuses 1 'java.lang.String is not loaded by that loader but by bootstrap' \
		"$1: class --loader: a class of another loader is refused" \
		class --loader app "$JVM_PID" java.lang.String
	refuses 2 "unknown column 'foo'" "$1: classes -o: an unknown column is refused" \
		classes -o foo "$JVM_PID"
	refuses 2 '' "$1: classes --kind: an unknown kind is refused" classes --kind foo "$JVM_PID"
}

# chooses NAME: selection by glob, loader, kind and column.
chooses() {
	local hash twice

	works "$1: classes GLOB PATH: it works" classes --json "$JVM_PID" 'Kinds$B?x' \
		java/lang/String
	same "$1: classes GLOB PATH: it lists both" "Kinds\$Box java.lang.String" \
		"$(json "' '.join(c['class'] for c in j['classes'])")"
	works "$1: classes SIMPLE: it works" classes --json "$JVM_PID" ArrayList
	same "$1: classes SIMPLE: the only class of that name" "java.util.ArrayList" \
		"$(json "' '.join(c['class'] for c in j['classes'])")"
	prints "$1: class SIMPLE: it works" 'class java.util.ArrayList' class "$JVM_PID" ArrayList
	works "$1: dump SIMPLE: it works" dump "$JVM_PID" ArrayList -d "$W/simple"
	same "$1: dump SIMPLE: its path" java/util/ArrayList.class "$(sed "s|^$W/simple/||" "$W/out")"
	rm -rf "$W/simple"
	twice=$(python3 -c 'import collections, json, sys
names = {c["class"] for c in json.load(open(sys.argv[1]))["classes"]}
simple = collections.Counter(n.rpartition(".")[2] for n in names if "/" not in n)
print(next((s for s in sorted(simple) if simple[s] > 1 and s not in names), ""))' "$W/list")
	if [ -n "$twice" ]; then
		refuses 3 "several classes are called '[^']*': give one of .*, " \
			"$1: class SIMPLE: an ambiguous name is refused" class "$JVM_PID" "$twice"
	else
		skip "$1: class SIMPLE: an ambiguous name is refused" "the JDK has no two such classes"
	fi
	works "$1: classes --loader: it works" classes --json --loader 'Kinds$TwinLoader' "$JVM_PID"
	same "$1: classes --loader: it lists the loader's only class" \
		"Kinds\$Twin" "$(json "' '.join(c['class'] for c in j['classes'])")"
	hash=$(json "j['classes'][0]['loader'].split('@')[1]")
	works "$1: class --loader @HASH: it works" \
		class --json --loader "@$hash" "$JVM_PID" 'Kinds$Twin'
	same "$1: class --loader @HASH: it finds one class" 1 "$(json "len(j['classes'])")"
	works "$1: class NAME of two loaders: it works" class --json "$JVM_PID" 'Kinds$Twin'
	same "$1: class NAME of two loaders: it prints both" \
		2 "$(json "len(set(c['loader'] for c in j['classes']))")"
	works "$1: classes --kind: it works" classes --json --kind enum "$JVM_PID" 'Kinds*'
	same "$1: classes --kind enum: it lists the only enum" \
		"Kinds\$Color" "$(json "' '.join(c['class'] for c in j['classes'])")"
	prints "$1: classes: 20 rows, and how many more" \
		'^… [0-9,]+ more classes \(-n 0 shows all\)$' classes "$JVM_PID"
	same "$1: classes: the number of lines" 22 "$(wc -l <"$W/out")"
	prints "$1: classes -n 0: all rows" '^Kinds\$Box ' classes -n 0 "$JVM_PID"
	same "$1: classes -n 0: no row is hidden" 0 "$(grep -c 'more classes' "$W/out")"
	prints "$1: classes -o: it prints these columns" '^protected abstract static +Kinds\$Box$' \
		classes -o modifiers,class "$JVM_PID" 'Kinds$Box'
}

# looks_into NAME RELEASE: classes without a class file, and features of newer class files.
looks_into() {
	works "$1: class of an array: it works" class --json "$JVM_PID" 'Kinds$Box[][]'
	same "$1: class of an array: its superclass" "['java.lang.Object']" \
		"$(json "[s['class'] for s in j['classes'][0]['superclasses']]")"
	works "$1: class of a lambda: it works" class --json "$JVM_PID" 'Kinds$$Lambda*'
	same "$1: class of a lambda: its interface and method" "['java.lang.Runnable'] True True" \
		"$(json "[i['class'] for i in j['classes'][0]['interfaces']]") $(
			json "'public void run()' in [m['declaration'] for m in
				j['classes'][0]['methods']]") $(
			json "j['classes'][0]['not_told'] is not None")"
	prints "$1: class of a lambda: it is synthetic" '^Class: +final synthetic class Kinds' \
		class "$JVM_PID" 'Kinds$$Lambda*'
	works "$1: class of an unlinked class: it works" class --json "$JVM_PID" 'Kinds$Asleep'
	same "$1: class of an unlinked class: its members" \
		"['private int dreams'] ['java.lang.Runnable']" \
		"$(json "[f['declaration'] for f in j['classes'][0]['fields']]") $(
			json "[i['class'] for i in j['classes'][0]['interfaces']]")"
	works "$1: class with annotations: it works" class --json "$JVM_PID" 'Kinds$Box'
	same "$1: class with annotations: it names them" "['Kinds\$Mark', 'java.lang.Deprecated']" \
		"$(json "[a['class'] for a in j['classes'][0]['annotations']]")"
	prints "$1: class: a field that the compiler added" \
		'^ +private static final synthetic Kinds.Color\[\] [$]VALUES$' \
		class "$JVM_PID" 'Kinds$Color'
	prints "$1: class: a constant of an enum" \
		' public static final enum Kinds.Color RED$' class "$JVM_PID" 'Kinds$Color'
	prints "$1: class: a method that the compiler added" \
		'^(Methods:)? +public synthetic bridge int compareTo\(java.lang.Object\)$' \
		class "$JVM_PID" java.lang.String
	works "$1: class --json: it works" class --json "$JVM_PID" java.lang.String
	same "$1: class --json: the modifiers of that method" \
		"['public synthetic bridge', 'public int compareTo(java.lang.Object)']" \
		"$(json "[[m['modifiers'], m['declaration']] for m in j['classes'][0]['methods']
			if m['name'] == 'compareTo' and 'Object' in m['descriptor']][0]")"
	prints "$1: class -c: it prints constants" \
		'^ +#[0-9]+ = Utf8 +LIMIT$' class -c "$JVM_PID" 'Kinds$Box'
	prints "$1: class -b: it prints bytecode" '^ +[0-9]+: ddiv$' class -b "$JVM_PID" 'Kinds$Box'
	works "$1: class -cb --json: it works" class -cb --json "$JVM_PID" 'Kinds$Box'
	same "$1: class -cb --json: constants and bytecode" \
		"True True" "$(json "len(j['classes'][0]['constant_pool']) > 9") $(
		json "len(j['classes'][0]['code']) > 3")"
	refuses 1 'no bytecode' "$1: class -b of an array: refused" class -b "$JVM_PID" 'int[]'
	jt class -b --json "$JVM_PID" 'int[]'
	same "$1: class -b --json of an array: the document, and the same exit code and message" \
		"1 int[] [] 1" "$rc $(json "'%s %s' % (j['classes'][0]['class'],
			j['classes'][0]['code'])") $(grep -c 'has no bytecode to show' "$W/err")"
	jt class -b "$JVM_PID" 'Kinds$Box*[]'
	same "$1: class -b of arrays: exit code 1 and one message" \
		"1 1" "$rc $(grep -c 'none of the [0-9]* classes has' "$W/err")"
	jt class -b "$JVM_PID" 'Kinds$Box*'
	same "$1: class -b of a glob: arrays are skipped" "0 1 1" "$rc $(
		grep -c 'skipped: .*an array.* ([0-9]' "$W/err") $(
		grep -c '^Kinds$Box, loaded by' "$W/out")"
	jt class -b --json "$JVM_PID" 'Kinds$Box*'
	same "$1: class -b --json of a glob: the same notice" "0 1" \
		"$rc $(grep -c 'skipped: .*an array.* ([0-9]' "$W/err")"
	if [ "$2" -ge 15 ]; then
		prints "$1: class -b of a hidden class: it prints bytecode" \
			'invokespecial' class -b "$JVM_PID" 'Kinds$Twin/*'
	fi
	[ "$2" -ge 17 ] || return 0
	works "$1: class of a sealed interface: it works" class --json "$JVM_PID" 'Modern$Fruit'
	same "$1: class of a sealed interface: its permitted subclasses" \
		"['Modern\$Apple', 'Modern\$Point'] Modern" \
		"$(json "[s['class'] for s in j['classes'][0]['permitted_subclasses']]") $(
			json "j['classes'][0]['nest_host']")"
	works "$1: class of a record: it works" class --json "$JVM_PID" 'Modern$Point'
	same "$1: class of a record: its components" "['int x', 'java.util.List<T> names']" \
		"$(json "[s['declaration'] for s in j['classes'][0]['record_components']]")"
}

# objects: the number of these objects by the JVM's own histogram.
objects() {
	jattach "$JVM_PID" jcmd 'GC.class_histogram -all' | awk '
		$4 ~ /^java\.(net\.URL|security\.(CodeSource|ProtectionDomain))$/ { print $2, $4 }' | sort
}

for version in own "${jdks[@]}"; do
	start_jvm "$version" default Kinds || continue
	works "$version: classes: it works" classes --json "$JVM_PID"
	cp "$W/out" "$W/list"
	same "$version: classes --json: its keys" "class kind loader modifiers module source" \
		"$(json "' '.join(sorted(j['classes'][0]))")"
	lists_kinds "$version" "$(release "$version")"
	lists_origins "$version" "$(release "$version")"
	n=$(json "len([c for c in j['classes'] if c['kind'] != 'array'])")
	same "$version: classes: as many as the JVM counts" "$(counted)" "$n"
	for class in "${compared[@]}"; do
		declares "$version" "$class"
	done
	chooses "$version"
	looks_into "$version" "$(release "$version")"
	refuses_nonsense "$version"
	objects >"$W/before"
	for _ in 1 2 3 4 5; do
		jt classes "$JVM_PID"
		jt class "$JVM_PID" 'Kinds*'
	done
	check "$version: classes and class: no object remains" diff "$W/before" <(objects)
	unharmed "$version: classes"
	stop "$JVM_PID"

	start_jvm "$version" default Kinds -Xcheck:jni || continue
	jt classes "$JVM_PID"
	same "$version: -Xcheck:jni: classes works" 0 "$rc"
	jt class "$JVM_PID" 'Kinds*'
	same "$version: -Xcheck:jni: class works" 0 "$rc"
	unharmed "$version: -Xcheck:jni"
	stop "$JVM_PID"
done
