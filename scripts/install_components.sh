#!/usr/bin/env bash
# Installs Debian's packages of the programs that some tests need, where they lack and we are root.
set -euo pipefail

lacks() { ! command -v "$1" >/dev/null && ! compgen -G "/usr/lib/postgresql/*/bin/$1" >/dev/null; }

packages=()
if lacks chromium; then packages+=(chromium); fi
if lacks initdb; then packages+=(postgresql); fi
if [ ${#packages[@]} -eq 0 ]; then
    echo "nothing to install"
elif [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "not installed, as this needs root and apt-get: ${packages[*]}" >&2
else
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
fi
