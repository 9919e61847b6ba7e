# Where the shop's Python environment is: in the user's cache, one for each state of requirements.txt.
shop=$(cd "$(dirname "$0")" && pwd)
environment=${XDG_CACHE_HOME:-$HOME/.cache}/flashdrill/naive-shop-$(cksum <"$shop/requirements.txt" | cut -d' ' -f1)
