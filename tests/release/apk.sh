#!/usr/bin/env bash
# The APKBUILD, as far as it can be tried without Alpine: its fields, its checksums, and its functions
# run in the order of abuild, with Debian's musl-gcc and libraries that are built with it.
# shellcheck source-path=SCRIPTDIR/../live source=lib.sh
. "$(dirname "$0")/../live/lib.sh"

D=$(mktemp -d /var/tmp/jtool-apk.XXXXXX)
to_remove+=("$D")
apkbuild=$RELEASE/APKBUILD

# field NAME: the value of a variable.
field() {
	sh -c '. "$1" && eval "printf %s \"\$$2\""' field "$apkbuild" "$1"
}

check "sh -n" sh -n "$apkbuild"
# abuild sets and reads variables that are not in the file.
check "shellcheck" shellcheck -s sh -e SC2034,SC2154 "$apkbuild"
for name in pkgname pkgver pkgrel pkgdesc url arch license makedepends source sha512sums; do
	check "it sets $name" test -n "$(field $name)"
done
check "pkgver is a version" grep -q -x -E '[0-9]+(\.[0-9]+)*' <(field pkgver)
check "the checksum is that of the sources" env -C "$RELEASE" sha512sum -c --strict \
	<(field sha512sums | sed '/^$/d')
same "the source is in the release" "$(field source)" "$(cd "$RELEASE" && ls jtool-*.tar.xz)"

check "libraries for musl" "$top_srcdir/scripts/static" -l "$D/static"
prefix=$D/static/root
rm -f "$prefix/lib/libc.a" # Alpine's programs link the shared library

# stand_in: does with the file what abuild does, from unpacking to packaging.
stand_in() (
	set -eu
	srcdir=$D/src pkgdir=$D/pkg
	mkdir "$srcdir" "$pkgdir"
	# shellcheck source=/dev/null
	. "$apkbuild"
	# shellcheck disable=SC2154 # set there
	builddir=$srcdir/$pkgname-$pkgver
	# shellcheck disable=SC2154
	tar -xf "$RELEASE/$source" -C "$srcdir"
	# In CC, because the agent is compiled without CFLAGS, and needs the kernel's headers.
	export CC="musl-gcc -isystem $prefix/include" CFLAGS=-Os LDFLAGS="-L$prefix/lib"
	export PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig PKG_CONFIG="pkg-config --static"
	cd "$builddir"
	build
	cd "$builddir"
	package
)

check "build and package run" stand_in
same "the program needs musl's loader" "/lib/ld-musl-$(uname -m).so.1" \
	"$(readelf -lW "$D/pkg/usr/bin/jtool" | sed -n 's/.*interpreter: \(.*\)\]/\1/p')"
check "the manual is where the subpackage -doc expects it" test -s "$D/pkg/usr/share/man/man1/jtool.1"
start_jvm own serial Idle || exit
check "the program lists a JVM" grep -q -E "^ *$JVM_PID .* Idle$" <("$D/pkg/usr/bin/jtool" list 2>&1)
check "the program attaches" grep -q OpenJDK <("$D/pkg/usr/bin/jtool" jcmd "$JVM_PID" VM.version 2>&1)
unharmed "the JVM"
