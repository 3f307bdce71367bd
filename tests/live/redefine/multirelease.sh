#!/usr/bin/env bash
# redefine and dump --diff with a multi-release jar: the classes for the JVM's release are taken, also
# if only the JVM itself can say which release it is.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh
. "$(dirname "$0")/../lib.sh"

# variant DIR SED_SCRIPT: compiles class Subject from an edited source.
variant() {
	mkdir -p "$W/$1"
	sed "$2" "$live_dir/victim/Subject.java" >"$W/$1/Subject.java"
	javac --release 8 -Xlint:-options -d "$W/$1" "$W/$1/Subject.java"
}

# The running class is the version for JDK 9; JDK 8 would run the other one.
variant base s/1001/1002/
mkdir -p "$W/base/META-INF/versions/9"
cp "$W/classes/Subject.class" "$W/base/META-INF/versions/9"
printf 'Multi-Release: true\n' >"$W/manifest"
(cd "$W" && jar cfm multi.jar manifest -C base Subject.class -C base META-INF/versions)

# Hides the file `release` of the JDK; without hsperfdata, only the JVM can then say its release.
# shellcheck disable=SC2016 # expanded by the inner shell
hide='mount --bind /dev/null "$0" && exec "$@"'

# start_nameless VERSION: starts a JVM whose release jtool does not find on its own.
start_nameless() {
	local release=${jdk_root[$1]}${jdk_home[$1]}/release

	jvm_command "$1" serial -XX:-UsePerfData -cp "$IW/classes" Replace
	[ ! -e "$release" ] || argv=(unshare -m bash -c "$hide" "$release" "${argv[@]}")
	spawn "${argv[@]}"
	await_ready 60
}

for version in "${jdks[@]}"; do
	start_nameless "$version" || continue
	ask both '^both ' >/dev/null
	works "$version: list: it works" list --json
	same "$version: list: it does not know the release" None \
		"$(json "[v['version'] for v in j['jvms'] if v['pid'] == $JVM_PID][0]")"
	if [ "$version" -ge 9 ]; then
		wanted='Subject unchanged META-INF/versions/9/Subject.class' differs=0
	else
		wanted='Subject possible Subject.class' differs=1
	fi
	jt redefine --check --json "$JVM_PID" "$W/multi.jar"
	same "$version: redefine --check: the class for the JVM's release" "0 $wanted" \
		"$rc $(json "'{class} {result} '.format(**j['classes'][0]) +
			j['classes'][0]['file'].split('!/')[1]")"
	works "$version: dump --diff: it works" dump --json "$JVM_PID" Subject --diff "$W/multi.jar"
	same "$version: dump --diff: the class for the JVM's release" $differs \
		"$(json "len(j['differences'])")"
	unharmed "$version: a JVM whose release is unknown" 'both .*'
	stop "$JVM_PID"
done
