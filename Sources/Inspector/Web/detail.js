// All that is known of one row: what it means, what crossed, and what was wrong with it.

// More than this is shown once somebody asks for it.
const maximumShown = 200000;

function copyButton(text, name, give) {
  const node = button(text, async () => {
    try {
      await navigator.clipboard.writeText(await give());
      announce(name + " copied");
    } catch { announce("the browser does not let this page copy"); }
  });
  return node;
}

function pre(text, name) {
  const node = make("pre", "", text.length > maximumShown ? text.slice(0, maximumShown) : text);
  node.tabIndex = 0;
  if (name) node.setAttribute("aria-label", name);
  if (text.length <= maximumShown) return node;
  const box = make("div", "", node);
  const note = make("p", "cut", "cut: " + grouped(maximumShown) + " of " + grouped(text.length)
    + " characters are shown  ");
  note.append(button("Show all", () => {
    node.textContent = text;
    note.remove();
  }));
  box.append(note);
  return box;
}

function folded(title, isOpen, content) {
  const node = make("details", "", make("summary", "", title));
  let isMade = false;
  const fill = () => {
    if (isMade || !node.open) return;
    isMade = true;
    node.append(content());
  };
  node.addEventListener("toggle", fill);
  node.open = isOpen;
  fill();
  return node;
}

function facts(pairs) {
  const list = make("dl", "facts");
  for (const [name, value] of pairs) {
    if (value === undefined || value === null || value === "") continue;
    list.append(make("dt", "", name), make("dd", "", value));
  }
  return list;
}

const opcodes = { 0: "continuation", 1: "text", 2: "binary", 8: "close", 9: "ping", 10: "pong" };

// A link to an event of this session.
function seqLink(seq) {
  const node = make("a", "", "event " + seq);
  node.href = "#seq=" + seq;
  return node;
}

function joined(nodes, separator) {
  const box = document.createDocumentFragment();
  nodes.forEach((node, index) => box.append(index ? separator : "", node));
  return box;
}

class Detail {
  constructor(box, view) {
    this.box = box;
    this.view = view;
    this.turn = 0;
  }

  clear(text) {
    this.turn++;
    this.box.replaceChildren(make("p", "dim", text));
  }

  // Shows a row; `seq` picks one of the events that it counts.
  async show(row, seq) {
    const turn = ++this.turn;
    const { model, store } = this.view;
    const parts = [this.heading(row)];
    parts.push(...this.warnings(row));
    const command = row.command && model.commands.get(row.command[0]);
    if (command) parts.push(this.commandCard(command));
    if (row.seq || seq) {
      let line;
      try { line = await store.line(seq || row.seq); } catch (error) {
        parts.push(make("p", "bad", "the event cannot be had: " + error.message));
      }
      if (turn !== this.turn) return;
      if (line) parts.push(...this.event(line));
    }
    if (row.first) {
      const list = make("div", "counted");
      parts.push(folded("What is counted here", !seq, () => list));
      this.listCounted(row, list);
    }
    this.box.replaceChildren(...parts);
    this.box.scrollTop = 0;
  }

  heading(row) {
    const head = make("header", "about");
    const title = make("h2", "", make("span", "label " + row.style, row.label));
    for (const [text, style] of runsOf(row.text)) title.append(" ", make("span", style, text));
    head.append(title);
    return head;
  }

  // A box for each thing that is wrong.
  warnings(row) {
    const { model } = this.view;
    const boxes = [];
    const breaches = row.breach ? [row.breach] : model.breachesOfSeq.get(row.seq) || [];
    for (const breach of breaches) {
      const counts = breach.standing === "counted";
      const box = make("div", "warn " + (counts ? "bad" : "warning"),
        make("strong", "", breach.id), " — ", breach.text, make("br"),
        make("span", "dim", breach.demand + " (" + breach.section + "; " + breach.side + ", rated "
          + breach.rating + (counts ? ")" : "; does not count" + (breach.words ? ": " + breach.words : "") + ")")));
      if (breach.events.length) {
        box.append(make("br"), "shown by ", joined(breach.events.map(seqLink), ", "));
      }
      boxes.push(box);
    }
    const mark = marks[row.mark];
    if (mark && !boxes.length && row.mark !== "note") boxes.push(make("div", "warn " + mark[0], mark[2]));
    return boxes;
  }

