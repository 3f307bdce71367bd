#!/usr/bin/env bash
# classes and class: every kind of class, on every version; members are compared with javap's.
# shellcheck source-path=SCRIPTDIR source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/lib.sh"

javac --release 17 -d "$W/classes" "$live_dir/modern/Modern.java"

# release VERSION: as a number.
release() {
	[ "$1" = own ] && echo 17 || echo "$1"
}

# lists_kinds NAME RELEASE: the last list has a class of every kind.
lists_kinds() {
	local wanted="Kinds\$Box class, Kinds\$Box[][] array, Kinds\$Color enum, Kinds\$Color\$1 class,"

	wanted+=" Kinds\$Mark annotation, Kinds\$Shape interface, int[] array, lambda 1, hidden $((
		$2 >= 15)), record $(($2 >= 17))"
	same "$1: kinds" "$wanted" "$(json "', '.join(
		[c['class'] + ' ' + c['kind'] for c in j['classes'] if c['class'] in ('int[]', 'Kinds\$Box',
			'Kinds\$Box[][]', 'Kinds\$Color', 'Kinds\$Color\$1', 'Kinds\$Mark', 'Kinds\$Shape')] +
		['%s %d' % (kind, len([c for c in j['classes']
			if c['kind'] == kind and c['class'].startswith(start)]))
			for kind, start in (('lambda', 'Kinds\$\$Lambda'), ('hidden', 'Kinds\$Twin/'),
				('record', 'Modern\$Point'))])")"
}

# lists_places NAME RELEASE: the last list says where classes come from.
lists_places() {
	local jrt=None module=None sql=bootstrap dir

	if [ "$2" -gt 8 ]; then
		jrt=jrt:/java.base
		module=java.base
		sql=platform
	fi
	dir=$(classes_of "$version")/
	same "$1: places" "Kinds app None $dir, Kinds\$Twin Kinds\$TwinLoader None /twins/one two.jar,\
 Kinds\$Twin app None $dir, int[] bootstrap $module None, java.lang.String bootstrap $module $jrt" \
		"$(json "', '.join(sorted('%s %s %s %s' % (c['class'], c['loader'].split(' @')[0],
			c['module'], c['source']) for c in j['classes']
			if c['class'] in ('java.lang.String', 'Kinds', 'Kinds\$Twin', 'int[]')))")"
	same "$1: the platform's loader" "$sql" "$(json "[c['loader'] for c in j['classes']
		if c['class'] == 'java.sql.Timestamp'][0]")"
}

# counted: how many classes the JVM counts itself, without arrays.
counted() {
	jt perf --json "$JVM_PID" 'java.cls.*'
	json "(lambda c: c['java.cls.loadedClasses'] + c['java.cls.sharedLoadedClasses']
		- c['java.cls.unloadedClasses'] - c['java.cls.sharedUnloadedClasses'])(
		{k: int(v) for k, v in j['counters'].items()})"
}

# members: what the last `class --json` declares, as javap does.
members() {
	json "'\n'.join(m['declaration'] + ';' for c in j['classes'][:1]
		for m in c['fields'] + c['methods'])"
}

# What javap prints of these class files, which lose nothing that is compared.
compared=('Kinds$Box' 'Kinds$Shape' 'Kinds$Color' 'Kinds$Mark' Victim)
for class in "${compared[@]}"; do
	javap -p -cp "$W/classes" "$class" >"$W/$class.javap"
done

# declares NAME CLASS: as javap has it.
declares() {
	jt class --json "$JVM_PID" "$2"
	# JDK 17's leaves slashes in what is thrown, when a type variable is, too.
	same "$1: $2 as javap has it" \
		"$(sed -n 's/ {$//p; s/^  //; s#/#.#g; /;$/p' "$W/$2.javap" | sort)" \
		"$( (json "j['classes'][0]['declaration']" && members) | sort)"
}

refuses_nonsense() {
	refuses 1 'no class .Kinds\$Bx. is loaded: did you mean Kinds\$Box' \
		"$1: the nearest name" class "$JVM_PID" 'Kinds$Bx'
	refuses 1 'did you mean java.util.ArrayList,' "$1: a package is missing" \
		class "$JVM_PID" ArrayList
	refuses 1 'no class .nothing.like.it. is loaded; ' "$1: nothing near" \
		class "$JVM_PID" nothing.like.it
	refuses 1 'no class is loaded by .foo.: there are the loaders bootstrap, ' \
		"$1: no such loader" classes --loader foo "$JVM_PID"
	refuses 1 'java.lang.String is not loaded by that loader, but by bootstrap' \
		"$1: another loader's" class --loader app "$JVM_PID" java.lang.String
	refuses 2 'is no column' "$1: no such column" classes -o foo "$JVM_PID"
	refuses 2 '' "$1: no such kind" classes --kind foo "$JVM_PID"
}

