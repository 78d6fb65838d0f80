# An ssh server on a machine of the test, and the client's flags for it. Sourced after lib.sh.
#
# The server is Dropbear, as on many boards, with keys and a home folder of its own: the account's
# real ones are neither read nor changed.

for tool in dropbear dropbearkey ssh ssh-keygen tcpdump; do
    command -v "$tool" >/dev/null || skip "$tool is not installed"
done

# ssh_server MACHINE ADDRESS
ssh_server() {
    local home="$work/home"
    mkdir -p -m 700 "$home/.ssh"
    dropbearkey -t ed25519 -f "$work/host-key" >/dev/null 2>&1
    ssh-keygen -q -t ed25519 -N '' -f "$work/key"
    cp "$work/key.pub" "$home/.ssh/authorized_keys"
    sed "s|^root:.*|root:x:0:0:root:$home:/bin/sh|" /etc/passwd >"$work/passwd"
    # `ip netns exec` gives the process its own view of mounts, so nobody else sees this one.
    start dropbear "$1" sh -c "mount --bind '$work/passwd' /etc/passwd && \
        exec dropbear -F -E -s -r '$work/host-key' -p '$2:22' -P '$work/dropbear.pid'"
    wait_for "the ssh server's start" test -s "$work/dropbear.pid"
    ssh_flags=(-F none -i "$work/key" -o IdentitiesOnly=yes -o BatchMode=yes -o ConnectTimeout=5
        -o StrictHostKeyChecking=no -o "UserKnownHostsFile=$work/known-hosts" -o LogLevel=ERROR)
}
