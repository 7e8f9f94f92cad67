#!/usr/bin/env bash
# Builds the files of a release in dist/ and tries each of them. Installs missing tools.
#   scripts/release.sh
# dist/millpond-VERSION-TARGET.tar.gz  program, completions, man pages and licences; one dynamic, one static
# dist/millpond-VERSION-oci.tar        OCI image of the static program and CA certificates, nothing else
# dist/SHA256SUMS
# The static program is linked with musl, or with glibc if the musl target cannot be installed.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/sbin
PROGRAM_BYTES_MAX=32000000
IMAGE_USER=65532

version=$(cargo pkgid -p millpond | sed 's/.*[@#]//')
host=$(rustc -vV | sed -n 's/^host: //p')
cargo_home=${CARGO_HOME:-$HOME/.cargo}
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
work=$(mktemp -d)
server=
trap 'kill $server 2>/dev/null || true; rm -rf "$work"' EXIT
rm -rf dist
mkdir dist

step() { printf '\n== %s\n' "$*"; }
fail() {
  echo "error: $*" >&2
  exit 1
}

# Returns success if command $1 exists or Debian package $2 can be installed.
have() {
  command -v "$1" >/dev/null && return
  if [ "$(id -u)" = 0 ]; then as_root=(); else as_root=(sudo -n); fi
  { "${as_root[@]}" apt-get update -q && "${as_root[@]}" apt-get install -y -q --no-install-recommends "$2"; } >/dev/null 2>&1
}

# tar; the same files give the same archive.
pack() { tar --sort=name --mtime="@$epoch" --numeric-owner --mode=u+rw,go=u-w "$@"; }

# Builds the program for target $1 with compiler flags $2, and copies it to $3.
build() {
  # The remapping keeps paths of this machine out of the program.
  RUSTFLAGS="--remap-path-prefix=$cargo_home=/cargo --remap-path-prefix=$PWD=/millpond $2" \
    cargo build --quiet --locked --profile dist -p millpond --target "$1"
  install -D "${CARGO_TARGET_DIR:-target}/$1/dist/millpond" "$3"
  bytes=$(stat -c %s "$3")
  echo "$1: $bytes bytes"
  [ "$bytes" -le "$PROGRAM_BYTES_MAX" ] || fail "the program is larger than $PROGRAM_BYTES_MAX bytes"
}

# Tries a program. $1 is a folder, $2 the same folder as the program sees it, the rest is its command.
try() {
  local folder=$1 seen=$2 printed address=""
  local program=(env -i "PATH=$PATH" "HOME=$seen/tmp" "TMPDIR=$seen/tmp" "${@:3}")
  mkdir -p "$folder/data" "$folder/tmp"
  "${program[@]}" --version
  printed=$("${program[@]}" show <fixtures/openai-chat/content-in-parts.sse)
  echo "show: $printed"
  [ "$printed" = "It is four." ] || fail "show prints another text"
  "${program[@]}" demo --view steps </dev/null 2>&1 | tail -n 1

  # Emptied here: the program may start later than the first look for its address.
  : >"$work/serve.log"
  "${program[@]}" serve --listen 127.0.0.1:0 --data "$seen/data" 2>"$work/serve.log" &
  server=$!
  for _ in $(seq 100); do
    address=$(sed -n 's/^millpond: listening on //p' "$work/serve.log")
    [ -z "$address" ] || break
    sleep 0.1
  done
  curl -fsS -o /dev/null -w "serve: %{http_code}\n" "$address/healthz" || fail "serve: $(cat "$work/serve.log")"
  ! grep 'no web chat' "$work/serve.log" || fail "install Node 20.19 or newer"

  # The gateway as a model at `localhost`: some static programs cannot resolve names.
  cat >"$folder/millpond.toml" <<END
profile = "gateway"
[profiles.gateway]
wire = "chat"
base = "http://localhost:${address##*:}/v1"
model = "millpond"
key_file = "$seen/data/token"
END
  printed=$(echo hello | "${program[@]}" chat --config-file "$seen/millpond.toml" --data "$seen/tmp/chat")
  echo "model at localhost: ${printed%%$'\n'*}"
  grep -q 'run ended' "$work/serve.log" || fail "the chat did not call the model"
  kill "$server"
  wait "$server"
  server=
}

