#!/bin/sh
# The board hands the phone's connections to a recorder that runs on the board itself.
#
#   on-board.sh up     on the board, as root
#   on-board.sh down   undoes everything that `up` did
#
# Before `up`, the recorder, as a user of its own (RECORDER_USER), so that the rules know it:
#   setpriv --reuid nobody --regid nogroup --clear-groups \
#       bridgetap record --transparent --listen 0.0.0.0:8081 --allow-from 192.168.42.0/24 \
#       -o /var/tmp/lab.ndjson
#
# No loop: what comes in from the phone is redirected, what the recorder sends to the service is
# made on the board and never comes in. With LOCAL=yes the board's own clients of the service (a
# tool that enqueues commands) are redirected too, and the recorder is left out of that by its user.
#
# The board sees itself (192.168.42.1) as its peer, or the phone's own address with SHOW_AS.
# Connections that are open already stay as they are: let the app connect anew after `up`.
set -eu

PHONE_IF=${PHONE_IF:-usb0}              # the board's interface towards the phone
BOARD=${BOARD:-192.168.42.1}            # the address that the phone connects to
PORT=${PORT:-8080}
RECORDER_PORT=${RECORDER_PORT:-8081}    # where the recorder listens on the board
RECORDER_USER=${RECORDER_USER:-nobody}  # the user that the recorder runs as, and nothing else does
LOCAL=${LOCAL:-no}                      # yes: also record clients on the board
SHOW_AS=${SHOW_AS:-}                    # e.g. 192.168.42.2: what the board is to see as its peer
FIREWALL=${FIREWALL:-}                  # nft or iptables; without it, nft where it is installed
STATE=${STATE:-/run/bridgetap-on-board}

die() { echo "on-board.sh: error: $*" >&2; exit 1; }

choose_firewall() {
    [ -n "$FIREWALL" ] || { command -v nft >/dev/null && FIREWALL=nft || FIREWALL=iptables; }
    case $FIREWALL in nft|iptables) ;; *) die "FIREWALL is nft or iptables, not '$FIREWALL'" ;; esac
    command -v "$FIREWALL" >/dev/null || die "$FIREWALL is not installed"
}

# The id of the user whose process listens on the recorder's port; nothing if none does.
recorder_uid() {
    awk -v port="$(printf ':%04X' "$RECORDER_PORT")" \
        '$4 == "0A" && substr($2, length($2) - 4) == port { print $8; exit }' /proc/net/tcp
}

nft_up() {
    # The second chain: who connects to the recorder's port itself would make it connect to itself.
    nft -f - <<RULES
table ip bridgetap_on_board {
    chain prerouting {
        type nat hook prerouting priority -100
        iifname "$PHONE_IF" ip daddr $BOARD tcp dport $PORT tcp flags & (syn | ack) == syn \
            redirect to :$RECORDER_PORT
    }
    chain input {
        type filter hook input priority 0
        iifname "$PHONE_IF" tcp dport $RECORDER_PORT ct status dnat accept
        iifname "$PHONE_IF" tcp dport $RECORDER_PORT reject with tcp reset
    }
}
RULES
    [ "$LOCAL" = no ] || nft -f - <<RULES
table ip bridgetap_on_board {
    chain output {
        type nat hook output priority -100
        meta skuid $uid accept
        ip daddr { $BOARD, 127.0.0.1 } tcp dport $PORT \
            tcp flags & (syn | ack) == syn redirect to :$RECORDER_PORT
    }
}
RULES
    [ -z "$SHOW_AS" ] || nft -f - <<RULES
table ip bridgetap_on_board {
    chain postrouting {
        type nat hook postrouting priority 100
        oifname "lo" ip daddr $BOARD tcp dport $PORT meta skuid $uid snat to $SHOW_AS
    }
}
RULES
}

nft_down() { nft delete table ip bridgetap_on_board 2>/dev/null || true; }

