#!/bin/sh
# The board hands the phone's connections on to a recorder on a laptop, by NAT.
#
#   board-to-laptop.sh up     on the board, as root; needs LAPTOP
#   board-to-laptop.sh down   undoes everything that `up` did
#
# On the laptop, where 192.0.2.1 is the board's address on the network that both share:
#   bridgetap record --listen 192.0.2.2:8080 --allow-from 192.0.2.1/32 \
#       --upstream 192.0.2.1:8080 -o lab.ndjson
#
# The board sees the laptop as its peer, or the phone's own address with SHOW_AS.
# Connections that are open already stay as they are: let the app connect anew after `up`.
set -eu

PHONE_IF=${PHONE_IF:-usb0}             # the board's interface towards the phone
BOARD=${BOARD:-192.168.42.1}           # the address that the phone connects to
PORT=${PORT:-8080}
LAPTOP=${LAPTOP:-}                     # the laptop's address, as the board reaches it
RECORDER_PORT=${RECORDER_PORT:-8080}   # where the recorder listens on the laptop
SHOW_AS=${SHOW_AS:-}                   # e.g. 192.168.42.2: what the board is to see as its peer
FIREWALL=${FIREWALL:-}                 # nft or iptables; without it, nft where it is installed
STATE=${STATE:-/run/bridgetap-board-to-laptop}

die() { echo "board-to-laptop.sh: error: $*" >&2; exit 1; }

choose_firewall() {
    [ -n "$FIREWALL" ] || { command -v nft >/dev/null && FIREWALL=nft || FIREWALL=iptables; }
    case $FIREWALL in nft|iptables) ;; *) die "FIREWALL is nft or iptables, not '$FIREWALL'" ;; esac
    command -v "$FIREWALL" >/dev/null || die "$FIREWALL is not installed"
}

# set_sysctl NAME VALUE: sets it and remembers what it was.
set_sysctl() {
    echo "$1 $(cat "/proc/sys/$1")" >>"$STATE/sysctl"
    echo "$2" >"/proc/sys/$1"
}

restore_sysctls() {
    [ -e "$STATE/sysctl" ] || return 0
    while read -r name value; do echo "$value" >"/proc/sys/$name"; done <"$STATE/sysctl"
}

nft_up() {
    nft -f - <<RULES
table ip bridgetap_to_laptop {
    chain prerouting {
        type nat hook prerouting priority -100
        iifname "$PHONE_IF" ip daddr $BOARD tcp dport $PORT tcp flags & (syn | ack) == syn \
            dnat to $LAPTOP:$RECORDER_PORT
    }
    chain postrouting {
        type nat hook postrouting priority 100
        ct status dnat ip daddr $LAPTOP tcp dport $RECORDER_PORT masquerade
    }
}
RULES
    [ -z "$SHOW_AS" ] || nft -f - <<RULES
table ip bridgetap_to_laptop {
    chain input {
        type nat hook input priority 100
        ip saddr $LAPTOP tcp dport $PORT snat to $SHOW_AS
    }
}
RULES
}

nft_down() { nft delete table ip bridgetap_to_laptop 2>/dev/null || true; }

iptables_up() {
    iptables -w -t nat -N BRIDGETAP_PRE
    iptables -w -t nat -A BRIDGETAP_PRE -i "$PHONE_IF" -d "$BOARD" -p tcp --dport "$PORT" --syn \
        -j DNAT --to-destination "$LAPTOP:$RECORDER_PORT"
    iptables -w -t nat -I PREROUTING -j BRIDGETAP_PRE
    iptables -w -t nat -N BRIDGETAP_POST
    iptables -w -t nat -A BRIDGETAP_POST -d "$LAPTOP" -p tcp --dport "$RECORDER_PORT" \
        -m conntrack --ctstate DNAT -j MASQUERADE
    iptables -w -t nat -I POSTROUTING -j BRIDGETAP_POST
    # A board that forwards nothing by policy must let these connections pass.
    iptables -w -N BRIDGETAP_FWD
    iptables -w -A BRIDGETAP_FWD -d "$LAPTOP" -p tcp --dport "$RECORDER_PORT" \
        -m conntrack --ctstate DNAT -j ACCEPT
    iptables -w -A BRIDGETAP_FWD -s "$LAPTOP" -p tcp --sport "$RECORDER_PORT" \
        -m conntrack --ctstate DNAT -j ACCEPT
    iptables -w -I FORWARD -j BRIDGETAP_FWD
    [ -n "$SHOW_AS" ] || return 0
    iptables -w -t nat -N BRIDGETAP_IN
    iptables -w -t nat -A BRIDGETAP_IN -s "$LAPTOP" -p tcp --dport "$PORT" \
        -j SNAT --to-source "$SHOW_AS"
    iptables -w -t nat -I INPUT -j BRIDGETAP_IN
}

# remove_chain TABLE HOOK CHAIN
remove_chain() {
    iptables -w -t "$1" -D "$2" -j "$3" 2>/dev/null || true
    iptables -w -t "$1" -F "$3" 2>/dev/null || true
    iptables -w -t "$1" -X "$3" 2>/dev/null || true
}

iptables_down() {
    remove_chain nat PREROUTING BRIDGETAP_PRE
    remove_chain nat POSTROUTING BRIDGETAP_POST
    remove_chain nat INPUT BRIDGETAP_IN
    remove_chain filter FORWARD BRIDGETAP_FWD
}

down() {
    [ -d "$STATE" ] || return 0
    FIREWALL=$(cat "$STATE/firewall")
    "${FIREWALL}_down"
    restore_sysctls
    rm -r "$STATE"
}

up() {
    [ -n "$LAPTOP" ] || die "LAPTOP is not set: the laptop's address, as the board reaches it"
    [ ! -d "$STATE" ] || die "it is up already; run 'board-to-laptop.sh down' first"
    choose_firewall
    mkdir -p "$STATE"
    echo "$FIREWALL" >"$STATE/firewall"
    trap down EXIT # half a set-up is worse than none
    trap 'exit 1' INT TERM
    set_sysctl net/ipv4/ip_forward 1
    "${FIREWALL}_up"
    trap - EXIT
}

case ${1:-} in
    up) up ;;
    down) down ;;
    *) echo "usage: LAPTOP=ADDRESS board-to-laptop.sh up | down" >&2; exit 2 ;;
esac
