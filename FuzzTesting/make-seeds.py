#!/usr/bin/env python3
"""Writes FuzzTesting/Seeds: a few small inputs for each target, from which libFuzzer begins.

An input begins with a byte of options and a seed for the cuts (see FuzzTesting/Targets).
"""

import gzip
import pathlib
import shutil
import subprocess
import zlib

root = pathlib.Path(__file__).resolve().parent / "Seeds"

upgrade = (
    b"GET /api/phone-bridge?platform=ios HTTP/1.1\r\nHost: 192.168.42.1:8080\r\n"
    b"Upgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
command = b'{"id":"c1","type":"get_battery","payload":{"n":[1,2.50,1e3,null,true]},"timeout_ms":5000}'
result = b'{"id":"c1","success":true,"data":{"text":"na\xc3\xafve \\u00e9\\ud83d\\ude00"}}'


def switching(extensions=b""):
    line = b"Sec-WebSocket-Extensions: " + extensions + b"\r\n" if extensions else b""
    return (
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n" + line + b"\r\n"
    )


def frame(payload, opcode=1, fin=True, rsv=0, key=None, form=None):
    head = bytes([(0x80 if fin else 0) | rsv << 4 | opcode])
    mask = 0x80 if key else 0
    form = form or (0 if len(payload) < 126 else 126)
    head += {
        0: lambda: bytes([mask | len(payload)]),
        126: lambda: bytes([mask | 126]) + len(payload).to_bytes(2, "big"),
        127: lambda: bytes([mask | 127]) + len(payload).to_bytes(8, "big"),
    }[form]()
    if key:
        payload = bytes(b ^ key[i % 4] for i, b in enumerate(payload))
        head += key
    return head + payload


def deflate(data, window=-15):
    packer = zlib.compressobj(wbits=window)
    return (packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH))[:-4]


def runs(*sent):
    """Runs of a connection: positive for the app, negative for the board."""
    out = b""
    for side, data in sent:
        while data:
            if len(data) < 64:
                code, size = len(data), len(data)
            else:
                code = 64 + min(63, (len(data) - 64) // 32)
                size = 64 + (code - 64) * 32
            out += bytes([code | (0x80 if side == "board" else 0)]) + data[:size]
            data = data[size:]
    return out


key = b"\x01\x02\x03\x04"
posts = (
    b"POST /api/phone-bridge/enqueue HTTP/1.1\r\nHost: b\r\nContent-Length: 2\r\n\r\n{}"
    b"GET /api/phone-bridge/poll?phone_id=p%201 HTTP/1.1\r\nHost: b\r\n\r\n"
)
chunked = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5\r\nhello\r\nA;x=y\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n"
)
answers = (
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    b"HTTP/1.1 204 No Content\r\n\r\n"
)