iptables_up() {
    iptables -w -t nat -N BRIDGETAP_PRE
    iptables -w -t nat -A BRIDGETAP_PRE -i "$PHONE_IF" -d "$BOARD" -p tcp --dport "$PORT" --syn \
        -j REDIRECT --to-ports "$RECORDER_PORT"
    iptables -w -t nat -I PREROUTING -j BRIDGETAP_PRE
    # Who connects to the recorder's port itself would make it connect to itself.
    iptables -w -N BRIDGETAP_IN
    iptables -w -A BRIDGETAP_IN -i "$PHONE_IF" -p tcp --dport "$RECORDER_PORT" \
        -m conntrack ! --ctstate DNAT -j REJECT --reject-with tcp-reset
    iptables -w -I INPUT -j BRIDGETAP_IN
    if [ "$LOCAL" = yes ]; then
        iptables -w -t nat -N BRIDGETAP_OUT
        iptables -w -t nat -A BRIDGETAP_OUT -m owner --uid-owner "$uid" -j RETURN
        for address in "$BOARD" 127.0.0.1; do
            iptables -w -t nat -A BRIDGETAP_OUT -d "$address" -p tcp --dport "$PORT" --syn \
                -j REDIRECT --to-ports "$RECORDER_PORT"
        done
        iptables -w -t nat -I OUTPUT -j BRIDGETAP_OUT
    fi
    [ -n "$SHOW_AS" ] || return 0
    iptables -w -t nat -N BRIDGETAP_POST
    iptables -w -t nat -A BRIDGETAP_POST -o lo -d "$BOARD" -p tcp --dport "$PORT" \
        -m owner --uid-owner "$uid" -j SNAT --to-source "$SHOW_AS"
    iptables -w -t nat -I POSTROUTING -j BRIDGETAP_POST
}

# remove_chain TABLE HOOK CHAIN
remove_chain() {
    iptables -w -t "$1" -D "$2" -j "$3" 2>/dev/null || true
    iptables -w -t "$1" -F "$3" 2>/dev/null || true
    iptables -w -t "$1" -X "$3" 2>/dev/null || true
}

iptables_down() {
    remove_chain nat PREROUTING BRIDGETAP_PRE
    remove_chain nat OUTPUT BRIDGETAP_OUT
    remove_chain nat POSTROUTING BRIDGETAP_POST
    remove_chain filter INPUT BRIDGETAP_IN
}

down() {
    [ -d "$STATE" ] || return 0
    FIREWALL=$(cat "$STATE/firewall")
    "${FIREWALL}_down"
    rm -r "$STATE"
}

up() {
    [ ! -d "$STATE" ] || die "it is up already; run 'on-board.sh down' first"
    case $LOCAL in yes|no) ;; *) die "LOCAL is yes or no, not '$LOCAL'" ;; esac
    uid=$(id -u "$RECORDER_USER") || die "there is no user '$RECORDER_USER' (RECORDER_USER)"
    found=$(recorder_uid)
    [ -n "$found" ] || die "nothing listens on port $RECORDER_PORT: start the recorder first"
    if [ "$LOCAL$SHOW_AS" != no ]; then
        # The rules tell the recorder from the board's other programs by its user.
        [ "$uid" != 0 ] || die "the recorder must not run as root: the board's tools do"
        [ "$found" = "$uid" ] || die "the recorder runs as user $found, not as $RECORDER_USER:" \
            "its own connections would be redirected to it again"
    fi
    choose_firewall
    mkdir -p "$STATE"
    echo "$FIREWALL" >"$STATE/firewall"
    trap down EXIT # half a set-up is worse than none
    trap 'exit 1' INT TERM
    "${FIREWALL}_up"
    trap - EXIT
}

case ${1:-} in
    up) up ;;
    down) down ;;
    *) echo "usage: on-board.sh up | down" >&2; exit 2 ;;
esac
