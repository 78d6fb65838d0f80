#!/bin/sh
# A Linux laptop is 192.168.42.1 for the phone; the real board, with the same address, is behind it.
#
#   laptop-as-board.sh up     on the laptop, as root; needs PHONE_IF and BOARD_IF
#   laptop-as-board.sh down   undoes everything that `up` did
#
# After `up`, the recorder (as root, or with CAP_NET_RAW on kernels before 5.7):
#   bridgetap record --listen 192.168.42.1:8080 --allow-from 192.168.42.0/24 \
#       --upstream 192.168.42.1:8080 --upstream-interface usb0 -o lab.ndjson
#
# PHONE_IF is where the phone is: the laptop's Wi-Fi hotspot, or `lo` for an emulator on the laptop.
# BOARD_IF is where the board is: its USB link. Neither may be managed by something that gives it
# an address of this network by itself (`nmcli device set usb0 managed no`).
#
# The board sees LAPTOP as its peer, the address that a phone has there. The phone must have
# another one: let the hotspot hand out 192.168.42.10 and up.
set -eu

PHONE_IF=${PHONE_IF:-}
BOARD_IF=${BOARD_IF:-}
BOARD=${BOARD:-192.168.42.1}     # the board's address, and from `up` on the laptop's own as well
LAPTOP=${LAPTOP:-192.168.42.2}   # the laptop's address towards the board
STATE=${STATE:-/run/bridgetap-laptop-as-board}

die() { echo "laptop-as-board.sh: error: $*" >&2; exit 1; }

# set_sysctl NAME VALUE: sets it and remembers what it was.
set_sysctl() {
    echo "$1 $(cat "/proc/sys/$1")" >>"$STATE/sysctl"
    echo "$2" >"/proc/sys/$1"
}

# An interface that was unplugged has taken its settings with it.
restore_sysctls() {
    [ -e "$STATE/sysctl" ] || return 0
    while read -r name value; do
        [ ! -e "/proc/sys/$name" ] || echo "$value" >"/proc/sys/$name"
    done <"$STATE/sysctl"
}

has_address() { ip -4 -o addr show dev "$1" | grep -q " $2/"; }

down() {
    [ -d "$STATE" ] || return 0
    . "$STATE/names"
    ip route del "$BOARD/32" dev "$BOARD_IF" 2>/dev/null || true
    ip addr del "$LAPTOP/32" dev "$BOARD_IF" 2>/dev/null || true
    [ "$OWNED" = yes ] || ip addr del "$BOARD/$PREFIX" dev "$PHONE_IF" 2>/dev/null || true
    restore_sysctls
    rm -r "$STATE"
}

up() {
    [ -n "$PHONE_IF" ] || die "PHONE_IF is not set: the interface towards the phone"
    [ -n "$BOARD_IF" ] || die "BOARD_IF is not set: the interface towards the board"
    [ ! -d "$STATE" ] || die "it is up already; run 'laptop-as-board.sh down' first"
    for name in "$PHONE_IF" "$BOARD_IF"; do
        [ -e "/proc/sys/net/ipv4/conf/$name" ] || die "there is no interface $name"
    done
    ! ip -4 -o addr show dev "$BOARD_IF" | grep -q " ${BOARD%.*}\." ||
        die "$BOARD_IF has an address beside $BOARD already: keep the network manager off it" \
            "and take it away"
    # A hotspot that was set up with the board's address keeps it when this is undone.
    has_address "$PHONE_IF" "$BOARD" && OWNED=yes || OWNED=no
    [ "$PHONE_IF" = lo ] && PREFIX=32 || PREFIX=24
    mkdir -p "$STATE"
    echo "PHONE_IF=$PHONE_IF BOARD_IF=$BOARD_IF BOARD=$BOARD LAPTOP=$LAPTOP" \
        "OWNED=$OWNED PREFIX=$PREFIX" >"$STATE/names"
    trap down EXIT # half a set-up is worse than none
    trap 'exit 1' INT TERM
    # Answer ARP on each side for that side's own address only: the board must not find somebody
    # else under its address, nor the phone under the one that stands for it.
    set_sysctl "net/ipv4/conf/$BOARD_IF/arp_ignore" 1
    [ "$PHONE_IF" = lo ] || set_sysctl "net/ipv4/conf/$PHONE_IF/arp_ignore" 1
    # Take packets from the board although their source is an address of our own ...
    set_sysctl "net/ipv4/conf/$BOARD_IF/accept_local" 1
    # ... and the way back to it leads elsewhere. (2, as the larger of this and `all` counts.)
    set_sysctl "net/ipv4/conf/$BOARD_IF/rp_filter" 2
    [ "$OWNED" = yes ] || ip addr add "$BOARD/$PREFIX" dev "$PHONE_IF"
    # One address and one route: the rest of the network lies on the phone's side. Sockets that are
    # bound to BOARD_IF take the route, all others find the laptop itself.
    ip addr add "$LAPTOP/32" dev "$BOARD_IF"
    ip route add "$BOARD/32" dev "$BOARD_IF" src "$LAPTOP"
    trap - EXIT
}

case ${1:-} in
    up) up ;;
    down) down ;;
    *) echo "usage: PHONE_IF=NAME BOARD_IF=NAME laptop-as-board.sh up | down" >&2; exit 2 ;;
esac