seeds = {
    "http": {
        "requests": b"\x00\x07" + posts,
        "upgrade": b"\x00\x01" + upgrade,
        "upgrade-and-frames": b"\x01\x02" + switching() + frame(command),
        "responses": b"\x01\x03" + answers,
        "chunked": b"\x01\x04" + chunked,
        "chunked-small-limits": b"\x03\x05" + chunked,
        "until-close": b"\x01\x06HTTP/1.0 200 OK\r\n\r\nto the end",
        "head": b"\x05\x08HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n" + answers,
        "sloppy": b"\x00\x09\r\nGET  /x  HTTP/1.1\nA:b\nC :\t d \n e\n\n",
        "tls": b"\x00\x0a\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        "http2": b"\x00\x0bPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    },
    "websocket": {
        "text": b"\x78\x01" + frame(command, key=key),
        "from-board": b"\x79\x02" + frame(result),
        "fragments": b"\x58\x03"
        + frame(b"ab", fin=False, key=key)
        + frame(b"!", opcode=9, key=key)
        + frame(b"cd", opcode=0, key=key)
        + frame(b"\x03\xe8bye", opcode=8, key=key),
        "forms": b"\x71\x04" + frame(b"x", form=126) + frame(b"y", form=127) + frame(b"z" * 200),
        "in-parts": b"\x28\x05" + frame(b"0123456789" * 12, key=key),
        "compressed": b"\x7a\x06"
        + frame(deflate(command), rsv=4, key=key)
        + frame(deflate(result), rsv=4, key=key),
        "compressed-fragments": b"\x5c\x07"
        + frame(deflate(command)[:9], rsv=4, fin=False, key=key)
        + frame(deflate(command)[9:], opcode=0, key=key),
        "rfc7692": b"\x7d\x08"
        + bytes.fromhex("c107f248cdc9c90700" "4103f248cd" "8004c9c90700" "c10bfb48cdc9c907007b00"),
        "reserved": b"\x79\x09" + frame(b"?", opcode=3, rsv=3) + frame(b"!", opcode=11, fin=False),
        "huge": b"\x78\x0a" + bytes.fromhex("827f7fffffffffffffff00010203"),
        "not-utf8": b"\x79\x0b" + frame(b"caf\xc3", fin=False) + frame(b"\x28", opcode=0),
    },
    "deflate": {
        "offer": b"\x00\x01permessage-deflate; client_max_window_bits; server_max_window_bits=10",
        "answer": b"\x00\x02permessage-deflate; client_no_context_takeover; "
        b"server_no_context_takeover; server_max_window_bits=12; client_max_window_bits=9",
        "offers": b'\x00\x03x-other; a="b", permessage-deflate; server_max_window_bits="8", '
        b"permessage-deflate",
        "fixed": b"\x01\x04" + deflate(b"Hello"),
        "dynamic": b"\x01\x05" + deflate(bytes(range(64)) * 4 + command * 3),
        "stored": b"\x03\x06\x00\x05\x00\xfa\xffHello\x00",
        "final-block": b"\x01\x07\xf3\x48\xcd\xc9\xc9\x07\x00\x00",
        "bomb": b"\x01\x08" + deflate(b"\x00" * 100_000),
    },
    "json": {
        "command": b"\x00" + command,
        "result": b"\x00" + result,
        "nested": b"\x01" + b'[[[{"a":[{"a":{}}]}]]]',
        "numbers": b"\x00 [0,-0,1.5e+10,-12E-3,9223372036854775807,1e400] ",
        "strings": b'\x00["\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\ud800","","\xf0\x9f\x98\x80\xe2\x80\xa8<"]',
        "duplicates": b'\x00{"type":1,"TYPE":2,"\\u0074ype":3,"type":4}',
    },
}

