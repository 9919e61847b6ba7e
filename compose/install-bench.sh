#!/bin/sh
# Installs the load generators that `make bench` compares flashdrill with, and lacks, and the compiler of its Java
# program. Nothing here is needed for anything else, so what cannot be had is named and left out: the comparison then
# says so in its row. Always exit 0.
set -u
cache=${XDG_CACHE_HOME:-$HOME/.cache}/flashdrill
tools=$cache/tools
PATH=$PATH:$HOME/.cargo/bin:/usr/local/go/bin:$tools/bin

have() { command -v "$1" >/dev/null 2>&1; }
say() { printf 'install: %s\n' "$*"; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }
mkdir -p "$tools/bin"

# program, Debian package.
by_apt() {
    if ! have "$1" && have apt-get; then
        say "apt-get install $2"
        { as_root apt-get update -qq &&
            as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$2"; } >/dev/null
    fi
    have "$1" || say "no $1: Debian calls its package $2"
}
by_apt wrk wrk
# Compiles what sends transactions with RocketMQ's Java client.
by_apt javac openjdk-17-jdk-headless

if ! have oha && have cargo; then
    say "cargo install oha (several minutes, once)"
    # Another target folder than ours: its profile and features are its own.
    env -u CARGO_TARGET_DIR cargo install oha --version 1.16.0 --locked --quiet --root "$tools" \
        --no-default-features --features rustls
fi
have oha || say "no oha: cargo install oha failed"

if ! have vegeta && have go; then
    say "go install vegeta"
    GOBIN=$tools/bin go install github.com/tsenart/vegeta/v12@v12.13.0
fi
have vegeta || say "no vegeta: it needs Go"

# No package and no module of these: used when they are there.
for tool in wrk2 k6; do
    have "$tool" || say "no $tool: put it on the search path to compare with it"
done
exit 0
