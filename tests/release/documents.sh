#!/usr/bin/env bash
# The checksums, the SBOM and the tarballs of a release.
# shellcheck source-path=SCRIPTDIR/../live source=lib.sh
. "$(dirname "$0")/../live/lib.sh"

version=$(sed -nE 's/^AC_INIT\(\[jtool\], \[([^]]+)\].*/\1/p' "$top_srcdir/configure.ac")
name=jtool-$version

check "SHA256SUMS verifies" env -C "$RELEASE" sha256sum --check --strict SHA256SUMS
same "SHA256SUMS has every other file" "$(find "$RELEASE" -type f ! -name SHA256SUMS -printf '%f\n' | sort)" \
	"$(sed 's/^[0-9a-f]*  //' "$RELEASE/SHA256SUMS" | sort)"
cp "$RELEASE"/* "$W"
echo >>"$W/$name.spdx.json"
same "SHA256SUMS: a change is found" "$name.spdx.json: FAILED" \
	"$(cd "$W" && sha256sum --check --quiet SHA256SUMS 2>/dev/null)"
for file in "$name.tar.xz" "$name-linux-$(uname -m).tar.gz" "$name.spdx.json" jtool.spec APKBUILD; do
	check "the release has $file" test -s "$RELEASE/$file"
done

check "the SBOM is valid SPDX 2.3" python3 "$top_srcdir/tests/release/spdx.py" \
	"$RELEASE/$name.spdx.json" "$JTOOL"
for field in dataLicense SPDXID documentNamespace created downloadLocation; do
	sed "0,/\"$field\"/s//\"x$field\"/" "$RELEASE/$name.spdx.json" >"$W/lacking.json"
	check "the SBOM: a missing $field is found" grep -q "$field" <(
		python3 "$top_srcdir/tests/release/spdx.py" "$W/lacking.json" "$JTOOL")
done

same "the program knows its version" "jtool $version" "$("$JTOOL" --version | head -n 1)"
check "it is static" grep -q 'static-pie linked' <(file -b "$JTOOL")
same "the tarball belongs to root" "0/0" \
	"$(tar --numeric-owner -tvzf "$RELEASE/$name-linux-$(uname -m).tar.gz" | awk '{ print $2 }' | sort -u)"
tar -xJf "$RELEASE/$name.tar.xz" -C "$W"
same "the sources have the files of the commit" "" \
	"$(cd "$top_srcdir" && git ls-tree -r --name-only HEAD | while read -r file; do
		[ -e "$W/$name/$file" ] || echo "$file"
	done)"
check "the sources have a configure script" test -x "$W/$name/configure"
check "the changelog is that of the version" grep -q "^jtool ($version-1) " \
	"$W/$name/debian/changelog"
