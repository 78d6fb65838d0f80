#!/bin/bash
# The board records its own link: the phone's connections, and with LOCAL=yes its own clients' too.
. "$(dirname "$0")/lib.sh"

machine phone
machine board
link phone usb0 192.168.42.2/24 board usb0 192.168.42.1/24
board board
phone_sees phone 192.168.42.2
before=$(snapshot board)
recorder_user=nobody
recorder board --transparent --listen 0.0.0.0:8081 --allow-from 192.168.42.0/24

recipe board on-board up
expect_refused board on-board
phone_sees phone 192.168.42.1
expect_recorded 192.168.42.2 192.168.42.1 "$connections_of_phone_sees"
# The recorder's own port is closed to the phone: there a connection would lead to itself.
! in_ns phone curl -sS --max-time 5 http://192.168.42.1:8081/peer 2>"$work/refused" ||
    fail "the phone reaches the recorder's port"
grep -q 'connect to server' "$work/refused" || fail "$(cat "$work/refused")"
# Clients on the board are not recorded without LOCAL.
phone_sees board 192.168.42.1
expect_recorded 192.168.42.2 192.168.42.1 "$connections_of_phone_sees"
expect_undone board on-board "$before"
phone_sees phone 192.168.42.2
expect_recorded 192.168.42.2 192.168.42.1 "$connections_of_phone_sees"

forget_recorded
recipe board on-board up SHOW_AS=192.168.42.2
phone_sees phone 192.168.42.2
expect_recorded 192.168.42.2 192.168.42.1 "$connections_of_phone_sees"
expect_undone board on-board "$before"

# A tool on the board is recorded, and the recorder's own connections are not redirected again.
forget_recorded
recipe board on-board up LOCAL=yes
phone_sees board 192.168.42.1
expect_recorded 192.168.42.1 192.168.42.1 "$connections_of_phone_sees"
forget_recorded
phone_sees phone 192.168.42.1
expect_recorded 192.168.42.2 192.168.42.1 "$connections_of_phone_sees"
expect_undone board on-board "$before"

# Without a user of its own there would be a loop; the recipe does not go there.
expect_complaint() {
    local text=$1
    shift
    ! recipe board on-board up "$@" 2>"$work/refused" || fail "it was taken: $*"
    grep -q "$text" "$work/refused" || fail "$(cat "$work/refused")"
    [ "$before" = "$(snapshot board)" ] || fail "a refused up left something behind"
}
expect_complaint 'must not run as root' LOCAL=yes RECORDER_USER=root
expect_complaint 'not as daemon' LOCAL=yes RECORDER_USER=daemon
expect_complaint 'not as daemon' SHOW_AS=192.168.42.2 RECORDER_USER=daemon
expect_complaint 'start the recorder first' RECORDER_PORT=8082
passed
