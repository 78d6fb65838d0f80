#!/bin/bash
# tcpdump on the board, started and ended over ssh, records the link while nothing about it changes.
unset FIREWALL
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/ssh.sh"

machine phone
machine board
machine laptop
link phone usb0 192.168.42.2/24 board usb0 192.168.42.1/24
link board wlan0 192.0.2.1/24 laptop wlan0 192.0.2.2/24
board board
ssh_server board 192.0.2.1
before=$(snapshot board)

dump() {
    in_ns laptop env "STATE=$work/state-tcpdump" "REMOTE_PID=$work/tcpdump.pid" \
        "BOARD_SSH=ssh ${ssh_flags[*]} root@192.0.2.1" \
        timeout 40 "$recipes/tcpdump-over-ssh.sh" "$@"
}
dump up "$work/link.pcap"
! dump up "$work/other.pcap" 2>/dev/null || fail "a second up was not refused"
phone_sees phone 192.168.42.2
dump down 2>"$work/counts.log"
grep -q '^0 packets dropped by kernel' "$work/counts.log" || fail "no count of lost packets"
dump down || fail "a second down is not harmless"
[ "$before" = "$(snapshot board)" ] || fail "the board is not as it was"
! pgrep -F "$work/tcpdump.pid" >/dev/null 2>&1 || fail "tcpdump still runs on the board"

tcpdump -r "$work/link.pcap" -nn >"$work/packets" 2>/dev/null || fail "tcpdump cannot read the file"
opened=$(grep -c '192.168.42.2.* > 192.168.42.1.8080: Flags \[S\]' "$work/packets")
[ "$opened" = "$connections_of_phone_sees" ] || fail "$opened connections are in the file"
! grep -v '192\.168\.42\.1\.8080' "$work/packets" || fail "other traffic is in the file"
ended=$(grep -c '192.168.42.1.8080 > 192.168.42.2.*: Flags \[F' "$work/packets")
[ "$ended" = "$connections_of_phone_sees" ] || fail "the end of $ended connections is in the file"
tcpdump -r "$work/link.pcap" -nn -A >"$work/packets" 2>/dev/null
grep -q 'GET /api/phone-bridge?platform=ios' "$work/packets" || fail "packets are not whole"

# An interface that is not there is an error, and leaves nothing behind.
! PHONE_IF=usb7 dump up "$work/none.pcap" 2>"$work/refused" || fail "usb7 was taken"
grep -q 'usb7' "$work/refused" || fail "the error does not name the interface"
[ ! -e "$work/none.pcap" ] && [ ! -e "$work/state-tcpdump" ] || fail "something was left behind"
passed
