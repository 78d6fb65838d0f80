"""Asks who has an address, as a machine does before it takes it. Exit 0: nobody answered.

usage: arp.py INTERFACE ADDRESS
"""

import socket
import sys
import time

interface, address = sys.argv[1:]
ARP = 0x0806
WAIT_SECONDS = 0.5

link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ARP))
link.bind((interface, ARP))
own = link.getsockname()[4]
wanted = socket.inet_aton(address)
link.send(
    b"\xff" * 6 + own + b"\x08\x06" + b"\x00\x01\x08\x00\x06\x04\x00\x01"
    + own + bytes(4) + bytes(6) + wanted
)
end = time.monotonic() + WAIT_SECONDS
while (left := end - time.monotonic()) > 0:
    link.settimeout(left)
    try:
        packet = link.recv(100)
    except TimeoutError:
        break
    if packet[20:22] == b"\x00\x02" and packet[28:32] == wanted:
        sys.exit(f"{address} is at {packet[22:28].hex(':')}")
