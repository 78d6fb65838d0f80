#!/bin/sh
# Records the link on the board with tcpdump, into a pcap file here. Nothing is redirected.
#
#   tcpdump-over-ssh.sh up FILE.pcap   begins; returns once tcpdump listens
#   tcpdump-over-ssh.sh down           ends it, and says how many packets the board lost
#
# The board sees what it always sees: the phone. Wireshark opens the file, also while it grows.
set -eu

BOARD_SSH=${BOARD_SSH:-ssh root@192.168.42.1}   # how to run a command on the board
PHONE_IF=${PHONE_IF:-usb0}                      # the board's interface towards the phone
PORT=${PORT:-8080}
STATE=${STATE:-${TMPDIR:-/tmp}/bridgetap-tcpdump-$(id -u)}
REMOTE_PID=${REMOTE_PID:-/run/bridgetap-tcpdump.pid} # on the board

die() { echo "tcpdump-over-ssh.sh: error: $*" >&2; exit 1; }
alive() { kill -0 "$1" 2>/dev/null; }

# on_board COMMAND: BOARD_SSH may be several words.
on_board() { $BOARD_SSH "$1"; }

up() {
    [ -n "${1:-}" ] || die "which file? tcpdump-over-ssh.sh up FILE.pcap"
    [ ! -d "$STATE" ] || die "it is up already; run 'tcpdump-over-ssh.sh down' first"
    [ ! -e "$1" ] || die "$1 exists already"
    umask 077 # what crosses the link is personal
    mkdir "$STATE"
    # -U: packets are written as they come; -s0: whole packets. The filter leaves out ssh, or each
    # packet that is recorded would make another one.
    : >"$STATE/log"
    on_board "echo \$\$ >$REMOTE_PID; exec tcpdump -i $PHONE_IF -U -s0 -w - 'tcp port $PORT'" \
        </dev/null >"$1" 2>"$STATE/log" &
    pid=$!
    echo "$pid" >"$STATE/pid"
    tries=0
    until grep -q 'listening on' "$STATE/log"; do
        if ! alive "$pid" || [ "$tries" -ge 15 ]; then
            cat "$STATE/log" >&2
            alive "$pid" && kill "$pid"
            rm -r "$STATE"
            [ -s "$1" ] || rm -f "$1"
            die "tcpdump did not start on the board"
        fi
        tries=$((tries + 1))
        sleep 1
    done
}

down() {
    [ -d "$STATE" ] || return 0
    pid=$(cat "$STATE/pid")
    # The kernel hands packets to tcpdump in blocks, each at most a second old, and an interrupt
    # loses the block that is not full. (--immediate-mode has room for few packets and drops more.)
    sleep 2
    # An interrupt lets tcpdump write what it holds and count what it lost. Only if that process
    # still is tcpdump: the board may have started anew since.
    on_board "p=\$(cat $REMOTE_PID) && rm -f $REMOTE_PID && \
        grep -qs tcpdump /proc/\$p/comm && kill -INT \$p" </dev/null ||
        echo "tcpdump-over-ssh.sh: warning: tcpdump was not running on the board any more" >&2
    tries=0
    while alive "$pid" && [ "$tries" -lt 10 ]; do
        tries=$((tries + 1))
        sleep 1
    done
    ! alive "$pid" || kill "$pid"
    grep -E 'packets? (captured|dropped)|error' "$STATE/log" >&2 || cat "$STATE/log" >&2
    rm -r "$STATE"
}

case ${1:-} in
    up) shift; up "$@" ;;
    down) down ;;
    *) echo "usage: tcpdump-over-ssh.sh up FILE.pcap | down" >&2; exit 2 ;;
esac