# Tries a static program in root folder $1, as its path $2.
# Calling a model also needs a hosts file and CA certificates there.
try_in_root() {
  if [ "$(id -u)" = 0 ]; then
    chroot=(chroot --userspec="$IMAGE_USER:$IMAGE_USER")
  elif unshare --map-root-user true 2>/dev/null; then
    chroot=(unshare --map-root-user chroot)
  else
    echo "not tried: needs root or user namespaces"
    return
  fi
  mkdir -p "$1/etc/ssl/certs" "$1/data" "$1/tmp"
  echo "127.0.0.1 localhost" >"$1/etc/hosts"
  cat /usr/share/ca-certificates/mozilla/*.crt >"$1/etc/ssl/certs/ca-certificates.crt"
  [ "$(id -u)" != 0 ] || chown "$IMAGE_USER" "$1/data" "$1/tmp"
  try "$1" "" "${chroot[@]}" "$1" "$2"
}

# Prints the licences of the libraries in the program and in the web chat.
# The text of the Apache licence is omitted: the archive has it already.
print_third_party_licences() {
  cargo tree --locked -p millpond -e normal --target "$host" --prefix none --no-dedupe --format '{p}|{l}' |
    grep -v -e '(/' -e '(proc-macro)' | sort -u | tr '|' ' ' | while read -r name number licence; do
    printf '\n== %s %s: %s\n\n' "$name" "$number" "$licence"
    find "$cargo_home"/registry/src/*/"$name-${number#v}" -maxdepth 1 -type f \
      -iregex '.*/\(licen[cs]e\|copying\|notice\).*' ! -iname '*apache*' -exec cat {} +
  done
  npm ls --prefix web --omit=dev --all --parseable 2>/dev/null | sort -u | grep /node_modules/ | while read -r folder; do
    printf '\n== %s (npm)\n\n' "${folder##*/node_modules/}"
    find "$folder/" -maxdepth 1 -type f -iregex '.*/\(licen[cs]e\|copying\|notice\).*' -exec cat {} +
  done
}

# Makes the archive of program $1 for target $2.
archive() {
  local name=millpond-$version-$2
  local folder=$work/$name
  install -D "$1" "$folder/millpond"
  mkdir "$folder/completions" "$folder/man"
  cp README.md CHANGELOG.md LICENSE LICENSE-APACHE LICENSE-MIT "$work/THIRD-PARTY-LICENSES" "$folder"
  "$1" completions bash >"$folder/completions/millpond.bash"
  "$1" completions zsh >"$folder/completions/_millpond"
  "$1" completions fish >"$folder/completions/millpond.fish"
  "$1" man >"$folder/man/millpond.1"
  for command in $("$1" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | grep -vx help); do
    "$1" man "$command" >"$folder/man/millpond-$command.1"
  done
  (cd "$folder" && find . -type f -printf '%P\n' | LC_ALL=C sort | xargs sha256sum >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)
  pack --owner=0 --group=0 -C "$work" -c "$name" | gzip -9n >"dist/$name.tar.gz"
  tar -xzf "dist/$name.tar.gz" -C "$work" && (cd "$folder" && sha256sum --quiet -c SHA256SUMS && ./millpond --version >/dev/null)
  echo "dist/$name.tar.gz: $(stat -c %s "dist/$name.tar.gz") bytes"
}

# Makes the OCI image of program $1.
image() {
  local layout=$work/oci image=$work/oci:$version root=$work/layer created
  created=$(date -u -d "@$epoch" +%FT%TZ)
  install -D "$1" "$root/usr/local/bin/millpond"
  mkdir -p "$root/etc/ssl/certs" "$root/data" "$root/tmp"
  cat /usr/share/ca-certificates/mozilla/*.crt >"$root/etc/ssl/certs/ca-certificates.crt"
  pack --owner=0 --group=0 -C "$root" -cf "$work/layer.tar" etc usr
  pack --owner="$IMAGE_USER" --group="$IMAGE_USER" -C "$root" -rf "$work/layer.tar" data tmp
  umoci init --layout "$layout"
  umoci new --image "$image"
  umoci raw add-layer --history.created "$created" --image "$image" "$work/layer.tar"
  umoci config --no-history --image "$image" --created "$created" \
    --config.user "$IMAGE_USER:$IMAGE_USER" --config.volume /data --config.exposedports 8181/tcp \
    --config.env PATH=/usr/local/bin --config.env MILLPOND_DATA=/data --config.env MILLPOND_LISTEN=0.0.0.0:8181 \
    --config.entrypoint /usr/local/bin/millpond --config.cmd serve
  umoci gc --layout "$layout"
  if [ "$(id -u)" = 0 ]; then rootless=(); else rootless=(--rootless); fi
  umoci unpack "${rootless[@]}" --image "$image" "$work/bundle"
  # The name that `podman load` gives it; umoci accepts only tags.
  sed -i "s/\"$version\"/\"millpond:$version\"/" "$layout/index.json"
  pack --owner=0 --group=0 -C "$layout" -cf "dist/millpond-$version-oci.tar" blobs index.json oci-layout
  echo "dist/millpond-$version-oci.tar: $(stat -c %s "dist/millpond-$version-oci.tar") bytes"
  try_in_root "$work/bundle/rootfs" /usr/local/bin/millpond
}

have curl curl || fail "curl not found"

step "dynamic program"
build "$host" "" "$work/dynamic"
try "$work/try" "$work/try" "$work/dynamic"

step "static program"
static_target=${host/gnu/musl}
if rustup target add "$static_target" 2>/dev/null && have musl-gcc musl-tools; then
  build "$static_target" "" "$work/static"
else
  echo "the musl target cannot be installed: linking with glibc"
  static_target=$host-static
  build "$host" "-C target-feature=+crt-static" "$work/static"
fi
install -D "$work/static" "$work/root/millpond"
try_in_root "$work/root" /millpond

step "archives"
print_third_party_licences >"$work/THIRD-PARTY-LICENSES"
archive "$work/dynamic" "$host"
archive "$work/static" "$static_target"

step "image"
if have umoci umoci; then
  image "$work/static"
else
  echo "skipped: umoci cannot be installed"
fi

cd dist
sha256sum millpond-* >SHA256SUMS
