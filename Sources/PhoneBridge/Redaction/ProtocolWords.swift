import Wire

/// Words of the contract and of programs, which tell nothing about people.
enum ProtocolWords {
    /// Words that stay in sentences of programs: errors, reasons for closing, remarks.
    ///
    /// They are those of the contract's and the board's own messages (board facts), and what
    /// libraries say of a connection. No word that is also a name of a person.
    static let sentences: Set<Bytes> = Set(
        """
        a access acknowledged active added after again aiden all allowed already an and android \
        another answer answered app application apps are array as at authorized available \
        background bad be been before begin bluetooth board body boolean both bridge busy by \
        bytes calendar call cancelled cannot category clipboard close closed code command \
        commands connected connecting connection contact contacts content could data decode \
        denied details device did disconnected does down duplicate during each empty end ended \
        enough error errors event events exceeded executed execute exist exists expected expired \
        failed failure field fields file first for foreground format found frame from full \
        function get given going got granted handled handler has have header heartbeat host http \
        https id ids in inactive input installed integer interface internal invalid ios is it \
        json kept known large last late length limit limited link list long longer lost mailto \
        mark match message messages method missing module more most must native network new no \
        none normal not nothing notification notifications null number object of off offset old \
        on one only open opened operation or origin out parameter parameters parse path payload \
        peer pending permission phone ping platform policy poll post precondition prompt protocol \
        query queue queued read reader reading refused request required reset response result \
        results return returned rfc route rules running same schedule scheme second seconds send \
        sent server service session set settings sms socket some start started state status stop \
        stopped string supported system tel temporary text than that the there they this time \
        timed timeout times title to tool too transport type unavailable unauthorized unexpected \
        unknown unsupported upgrade url user utf8 valid value violation waiting was websocket \
        were when while with within without write written wrong zone \
        bridge_not_connected bridge_timeout bridge_connection_closed
        """.split(whereSeparator: { $0 == " " || $0 == "\n" }).map { Bytes($0.utf8) })

    /// Texts that switch something on or off.
    static let switches: Set<String> = [
        "", "true", "false", "yes", "no", "on", "off", "null", "none",
    ]

    /// Parts of paths that boards and tools have.
    static let pathParts: Set<String> = [
        "", "api", "phone-bridge", "commands", "results", "status", "simulate", "command", "health",
        "favicon.ico", "robots.txt", ".", "..", "*",
    ]

    /// Names of products and systems in a User-Agent.
    static let products: Set<String> = [
        "linux", "android", "ios", "iphone", "ipad", "macintosh", "u", "build", "mobile", "cpu",
        "os", "like", "mac", "x", "khtml", "gecko", "compatible", "windows", "nt", "win64", "x64",
        "wv", "khtml,", "arm64", "aarch64", "x86_64", "python", "node", "go", "darwin",
    ]
}