  commandCard(command) {
    const { model } = this.view;
    const rowLink = (index) => {
      const row = model.rows[index];
      const node = row.seq ? seqLink(row.seq) : make("a", "", clockTime(row.time));
      if (!row.seq) {
        node.href = "#row=" + index;
        node.addEventListener("click", (event) => {
          event.preventDefault();
          this.view.pick(index, true);
        });
      }
      return node;
    };
    const span = make("div", "spanline");
    const until = Math.max(command.to ?? 0, command.deadline ?? 0, command.from + 1);
    const part = (time) => 100 * (time - command.from) / (until - command.from);
    const bar = make("i", "bar " + command.outcome);
    bar.style.width = Math.max(1, part(command.to ?? command.lost ?? command.deadline ?? until)) + "%";
    span.append(bar);
    if (command.outcome === "late" && command.deadline !== null) {
      const inTime = make("i", "bar ok");
      inTime.style.width = part(command.deadline) + "%";
      span.append(inTime);
    }
    if (command.deadline !== null) {
      const tick = make("i", "tick");
      tick.style.left = "min(" + part(command.deadline) + "%, 100% - 2px)";
      span.append(tick);
    }
    span.setAttribute("aria-hidden", "true");
    const answer = command.to === null ? (command.outcome === "open" ? "not yet" : "none")
      : (command.code ?? "ok") + " after " + timeSpan(command.to - command.from)
        + (command.outcome === "late" ? ", late by " + timeSpan(command.to - command.deadline) : "");
    const box = make("section", "card", span, facts([
      ["command", "#" + command.number + " " + command.type],
      ["sent", joined([clockTime(command.from), rowLink(command.row)], " · ")],
      ["again", command.again.length ? joined(command.again.map(rowLink), ", ") : null],
      ["time-out", command.deadline === null ? "none"
        : timeSpan(command.deadline - command.from) + ", at " + clockTime(command.deadline)],
      ["answer", command.answer === null ? answer : joined([answer, rowLink(command.answer)], " · ")],
      ["more answers", command.duplicates.length ? joined(command.duplicates.map(rowLink), ", ") : null],
    ]));
    box.setAttribute("aria-label", "command " + command.number);
    return box;
  }

  event(line) {
    const { model } = this.view;
    let event;
    try { event = ExactJSON.parse(line); } catch {
      return [make("p", "bad", "this line is no JSON"), pre(line)];
    }
    const kind = member(event, "event");
    const seq = numberOf(member(event, "seq"));
    const time = numberOf(member(event, "t"));
    const first = numberOf(member(event, "t_first"));
    const packet = numberOf(member(event, "t_packet"));
    const text = (name) => {
      const value = member(event, name);
      return value === undefined ? null : typeof value === "object" && value && value.number !== undefined
        ? value.number : String(value);
    };
    const bar = make("div", "tools",
      copyButton("Copy as JSON", "JSON", () => line),
      copyButton("Copy replay command", "command", () => model.about.replay || ""),
      copyButton("Copy link", "link", () => new URL("#seq=" + seq, location.href).href));
    const parts = [bar];
    parts.push(folded("Timing", true, () => facts([
      ["event", seq ? kind + " " + seq : kind],
      ["time", clockTime(time) + "  (" + grouped(text("t")) + " ns)"],
      ["clock", wallClock(model.about.startedAt, time)],
      ["first byte", first === undefined ? null : timeSpan(time - first) + " before, at " + clockTime(first)],
      ["packet", packet === undefined ? null : clockTime(packet)],
      ["connection", text("conn") === null ? null : this.connection(Number(text("conn")))],
      ["sent by", text("from")],
    ])));
    if (kind === "frame" || kind === "message") parts.push(this.frame(event, kind, text));
    if (kind === "request" || kind === "response") parts.push(this.head(event, kind, text));
    const bridge = member(event, "bridge");
    if (bridge) parts.push(folded("Meaning", true, () => runsNode(bridge)));
    parts.push(...this.content(event));
    parts.push(folded("The event as it is in the file", kind === "note" || kind === "session", () => runsNode(event)));
    return parts;
  }

  connection(conn) {
    const known = this.view.model.connections.get(conn);
    return known ? conn + "  (" + known.app + " → " + known.board + ")" : String(conn);
  }

  frame(event, kind, text) {
    const opcode = Number(text("opcode"));
    const name = (opcodes[opcode] || "reserved") + " (" + opcode + ")";
    if (kind === "message") {
      return folded("Message", true, () => facts([
        ["opcode", name], ["frames", text("frames")], ["compressed", text("compressed")],
        ["cut off", text("incomplete")],
      ]));
    }
    return folded("Frame", true, () => {
      const raw = member(event, "raw");
      const head = typeof raw === "string" ? bytesOfBase64(raw) : frameHead(event);
      return facts([
        ["opcode", name], ["fin", text("fin")], ["rsv", text("rsv")], ["mask", text("mask")],
        ["length", grouped(text("length")) + " bytes" + (raw ? ", not in the shortest form" : "")],
        ["header", make("code", "", [...head].map(hexByte).join(" "))],
        ["close", text("code") === null ? null : text("code") + " " + visible(text("reason") || "")],
        ["cut off", text("incomplete")],
      ]);
    });
  }

