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
echo >>"$W/APKBUILD"
same "SHA256SUMS: a change is found" "APKBUILD: FAILED" \
	"$(cd "$W" && sha256sum --check --quiet SHA256SUMS 2>/dev/null)"
for file in "$name.tar.xz" jtool.spec APKBUILD; do
	check "the release has $file" test -s "$RELEASE/$file"
done

# check_program ARCH MACHINE: the tarball of an architecture, and its SBOM.
check_program() {
	local arch=$1 program=$W/$name-linux-$1/jtool sbom=$RELEASE/$name-linux-$1.spdx.json
	local tarball=$RELEASE/$name-linux-$1.tar.gz

	check "$arch: the tarball can be unpacked" tar -xzf "$tarball" -C "$W"
	same "$arch: it belongs to root" "0/0" \
		"$(tar --numeric-owner -tvzf "$tarball" | awk '{ print $2 }' | sort -u)"
	for file in LICENSE NOTICES NEWS README.md SECURITY.md docs/leak.md kubectl-jtool systemd/jtool-exporter.service \
		k8s/daemonset.yaml prometheus/jtool.rules.yml grafana/jtool.json; do
		check "$arch: it has $file" test -s "$W/$name-linux-$arch/$file"
	done
	check "$arch: the program is static" grep -q "$2.*static-pie linked" <(file -b "$program")
	check "$arch: the SBOM is valid SPDX 2.3" python3 "$top_srcdir/tests/release/spdx.py" \
		"$sbom" "$program"
}
check_program x86_64 x86-64
check_program aarch64 aarch64
sbom=$RELEASE/$name-linux-$(uname -m).spdx.json
for field in dataLicense SPDXID documentNamespace created downloadLocation; do
	sed "0,/\"$field\"/s//\"x$field\"/" "$sbom" >"$W/lacking.json"
	check "the SBOM: a missing $field is found" grep -q "$field" <(
		python3 "$top_srcdir/tests/release/spdx.py" "$W/lacking.json" "$JTOOL")
done
same "the program knows its version" "jtool $version" "$("$JTOOL" --version | head -n 1)"
if command -v qemu-aarch64-static >/dev/null; then
	same "aarch64: the program starts in QEMU" "jtool $version" \
		"$(qemu-aarch64-static "$W/$name-linux-aarch64/jtool" --version | head -n 1)"
	check "aarch64: its agent is for aarch64" grep -q 'ARM aarch64' <(
		qemu-aarch64-static "$W/$name-linux-aarch64/jtool" agent --extract - | file -b -)
else
	skip "aarch64: the program starts in QEMU" "qemu-user-static is not installed"
fi

tar -xJf "$RELEASE/$name.tar.xz" -C "$W"
same "the sources have the files of the commit" "" \
	"$(cd "$top_srcdir" && git ls-tree -r --name-only HEAD | while read -r file; do
		[ -e "$W/$name/$file" ] || echo "$file"
	done)"
check "the sources have a configure script" test -x "$W/$name/configure"
check "the changelog is that of the version" grep -q "^jtool ($version-1) " \
	"$W/$name/debian/changelog"
