#!/usr/bin/env bash
# trace in a JVM that does not verify classes: a class whose code is invalid is refused, because
# nothing but jtool's own verifier would find invalid code in the instrumented class.
# shellcheck source-path=SCRIPTDIR/.. source=lib.sh disable=SC2016 # $ in class names
. "$(dirname "$0")/../lib.sh"

mkdir "$W/source"
cat >"$W/source/Unverified.java" <<'END'
final class Unverified extends Victim {
	/** The test changes number() to return the int as an object.  Nothing calls it. */
	static final class Getter {
		private int number = 1;

		int number() {
			return number;
		}

		static int valid() {
			return 2;
		}
	}

	static int twice(int n) {
		return 2 * n;
	}

	@Override
	String answer(String line) {
		return line.equals("twice") ? "twice " + twice(21) : null;
	}

	public static void main(String[] args) throws Exception {
		new Getter();
		new Unverified().serve();
	}
}
END
javac --release 8 -Xlint:-options -cp "$W/classes" -d "$W/source" "$W/source/Unverified.java"
python3 "$live_dir/redefine/limits.py" spoil "$W/source/Unverified\$Getter.class" \
	"$W/classes/Unverified\$Getter.class"
cp "$W/source/Unverified.class" "$W/classes"

why='its code is invalid, and the JVM would not verify it'

# unverified VERSION FLAG...: starts a JVM that does not verify classes, and traces.
unverified() {
	local version=$1 name="$*"

	shift
	start_jvm "$version" serial Unverified "$@" || return
	refuses 1 "$why" "$name: trace: an invalid class is refused" \
		trace "$JVM_PID" 'Unverified$Getter.valid' -d 1
	jt trace "$JVM_PID" 'Unverified.twice' -d 0.2
	same "$name: trace: a valid class is traced" 0 "$rc"
	same "$name: trace: the program runs" "twice 42" "$(ask twice '^twice ')"
	unharmed "$name" 'twice .*' '.*warning: Options? .*deprecated.*'
	stop "$JVM_PID"
}

# JDK 13 and later list the flag that all three set only for the first one.  JDK 27 has only the flag.
for version in "${jdks[@]}"; do
	unverified "$version" -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote
	[ "$version" -lt 27 ] || continue
	unverified "$version" -Xverify:none
	unverified "$version" -noverify -XX:-UsePerfData
done