# chooses NAME: globs, loaders, kinds and columns.
chooses() {
	local hash

	works "$1: by a glob" classes --json "$JVM_PID" 'Kinds$B?x' java/lang/String
	same "$1: and a path" "Kinds\$Box java.lang.String" \
		"$(json "' '.join(c['class'] for c in j['classes'])")"
	works "$1: by loader" classes --json --loader 'Kinds$TwinLoader' "$JVM_PID"
	same "$1: its only class" "Kinds\$Twin" "$(json "' '.join(c['class'] for c in j['classes'])")"
	hash=$(json "j['classes'][0]['loader'].split('@')[1]")
	works "$1: by the loader's hash" class --json --loader "@$hash" "$JVM_PID" 'Kinds$Twin'
	same "$1: is that one" 1 "$(json "len(j['classes'])")"
	works "$1: by name alone" class --json "$JVM_PID" 'Kinds$Twin'
	same "$1: are both" 2 "$(json "len(set(c['loader'] for c in j['classes']))")"
	works "$1: by kind" classes --json --kind enum "$JVM_PID" 'Kinds*'
	same "$1: the only enum" "Kinds\$Color" "$(json "' '.join(c['class'] for c in j['classes'])")"
	prints "$1: columns" '^protected abstract static +Kinds\$Box$' \
		classes -o modifiers,class "$JVM_PID" 'Kinds$Box'
}

# looks_into NAME RELEASE: what is not in a class file, and what is in newer ones.
looks_into() {
	works "$1: an array" class --json "$JVM_PID" 'Kinds$Box[][]'
	same "$1: an array's superclass" "['java.lang.Object']" \
		"$(json "[s['class'] for s in j['classes'][0]['superclasses']]")"
	works "$1: a lambda" class --json "$JVM_PID" 'Kinds$$Lambda*'
	same "$1: a lambda's interface and method" "['java.lang.Runnable'] True True" \
		"$(json "[i['class'] for i in j['classes'][0]['interfaces']]") $(
			json "'public void run()' in [m['declaration'] for m in
				j['classes'][0]['methods']]") $(
			json "j['classes'][0]['not_told'] is not None")"
	works "$1: a class that is not linked" class --json "$JVM_PID" 'Kinds$Asleep'
	same "$1: has its members" "['private int dreams'] ['java.lang.Runnable']" \
		"$(json "[f['declaration'] for f in j['classes'][0]['fields']]") $(
			json "[i['class'] for i in j['classes'][0]['interfaces']]")"
	works "$1: annotations" class --json "$JVM_PID" 'Kinds$Box'
	same "$1: are named" "['Kinds\$Mark', 'java.lang.Deprecated']" \
		"$(json "[a['class'] for a in j['classes'][0]['annotations']]")"
	prints "$1: constants" '^ +#[0-9]+ = Utf8 +LIMIT$' class -c "$JVM_PID" 'Kinds$Box'
	prints "$1: bytecode" '^ +[0-9]+: ddiv$' class -b "$JVM_PID" 'Kinds$Box'
	works "$1: all in one document" class -cb --json "$JVM_PID" 'Kinds$Box'
	same "$1: with both" "True True" "$(json "len(j['classes'][0]['constant_pool']) > 9") $(
		json "len(j['classes'][0]['code']) > 3")"
	refuses 1 'no bytecode' "$1: an array has no code" class -b "$JVM_PID" 'int[]'
	jt class -b "$JVM_PID" 'Kinds$Box*[]'
	same "$1: nor have several" "1 1" "$rc $(grep -c 'none of [0-9]* classes has' "$W/err")"
	jt class -b "$JVM_PID" 'Kinds$Box*'
	same "$1: among others they are left out" "0 1 1" "$rc $(
		grep -c 'Kinds$Box\[\]\[\] left out: an array' "$W/err") $(
		grep -c '^Kinds$Box, loaded by' "$W/out")"
	if [ "$2" -ge 15 ]; then
		prints "$1: a hidden class's code" 'invokespecial' class -b "$JVM_PID" 'Kinds$Twin/*'
	fi
	[ "$2" -ge 17 ] || return 0
	works "$1: a sealed interface" class --json "$JVM_PID" 'Modern$Fruit'
	same "$1: and whom it permits" "['Modern\$Apple', 'Modern\$Point'] Modern" \
		"$(json "[s['class'] for s in j['classes'][0]['permitted_subclasses']]") $(
			json "j['classes'][0]['nest_host']")"
	works "$1: a record" class --json "$JVM_PID" 'Modern$Point'
	same "$1: and its components" "['int x', 'java.util.List<T> names']" \
		"$(json "[s['declaration'] for s in j['classes'][0]['record_components']]")"
}

# objects: how many of these there are, by the JVM's own count.
objects() {
	jattach "$JVM_PID" jcmd 'GC.class_histogram -all' | awk '
		$4 ~ /^java\.(net\.URL|security\.(CodeSource|ProtectionDomain))$/ { print $2, $4 }' | sort
}

for version in own "${jdks[@]}"; do
	start_jvm "$version" default Kinds || continue
	works "$version: classes" classes --json "$JVM_PID"
	cp "$W/out" "$W/list"
	same "$version: keys" "class kind loader modifiers module source" \
		"$(json "' '.join(sorted(j['classes'][0]))")"
	lists_kinds "$version" "$(release "$version")"
	lists_places "$version" "$(release "$version")"
	n=$(json "len([c for c in j['classes'] if c['kind'] != 'array'])")
	same "$version: as many as the JVM counts" "$(counted)" "$n"
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
	check "$version: no object is left behind" diff "$W/before" <(objects)
	unharmed "$version: classes"
	stop "$JVM_PID"

	start_jvm "$version" default Kinds -Xcheck:jni || continue
	jt classes "$JVM_PID"
	same "$version: -Xcheck:jni, classes" 0 "$rc"
	jt class "$JVM_PID" 'Kinds*'
	same "$version: -Xcheck:jni, class" 0 "$rc"
	unharmed "$version: -Xcheck:jni"
	stop "$JVM_PID"
done
