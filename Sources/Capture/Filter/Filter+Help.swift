extension Filter {
    /// The language, for people: what `bridgetap show --help` prints.
    package static let help = """
        A filter chooses events:

          command                   a bare word is a kind of meaning (kind=command):
                                    heartbeat command result app_event enqueue poll query
                                    status unknown
          event=frame               the kind of event: session open request response frame
                                    message piece data gap close note end
          type=calendar_create      a field is exactly this
          text~"event_id|contact"   a field matches a regular expression
          latency_ms>100            a number: also >= < <=
          late=true                 yes or no
          not heartbeat             none of these
          result code=denied        both (the same as: result and code=denied)
          poll or enqueue           either; "and" binds tighter
          (poll or enqueue) conn=2  brackets

        Fields are those of the session file: event seq t conn from, method target headers
        body status reason, opcode fin rsv length text code, why how detail, … and those of
        bridge: kind id type timeout_ms route ok code latency_ms late duplicate phone_id
        platform app_state commands peer. headers are held against each line, "Name: value".

        Values with spaces stand in quotes, "…" or '…'; \\" inside is a quote. Text is compared
        with regard to case; (?i) in front of a pattern lifts that. An event with several
        bridge objects is chosen if one of them is all that is asked for.
        """
}