session = (
    b'{"event":"session","format":"bridgetap","version":1,"id":"01J8ZQ4T7N0000000000000000",'
    b'"started_at":"2026-05-04T12:00:00.000000000Z","tool":"bridgetap 0.1.0","contract":"1.2",'
    b'"source":"proxy","labels":{"phone":"iPhone 15"}}\n'
)
lines = {
    "open": b'{"event":"open","seq":1,"t":0.000100000,"conn":1,"app":"192.168.42.2:50000",'
    b'"board":"192.168.42.1:8080","via":"127.0.0.1:1>127.0.0.1:2",'
    b'"continued":{"upgraded":true,"extensions":"permessage-deflate"}}',
    "request": b'{"event":"request","seq":2,"t":0.000200000,"t_first":0.000150000,"conn":1,'
    b'"from":"app","exchange":1,"method":"POST","target":"/x","http":"1.1",'
    b'"headers":[["Host","b"],["Content-Length","2"]],"framing":"length","body":"{}"}',
    "response": b'{"event":"response","seq":3,"t":0.000300000,"conn":1,"from":"board",'
    b'"exchange":1,"status":200,"reason":"OK","http":"1.1","headers":[],"framing":"chunked",'
    b'"chunks":[3],"chunk_lines":["Mw0K","DQowMA0K"],"body":"abc","trailers":[["T","v"]],'
    b'"raw_trailers":"VDp2DQoNCg==","raw":"SFRUUC8xLjEgMjAwIE9LDQoNCg=="}',
    "frame": b'{"event":"frame","seq":4,"t":0.000400000,"conn":1,"from":"app","fin":true,"rsv":0,'
    b'"opcode":1,"mask":"01020304","length":2,"text":"{}","bridge":[{"kind":"unknown"}]}',
    "frame-raw": b'{"event":"frame","seq":5,"t":0.000500000,"conn":1,"from":"board","fin":false,'
    b'"rsv":7,"opcode":15,"length":1,"base64":"/w==","raw":"f34AAQ=="}',
    "message": b'{"event":"message","seq":6,"t":0.000600000,"conn":1,"from":"app","opcode":1,'
    b'"frames":2,"compressed":true,"text":"caf\xc3\xa9 \\ud83d\\ude00"}',
    "head": b'{"event":"frame","seq":7,"t":0.000700000,"conn":1,"from":"app","fin":true,"rsv":0,'
    b'"opcode":2,"length":2097152,"pieces":true}',
    "piece": b'{"event":"piece","seq":8,"t":0.000800000,"conn":1,"from":"app","of":7,"offset":0,'
    b'"last":true,"incomplete":true,"base64":"AAEC"}',
    "data": b'{"event":"data","seq":9,"t":0.000900000,"conn":1,"from":"board",'
    b'"why":"a TLS handshake","base64":"FgMB"}',
    "gap": b'{"event":"gap","seq":10,"t":0.001000000,"conn":1,"from":"app","length":12,'
    b'"why":"missing_packets"}',
    "note": b'{"event":"note","seq":11,"t":0.001100000,"conn":1,"code":"late","text":"x","to":4}',
    "close": b'{"event":"close","seq":12,"t":0.001200000,"conn":1,"from":"app","how":"reset",'
    b'"detail":"ECONNRESET"}',
    "later": b'{"event":"later","seq":13,"t":0.001300000,"new":{"a":[1,null,"\\n"]}}',
    "end": b'{"event":"end","seq":14,"t":0.001400000,"events":13,"bytes_app":10,'
    b'"bytes_board":20,"dropped":0}',
}
seeds["ndjson"] = {"session": session, **lines}
whole = session + b"".join(line + b"\n" for line in lines.values())
seeds["session"] = {
    "plain": b"\x00\x01" + whole,
    "torn": b"\x01\x02" + whole[:-20],
    "gzip": b"\x00\x03" + gzip.compress(session, mtime=0) + gzip.compress(whole, mtime=0),
    "gzip-torn": b"\x00\x04" + gzip.compress(whole, mtime=0)[:-30],
    "zstd": b"\x00\x05"
    + subprocess.run(["zstd", "-q", "-c"], input=whole, stdout=subprocess.PIPE, check=True).stdout,
    "pcap": b"\x00\x06\xd4\xc3\xb2\xa1\x02\x00\x04\x00",
}
seeds["connection"] = {
    "requests": b"\x18\x01" + runs(("app", posts), ("board", answers + chunked)),
    "small-limits": b"\x01\x02" + runs(("app", posts), ("board", chunked)),
    "websocket": b"\x00\x03"
    + runs(
        ("app", upgrade),
        ("board", switching() + frame(command)),
        ("app", frame(result, key=key) + frame(b"\x03\xe8", opcode=8, key=key)),
        ("board", frame(b"\x03\xe8", opcode=8)),
    ),
    "compressed": b"\x01\x04"
    + runs(
        ("app", upgrade),
        ("board", switching(b"permessage-deflate")),
        ("board", frame(deflate(command * 4), rsv=4)),
        ("app", frame(deflate(result)[:20], rsv=4, fin=False, key=key)),
        ("app", frame(deflate(result)[20:], opcode=0, key=key)),
    ),
    "early-frames": b"\x10\x05"
    + runs(("app", upgrade + frame(b"early", key=key)), ("board", switching())),
    "refused": b"\x08\x06"
    + runs(
        ("app", upgrade),
        ("board", b"HTTP/1.1 409 Conflict\r\nContent-Length: 2\r\n\r\nno"),
        ("app", posts),
    ),
    "continued": b"\x04\x07" + runs(("app", frame(command, key=key)), ("board", frame(result))),
    "tunnel": b"\x00\x08"
    + runs(
        ("app", b"CONNECT b:1 HTTP/1.1\r\n\r\n"),
        ("board", b"HTTP/1.1 200 OK\r\n\r\n"),
        ("app", b"\x16\x03\x01"),
    ),
}

har_socket = (
    b'{"_resourceType":"websocket","_webSocketMessages":[{"type":"send","time":1780300800.5,'
    b'"opcode":1,"data":"{\\"id\\":\\"heartbeat\\"}"},{"type":"receive","time":1780300800.25,'
    b'"opcode":2,"data":"AAEC"},{"type":"error","time":1780300801,"opcode":-1,"data":"gone"}],'
    b'"connection":"41","request":{"method":"GET","url":"ws://[fd00::1]:8080/a?b=c","headers":'
    b'[{"name":"Host","value":"b"}]},"response":{"status":101,"headers":[]},'
    b'"startedDateTime":"2026-06-01T10:00:00.125+02:00","time":2500.0,"timings":{"send":0}}'
)
har_exchange = (
    b'{"startedDateTime":"2026-06-01T08:00:00Z","time":12.5,"connection":"41","request":{'
    b'"method":"POST","url":"http://b/x","httpVersion":"h2","headers":[{"name":":method","value":'
    b'"POST"},{"name":"content-length","value":"3"}],"postData":{"mimeType":"a/b","text":"one",'
    b'"params":[{"name":"p","value":"q"}]},"bodySize":3},"response":{"status":200,"statusText":'
    b'"OK","headers":[{"name":"Transfer-Encoding","value":"chunked"},{"name":"Content-Encoding",'
    b'"value":"gzip"}],"content":{"size":2,"text":"T0s=","encoding":"base64"},"bodySize":22},'
    b'"timings":{"blocked":-1,"dns":1,"connect":2,"send":0.5,"wait":8,"receive":1}}'
)
har_own = (
    b'{"startedDateTime":"2026-06-01T08:00:00.000000001Z","connection":"1","_app":"1.2.3.4:5",'
    b'"_board":"1.2.3.5:80","_continued":{"upgraded":true,"extensions":"x"},"request":{"url":'
    b'"ws://b/"},"response":{"status":0},"_webSocketMessages":[{"type":"send","time":1780300801,'
    b'"opcode":1,"data":"a"}],"_events":[{"event":"frame","opcode":8,"base64":"A+g=","from":"app",'
    b'"time":1780300802,"after":1},{"event":"gap","length":3,"why":"snaplen","from":"board",'
    b'"after":0},{"event":"close","how":"fin","from":"app","after":1},{"event":"note","code":"c",'
    b'"text":"t","after":1}]}'
)
har_failed = (
    b'{"request":{"url":"http://b:1/","headers":[{"name":"Host","value":"b\\nc"}]},"response":'
    b'{"status":0,"_error":"net::ERR"},"_fromCache":false,"connection":""}'
)


