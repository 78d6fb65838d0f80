#!/bin/bash
# One ssh connection carries the phone's connections to the laptop and back to the board's service.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/ssh.sh"

machine phone
machine board
machine laptop
link phone usb0 192.168.42.2/24 board usb0 192.168.42.1/24
link board wlan0 192.0.2.1/24 laptop wlan0 192.0.2.2/24
board board
# Something private on the board's loopback, which the phone must not reach.
start private board "$python" "$here/board.py" --host 127.0.0.1 --port 8079 \
    --ready-file "$work/private.ready"
wait_for "the private service's start" test -s "$work/private.ready"
ssh_server board 192.0.2.1
phone_sees phone 192.168.42.2
before=$(snapshot board)

recorder laptop --listen 127.0.0.1:8081 --upstream 127.0.0.1:8082
start ssh laptop ssh "${ssh_flags[@]}" -N -o ExitOnForwardFailure=yes \
    -R 127.0.0.1:8081:127.0.0.1:8081 -L 127.0.0.1:8082:192.168.42.1:8080 root@192.0.2.1
wait_for "the forwarding" in_ns board sh -c 'ss -Hltn "sport = 8081" | grep -q .'
recipe board board-to-laptop-ssh up
expect_refused board board-to-laptop-ssh
phone_sees phone 192.168.42.1
expect_recorded 127.0.0.1 127.0.0.1 "$connections_of_phone_sees"

# The guard: a phone that sends packets for 127.0.0.1 over the link finds nothing there.
in_ns phone sh -c 'echo 1 >/proc/sys/net/ipv4/conf/usb0/route_localnet
    ip address del 127.0.0.1/8 dev lo
    ip route add 127.0.0.1/32 via 192.168.42.1 dev usb0 src 192.168.42.2'
! in_ns phone curl -sS --max-time 2 http://127.0.0.1:8079/peer 2>/dev/null ||
    fail "the phone reaches the board's loopback"
in_ns board sh -c 'iptables -D INPUT -j BRIDGETAP_IN 2>/dev/null ||
    nft flush chain ip bridgetap_ssh input'
[ -n "$(in_ns phone curl -sS --max-time 5 http://127.0.0.1:8079/peer)" ] ||
    fail "the check of the guard checks nothing: without it there is no way either"

expect_undone board board-to-laptop-ssh "$before"
phone_sees phone 192.168.42.2
expect_recorded 127.0.0.1 127.0.0.1 "$connections_of_phone_sees"

# A phone that was unplugged in between is no obstacle to undoing it.
recipe board board-to-laptop-ssh up
in_ns board ip link delete usb0
recipe board board-to-laptop-ssh down
! in_ns board nft list table ip bridgetap_ssh 2>/dev/null || fail "rules were left behind"
! recipe board board-to-laptop-ssh up 2>"$work/refused" || fail "a missing interface was taken"
grep -q 'no interface usb0' "$work/refused" || fail "$(cat "$work/refused")"
passed
