#!/bin/bash
# A machine that answers to 192.168.42.1 itself. An Android emulator's connections are made by a
# process on that machine, as an iOS simulator's are: a client on the machine stands for both.
unset FIREWALL
. "$(dirname "$0")/lib.sh"

machine developer
machine board
link developer eth0 192.0.2.2/24 board eth0 192.0.2.1/24
board board
before=$(snapshot developer)

! in_ns developer curl -sS --max-time 2 http://192.168.42.1:8080/peer 2>/dev/null ||
    fail "there is a way already"
recipe developer emulator-alias up
recorder developer --listen 192.168.42.1:8080 --allow-from 192.168.42.1/32 --upstream 192.0.2.1:8080
expect_refused developer emulator-alias
phone_sees developer 192.0.2.2
expect_recorded 192.168.42.1 192.0.2.1 "$connections_of_phone_sees"
# A neighbour that sends packets for the address to this machine is kept out by --allow-from.
in_ns board ip route add 192.168.42.1/32 via 192.0.2.2
! in_ns board curl -sS --max-time 2 http://192.168.42.1:8080/peer 2>/dev/null ||
    fail "a neighbour got through"
expect_recorded 192.168.42.1 192.0.2.1 "$connections_of_phone_sees"
expect_undone developer emulator-alias "$before"
passed