def har(*entries):
    return b'{"log":{"version":"1.2","creator":{"name":"c","version":"1"},"entries":[' + (
        b",".join(entries) + b"]}}"
    )


seeds["har"] = {
    "websocket": b"\x00\x01" + har(har_socket),
    "exchange": b"\x01\x02" + har(har_exchange),
    "own": b"\x01\x03" + har(har_own, har_exchange),
    "all": b"\x00\x04" + har(har_exchange, har_socket, har_own, har_failed, har_exchange),
    "cut": b"\x01\x05" + har(har_exchange, har_socket)[:-90],
    "mark": b"\x00\x06\xef\xbb\xbf { \"log\" : { \"entries\" : [ ] } } ",
}


def packets(*taken):
    """Packets as the pcap target has them: time, cut, length and bytes of each."""
    return b"".join(b"\x01\x00" + len(p).to_bytes(2, "big") + p for p in taken)


def segment(source, target, flags, sequence, acknowledged, data=b"", cut=0):
    """A TCP segment in an IPv4 packet; nobody looks at the checksums."""
    tcp = (
        source[1].to_bytes(2, "big")
        + target[1].to_bytes(2, "big")
        + sequence.to_bytes(4, "big")
        + acknowledged.to_bytes(4, "big")
        + bytes([0x50, flags])
        + b"\xff\xff\x00\x00\x00\x00"
    )
    ip = b"\x45\x00" + (40 + len(data)).to_bytes(2, "big") + b"\x00\x01\x00\x00\x40\x06\x00\x00"
    whole = ip + bytes(source[0]) + bytes(target[0]) + tcp + data
    return whole[: len(whole) - cut]


app, board = ((10, 0, 0, 2), 50000), ((10, 0, 0, 1), 8080)
SYN, ACK, FIN, RST = 2, 16, 1, 4


def dialogue(*said, app_next=100, board_next=500):
    """The packets of a connection in which this is said."""
    out = [
        segment(app, board, SYN, app_next, 0),
        segment(board, app, SYN | ACK, board_next, app_next + 1),
    ]
    app_next, board_next = app_next + 1, board_next + 1
    for side, data in said:
        if side == "app":
            out.append(segment(app, board, ACK, app_next, board_next, data))
            app_next += len(data)
        else:
            out.append(segment(board, app, ACK, board_next, app_next, data))
            board_next += len(data)
    out.append(segment(app, board, FIN | ACK, app_next, board_next))
    out.append(segment(board, app, FIN | ACK, board_next, app_next + 1))
    return out


