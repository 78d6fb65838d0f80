import Wire

/// HAR files in the shape in which several programs write them.
///
/// All names and numbers are invented.
enum HARFixtures {
    /// Members in the order of the alphabet, message times as fractions, a failed entry, an entry
    /// from the cache, and an error among the messages.
    static let chrome = #"""
        {
          "log": {
            "version": "1.2",
            "creator": {"name": "WebInspector", "version": "537.36"},
            "pages": [],
            "entries": [
              {
                "_initiator": {"type": "script"},
                "_priority": "High",
                "_resourceType": "websocket",
                "_webSocketMessages": [
                  {"type": "send", "time": 1780300800.5, "opcode": 1, "data": "{\"id\":\"heartbeat\"}"},
                  {"type": "receive", "time": 1780300800.625, "opcode": 1, "data": "{\"id\":\"heartbeat\"}"},
                  {"type": "receive", "time": 1780300801, "opcode": 2, "data": "AAEC"},
                  {"type": "error", "time": 1780300802, "opcode": -1, "data": "Invalid frame header"}
                ],
                "cache": {},
                "connection": "411",
                "request": {
                  "method": "GET",
                  "url": "ws://192.168.42.1:8080/api/phone-bridge?platform=ios",
                  "httpVersion": "HTTP/1.1",
                  "headers": [
                    {"name": "Host", "value": "192.168.42.1:8080"},
                    {"name": "Connection", "value": "Upgrade"},
                    {"name": "Upgrade", "value": "websocket"},
                    {"name": "Sec-WebSocket-Version", "value": "13"},
                    {"name": "Sec-WebSocket-Key", "value": "dGhlIHNhbXBsZSBub25jZQ=="}
                  ],
                  "queryString": [{"name": "platform", "value": "ios"}],
                  "cookies": [], "headersSize": 400, "bodySize": 0
                },
                "response": {
                  "status": 101, "statusText": "Switching Protocols", "httpVersion": "HTTP/1.1",
                  "headers": [
                    {"name": "Upgrade", "value": "websocket"},
                    {"name": "Connection", "value": "Upgrade"},
                    {"name": "Sec-WebSocket-Accept", "value": "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="}
                  ],
                  "cookies": [], "content": {"size": 0, "mimeType": "x-unknown"},
                  "redirectURL": "", "headersSize": 120, "bodySize": 0, "_transferSize": 0, "_error": null
                },
                "serverIPAddress": "192.168.42.1",
                "startedDateTime": "2026-06-01T08:00:00.125Z",
                "time": 2500.0,
                "timings": {"blocked": -1, "dns": -1, "ssl": -1, "connect": -1, "send": 0, "wait": 2500, "receive": 0}
              },
              {
                "_resourceType": "fetch",
                "cache": {},
                "connection": "400",
                "request": {
                  "method": "GET",
                  "url": "http://192.168.42.1:8080/api/phone-bridge/commands?phone_id=p1",
                  "httpVersion": "HTTP/1.1", "headers": [{"name": "Host", "value": "192.168.42.1:8080"}],
                  "queryString": [], "cookies": [], "headersSize": -1, "bodySize": 0
                },
                "response": {
                  "status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1",
                  "headers": [
                    {"name": "Content-Encoding", "value": "gzip"},
                    {"name": "Content-Length", "value": "44"},
                    {"name": "Content-Type", "value": "application/json"}
                  ],
                  "cookies": [],
                  "content": {"size": 15, "mimeType": "application/json", "text": "{\"commands\":[]}"},
                  "redirectURL": "", "headersSize": 90, "bodySize": 44
                },
                "serverIPAddress": "192.168.42.1",
                "startedDateTime": "2026-06-01T08:00:00.000Z",
                "time": 12.5,
                "timings": {"blocked": 1, "dns": -1, "ssl": -1, "connect": 2, "send": 0.5, "wait": 8, "receive": 1}
              },
              {
                "_fromCache": "memory",
                "request": {"method": "GET", "url": "http://192.168.42.1:8080/icon.png"},
                "response": {"status": 200, "content": {"size": 4, "text": "AAAA"}},
                "startedDateTime": "2026-06-01T08:00:00.010Z", "time": 0
              },
              {
                "request": {"method": "GET", "url": "data:text/plain,hello"},
                "response": {"status": 200}, "startedDateTime": "2026-06-01T08:00:00.011Z", "time": 0
              },
              {
                "connection": "",
                "request": {"method": "POST", "url": "http://192.168.42.1:8080/api/phone-bridge/results",
                  "headers": [], "postData": {"mimeType": "application/json", "text": "{\"id\":\"c1\"}"}},
                "response": {"status": 0, "statusText": "", "headers": [], "_error": "net::ERR_CONNECTION_REFUSED"},
                "startedDateTime": "2026-06-01T08:00:03.000Z", "time": 5
              }
            ]
          }
        }
        """#

    /// Local time with an offset, the server's port as `connection`, two entries of it at once.
    static let firefox = #"""
        {"log":{"version":"1.2","creator":{"name":"Firefox","version":"127.0"},
        "browser":{"name":"Firefox","version":"127.0"},"pages":[{"id":"page_1"}],"entries":[
        {"startedDateTime":"2026-06-01T10:00:00.000+02:00","request":{"bodySize":11,"method":"POST",
        "url":"http://192.168.42.1:8080/api/phone-bridge/results","httpVersion":"HTTP/1.1",
        "headers":[{"name":"Host","value":"192.168.42.1:8080"},{"name":"Content-Length","value":"11"}],
        "cookies":[],"queryString":[],"headersSize":300,
        "postData":{"mimeType":"application/json","params":[],"text":"{\"id\":\"c1\"}"}},
        "response":{"status":200,"statusText":"OK","httpVersion":"HTTP/1.1",
        "headers":[{"name":"Transfer-Encoding","value":"chunked"}],"cookies":[],
        "content":{"mimeType":"application/json","size":11,"text":"{\"ok\":true}"},"redirectURL":"",
        "headersSize":90,"bodySize":101},"cache":{},
        "timings":{"blocked":0,"dns":0,"connect":0,"ssl":0,"send":0,"wait":20,"receive":0},"time":20,
        "_securityState":"insecure","serverIPAddress":"192.168.42.1","connection":"8080","pageref":"page_1"},
        {"startedDateTime":"2026-06-01T10:00:00.010+02:00","request":{"bodySize":0,"method":"GET",
        "url":"http://192.168.42.1:8080/a b","httpVersion":"HTTP/2","headers":[]},
        "response":{"status":204,"statusText":"","httpVersion":"HTTP/2","headers":[]},
        "timings":{"send":0,"wait":20,"receive":0},"time":20,"connection":"8080",
        "serverIPAddress":"192.168.42.1"},
        {"startedDateTime":"2026-06-01T10:00:01.000+02:00","request":{"method":"GET",
        "url":"http://192.168.42.1:8080/c","httpVersion":"HTTP/1.1","headers":[]},
        "response":{"status":200,"statusText":"OK","httpVersion":"HTTP/1.1","headers":[],
        "content":{"size":3,"text":"abc"}},
        "timings":{"send":0,"wait":20,"receive":0},"time":20,"connection":"8080",
        "serverIPAddress":"192.168.42.1"}]}}
        """#

    /// No bodies sizes, `_fetchType`, an IPv6 address, a byte order mark.
    static let safari =
        "\u{feff}" + #"""
            {
                "log": {
                    "version": "1.2",
                    "creator": {"name": "WebKit Web Inspector", "version": "1.0"},
                    "pages": [{"startedDateTime": "2026-06-01T08:00:00.000Z", "id": "page_0"}],
                    "entries": [
                        {
                            "pageref": "page_0",
                            "startedDateTime": "2026-06-01T08:00:00.000Z",
                            "time": 7.25,
                            "request": {
                                "method": "GET", "url": "http://[fd00::1]:8080/api/phone-bridge/status",
                                "httpVersion": "HTTP/1.1", "cookies": [], "headers": [],
                                "queryString": [], "headersSize": 78, "bodySize": 0
                            },
                            "response": {
                                "status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1",
                                "cookies": [],
                                "headers": [{"name": "Content-Length", "value": "4"}],
                                "content": {"size": 4, "compression": 0, "mimeType": "image/png",
                                    "text": "iVBORw==", "encoding": "base64"},
                                "redirectURL": "", "headersSize": 84, "bodySize": 4,
                                "_transferSize": 88
                            },
                            "cache": {}, "timings": {"blocked": 0.5, "dns": -1, "connect": -1, "ssl": -1,
                                "send": 0, "wait": 5.5, "receive": 1.25},
                            "serverIPAddress": "fd00::1", "connection": "3", "_fetchType": "Network Load"
                        },
                        {
                            "startedDateTime": "2026-06-01T08:00:01.000Z", "time": 0,
                            "request": {"method": "GET", "url": "http://[fd00::1]:8080/x"},
                            "response": {"status": 200, "content": {}},
                            "_fetchType": "Disk Cache"
                        }
                    ]
                }
            }
            """#

    /// Microseconds and +00:00, null timings, no `connection`, no response, text as null.
    static let mitmproxy = #"""
        {
            "log": {
                "version": "1.2",
                "creator": {"name": "mitmproxy", "version": "0.1", "comment": "mitmproxy version 11.0.0"},
                "pages": [],
                "entries": [
                    {
                        "startedDateTime": "2026-06-01T08:00:00.000123+00:00",
                        "time": 3.0,
                        "request": {
                            "method": "GET", "url": "http://192.168.42.1:8080/api/phone-bridge?platform=android",
                            "httpVersion": "HTTP/1.1", "cookies": [],
                            "headers": [{"name": "Host", "value": "192.168.42.1:8080"},
                                {"name": "Upgrade", "value": "websocket"}, {"name": "Connection", "value": "Upgrade"}],
                            "queryString": [{"name": "platform", "value": "android"}],
                            "headersSize": 200, "bodySize": 0
                        },
                        "response": {
                            "status": 101, "statusText": "Switching Protocols", "httpVersion": "HTTP/1.1", "cookies": [],
                            "headers": [{"name": "upgrade", "value": "websocket"}, {"name": "connection", "value": "upgrade"}],
                            "content": {"size": 0, "compression": 0, "mimeType": "", "text": null},
                            "redirectURL": "", "headersSize": 100, "bodySize": 0
                        },
                        "cache": {},
                        "timings": {"connect": null, "ssl": null, "send": 1.0, "receive": 1.0, "wait": 1.0},
                        "serverIPAddress": "192.168.42.1",
                        "_resourceType": "websocket",
                        "_webSocketMessages": [
                            {"type": "receive", "time": 1780300801.25, "opcode": 1, "data": "{\"id\":\"c1\",\"type\":\"clipboard_read\"}"},
                            {"type": "send", "time": 1780300801.125, "opcode": 1, "data": "{\"id\":\"c1\",\"data\":{\"text\":\"\u00e9\"}}"}
                        ]
                    },
                    {
                        "startedDateTime": "2026-06-01T08:00:02+00:00",
                        "time": 0,
                        "request": {"method": "GET", "url": "http://192.168.42.1:8080/gone", "httpVersion": "HTTP/1.1",
                            "headers": [["Host", "x"]], "cookies": [], "queryString": [], "headersSize": 0, "bodySize": 0},
                        "response": {"status": 0, "statusText": "", "httpVersion": "", "headers": [], "cookies": [],
                            "content": {}, "redirectURL": "", "headersSize": -1, "bodySize": -1, "_transferSize": 0,
                            "_error": null},
                        "cache": {}, "timings": {"connect": -1.0, "ssl": -1.0, "send": 0, "receive": 0, "wait": 0}
                    }
                ]
            }
        }
        """#

    /// Own members with a prefix, no times for messages, no status of the upgrade.
    static let charles = #"""
        {"log":{"version":"1.2","creator":{"name":"Charles Proxy","version":"5.0"},"entries":[
        {"startedDateTime":"2026-06-01T08:00:00.000Z","time":1000,"_resourceType":"websocket",
        "request":{"method":"GET","url":"wss://board.test/api/phone-bridge","httpVersion":"HTTP/1.1",
        "_charlesStatus":"COMPLETE","headers":[{"name":"Host","value":"board.test"}]},
        "response":{"_charlesStatus":"COMPLETE","status":0,"headers":[]},
        "_webSocketMessages":[{"type":"send","data":"one"},{"type":"receive","opcode":0,"data":7},
        {"type":"receive","opcode":2,"data":"not base64!"},{"type":"receive","opcode":8,"data":""}],
        "serverIPAddress":"10.0.0.1","timings":{"send":1,"wait":2,"receive":3}}]}}
        """#

    static let all: [(name: String, text: String)] = [
        ("Chrome", chrome), ("Firefox", firefox), ("Safari", safari), ("mitmproxy", mitmproxy),
        ("Charles", charles),
    ]
}
