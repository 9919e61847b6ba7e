#!/bin/sh
# Starts one node of the shop on the port given.
set -eu
. "$(dirname "$0")/environment.sh"
if [ ! -e "$environment/complete" ]; then
    echo "naive-shop: its Python environment is missing; run drills/targets/naive-shop/install.sh" >&2
    exit 69
fi
exec "$environment/bin/python" "$shop/shop.py" "$1"
