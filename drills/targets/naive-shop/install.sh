#!/bin/sh
# Installs the shop's Python environment, if it is not there. Exit 69: Python cannot make one.
set -eu
. "$(dirname "$0")/environment.sh"
[ -e "$environment/complete" ] && exit 0
say() { printf 'naive-shop: %s\n' "$*"; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

if ! python3 -c 'import ensurepip' 2>/dev/null; then
    if ! command -v apt-get >/dev/null 2>&1; then
        say "python3 with its venv module is missing (Debian calls the package python3-venv)"
        exit 69
    fi
    say "apt-get install python3-venv"
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv >/dev/null
fi
say "installing FastAPI and its like by pip"
rm -rf "$environment"
python3 -m venv "$environment"
"$environment/bin/pip" install --quiet --disable-pip-version-check -r "$shop/requirements.txt"
touch "$environment/complete"
