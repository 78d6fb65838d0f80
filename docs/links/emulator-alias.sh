#!/bin/sh
# This machine answers to 192.168.42.1 itself, for an emulator or simulator that runs on it.
#
#   emulator-alias.sh up     as root, on the machine that the emulator runs on
#   emulator-alias.sh down   undoes what `up` did
#
# After `up`, with a board (or `bridgetap board`) that is reached under another address:
#   bridgetap record --listen 192.168.42.1:8080 --allow-from 192.168.42.1/32 \
#       --upstream 127.0.0.1:18080 -o lab.ndjson
#
# The app in the emulator keeps its fixed URL. The board sees this machine as its peer.
# A board on this machine's USB with the same address: see laptop-as-board.sh with PHONE_IF=lo.
set -eu

BOARD=${BOARD:-192.168.42.1}
STATE=${STATE:-/var/run/bridgetap-emulator-alias}

die() { echo "emulator-alias.sh: error: $*" >&2; exit 1; }

owned() {
    case $(uname -s) in
        Darwin) ifconfig | grep -q "inet $BOARD " ;;
        *) ip -4 -o addr show | grep -q " $BOARD/" ;;
    esac
}

up() {
    [ ! -d "$STATE" ] || die "it is up already; run 'emulator-alias.sh down' first"
    ! owned || die "this machine has the address $BOARD already"
    case $(uname -s) in
        Darwin) ifconfig lo0 alias "$BOARD" 255.255.255.255 ;;
        *) ip addr add "$BOARD/32" dev lo ;;
    esac
    mkdir -p "$STATE"
    echo "$BOARD" >"$STATE/address"
}

down() {
    [ -d "$STATE" ] || return 0
    BOARD=$(cat "$STATE/address")
    case $(uname -s) in
        Darwin) ifconfig lo0 -alias "$BOARD" || true ;;
        *) ip addr del "$BOARD/32" dev lo 2>/dev/null || true ;;
    esac
    rm -r "$STATE"
}

case ${1:-} in
    up) up ;;
    down) down ;;
    *) echo "usage: emulator-alias.sh up | down" >&2; exit 2 ;;
esac
