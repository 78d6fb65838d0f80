#!/bin/bash
# The laptop is 192.168.42.1 for the phone, and 192.168.42.1 is also what it connects to.
unset FIREWALL
. "$(dirname "$0")/lib.sh"

machine phone
machine laptop
machine board
link phone wlan0 192.168.42.10/24 laptop wlan0 -
link laptop usb0 - board usb0 192.168.42.1/24
board board
# A laptop as distributions set it up.
in_ns laptop sh -c 'echo 1 >/proc/sys/net/ipv4/conf/all/rp_filter'
before=$(snapshot laptop)

recipe laptop laptop-as-board up PHONE_IF=wlan0 BOARD_IF=usb0
recorder laptop --listen 192.168.42.1:8080 --allow-from 192.168.42.0/24 \
    --upstream 192.168.42.1:8080 --upstream-interface usb0
expect_refused laptop laptop-as-board PHONE_IF=wlan0 BOARD_IF=usb0
phone_sees phone 192.168.42.2
expect_recorded 192.168.42.10 192.168.42.1 "$connections_of_phone_sees"
# The board finds nobody else under its own address, the phone nobody under the laptop's other one.
in_ns board "$python" "$here/arp.py" usb0 192.168.42.1 ||
    fail "the laptop claims the board's address"
in_ns phone "$python" "$here/arp.py" wlan0 192.168.42.2 ||
    fail "the laptop claims a phone's address"
stop_recorder
expect_undone laptop laptop-as-board "$before"

# A hotspot that has the address already keeps it.
in_ns laptop ip address add 192.168.42.1/24 dev wlan0
before=$(snapshot laptop)
recipe laptop laptop-as-board up PHONE_IF=wlan0 BOARD_IF=usb0
recorder laptop --listen 192.168.42.1:8080 --allow-from 192.168.42.0/24 \
    --upstream 192.168.42.1:8080 --upstream-interface usb0
phone_sees phone 192.168.42.2
stop_recorder
expect_undone laptop laptop-as-board "$before"
in_ns laptop ip address del 192.168.42.1/24 dev wlan0

# An emulator on the laptop: the phone's side is loopback.
before=$(snapshot laptop)
recipe laptop laptop-as-board up PHONE_IF=lo BOARD_IF=usb0
recorder laptop --listen 192.168.42.1:8080 --allow-from 192.168.42.1/32 \
    --upstream 192.168.42.1:8080 --upstream-interface usb0
phone_sees laptop 192.168.42.2
expect_recorded 192.168.42.1 192.168.42.1 "$connections_of_phone_sees"
expect_undone laptop laptop-as-board "$before"

# A board's interface that somebody else has set up is left alone.
in_ns laptop ip address add 192.168.42.77/24 dev usb0
before=$(snapshot laptop)
! recipe laptop laptop-as-board up PHONE_IF=wlan0 BOARD_IF=usb0 2>/dev/null || fail "it was taken"
[ "$before" = "$(snapshot laptop)" ] || fail "a refused up left something behind"
in_ns laptop ip address del 192.168.42.77/24 dev usb0

# A board that was unplugged in between is no obstacle to undoing it.
recipe laptop laptop-as-board up PHONE_IF=wlan0 BOARD_IF=usb0
in_ns laptop ip link delete usb0
recipe laptop laptop-as-board down
! in_ns laptop ip -4 -o address show | grep '192\.168\.42\.1/' || fail "the address was left behind"
passed
