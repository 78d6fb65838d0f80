#!/bin/sh
# The board hands the phone's connections on to a recorder on a laptop, through ssh.
#
#   board-to-laptop-ssh.sh up     on the board, as root
#   board-to-laptop-ssh.sh down   undoes everything that `up` did
#
# On the laptop, before `up`, first the recorder and then the connection that carries it:
#   bridgetap record --listen 127.0.0.1:8081 --upstream 127.0.0.1:8082 -o lab.ndjson
#   ssh -N -o ExitOnForwardFailure=yes -R 127.0.0.1:8081:127.0.0.1:8081 \
#       -L 127.0.0.1:8082:192.168.42.1:8080 root@board
#
# The board sees itself (192.168.42.1) as its peer: ssh's server makes the connection, on the board.
# The port that ssh opens listens on the board's loopback, as every ssh server allows. Packets from
# the phone reach it by route_localnet; a rule keeps them from everything else on loopback.
set -eu

PHONE_IF=${PHONE_IF:-usb0}             # the board's interface towards the phone
BOARD=${BOARD:-192.168.42.1}           # the address that the phone connects to
PORT=${PORT:-8080}
RECORDER_PORT=${RECORDER_PORT:-8081}   # the port that ssh -R opens on the board's loopback
FIREWALL=${FIREWALL:-}                 # nft or iptables; without it, nft where it is installed
STATE=${STATE:-/run/bridgetap-board-to-laptop-ssh}

die() { echo "board-to-laptop-ssh.sh: error: $*" >&2; exit 1; }

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

# An interface that was unplugged has taken its settings with it.
restore_sysctls() {
    [ -e "$STATE/sysctl" ] || return 0
    while read -r name value; do
        [ ! -e "/proc/sys/$name" ] || echo "$value" >"/proc/sys/$name"
    done <"$STATE/sysctl"
}

nft_up() {
    nft -f - <<RULES
table ip bridgetap_ssh {
    chain prerouting {
        type nat hook prerouting priority -100
        iifname "$PHONE_IF" ip daddr $BOARD tcp dport $PORT tcp flags & (syn | ack) == syn \
            dnat to 127.0.0.1:$RECORDER_PORT
    }
    chain input {
        type filter hook input priority 0
        iifname "$PHONE_IF" ip daddr 127.0.0.0/8 ct status dnat accept
        iifname "$PHONE_IF" ip daddr 127.0.0.0/8 drop
    }
}
RULES
}

nft_down() { nft delete table ip bridgetap_ssh 2>/dev/null || true; }

iptables_up() {
    iptables -w -N BRIDGETAP_IN
    iptables -w -A BRIDGETAP_IN -i "$PHONE_IF" -d 127.0.0.0/8 -m conntrack ! --ctstate DNAT -j DROP
    iptables -w -I INPUT -j BRIDGETAP_IN
    iptables -w -t nat -N BRIDGETAP_PRE
    iptables -w -t nat -A BRIDGETAP_PRE -i "$PHONE_IF" -d "$BOARD" -p tcp --dport "$PORT" --syn \
        -j DNAT --to-destination "127.0.0.1:$RECORDER_PORT"
    iptables -w -t nat -I PREROUTING -j BRIDGETAP_PRE
}

# remove_chain TABLE HOOK CHAIN
remove_chain() {
    iptables -w -t "$1" -D "$2" -j "$3" 2>/dev/null || true
    iptables -w -t "$1" -F "$3" 2>/dev/null || true
    iptables -w -t "$1" -X "$3" 2>/dev/null || true
}

iptables_down() {
    remove_chain nat PREROUTING BRIDGETAP_PRE
    remove_chain filter INPUT BRIDGETAP_IN
}

down() {
    [ -d "$STATE" ] || return 0
    restore_sysctls # first: without the guard, loopback must not be open to the phone
    FIREWALL=$(cat "$STATE/firewall")
    "${FIREWALL}_down"
    rm -r "$STATE"
}

up() {
    [ ! -d "$STATE" ] || die "it is up already; run 'board-to-laptop-ssh.sh down' first"
    [ -e "/proc/sys/net/ipv4/conf/$PHONE_IF" ] || die "there is no interface $PHONE_IF (PHONE_IF)"
    choose_firewall
    mkdir -p "$STATE"
    echo "$FIREWALL" >"$STATE/firewall"
    trap down EXIT # half a set-up is worse than none
    trap 'exit 1' INT TERM
    "${FIREWALL}_up"
    set_sysctl "net/ipv4/conf/$PHONE_IF/route_localnet" 1
    trap - EXIT
}

case ${1:-} in
    up) up ;;
    down) down ;;
    *) echo "usage: board-to-laptop-ssh.sh up | down" >&2; exit 2 ;;
esac
