# Namespaces, peers and checks for the tests of docs/links. Sourced by NAME.test.sh.
#
# Everything lives in namespaces and a folder that the test makes itself; both are gone when it
# ends, and the processes it started with them. Nothing waits longer than a few seconds.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
recipes=$(cd "$here/../../docs/links" && pwd)
python=$(python3 -c 'import sys; print(sys.executable)')

work=$(mktemp -d "${TMPDIR:-/tmp}/bridgetap-links.XXXXXX")
chmod 755 "$work" # the recorder may run as nobody
namespaces=()
pids=()

clean_up() {
    local status=$?
    trap - EXIT
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
    for name in "${namespaces[@]}"; do ip netns delete "$name" 2>/dev/null || true; done
    if [ "$status" != 0 ] && [ "$status" != 77 ]; then
        for log in "$work"/*.log; do [ -s "$log" ] && { echo "-- $log"; tail -20 "$log"; } done
    fi >&2
    rm -rf "$work"
    exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

fail() { echo "$(basename "$0"): FAILED: $*" >&2; exit 1; }
skip() { echo "$(basename "$0"): skipped: $*" >&2; exit 77; }

[ "$(id -u)" = 0 ] || skip "network namespaces need root"
for tool in ip curl "${FIREWALL:-ip}"; do
    command -v "$tool" >/dev/null || skip "$tool is not installed"
done

# The namespace of a machine: `in_ns board COMMAND`.
machine() {
    local name="bt-$1-$$"
    ip netns add "$name" || skip "network namespaces cannot be made here"
    namespaces+=("$name")
    ip -n "$name" link set lo up
}
in_ns() { local name="bt-$1-$$"; shift; ip netns exec "$name" "$@"; }

# link MACHINE INTERFACE ADDRESS[/N] MACHINE INTERFACE ADDRESS[/N]: a cable; `-` gives no address.
link() {
    ip link add "$2" netns "bt-$1-$$" type veth peer name "$5" netns "bt-$4-$$"
    [ "$3" = - ] || ip -n "bt-$1-$$" address add "$3" dev "$2"
    [ "$6" = - ] || ip -n "bt-$4-$$" address add "$6" dev "$5"
    ip -n "bt-$1-$$" link set "$2" up
    ip -n "bt-$4-$$" link set "$5" up
}

# start NAME MACHINE COMMAND...: in the background, its output in NAME.log.
start() {
    local name=$1 where=$2
    shift 2
    ip netns exec "bt-$where-$$" timeout --kill-after=1 60 "$@" >"$work/$name.log" 2>&1 &
    pids+=($!)
}

# wait_for WHAT COMMAND...: until the command succeeds, at most ten seconds.
wait_for() {
    local what=$1 deadline=$((SECONDS + 10))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$deadline" ] || fail "$what did not happen within ten seconds"
        read -rt 0.05 <> <(:) || true
    done
}

# board MACHINE [HOST]: the board's service.
board() {
    start board "$1" "$python" "$here/board.py" --host "${2:-0.0.0.0}" \
        --ready-file "$work/board.ready"
    wait_for "the board's start" test -s "$work/board.ready"
}

bridgetap=${BRIDGETAP:-$here/../../.build/debug/bridgetap}
[ -x "$bridgetap" ] || fail "$bridgetap is not built"

# recorder MACHINE FLAGS...: the recorder, as the user in $recorder_user if that is set.
recorder() {
    local where=$1 as=()
    shift
    mkdir -p "$work/recorder"
    chmod 777 "$work/recorder"
    [ -z "${recorder_user:-}" ] ||
        # The program may lie in a folder that this user could not enter by itself.
        as=(setpriv --reuid "$recorder_user" --regid "$(id -g "$recorder_user")" --clear-groups
            --inh-caps +dac_read_search --ambient-caps +dac_read_search)
    start recorder "$where" "${as[@]}" "$bridgetap" record "$@" \
        -o "$work/recorder/session.ndjson" --ready-file "$work/recorder/ready"
    recorder_pid=${pids[-1]}
    wait_for "the recorder's start" test -s "$work/recorder/ready"
}

# stop_recorder: ends the recorder that was started last, in good order, and removes its file.
stop_recorder() {
    kill "$recorder_pid"
    wait_for "the end of the file" grep -q '"event":"end"' "$work/recorder/session.ndjson"
    wait "$recorder_pid" || true # the status is that of `timeout`, which was told to end it
    rm -r "$work/recorder"
    recorded_before=0
}

# What is recorded from here on; `expect_recorded` leaves out what was before.
forget_recorded() { recorded_before=$(wc -l <"$work/recorder/session.ndjson"); }
recorded() { tail -n "+$((recorded_before + 1))" "$work/recorder/session.ndjson"; }
recorded_before=0

# opened FIELD: that field's addresses, without ports, of the connections recorded, one a line.
opened() { recorded | sed -n 's/.*"event":"open".*"'"$1"'":"\([0-9.]*\):.*/\1/p'; }

# expect_recorded APP BOARD COUNT: exactly so many connections, all from APP to BOARD, and all that
# the phone said on them.
expect_recorded() {
    local lines heartbeats=$(($3 / connections_of_phone_sees * heartbeats_of_phone_sees))
    lines=$(recorded | grep '"event":"frame"' | grep '"from":"app"' | grep -c heartbeat || true)
    [ "$lines" = "$heartbeats" ] || fail "$lines heartbeats are in the file, not $heartbeats"
    lines=$(opened app | sort | uniq -c | tr -s ' ')
    [ "$lines" = " $3 $1" ] || fail "the recorder saw apps:$lines; expected $3 times $1"
    lines=$(opened board | sort | uniq -c | tr -s ' ')
    [ "$lines" = " $3 $2" ] || fail "the recorder saw boards:$lines; expected $3 times $2"
}

# phone_sees MACHINE PEER: HTTP and WebSocket to 192.168.42.1:8080 work, and the board sees PEER.
phone_sees() {
    local seen
    seen=$(in_ns "$1" timeout 20 "$python" "$here/phone.py" 192.168.42.1 8080) ||
        fail "no way from $1 to the board"
    [ "$seen" = "$2"$'\n'"$2" ] || fail "the board sees '$seen' as its peer; expected $2"
    seen=$(in_ns "$1" curl -sS --max-time 5 http://192.168.42.1:8080/peer)
    [ "$seen" = "{\"peer\": \"$2\"}" ] || fail "curl got $seen"
}
connections_of_phone_sees=3
heartbeats_of_phone_sees=20

# snapshot MACHINE: everything that a recipe may change. Empty chains that a firewall tool makes
# when it is first used are no change.
empty_chains='^#|^\s*\}?$|^\s*table ip (nat|filter) \{|^\s*type .* policy accept;'
empty_chains+='|^\s*chain (PREROUTING|INPUT|FORWARD|OUTPUT|POSTROUTING) \{'
snapshot() {
    in_ns "$1" ip -4 -o address show
    in_ns "$1" ip -4 route show table all
    in_ns "$1" ip -4 rule show
    in_ns "$1" nft list ruleset 2>/dev/null | grep -vE "$empty_chains" || true
    in_ns "$1" iptables-save 2>/dev/null | grep -E '^-|^:.* (DROP|-)' || true
    in_ns "$1" sh -c 'cd /proc/sys/net/ipv4 && grep -r . ip_forward conf' |
        grep -v 'stable_secret' | sort
}

# recipe MACHINE NAME VERB [VARIABLE=VALUE...]
recipe() {
    local where=$1 name=$2 verb=$3
    shift 3
    in_ns "$where" env "STATE=$work/state-$name" ${FIREWALL:+FIREWALL=$FIREWALL} "$@" \
        timeout 30 "$recipes/$name.sh" "$verb"
}

# expect_undone MACHINE NAME BEFORE: `down` leaves nothing behind, and a second one is harmless.
expect_undone() {
    recipe "$1" "$2" down
    diff <(echo "$3") <(snapshot "$1") >&2 || fail "$2.sh down left something behind"
    [ ! -e "$work/state-$2" ] || fail "$2.sh down left its state behind"
    recipe "$1" "$2" down || fail "a second down is not harmless"
}

# expect_refused MACHINE NAME [VARIABLE=VALUE...]: a second `up` is refused and changes nothing.
expect_refused() {
    local before
    before=$(snapshot "$1")
    ! recipe "$1" "$2" up "${@:3}" 2>"$work/refused" || fail "a second up was not refused"
    grep -q 'it is up already' "$work/refused" || fail "a second up says: $(cat "$work/refused")"
    [ "$before" = "$(snapshot "$1")" ] || fail "a second up changed something"
}

passed() { echo "$(basename "$0" .test.sh)${FIREWALL:+ with $FIREWALL}: passed"; }