  head(event, kind, text) {
    return folded("HTTP head", true, () => {
      const raw = member(event, "raw");
      if (typeof raw === "string") {
        const bytes = bytesOfBase64(raw);
        const head = textOfBytes(bytes);
        return head === null ? pre(hexDump(bytes)) : pre(visible(head.replace(/\r\n/g, "\n")));
      }
      const start = kind === "request"
        ? text("method") + " " + text("target") + " HTTP/" + text("http")
        : "HTTP/" + text("http") + " " + text("status") + " " + text("reason");
      const lines = member(event, "headers").elements.map((line) => line.elements[0] + ": " + line.elements[1]);
      return pre(visible([start, ...lines].join("\n")), "HTTP head");
    });
  }

  content(event) {
    if (member(event, "pieces") === true) {
      return [make("p", "cut", "The content was large: it stands in the pieces behind this event.")];
    }
    const bytes = contentBytes(event);
    if (!bytes || !bytes.length) return [];
    const parts = [];
    const text = textOfBytes(bytes);
    let value;
    if (text !== null) {
      try { value = ExactJSON.parse(text); } catch { /* text of another kind */ }
    }
    const size = " (" + counted(bytes.length, "byte") + ")";
    if (value !== undefined) parts.push(folded("Decoded" + size, true, () => runsNode(value)));
    if (text !== null) {
      parts.push(folded("Original text" + size, true, () => pre(visible(text), "original text")));
    }
    parts.push(folded("Hex" + size, text === null, () => {
      const dump = bytes.length > 65536 ? hexDump(bytes.subarray(0, 65536)) : hexDump(bytes);
      const box = make("div", "", pre(dump, "hex"));
      if (bytes.length > 65536) {
        box.append(make("p", "cut", "cut: 65,536 of " + counted(bytes.length, "byte") + " are shown  "),
          button("Show all", () => box.replaceChildren(make("pre", "", hexDump(bytes)))));
      }
      return box;
    }));
    return parts;
  }

  // The events of a fold, a line each.
  async listCounted(row, box) {
    const maximum = 500;
    let lines;
    try { lines = await this.view.store.between(row.first, row.last, maximum); } catch (error) {
      box.replaceChildren(make("p", "bad", error.message));
      return;
    }
    const entries = [];
    for (const line of lines) {
      const event = ExactJSON.parse(line);
      const conn = numberOf(member(event, "conn")) || 0;
      if (row.conn && conn !== row.conn) continue;
      const from = member(event, "from");
      const bridge = member(event, "bridge");
      const meaning = bridge ? member(bridge.elements[0], "kind") : null;
      const opcode = numberOf(member(event, "opcode"));
      const name = meaning || opcodes[opcode] || member(event, "event");
      const time = numberOf(member(event, "t"));
      entries.push(make("li", "", make("span", "dim", clockTime(time)), " ",
        from === "app" ? "→ " : from === "board" ? "← " : "", name, " ", seqLink(numberIn(line))));
    }
    if (lines.length >= maximum) entries.push(make("li", "cut", "and more"));
    box.replaceChildren(make("ol", "", ...entries));
  }
}

function runsNode(value) {
  const runs = prettyRuns(value);
  // So many spans would take longer than anybody reads.
  if (runs.length > 6000) return pre(visible(runs.map(([, text]) => text).join("")));
  const node = make("pre", "json");
  node.tabIndex = 0;
  for (const [kind, text] of runs) node.append(kind ? make("span", kind, visible(text)) : text);
  return node;
}

// The bytes of a frame's header in its usual form (RFC 6455 §5.2).
function frameHead(event) {
  const length = BigInt(member(event, "length").number);
  const mask = member(event, "mask");
  const bytes = [(member(event, "fin") ? 128 : 0) | numberOf(member(event, "rsv")) << 4
    | numberOf(member(event, "opcode"))];
  const bit = mask ? 128 : 0;
  const add = (count) => {
    for (let at = count - 1; at >= 0; at--) bytes.push(Number(length >> BigInt(8 * at) & 255n));
  };
  if (length < 126n) bytes.push(bit | Number(length));
  else if (length < 65536n) { bytes.push(bit | 126); add(2); } else { bytes.push(bit | 127); add(8); }
  if (mask) for (let at = 0; at < 8; at += 2) bytes.push(parseInt(mask.slice(at, at + 2), 16));
  return bytes;
}

// The time of day, where the session says when it began.
function wallClock(startedAt, time) {
  const start = Date.parse(startedAt || "");
  if (Number.isNaN(start) || time === undefined) return null;
  const date = new Date(start + time / 1e6);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

function* runsOf(flat) {
  for (let at = 0; at + 1 < flat.length; at += 2) yield [flat[at + 1], styles[flat[at]] || ""];
}

const styles = { p: "", d: "dim", s: "strong", g: "good", b: "bad", w: "warning" };
