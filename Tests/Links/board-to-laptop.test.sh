#!/bin/bash
# The board hands the phone's connections on to a laptop, and back to its own service.
. "$(dirname "$0")/lib.sh"

machine phone
machine board
machine laptop
link phone usb0 192.168.42.2/24 board usb0 192.168.42.1/24
link board wlan0 192.0.2.1/24 laptop wlan0 192.0.2.2/24
board board
phone_sees phone 192.168.42.2
before=$(snapshot board)

recipe board board-to-laptop up LAPTOP=192.0.2.2
recorder laptop --listen 192.0.2.2:8080 --allow-from 192.0.2.1/32 --upstream 192.0.2.1:8080
expect_refused board board-to-laptop LAPTOP=192.0.2.2
phone_sees phone 192.0.2.2
expect_recorded 192.0.2.1 192.0.2.1 "$connections_of_phone_sees"

# What does not come from the phone is not redirected: the laptop reaches the service itself.
[ "$(in_ns laptop curl -sS --max-time 5 http://192.0.2.1:8080/peer)" = '{"peer": "192.0.2.2"}' ] ||
    fail "the laptop does not reach the board's service"
expect_undone board board-to-laptop "$before"
phone_sees phone 192.168.42.2
expect_recorded 192.0.2.1 192.0.2.1 "$connections_of_phone_sees"

# With SHOW_AS the board sees the phone, although the laptop connects.
recipe board board-to-laptop up LAPTOP=192.0.2.2 SHOW_AS=192.168.42.2
phone_sees phone 192.168.42.2
expect_recorded 192.0.2.1 192.0.2.1 $((2 * connections_of_phone_sees))
expect_undone board board-to-laptop "$before"

# A service that listens on 192.168.42.1 alone is reached by a route, and again without a loop.
stop_recorder
in_ns laptop ip route add 192.168.42.1/32 via 192.0.2.1
recipe board board-to-laptop up LAPTOP=192.0.2.2
recorder laptop --listen 192.0.2.2:8080 --allow-from 192.0.2.1/32 --upstream 192.168.42.1:8080
phone_sees phone 192.0.2.2
expect_recorded 192.0.2.1 192.168.42.1 "$connections_of_phone_sees"
expect_undone board board-to-laptop "$before"

# A set-up that fails half-way is undone.
! recipe board board-to-laptop up LAPTOP=no-address 2>/dev/null || fail "a bad address was taken"
[ "$before" = "$(snapshot board)" ] || fail "a failed up left something behind"
passed
