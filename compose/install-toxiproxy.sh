#!/bin/sh
# Installs the real Toxiproxy, which the conformance tests compare the built-in proxy with. Nothing else needs it: where
# it cannot be had, this says so and the tests count as skipped. Always exit 0.
set -u
tools=${XDG_CACHE_HOME:-$HOME/.cache}/flashdrill/tools
version=2.12.0
PATH=$PATH:/usr/local/go/bin:$tools/bin

say() { printf 'install: %s\n' "$*"; }

command -v toxiproxy-server >/dev/null 2>&1 && exit 0
if ! command -v go >/dev/null 2>&1; then
    say "no toxiproxy-server: it needs Go; its conformance tests will be skipped"
    exit 0
fi
say "go install toxiproxy $version"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$tools/bin"
module=github.com/Shopify/toxiproxy/v2
GOBIN=$folder go install -ldflags "-X $module.Version=$version" "$module/cmd/server@v$version" &&
    mv "$folder/server" "$tools/bin/toxiproxy-server" ||
    say "no toxiproxy-server: go install failed; its conformance tests will be skipped"
exit 0
