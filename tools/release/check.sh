#!/usr/bin/env bash
# check.sh: make a release of this commit in bin/dist, up to what needs the network and keys, and
# look into each archive, package and image.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools=$PWD/bin/tools
dist=bin/dist
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export PATH=$tools:$PATH HOMEBREW_TAP_TOKEN=

step() { echo "✓ $*"; }
fail() { echo "✗ $*" >&2; exit 1; }

install() { [ -x "$tools/$1" ] || env -u GOFLAGS GOBIN="$tools" go install "$2"; }
install goreleaser github.com/goreleaser/goreleaser/v2@v2.15.1
install cyclonedx-gomod github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
install actionlint github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

actionlint
goreleaser check --quiet
step "workflows and .goreleaser.yaml are well-formed"

goreleaser release --snapshot --clean --skip=sign,docker > "$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
version=$(sed -E 's/.*"version":"([^"]+)".*/\1/' "$dist/metadata.json")
step "snapshot $version"

(cd "$dist" && sha256sum --quiet --check checksums.txt)
step "checksums"

# has LISTING FILE...: a listing of an archive names each file.
has() {
	for file in "${@:2}"; do
		grep -qE "(^|[ /])$file( |$)" "$1" || fail "$(basename "$1") lacks $file"
	done
}

shared=(man/csisim-check.1.gz completions/csisim.bash completions/_csisim completions/csisim.fish
	LICENSE THIRD_PARTY_LICENSES README.md CHANGELOG.md schema/scenario.json)
for archive in "$dist"/csisim_*.tar.gz; do
	tar -tzf "$archive" > "$scratch/$(basename "$archive")"
	has "$scratch/$(basename "$archive")" csisim "${shared[@]}"
	case $archive in *linux*) has "$scratch/$(basename "$archive")" hostdir ;; esac
	step "$(basename "$archive")"
done

installed=(usr/bin/csisim usr/bin/hostdir usr/share/man/man1/csisim-check.1.gz
	usr/share/bash-completion/completions/csisim usr/share/doc/csisim/THIRD_PARTY_LICENSES)
for package in "$dist"/csisim_*.{deb,rpm,apk}; do
	listing=$scratch/$(basename "$package")
	case $package in
	*.deb) lister=(dpkg-deb -c) ;;
	*.rpm) lister=(rpm -qlp) ;;
	*.apk) lister=(tar -tzf) ;;
	esac
	if ! command -v "${lister[0]}" > /dev/null; then
		echo "- $(basename "$package"): not looked into, ${lister[0]} is not installed"
		continue
	fi
	"${lister[@]}" "$package" > "$listing" 2> /dev/null
	has "$listing" "${installed[@]}"
	step "$(basename "$package")"
done

for bom in "$dist"/*.cdx.json; do
	grep -q 'pkg:golang/google.golang.org/grpc@' "$bom" || fail "$(basename "$bom") lacks gRPC"
done
boms=("$dist"/*.cdx.json)
step "${#boms[@]} bills of materials"

here=$(go env GOOS)_$(go env GOARCH)
mkdir "$scratch/here"
tar -xzf "$dist/csisim_${version}_$here.tar.gz" -C "$scratch/here"
[ "$("$scratch/here/csisim" version | head -1 | cut -d' ' -f2)" = "$version" ] || fail "csisim version prints no $version"
step "the binary prints its version"
if [ -x "$scratch/here/hostdir" ]; then
	(cd "$scratch/here" && PATH=$PWD:$PATH csisim check --profile hostdir --only life/filesystem > check.txt) ||
		{ cat "$scratch/here/check.txt"; fail "the binaries of the archive do not check hostdir"; }
	step "the binaries of the archive check hostdir"
fi

# The image, by docker or by buildah; without a registry on an empty base.
context=$scratch/context
mkdir -p "$context/linux/amd64" "$context/bin/release"
cp LICENSE tools/release/Dockerfile "$context"
cp bin/release/THIRD_PARTY_LICENSES "$context/bin/release"
tar -xzf "$dist/csisim_${version}_linux_amd64.tar.gz" -C "$context/linux/amd64" csisim hostdir
base=(--build-arg "BASE=${BASE:-scratch}" --build-arg TARGETPLATFORM=linux/amd64)
if docker info > /dev/null 2>&1; then
	docker build --quiet "${base[@]}" -t csisim-release-check "$context" > /dev/null
	docker run --rm csisim-release-check version | grep -q "csisim $version" || fail "the image prints no $version"
	docker rmi csisim-release-check > /dev/null
	step "image on ${BASE:-an empty base}, by docker"
elif command -v buildah > /dev/null; then
	export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
	storage=(--root "$scratch/images" --runroot "$scratch/run")
	buildah "${storage[@]}" build --quiet "${base[@]}" -t csisim-release-check "$context" > /dev/null
	container=$(buildah "${storage[@]}" from --pull-never csisim-release-check)
	buildah "${storage[@]}" run "$container" /usr/bin/csisim version | grep -q "csisim $version" || fail "the image prints no $version"
	buildah "${storage[@]}" rm "$container" > /dev/null
	step "image on ${BASE:-an empty base}, by buildah"
else
	echo "- image: not built, there is neither a docker engine nor buildah"
fi
echo "- signatures, provenance and uploads: only in the workflow"