talk = dialogue(
    ("app", upgrade),
    ("board", switching() + frame(command)),
    ("app", frame(result, key=key)),
    ("board", frame(b"\x03\xe8", opcode=8)),
)
ethernet = bytes(12) + b"\x81\x00\x00\x05\x08\x00"
fragment = talk[2][:6] + b"\x20\x00" + talk[2][8:60]
rest = talk[2][:6] + b"\x00\x05" + talk[2][8:20] + talk[2][60:]
seeds["pcap"] = {
    "talk": b"\x00\x01" + packets(*talk),
    "nanoseconds": b"\x02\x02" + packets(*talk[:4]),
    "swapped": b"\x00\x03" + packets(talk[0], talk[1], talk[3], talk[2], *talk[4:]),
    "lost": b"\x00\x04" + packets(*talk[:2], *talk[3:]),
    "joined": b"\x00\x05" + packets(*talk[4:]),
    "ethernet": b"\x04\x06" + packets(*(ethernet + p for p in talk)),
    "cooked": b"\x08\x07" + packets(*(bytes(14) + b"\x08\x00" + p for p in talk)),
    "cooked2": b"\xf0\x08" + packets(*(b"\x08\x00" + bytes(18) + p for p in talk)),
    "loopback": b"\x0c\x09" + packets(*(b"\x02\x00\x00\x00" + p for p in talk)),
    "fragments": b"\x00\x0a" + packets(*talk[:2], rest, fragment, *talk[3:]),
    "reset": b"\x00\x0b" + packets(*talk[:4], segment(board, app, RST | ACK, 900, 400)),
    "queue": b"\x00\x0c" + packets(*dialogue(("app", posts), ("board", answers + chunked))),
    "file": b"\x01\x0d\xd4\xc3\xb2\xa1\x02\x00\x04\x00" + bytes(8) + b"\x00\x00\x04\x00\x65\x00\x00\x00"
    + b"".join(
        bytes(8) + len(p).to_bytes(4, "little") * 2 + p for p in talk
    ),
    "pcapng": b"\x01\x0e\x0a\x0d\x0d\x0a\x1c\x00\x00\x00\x4d\x3c\x2b\x1a\x01\x00\x00\x00" + b"\xff" * 8
    + b"\x1c\x00\x00\x00\x01\x00\x00\x00\x14\x00\x00\x00\x65\x00\x00\x00\x00\x00\x04\x00\x14\x00\x00\x00"
    + b"".join(
        b"\x06\x00\x00\x00" + (32 + (len(p) + 3) // 4 * 4).to_bytes(4, "little") + bytes(12)
        + len(p).to_bytes(4, "little") * 2 + p + bytes(-len(p) % 4)
        + (32 + (len(p) + 3) // 4 * 4).to_bytes(4, "little")
        for p in talk
    ),
}
seeds["reassembler"] = {
    "in-order": b"\x00\x00\x00\x00\x07\x1f" + bytes([0, 0, 16, 1, 0, 1, 16, 16, 2, 0]),
    "wrap": b"\x00\xff\xff\xff\xf0\x3f" + bytes([2, 32, 32, 1, 0, 0, 0, 32, 2, 0]),
    "overlap": b"\x00\x00\x00\x00\x07\x3f" + bytes([0, 8, 20, 1, 0, 0, 0, 30, 9, 3, 1, 20, 44, 5, 0]),
    "impatient": b"\x03\x00\x00\x00\x07\x7f"
    + bytes([2, 8, 8, 1, 0, 254, 24, 8, 2, 4, 254, 40, 8, 3, 0, 255, 100, 28, 1, 0]),
}
seeds["gaps"] = {
    "websocket": b"\x06\x01" + b"\x1f" + frame(command[:25], key=key) + b"\x44" + b"\x9f" + frame(result[:29]),
    "http": b"\x00\x02" + b"\x3f" + posts[:496] + b"\x50\x3f" + posts[:200] + b"\xc0\xbf" + answers,
    "joined": b"\x02\x03" + b"\x3f" + frame(command, key=key) + b"\x41\x8f" + frame(b"hello there"),
    "compressed": b"\x0d\x04" + b"\x9f" + frame(deflate(command)[:29], rsv=4) + b"\xc9\x9f" + frame(deflate(b"Hello"), rsv=4),
}
seeds["server"] = {
    "requests": b"\x10\x01" + posts,
    "upgrade": b"\x02\x02" + upgrade + frame(command, key=key),
    "small-limits": b"\x11\x03" + posts,
    "chunked": b"\x00\x04POST /x HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nT: v\r\n\r\n"
    + posts,
    "expect": b"\x04\x05PUT /x HTTP/1.1\r\nHost: b\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx",
    "old": b"\x1c\x06GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nHEAD / HTTP/1.0\r\n\r\n",
    "smuggled": b"\x00\x07POST / HTTP/1.1\r\nHost: b\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
}
seeds["filter"] = {
    "kinds": b"command or result and not heartbeat",
    "fields": b'type=open_app latency_ms>=12.5 (conn=1 or from=board) id~"c[0-9]+"',
    "event": b"event=frame opcode=1 not (text~hello)",
    "quotes": b'code="" and reason="a \\"b\\""',
    "wrong": b"latency_ms >> 3",
}

shutil.rmtree(root, ignore_errors=True)
for target, inputs in seeds.items():
    (root / target).mkdir(parents=True)
    for name, data in inputs.items():
        (root / target / name).write_bytes(data)
