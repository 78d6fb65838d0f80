// swift-format-ignore-file
// Made of the files in Sources/Inspector/Web by `UPDATE_GOLDEN=1 swift test --filter InspectorTests`;
// they are what is changed by hand.

/// The files of the page, as they stand in `Web/`.
enum WebFiles {
    /// The scripts, in the order in which they are read.
    static let scripts = [textScript, filterScript, sourceScript, modelScript, listScript, lanesScript, detailScript, chartsScript, mainScript]
    /// The style sheet.
    static let style = pageStyle
    /// What stands in the body.
    static let body = pageBody
}

private let textScript = ##"""
// Text of the link, made fit to be looked at. Whatever came from the link reaches the page as text
// nodes only: nothing here, or anywhere else in these files, makes markup of a string.

const $ = (id) => document.getElementById(id);

function make(tag, className, ...content) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  for (const part of content) {
    if (part !== undefined && part !== null) node.append(part);
  }
  return node;
}

function button(text, action, className) {
  const node = make("button", className, text);
  node.type = "button";
  node.addEventListener("click", action);
  return node;
}

// JSON as it stands: numbers keep their digits, objects the order and repetitions of their members.
// Strings, true, false and null are JavaScript's own; a number is { number }, an array { elements },
// an object { members }.
class ExactJSON {
  static parse(text) {
    const reader = new ExactJSON(text);
    const value = reader.value(0);
    reader.space();
    if (reader.at !== text.length) reader.fail();
    return value;
  }

  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  fail() { throw new SyntaxError("no JSON at " + this.at); }

  space() {
    while (this.at < this.text.length) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
      this.at++;
    }
  }

  value(depth) {
    if (depth > 512) this.fail();
    this.space();
    switch (this.text[this.at]) {
      case "{": return this.object(depth);
      case "[": return this.array(depth);
      case "\"": return this.string();
      case "t": return this.word("true", true);
      case "f": return this.word("false", false);
      case "n": return this.word("null", null);
      default: return this.number();
    }
  }

  word(word, value) {
    if (!this.text.startsWith(word, this.at)) this.fail();
    this.at += word.length;
    return value;
  }

  number() {
    const digits = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y;
    digits.lastIndex = this.at;
    const match = digits.exec(this.text);
    if (!match) this.fail();
    this.at += match[0].length;
    return { number: match[0] };
  }

  string() {
    const start = this.at;
    let isPlain = true;
    for (let i = start + 1; i < this.text.length; i++) {
      const code = this.text.charCodeAt(i);
      if (code === 34) {
        this.at = i + 1;
        const inner = this.text.slice(start + 1, i);
        return isPlain ? inner : JSON.parse("\"" + inner + "\"");
      }
      if (code === 92) {
        isPlain = false;
        i++;
      } else if (code < 32) break;
    }
    return this.fail();
  }

  array(depth) {
    const elements = [];
    this.at++;
    this.space();
    if (this.text[this.at] === "]") { this.at++; return { elements }; }
    while (true) {
      elements.push(this.value(depth + 1));
      this.space();
      const next = this.text[this.at++];
      if (next === "]") return { elements };
      if (next !== ",") this.fail();
    }
  }

  object(depth) {
    const members = [];
    this.at++;
    this.space();
    if (this.text[this.at] === "}") { this.at++; return { members }; }
    while (true) {
      this.space();
      if (this.text[this.at] !== "\"") this.fail();
      const name = this.string();
      this.space();
      if (this.text[this.at++] !== ":") this.fail();
      members.push([name, this.value(depth + 1)]);
      this.space();
      const next = this.text[this.at++];
      if (next === "}") return { members };
      if (next !== ",") this.fail();
    }
  }
}

// The first member of that name; undefined where there is none.
function member(value, name) {
  if (!value || !value.members) return undefined;
  const found = value.members.find(([other]) => other === name);
  return found && found[1];
}

// A number's value, which is not exact beyond 2^53.
const numberOf = (value) => value && value.number !== undefined ? Number(value.number) : undefined;

// Runs of [class, text] for a value, indented.
function prettyRuns(value) {
  const runs = [];
  const add = (kind, text) => {
    const last = runs[runs.length - 1];
    if (last && last[0] === kind) last[1] += text; else runs.push([kind, text]);
  };
  const walk = (value, indent) => {
    if (typeof value === "string") add("string", JSON.stringify(value));
    else if (value === null || typeof value === "boolean") add("word", String(value));
    else if (value.number !== undefined) add("number", value.number);
    else {
      const isObject = value.members !== undefined;
      const parts = isObject ? value.members : value.elements;
      if (!parts.length) return add("", isObject ? "{}" : "[]");
      add("", isObject ? "{\n" : "[\n");
      parts.forEach((part, index) => {
        add("", indent + "  ");
        if (isObject) {
          add("name", JSON.stringify(part[0]));
          add("", ": ");
        }
        walk(isObject ? part[1] : part, indent + "  ");
        add("", index + 1 < parts.length ? ",\n" : "\n");
      });
      add("", indent + (isObject ? "}" : "]"));
    }
  };
  walk(value, "");
  return runs;
}

// Characters that would turn, hide or move their neighbours are shown by their numbers.
const visible = (text) => text.replace(
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
  (character) => "\\u{" + character.codePointAt(0).toString(16) + "}");

function bytesOfBase64(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

const bytesOfText = (text) => new TextEncoder().encode(text);

// Text of bytes; null for what is not UTF-8.
function textOfBytes(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch { return null; }
}

const hexByte = (byte) => byte.toString(16).padStart(2, "0");

// Offset, sixteen bytes in hex, and the printable ones as text.
function hexDump(bytes) {
  const lines = [];
  for (let start = 0; start < bytes.length; start += 16) {
    const row = bytes.subarray(start, start + 16);
    let hex = "";
    let text = "";
    row.forEach((byte, column) => {
      hex += (column === 8 ? "  " : column ? " " : "") + hexByte(byte);
      text += byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".";
    });
    lines.push(start.toString(16).padStart(6, "0") + "  " + hex.padEnd(50) + text);
  }
  return lines.join("\n");
}

const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");
const counted = (count, noun, plural) => grouped(count) + " " + (count === 1 ? noun : plural || noun + "s");

// mm:ss.mmm since the session began, with hours in front where there are any.
function clockTime(nanoseconds) {
  const milliseconds = Math.floor(Math.abs(nanoseconds) / 1e6);
  const pad = (number, width) => String(number).padStart(width, "0");
  const hours = Math.floor(milliseconds / 3600000);
  return (nanoseconds < 0 ? "-" : "") + (hours ? hours + ":" : "")
    + pad(Math.floor(milliseconds / 60000) % 60, 2) + ":"
    + pad(Math.floor(milliseconds / 1000) % 60, 2) + "." + pad(milliseconds % 1000, 3);
}

// A span of nanoseconds as people say it.
function timeSpan(nanoseconds) {
  const milliseconds = nanoseconds / 1e6;
  if (milliseconds < 10) return milliseconds.toFixed(milliseconds < 1 ? 3 : 2) + " ms";
  if (milliseconds < 1000) return milliseconds.toFixed(milliseconds < 100 ? 1 : 0) + " ms";
  if (milliseconds < 120000) return (milliseconds / 1000).toFixed(milliseconds < 10000 ? 2 : 1) + " s";
  const seconds = Math.floor(milliseconds / 1000);
  return seconds < 7200
    ? Math.floor(seconds / 60) + " min " + seconds % 60 + " s"
    : grouped(Math.floor(seconds / 3600)) + " h " + Math.floor(seconds % 3600 / 60) + " min";
}

// The index of the first element for which `isBehind` holds; their number where there is none.
function lowerBound(count, isBehind) {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBehind(middle)) high = middle; else low = middle + 1;
  }
  return low;
}

"""##

private let filterScript = ##"""
// The filter language of `bridgetap show --filter`, over lines of a session file. Both have to pass
// Tests/Filters/table.json.

const filterVocabulary = {
  kind: ["heartbeat", "command", "result", "app_event", "enqueue", "poll", "query", "status", "unknown"],
  event: ["session", "open", "request", "response", "frame", "message", "piece", "data", "gap", "close",
    "note", "end"],
  from: ["app", "board"],
  route: ["websocket", "queue"],
  how: ["fin", "reset", "timeout", "refused", "error"],
  framing: ["none", "length", "chunked", "close"],
};
for (const name of ["fin", "continued", "compressed", "last", "pieces", "incomplete", "ok", "late",
  "duplicate"]) filterVocabulary[name] = ["true", "false"];

const filterFields = new Set(("event seq t t_first t_packet conn from format version id started_at tool "
  + "contract source listen upstream interface link_type part labels app board via continued exchange "
  + "method target http headers body framing trailers status reason fin rsv opcode mask length text code "
  + "frames compressed of offset last pieces incomplete why how detail to events bytes_app bytes_board "
  + "dropped kind type timeout_ms route ok latency_ms late duplicate phone_id platform app_state commands "
  + "peer").split(" "));

class FilterError extends Error {
  constructor(at, text) {
    super("character " + (at + 1) + ": " + text);
    this.at = at;
  }
}

// A number of a field or a filter: integers of 64 bits are exact.
class FilterNumber {
  static of(text) {
    if (!/^[-+.0-9eE]+$/.test(text)) return null;
    const value = Number(text);
    return Number.isNaN(value) ? null : new FilterNumber(text, value);
  }

  constructor(text, value) {
    this.value = value;
    const digits = /^-?(0|[1-9][0-9]*)$/.test(text) ? BigInt(text) : null;
    this.integer = digits !== null && BigInt.asIntN(64, digits) === digits ? digits : null;
  }

  compare(other) {
    const both = this.integer !== null && other.integer !== null;
    const [a, b] = both ? [this.integer, other.integer] : [this.value, other.value];
    return a < b ? -1 : a > b ? 1 : a === b ? 0 : NaN;
  }
}

class FilterParser {
  constructor(source) {
    this.characters = Array.from(source);
    this.at = 0;
  }

  parse() {
    const expression = this.filter(0);
    this.space();
    if (this.current !== undefined) this.unexpected();
    return expression;
  }

  get current() { return this.characters[this.at]; }
  fail(text, at = this.at) { throw new FilterError(at, text); }
  unexpected() { this.fail("\"" + this.current + "\" cannot stand here"); }
  space() { while (this.current !== undefined && /\s/u.test(this.current)) this.at++; }

  filter(depth) {
    const parts = [this.all(depth)];
    while (this.takeWord("or")) parts.push(this.all(depth));
    return parts.length === 1 ? parts[0]
      : (event, object) => parts.some((part) => part(event, object));
  }

  all(depth) {
    const parts = [this.one(depth)];
    while (true) {
      const hasAnd = this.takeWord("and");
      this.space();
      const isEnd = this.current === undefined || this.current === ")" || this.peekWord() === "or";
      if (isEnd && !hasAnd) break;
      parts.push(this.one(depth));
    }
    return parts.length === 1 ? parts[0]
      : (event, object) => parts.every((part) => part(event, object));
  }

  one(depth) {
    this.space();
    const start = this.at;
    if (depth >= 64) this.fail("more than 64 brackets and nots in each other", start);
    if (this.takeWord("not")) {
      const part = this.one(depth + 1);
      return (event) => !holdsOf(part, event);
    }
    if (this.current !== "(") return this.term();
    this.at++;
    const part = this.filter(depth + 1);
    this.space();
    if (this.current !== ")") {
      if (this.current !== undefined) this.unexpected();
      this.fail("this bracket is never closed", start);
    }
    this.at++;
    return part;
  }

  term() {
    this.space();
    const start = this.at;
    const word = this.peekWord();
    if (word === null) {
      if (this.current === undefined || this.current === ")") this.fail("a term is missing here");
      this.unexpected();
    }
    if (word === "and" || word === "or") this.fail("a term is missing here");
    this.at += Array.from(word).length;
    this.space();
    const operator = this.takeOperator(word);
    if (operator === null) {
      if (!filterVocabulary.kind.includes(word)) {
        const hint = filterVocabulary.event.includes(word) ? "event=" + word
          : filterFields.has(word) ? word + "=…"
          : ["and", "or", "not"].includes(word.toLowerCase()) ? word.toLowerCase() : null;
        this.fail("unknown kind \"" + word + "\"" + (hint ? "; did you mean \"" + hint + "\"?" : ""), start);
      }
      return holdsOfField("kind", (value) => value === word);
    }
    if (!filterFields.has(word)) this.fail("unknown field \"" + word + "\"", start);
    this.space();
    const valueStart = this.at;
    const value = this.takeValue(word);
    return holdsOfField(word, this.test(word, operator, value, valueStart));
  }

  test(field, operator, wanted, start) {
    if (operator === "=") {
      const words = filterVocabulary[field];
      if (words && !words.includes(wanted)) this.fail(field + " is never \"" + wanted + "\"", start);
      const number = FilterNumber.of(wanted);
      return (value) => typeof value === "string" ? value === wanted
        : typeof value === "boolean" ? wanted === String(value)
        : value !== null && number !== null && value.compare(number) === 0;
    }
    if (operator === "~") {
      const pattern = this.pattern(wanted, start);
      return (value) => value !== null
        && pattern.test(value instanceof FilterNumber ? value.text : String(value));
    }
    const limit = FilterNumber.of(wanted);
    if (limit === null) this.fail("\"" + wanted + "\" is not a number", start);
    const holds = {
      "<": (order) => order < 0, "<=": (order) => order <= 0,
      ">": (order) => order > 0, ">=": (order) => order >= 0,
    }[operator];
    return (value, isBytes) => {
      if (isBytes || value === null || typeof value === "boolean") return false;
      const number = typeof value === "string" ? FilterNumber.of(value) : value;
      return number !== null && holds(number.compare(limit));
    };
  }

  // A pattern in the browser's own dialect, which is that of the terminal for what people write.
  pattern(text, start) {
    const options = /^\(\?([ims]+)\)/.exec(text);
    const flags = options ? options[1] : "";
    const source = options ? text.slice(options[0].length) : text;
    for (const more of ["u", ""]) {
      try { return new RegExp(source, flags + more); } catch { /* the next one */ }
    }
    return this.fail("\"" + text + "\" is not a regular expression", start);
  }

  peekWord() {
    let end = this.at;
    while (end < this.characters.length && /[\p{L}\p{N}_\-.]/u.test(this.characters[end])) end++;
    return end === this.at ? null : this.characters.slice(this.at, end).join("");
  }

  takeWord(word) {
    this.space();
    if (this.peekWord() !== word) return false;
    this.at += word.length;
    return true;
  }

  takeOperator(word) {
    const first = this.current;
    const second = this.characters[this.at + 1];
    if (first === "=" && second === "=") this.fail("there is no ==; write " + word + "=…");
    if (first === "!" && second === "=") this.fail("there is no !=; write not " + word + "=…");
    if ((first === "<" || first === ">") && second === "=") {
      this.at += 2;
      return first + "=";
    }
    if (["=", "~", "<", ">"].includes(first)) {
      this.at++;
      return first;
    }
    return null;
  }

  takeValue(field) {
    const start = this.at;
    let value = "";
    const quote = this.current;
    if (quote === "\"" || quote === "'") {
      this.at++;
      while (this.current !== undefined && this.current !== quote) {
        const character = this.current;
        this.at++;
        if (character === "\\" && this.current === quote) {
          value += quote;
          this.at++;
        } else value += character;
      }
      if (this.current !== quote) this.fail("this quote is never closed", start);
      this.at++;
      return value;
    }
    let open = 0;
    while (this.current !== undefined && !/\s/u.test(this.current)) {
      if (this.current === ")" && open === 0) break;
      if (this.current === "(") open++;
      if (this.current === ")") open--;
      value += this.current;
      this.at++;
    }
    if (value === "") this.fail(field + " needs a value; an empty one is written \"\"");
    return value;
  }
}

// Whether a part holds of an event with at least one of its `bridge` objects, or without one.
function holdsOf(part, event) {
  const objects = member(event, "bridge");
  if (!objects || !objects.elements || !objects.elements.length) return part(event, null);
  return objects.elements.some((object) => part(event, object));
}

const holdsOfField = (field, test) => (event, object) => {
  if (object && object.members) {
    for (const [name, value] of object.members) {
      if (name !== field) continue;
      const known = filterValue(value);
      if (known !== undefined && test(known, false)) return true;
    }
  }
  return fieldValues(field, event).some(([value, isBytes]) => test(value, isBytes));
};

function filterValue(value) {
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (value === null || value === undefined || value.number === undefined) return undefined;
  const number = FilterNumber.of(value.number);
  if (!number) return undefined;
  number.text = value.number;
  return number;
}

// The values of a field, each with whether it is content rather than a text of the format's own.
function fieldValues(field, event) {
  const kind = member(event, "event");
  const isOf = (...kinds) => kinds.includes(kind);
  const plain = () => {
    const value = filterValue(member(event, field));
    return value === undefined ? [] : [[value, false]];
  };
  const flag = () => [[member(event, field) === true, false]];
  const positive = () => plain().filter(([value]) => value instanceof FilterNumber && value.value > 0);
  const lines = (name) => {
    const list = member(event, name);
    return list && list.elements
      ? list.elements.map((line) => [line.elements[0] + ": " + line.elements[1], false]) : [];
  };
  const hasBody = isOf("request", "response");
  const hasContent = isOf("frame", "message", "piece");
  switch (field) {
    case "event": case "t": case "t_first": case "t_packet": case "from": return plain();
    case "seq": case "conn": return positive();
    case "headers": return hasBody ? lines("headers") : [];
    case "trailers": return hasBody || isOf("piece") ? lines("trailers") : [];
    case "framing": return hasBody ? plain() : [];
    case "body": {
      if (!hasBody || member(event, "pieces") === true) return [];
      return [[contentText(event, "body", "body_base64") ?? null, true]];
    }
    case "pieces": return hasBody || isOf("frame", "message") ? flag() : [];
    case "incomplete": return hasBody || hasContent ? flag() : [];
    case "continued": return isOf("open") ? flag() : [];
    case "labels": {
      const labels = isOf("session") && member(event, "labels");
      return labels && labels.members ? labels.members.map(([name, text]) => [name + "=" + text, false]) : [];
    }
    case "text": {
      if (isOf("note")) return plain();
      if (!hasContent || member(event, "pieces") === true) return [];
      return [[contentText(event, "text", "base64") ?? null, true]];
    }
    case "reason": {
      if (isOf("response")) return plain();
      if (!isOf("frame") || member(event, "code") === undefined) return [];
      const bytes = contentBytes(event);
      return bytes ? [[textOfBytes(bytes.subarray(2)), true]] : [];
    }
    case "length": return isOf("frame", "gap") ? plain() : [];
    case "code": return isOf("frame", "note") ? plain() : [];
    default: {
      const fields = fieldsOfKinds[kind];
      return fields && fields.includes(field) ? plain() : [];
    }
  }
}

const fieldsOfKinds = {
  session: ["format", "version", "id", "started_at", "tool", "contract", "source", "listen", "upstream",
    "interface", "link_type", "part"],
  open: ["app", "board", "via"],
  request: ["exchange", "method", "target", "http"],
  response: ["exchange", "status", "http"],
  frame: ["fin", "rsv", "opcode", "mask"],
  message: ["opcode", "frames", "compressed"],
  piece: ["of", "offset", "last"],
  data: ["why"],
  gap: ["why"],
  close: ["how", "detail"],
  note: ["to"],
  end: ["events", "bytes_app", "bytes_board", "dropped"],
};

// Content as text; null for what is not UTF-8.
function contentText(event, name, encoded) {
  const text = member(event, name);
  if (typeof text === "string") return text;
  const base64 = member(event, encoded);
  return typeof base64 === "string" ? textOfBytes(bytesOfBase64(base64)) : "";
}

// The content of an event as bytes; null where it has none, or has it in pieces.
function contentBytes(event) {
  for (const name of ["text", "body"]) {
    const text = member(event, name);
    if (typeof text === "string") return bytesOfText(text);
  }
  for (const name of ["base64", "body_base64"]) {
    const text = member(event, name);
    if (typeof text === "string") return bytesOfBase64(text);
  }
  return null;
}

// A filter: a function of an event that was parsed exactly. Throws FilterError.
function parseFilter(source) {
  const expression = new FilterParser(source).parse();
  return (event) => holdsOf(expression, event);
}

"""##

private let sourceScript = ##"""
// Where the page's data comes from: blocks within a file, or the server that made the page.
//
// Either way it is one log of records, a JSON array a line, that only grows, and the session's own
// lines in blocks, which are fetched when somebody looks.

const rest = () => new Promise((done) => setTimeout(done, 0));

class FileSource {
  constructor(session) {
    this.session = session;
    this.isLive = false;
  }

  // Gives all records to `take`, a thousand lines at a time.
  async start(take, tell) {
    const logs = document.querySelectorAll("script.log[data-session=\"" + this.session + "\"]");
    for (const node of logs) {
      const lines = (await unpacked(node).text()).split("\n");
      node.remove();
      for (let from = 0; from < lines.length; from += 1000) {
        if (this.isStopped) return;
        take(lines.slice(from, from + 1000).filter((line) => line).map((line) => JSON.parse(line)));
        await rest();
      }
    }
    tell("whole");
  }

  stop() { this.isStopped = true; }

  async block(index) {
    const find = () => document.querySelector("script.events[data-session=\"" + this.session
      + "\"][data-index=\"" + index + "\"]");
    // The end of a long file may not be here yet.
    while (!find() && document.readyState === "loading") {
      await new Promise((done) => setTimeout(done, 50));
    }
    const node = find();
    return node ? (await unpacked(node).text()).split("\n").filter((line) => line) : [];
  }
}

class LiveSource {
  constructor(session) {
    this.session = session;
    this.isLive = true;
    this.position = 0;
    this.delay = 500;
  }

  start(take, tell, pending) {
    this.take = take;
    this.tell = tell;
    this.pending = pending;
    this.connect();
  }

  connect() {
    const url = new URL("s/" + this.session + "/live?from=" + this.position, location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    url.hash = "";
    const socket = new WebSocket(url);
    this.socket = socket;
    socket.addEventListener("open", () => {
      this.delay = 500;
      this.tell("live");
    });
    socket.addEventListener("message", ({ data }) => {
      const lines = data.split("\n");
      const [kind, value] = JSON.parse(lines[0]);
      if (kind === "pending") return this.pending(value);
      this.position = value;
      this.take(lines.slice(1).filter((line) => line).map((line) => JSON.parse(line)));
    });
    socket.addEventListener("close", ({ code }) => {
      if (this.isStopped) return;
      if (code === 1000) return this.tell("whole");
      this.tell("away");
      setTimeout(() => { if (!this.isStopped) this.connect(); }, this.delay);
      this.delay = Math.min(this.delay * 2, 10000);
    });
  }

  stop() {
    this.isStopped = true;
    this.socket.close();
  }

  async block(index) {
    const url = new URL("s/" + this.session + "/events/" + index, location.href);
    const answer = await fetch(url, { cache: "no-store" });
    if (!answer.ok) throw new Error("the server answered " + answer.status);
    return (await answer.text()).split("\n").filter((line) => line);
  }
}

// The lines of a session, found by their numbers.
class EventStore {
  constructor(source) {
    this.source = source;
    this.blocks = [];   // [first, last] of each one that is complete
    this.kept = new Map();
  }

  // The lines of a block; those that were looked at last are kept.
  async lines(index) {
    const known = this.kept.get(index);
    if (known) return known;
    const lines = await this.source.block(index);
    if (index < this.blocks.length) {
      this.kept.set(index, lines);
      if (this.kept.size > 8) this.kept.delete(this.kept.keys().next().value);
    }
    return lines;
  }

  async line(seq) {
    const index = lowerBound(this.blocks.length, (at) => this.blocks[at][1] >= seq);
    const lines = await this.lines(index);
    return lines.find((line) => numberIn(line) === seq);
  }

  async between(first, last, maximum) {
    const found = [];
    let index = lowerBound(this.blocks.length, (at) => this.blocks[at][1] >= first);
    for (; index <= this.blocks.length && found.length < maximum; index++) {
      for (const line of await this.lines(index)) {
        const seq = numberIn(line);
        if (seq > last) return found;
        if (seq >= first && found.length < maximum) found.push(line);
      }
    }
    return found;
  }
}

// The number of a line, which stands in its beginning.
function numberIn(line) {
  const match = /^\{"event":"[a-z]+","seq":(\d+)/.exec(line);
  return match ? Number(match[1]) : 0;
}

"""##

private let modelScript = ##"""
// What the records say: rows, connections, commands, states of the app, broken rules.

const sides = ["none", "app", "board", "both"];

// Worst first: what a row's mark means, and how it looks.
const marks = {
  rule: ["bad", "rule", "breaks a rule"],
  late: ["bad", "late", "came after its time-out"],
  unanswered: ["bad", "no answer", "never answered"],
  duplicate: ["bad", "twice", "a second result"],
  invalid: ["bad", "invalid", "not what its protocol allows"],
  gap: ["bad", "gap", "bytes are missing"],
  drop: ["bad", "drop", "not recorded"],
  broken: ["bad", "broken", "broke off"],
  fault: ["warning", "fault", "a fault that was injected"],
  doubt: ["warning", "rule", "does not count"],
  note: ["note", "mark", "a remark"],
};

class Model {
  constructor() {
    this.about = {};
    this.rows = [];
    this.pending = [];
    this.connections = new Map();
    this.commands = new Map();
    this.states = [];
    this.heartbeats = new Map();
    this.breaches = [];
    this.rowsOfSeq = new Map();
    this.breachesOfSeq = new Map();
    this.brokenRules = new Set();
    this.outcomes = { ok: 0, failed: 0, late: 0, unanswered: 0, open: 0, doubled: 0 };
    this.longest = 0;       // of the commands' spans
    this.wrong = [];        // numbers of commands that did not end well
    this.troubles = [];     // indexes of rows with a mark that is looked for
    this.end = 0;
    this.left = 0;
    this.summary = "";
  }

  // A browser shows so many rows at ease.
  static get maximumRows() { return 500000; }

  take(records, store) {
    for (const record of records) {
      switch (record[0]) {
        case "r": this.row(this.read(record)); break;
        case "i": this.about = record[1]; break;
        case "c": {
          const [, conn, time, app, board, via, isUpgraded] = record;
          this.connections.set(conn, {
            conn, from: time, to: null, app, board, via, upgraded: isUpgraded ? time : null,
            isQueue: false, ended: new Set(), how: null,
          });
          break;
        }
        case "u": this.connection(record[1], record[2]).upgraded ??= record[2]; break;
        case "k": this.connection(record[1], record[2]).isQueue = true; break;
        case "x": {
          const connection = this.connection(record[1], record[2]);
          connection.ended.add(record[4]);
          if (record[3] !== "fin" || connection.ended.size > 1) {
            connection.to = record[2];
            connection.how = record[3];
          }
          break;
        }
        case "a": this.states.push({ time: record[1], phone: record[2], state: record[3] }); break;
        case "h": {
          const list = this.heartbeats.get(record[1]);
          if (list) list.push(record[2]); else this.heartbeats.set(record[1], [record[2]]);
          this.end = Math.max(this.end, record[2]);
          break;
        }
        case "b": {
          const [, time, conn, side, id, rating, section, demand, text, standing, words, events] = record;
          const breach = {
            time, conn, side, id, rating, section, demand, text, standing, words, events,
            index: this.breaches.length, row: this.rows.length,
          };
          this.breaches.push(breach);
          if (standing === "counted") this.brokenRules.add(id);
          for (const seq of events) {
            const list = this.breachesOfSeq.get(seq);
            if (list) list.push(breach); else this.breachesOfSeq.set(seq, [breach]);
          }
          this.nextBreach = breach;
          break;
        }
        case "d": store.blocks.push([record[2], record[3]]); break;
        case "e": this.end = Math.max(this.end, record[1]); break;
        case "f": this.summary = record[1]; break;
      }
    }
  }

  connection(conn, time) {
    let known = this.connections.get(conn);
    if (!known) {
      known = {
        conn, from: time, to: null, app: "", board: "", via: null, upgraded: null, isQueue: false,
        ended: new Set(), how: null,
      };
      this.connections.set(conn, known);
    }
    return known;
  }

  read([, seq, time, conn, side, label, style, isBroken, mark, text, command, first, last]) {
    return {
      seq, time, conn, side: sides[side], label, style, isBroken, mark, text, command, first, last,
      breach: null,
    };
  }

  row(row) {
    if (this.rows.length >= Model.maximumRows) {
      this.left++;
      this.nextBreach = null;
      return;
    }
    const index = this.rows.push(row) - 1;
    this.end = Math.max(this.end, row.time);
    if (this.nextBreach) {
      row.breach = this.nextBreach;
      row.breach.row = index;
      this.nextBreach = null;
    } else if (row.seq && !this.rowsOfSeq.has(row.seq)) this.rowsOfSeq.set(row.seq, index);
    if (row.mark && row.mark !== "note" && row.mark !== "doubt") this.troubles.push(index);
    if (row.command) this.command(row, index);
  }

  // The spans from a command's sending to its result.
  command(row, index) {
    const [number, type, step, ...more] = row.command;
    let command = this.commands.get(number);
    if (step === "sent") {
      const [deadline, isAgain] = more;
      if (command && isAgain) command.again.push(index);
      else {
        this.commands.set(number, {
          number, type, from: row.time, deadline, conn: row.conn, row: index, again: [], to: null, lost: null,
          answer: null, duplicates: [], outcome: "open", code: null,
        });
        this.outcomes.open++;
        if (deadline !== null) this.longest = Math.max(this.longest, deadline - row.time);
      }
      return;
    }
    if (!command) return;
    if (step === "unanswered") {
      command.unanswered = index;
      command.lost = row.time;
      this.settle(command, "unanswered");
      return;
    }
    const [code, isLate, isDuplicate] = more;
    if (isDuplicate || command.answer !== null) {
      if (!command.duplicates.length) {
        this.outcomes.doubled++;
        this.wrong.push(number);
      }
      command.duplicates.push(index);
      return;
    }
    command.answer = index;
    command.to = row.time;
    command.code = code;
    this.longest = Math.max(this.longest, command.to - command.from);
    this.settle(command, isLate ? "late" : code === null ? "ok" : "failed");
  }

  settle(command, outcome) {
    this.outcomes[command.outcome]--;
    this.outcomes[outcome]++;
    command.outcome = outcome;
    if (outcome !== "ok") this.wrong.push(command.number);
  }

  rowsOfCommand(command) {
    return [command.row, ...command.again, command.unanswered, command.answer, ...command.duplicates]
      .filter((index) => index !== null && index !== undefined);
  }

  // The row that shows an event, or in which it is counted, or that stands nearest before it.
  rowOf(seq) {
    const exact = this.rowsOfSeq.get(seq);
    if (exact !== undefined) return exact;
    // Folds stand where their first event was, so the one that counts it is not far.
    let best = -1;
    for (let index = 0; index < this.rows.length; index++) {
      const row = this.rows[index];
      if (row.first && row.first <= seq && seq <= row.last) return index;
      if (row.seq && row.seq <= seq) best = index;
    }
    return best;
  }
}

"""##

private let listScript = ##"""
// A list of any length, of which only the rows in sight are there.
//
// Its place and size are kept as they were told last: to ask the box for them behind a change makes the
// browser lay the whole page out.
class List {
  constructor(box, height, draw) {
    this.box = box;
    this.height = height;
    this.draw = draw;
    this.count = 0;
    this.top = 0;
    this.size = box.clientHeight;
    this.drawn = [0, 0];
    this.nodes = new Map();   // of the rows in sight, by their indexes
    this.pad = make("div", "pad");
    this.pad.setAttribute("role", "presentation");
    box.replaceChildren(this.pad);
    box.addEventListener("scroll", () => {
      this.top = box.scrollTop;
      this.later();
    }, { passive: true });
    new ResizeObserver(() => {
      this.size = box.clientHeight;
      this.top = box.scrollTop;
      this.later();
    }).observe(box);
  }

  // Draws all rows anew: what they say, or which they are, has changed.
  refresh() {
    this.nodes = new Map();
    this.later();
  }

  later() {
    if (this.waits) return;
    this.waits = true;
    requestAnimationFrame(() => {
      this.waits = false;
      this.show();
    });
  }

  // Changes the number of rows. What stands behind those in sight needs no drawing.
  set(count) {
    if (count !== this.count) {
      const isFull = this.drawn[1] < this.count && count > this.count;
      this.count = count;
      this.pad.style.height = count * this.height + "px";
      if (isFull) return;
    }
    this.later();
  }

  get first() { return Math.min(Math.floor(this.top / this.height), Math.max(0, this.count - 1)); }
  get room() { return Math.ceil(this.size / this.height); }
  get isAtEnd() { return this.top + this.size >= this.count * this.height - this.height; }

  show() {
    const from = Math.max(0, this.first - 8);
    const to = Math.min(this.count, this.first + this.room + 9);
    const nodes = new Map();
    for (let index = from; index < to; index++) {
      let node = this.nodes.get(index);
      if (!node) {
        node = this.draw(index);
        node.style.top = index * this.height + "px";
        this.pad.append(node);
      }
      nodes.set(index, node);
    }
    const kept = new Set(nodes.values());
    for (const node of [...this.pad.children]) if (!kept.has(node)) node.remove();
    this.drawn = [from, to];
    this.nodes = nodes;
    if (this.onShow) this.onShow();
  }

  // Goes to a place, as far as there is room.
  go(top) {
    this.box.scrollTop = top;
    this.top = this.box.scrollTop;
    this.later();
  }

  reveal(index, isCentred) {
    const top = index * this.height;
    const room = this.size - this.height;
    if (isCentred) this.go(top - room / 2);
    else if (top < this.top) this.go(top);
    else if (top > this.top + room) this.go(top - room);
    else this.later();
  }

  toEnd() { this.go(this.count * this.height); }
}

"""##

private let lanesScript = ##"""
// The session along its time: the app's lane with its states, the connections as bands, the commands
// as spans, the board's lane. Drawn on a canvas; all that it shows stands in the list as text too.
class Lanes {
  constructor(canvas, model, pick) {
    this.canvas = canvas;
    this.pick = pick;
    this.from = 0;
    this.to = 0;
    // What only changes with the data or the zoom; the rest is drawn over it.
    this.base = document.createElement("canvas");
    this.restart(model);
    this.size = canvas.clientWidth;
    new ResizeObserver(() => {
      this.size = canvas.clientWidth;
      this.later();
    }).observe(canvas);
    canvas.addEventListener("wheel", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || Math.abs(event.deltaY) > Math.abs(event.deltaX)) {
        event.preventDefault();
        this.zoom(event.deltaY < 0 ? 0.8 : 1.25, this.timeAt(event.offsetX));
      }
    }, { passive: false });
    let grip = null;
    canvas.addEventListener("pointerdown", (event) => {
      grip = { x: event.offsetX, from: this.from, to: this.to, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!grip) return this.tell(event);
      const shift = (grip.x - event.offsetX) / this.scale;
      if (Math.abs(grip.x - event.offsetX) > 3) grip.moved = true;
      if (!grip.moved) return;
      this.show(grip.from + shift, grip.to + shift);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (grip && !grip.moved) this.choose(event.offsetX, event.offsetY);
      grip = null;
    });
    canvas.addEventListener("dblclick", () => this.fit());
  }

  // All lengths are CSS pixels.
  restart(model) {
    this.model = model;
    this.isFitted = true;
    this.picked = null;
    this.window = null;
    this.drawn = null;
    this.bands = { rows: [], tops: [], count: 0 };
    this.spans = { rows: [], tops: [], commands: [], count: 0 };
    this.later();
  }

  get left() { return 80; }
  get width() { return Math.max(50, this.size - this.left - 10); }
  get scale() { return this.width / Math.max(1, this.to - this.from); }
  x(time) { return this.left + (time - this.from) * this.scale; }
  timeAt(x) { return this.from + (x - this.left) / this.scale; }

  fit() {
    this.isFitted = true;
    this.later();
  }

  show(from, to) {
    const end = Math.max(1e6, this.model.end);
    const span = Math.min(Math.max(to - from, 1e5), end * 1.02);
    from = Math.max(-span * 0.02, Math.min(from, end * 1.02 - span));
    this.from = from;
    this.to = from + span;
    this.isFitted = false;
    this.later();
  }

  zoom(factor, time = (this.from + this.to) / 2) {
    this.show(time - (time - this.from) * factor, time + (this.to - time) * factor);
  }

  // Brings a time into sight.
  reveal(time) {
    if (this.isFitted || (time >= this.from && time <= this.to)) return;
    const span = this.to - this.from;
    this.show(time - span / 2, time + span / 2);
  }

  later() {
    if (this.waits) return;
    this.waits = true;
    requestAnimationFrame(() => {
      this.waits = false;
      this.draw();
    });
  }

  // Where a command's span ends: at its result, or where nobody waited any more.
  static until(command) { return command.to ?? command.lost ?? command.deadline ?? command.from; }

  // Puts connections and commands into rows in which they do not overlap; only what is new.
  layout() {
    const { model, bands, spans } = this;
    const place = (rows, maximum, from, until) => {
      let row = rows.findIndex((last) => until(last) <= from);
      if (row < 0) row = rows.length < maximum ? rows.length : maximum - 1;
      return row;
    };
    if (bands.count < model.connections.size) {
      for (const connection of [...model.connections.values()].slice(bands.count)) {
        const row = place(bands.rows, 6, connection.from, (last) => last.to ?? Infinity);
        bands.rows[row] = connection;
        bands.tops.push([connection, row]);
      }
      bands.count = model.connections.size;
    }
    if (spans.count < model.commands.size) {
      let skipped = 0;
      for (const command of model.commands.values()) {
        if (skipped++ < spans.count) continue;
        const row = place(spans.rows, 4, command.from, (last) => Lanes.until(last));
        spans.rows[row] = command;
        spans.tops.push([command, row]);
      }
      spans.count = model.commands.size;
    }
    const bandTop = 42;
    const spanTop = bandTop + Math.max(1, bands.rows.length) * 12 + 6;
    const boardTop = spanTop + Math.max(1, spans.rows.length) * 11 + 4;
    return { bandTop, spanTop, boardTop, height: boardTop + 18 };
  }

  // The commands whose spans may reach into sight, with the rows that they are in. Where far more are
  // than pixels, one for each pixel, and all that went wrong.
  spansInSight() {
    const { tops } = this.spans;
    const { longest, wrong } = this.model;
    const start = lowerBound(tops.length, (at) => tops[at][0].from >= this.from - longest);
    const end = lowerBound(tops.length, (at) => tops[at][0].from > this.to);
    if (end - start < 4000) return tops.slice(start, end);
    const chosen = [];
    for (let at = start; at < end;) {
      chosen.push(tops[at]);
      const next = tops[at][0].from + 1 / this.scale;
      at = Math.max(at + 1, lowerBound(end, (place) => tops[place][0].from >= next));
    }
    let before = -1;
    for (const number of wrong) {
      const top = tops[number - 1];
      if (!top || top[0].from < this.from - longest || top[0].from > this.to) continue;
      const x = Math.round(this.x(top[0].from)) * 8 + top[1];
      if (x !== before) chosen.push(top);
      before = x;
    }
    return chosen;
  }

  draw() {
    const { canvas, base, model } = this;
    if (this.isFitted) {
      this.from = -model.end * 0.005;
      this.to = Math.max(1e6, model.end * 1.005);
    }
    const ratio = window.devicePixelRatio || 1;
    const key = [this.isFitted, this.isFitted ? 0 : this.from, this.isFitted ? 0 : this.to, this.size, ratio,
      matchMedia("(prefers-color-scheme: dark)").matches].join();
    const isNew = model.rows.length + model.pending.length + model.end !== this.drawn?.amount;
    const now = performance.now();
    // Data comes in many small parts: the lanes need not show each of them.
    if (this.drawn?.key !== key || (isNew && now - this.drawn.at > this.drawn.pause)) {
      this.drawBase(ratio);
      this.drawn = { key, amount: model.rows.length + model.pending.length + model.end, at: now,
        pause: Math.max(250, 10 * (performance.now() - now)) };
    } else if (isNew && !this.timer) {
      this.timer = setTimeout(() => {
        this.timer = 0;
        this.later();
      }, this.drawn.pause + 10);
    }
    const width = this.size;
    const { height } = this.laid;
    if (canvas.style.height !== height + "px") canvas.style.height = height + "px";
    if (canvas.width !== base.width || canvas.height !== base.height) {
      canvas.width = base.width;
      canvas.height = base.height;
    }
    const style = getComputedStyle(document.documentElement);
    const c = canvas.getContext("2d");
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, width, height);
    if (this.window) {
      c.fillStyle = style.getPropertyValue("--sight");
      const start = Math.max(this.left, this.x(this.window[0]));
      c.fillRect(start, 0, Math.max(2, Math.min(this.left + this.width, this.x(this.window[1])) - start), height);
    }
    c.drawImage(base, 0, 0, base.width / ratio, base.height / ratio);
    if (this.picked !== null && this.picked >= this.from && this.picked <= this.to) {
      c.fillStyle = style.getPropertyValue("--picked");
      c.fillRect(this.x(this.picked) - 0.5, 14, 1.5, height - 14);
    }
  }

  drawBase(ratio) {
    const { base } = this;
    const laid = this.laid = this.layout();
    const width = this.size;
    base.width = Math.round(width * ratio);
    base.height = Math.round(laid.height * ratio);
    const style = getComputedStyle(document.documentElement);
    const known = new Map();
    const colour = (name) => {
      if (!known.has(name)) known.set(name, style.getPropertyValue("--" + name).trim());
      return known.get(name);
    };
    const c = base.getContext("2d");
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    c.textBaseline = "middle";
    this.drawAxis(c, colour, laid);
    c.save();
    c.beginPath();
    c.rect(this.left - 1, 0, this.width + 11, laid.height);
    c.clip();
    this.drawStates(c, colour);
    this.drawBands(c, colour, laid);
    this.drawSpans(c, colour, laid);
    this.drawMarks(c, colour, laid);
    c.restore();
    c.fillStyle = colour("dim");
    c.textAlign = "right";
    for (const [name, y] of [["app", 29], ["links", laid.bandTop + 6], ["commands", laid.spanTop + 5],
      ["board", laid.boardTop + 7]]) c.fillText(name, this.left - 8, y);
  }

  drawAxis(c, colour, laid) {
    const steps = [1, 2, 5].flatMap((digit) => [...Array(9).keys()].map((power) => digit * 10 ** (power + 4)))
      .filter((step) => step < 1e10).concat([15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 43200, 86400]
        .map((seconds) => seconds * 1e9)).sort((a, b) => a - b);
    const step = steps.find((step) => step * this.scale >= 90) ?? steps[steps.length - 1] * 7;
    c.textAlign = "left";
    for (let time = Math.max(0, Math.ceil(this.from / step) * step); time <= this.to; time += step) {
      const x = Math.round(this.x(time)) + 0.5;
      c.strokeStyle = colour("edge");
      c.beginPath();
      c.moveTo(x, 0);
      c.lineTo(x, laid.height);
      c.stroke();
      c.fillStyle = colour("dim");
      c.fillText(step >= 1e9 ? clockTime(time).slice(0, -4) : clockTime(time), x + 4, 8);
    }
  }

  drawStates(c, colour) {
    const { states, end } = this.model;
    states.forEach(({ time, state }, index) => {
      const until = states[index + 1]?.time ?? end;
      const [x, to] = [Math.max(this.left, this.x(time)), Math.min(this.left + this.width, this.x(until))];
      if (to < x) return;
      c.fillStyle = colour(state === "active" ? "active" : state === "background" ? "away" : "inactive");
      c.fillRect(x, 20, Math.max(1, to - x), 17);
      if (to - x > 60) {
        c.fillStyle = colour("text");
        c.textAlign = "left";
        c.fillText(state, x + 5, 29);
      }
    });
  }

  drawBands(c, colour, laid) {
    for (const [connection, row] of this.bands.tops) {
      const top = laid.bandTop + row * 12;
      const until = connection.to ?? this.model.end;
      const [x, to] = [this.x(connection.from), this.x(until)];
      if (to < this.left || x > this.left + this.width) continue;
      c.fillStyle = colour(connection.isQueue ? "queue" : "plain");
      c.fillRect(x, top + 2, Math.max(1.5, to - x), 8);
      if (connection.upgraded !== null) {
        c.fillStyle = colour("socket");
        const start = Math.max(x, this.x(connection.upgraded));
        c.fillRect(start, top + 1, Math.max(1.5, to - start), 10);
      }
      if (connection.how && connection.how !== "fin") {
        c.fillStyle = colour("bad");
        c.fillRect(to - 2, top, 3, 12);
      }
      const start = Math.max(x, this.left);
      if (to - start > 26) {
        c.fillStyle = colour("on");
        c.textAlign = "left";
        c.font = "9px system-ui, 'DejaVu Sans', sans-serif";
        const route = connection.upgraded !== null ? " WebSocket" : connection.isQueue ? " queue" : " HTTP";
        c.fillText(connection.conn + (to - start > 90 ? route : ""), start + 4, top + 6.5);
        c.font = "11px system-ui, 'DejaVu Sans', sans-serif";
      }
    }
  }

  drawSpans(c, colour, laid) {
    for (const [command, row] of this.spansInSight()) {
      const top = laid.spanTop + row * 11;
      const x = this.x(command.from);
      const to = this.x(Lanes.until(command));
      if (to < this.left) continue;
      const width = Math.max(2, to - x);
      if (command.outcome === "unanswered" || command.outcome === "open") {
        c.strokeStyle = colour(command.outcome === "open" ? "dim" : "bad");
        c.strokeRect(x + 0.5, top + 1.5, width - 1, 7);
      } else {
        c.fillStyle = colour(command.outcome === "ok" ? "span" : command.outcome === "late" ? "bad" : "warning");
        c.fillRect(x, top + 1, width, 8);
      }
      if (command.outcome === "late" && command.deadline !== null) {
        c.fillStyle = colour("span");
        c.fillRect(x, top + 1, Math.max(1, this.x(command.deadline) - x), 8);
      }
      if (command.deadline !== null && (command.outcome !== "ok" || width > 30)) {
        const mark = Math.round(this.x(command.deadline));
        if (command.outcome !== "ok" && command.outcome !== "failed") {
          c.fillStyle = colour("text");
          c.fillRect(mark, top - 1, 1.5, 12);
        }
      }
      for (const index of command.duplicates) {
        const at = this.x(this.model.rows[index].time);
        c.fillStyle = colour("bad");
        c.beginPath();
        c.arc(at, top + 5, 3.5, 0, 7);
        c.fill();
      }
      if (command.outcome === "unanswered") {
        c.strokeStyle = colour("bad");
        c.beginPath();
        for (const [a, b] of [[-3, 3], [3, -3]]) {
          c.moveTo(to + a, top + 5 - 3);
          c.lineTo(to + b, top + 5 + 3);
        }
        c.stroke();
      }
    }
  }

  // Ticks for what each side sent; where something is wrong, over the whole height.
  drawMarks(c, colour, laid) {
    const { rows, troubles } = this.model;
    // Rows come in the order of time, but for what was held back a little.
    const start = Math.max(0, lowerBound(rows.length, (at) => rows[at].time >= this.from) - 64);
    // Of what falls into one pixel, a little of each side is looked at.
    const last = { app: -1, board: -1 };
    c.fillStyle = colour("dim");
    let looked = 0;
    for (let index = start; index < rows.length; index++) {
      const { time, side } = rows[index];
      if (time > this.to) break;
      const x = Math.round(this.x(time));
      if ((last.app === x && last.board === x) || looked > 32) {
        index = Math.max(index, lowerBound(rows.length, (at) => rows[at].time >= this.timeAt(x + 0.5)) - 1);
        looked = 0;
        continue;
      }
      looked++;
      if ((side !== "app" && side !== "board") || last[side] === x) continue;
      last[side] = x;
      if (side === "app") c.fillRect(x, 32, 1, 6); else c.fillRect(x, laid.boardTop + 1, 1, 7);
    }
    const from = Math.max(0, lowerBound(troubles.length, (at) => rows[troubles[at]].time >= this.from) - 8);
    for (let at = from; at < troubles.length; at++) {
      const row = rows[troubles[at]];
      if (row.time > this.to) break;
      const x = Math.round(this.x(row.time));
      const kind = marks[row.mark][0];
      c.fillStyle = colour(kind);
      if (row.mark === "gap" || row.mark === "drop") {
        c.globalAlpha = 0.35;
        c.fillRect(x - 2, laid.bandTop, 5, laid.boardTop - laid.bandTop);
        c.globalAlpha = 1;
      }
      c.beginPath();
      if (kind === "warning") {
        c.moveTo(x, laid.boardTop + 5);
        c.lineTo(x + 5, laid.boardTop + 10);
        c.lineTo(x, laid.boardTop + 15);
        c.lineTo(x - 5, laid.boardTop + 10);
      } else {
        c.moveTo(x, laid.boardTop + 5);
        c.lineTo(x + 5, laid.boardTop + 14);
        c.lineTo(x - 5, laid.boardTop + 14);
      }
      c.fill();
      // One mark for what stands within two pixels.
      const next = this.timeAt(x + 1.5);
      if (troubles.length - at > 64) {
        at = Math.max(at, lowerBound(troubles.length, (place) => rows[troubles[place]].time >= next) - 1);
      }
    }
  }

  // What is under the pointer, in words.
  tell(event) {
    const found = this.under(event.offsetX, event.offsetY);
    this.canvas.title = found ? found.text : "";
  }

  under(x, y) {
    const laid = this.laid;
    if (!laid || x < this.left) return null;
    for (const [command, row] of this.spansInSight()) {
      const top = laid.spanTop + row * 11;
      if (y < top - 1 || y > top + 11) continue;
      const to = this.x(Lanes.until(command));
      if (x < this.x(command.from) - 3 || x > Math.max(to, this.x(command.from) + 2) + 3) continue;
      const answer = command.to === null ? command.outcome
        : (command.code ?? "ok") + " after " + timeSpan(command.to - command.from);
      return { text: "#" + command.number + " " + command.type + " · " + answer
        + (command.outcome === "late" ? " · late" : ""), row: command.row };
    }
    for (const [connection, row] of this.bands.tops) {
      const top = laid.bandTop + row * 12;
      if (y < top || y > top + 12 || x < this.x(connection.from) - 2) continue;
      if (x > this.x(connection.to ?? this.model.end) + 2) continue;
      return { text: "connection " + connection.conn + " · " + connection.app + " → " + connection.board
        + (connection.how ? " · " + connection.how : ""), conn: connection.conn };
    }
    return null;
  }

  choose(x, y) {
    const found = this.under(x, y);
    if (found && found.row !== undefined) return this.pick(found.row);
    if (x < this.left) return;
    // The nearest row, or a trouble a few pixels away.
    const { rows, troubles } = this.model;
    const time = this.timeAt(x);
    const near = troubles.reduce((best, index) => {
      const distance = Math.abs(rows[index].time - time);
      return best === null || distance < Math.abs(rows[best].time - time) ? index : best;
    }, null);
    if (near !== null && Math.abs(this.x(rows[near].time) - x) < 7 && y > this.laid.bandTop) return this.pick(near);
    const index = lowerBound(rows.length, (at) => rows[at].time >= time);
    if (rows.length) this.pick(Math.min(index, rows.length - 1));
  }
}

"""##

private let detailScript = ##"""
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

"""##

private let chartsScript = ##"""
// Two charts, in SVG: how long commands took, by type, and how far apart heartbeats were, by time.

function svg(tag, attributes, ...content) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...content);
  return node;
}

const quantile = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(part * sorted.length) - 1))];

// At most so many dots are drawn in a chart.
const maximumDots = 4000;

function thinned(list) {
  if (list.length <= maximumDots) return list;
  const step = list.length / maximumDots;
  return Array.from({ length: maximumDots }, (_, index) => list[Math.floor(index * step)]);
}

// Powers of ten and their places on an axis of logarithms.
function logScale(low, high, from, to) {
  const bottom = Math.floor(Math.log10(Math.max(low, 1e3)));
  const top = Math.max(bottom + 1, Math.ceil(Math.log10(Math.max(high, 1e4))));
  const place = (value) => from + (to - from) * (Math.log10(Math.max(value, 10 ** bottom)) - bottom) / (top - bottom);
  return { place, ticks: Array.from({ length: top - bottom + 1 }, (_, index) => 10 ** (bottom + index)) };
}

function latencyChart(model, width, pick) {
  const types = new Map();
  for (const command of model.commands.values()) {
    if (!types.has(command.type)) types.set(command.type, []);
    types.get(command.type).push(command);
  }
  const names = [...types.keys()].sort();
  const answered = [...model.commands.values()].filter((command) => command.to !== null);
  if (!answered.length) return make("p", "dim", "No command was answered yet.");
  const latencies = answered.map((command) => command.to - command.from);
  const left = 150;
  const right = width - 16;
  const height = names.length * 30 + 34;
  const scale = logScale(latencies.reduce((a, b) => Math.min(a, b)), latencies.reduce((a, b) => Math.max(a, b)), left, right);
  const chart = svg("svg", { viewBox: "0 0 " + width + " " + height, width, height, role: "img",
    "aria-label": "Latency by type of command; the table below has the figures" });
  for (const tick of scale.ticks) {
    const x = scale.place(tick);
    chart.append(svg("line", { x1: x, x2: x, y1: 0, y2: height - 22, class: "grid" }),
      svg("text", { x, y: height - 6, class: "tick", "text-anchor": "middle" }, axisTime(tick)));
  }
  const rows = [];
  names.forEach((name, index) => {
    const y = index * 30 + 15;
    const done = types.get(name).filter((command) => command.to !== null);
    const sorted = done.map((command) => command.to - command.from).sort((a, b) => a - b);
    chart.append(svg("text", { x: left - 8, y: y + 4, class: "name", "text-anchor": "end" }, name.slice(0, 24)));
    if (sorted.length) {
      const [a, b] = [scale.place(quantile(sorted, 0.25)), scale.place(quantile(sorted, 0.75))];
      chart.append(svg("rect", { x: a, y: y - 8, width: Math.max(1, b - a), height: 16, class: "box" }));
      for (const [part, kind] of [[0.5, "median"], [0.99, "high"]]) {
        const x = scale.place(quantile(sorted, part));
        chart.append(svg("line", { x1: x, x2: x, y1: y - 10, y2: y + 10, class: kind }));
      }
    }
    thinned(done).forEach((command, place) => {
      const dot = svg("circle", { cx: scale.place(command.to - command.from), cy: y + (place * 7 % 13) - 6, r: 2.2,
        class: "dot " + command.outcome });
      dot.append(svg("title", {}, "#" + command.number + " " + timeSpan(command.to - command.from)));
      dot.addEventListener("click", () => pick(command.row));
      chart.append(dot);
    });
    const all = types.get(name);
    const span = (part) => sorted.length ? timeSpan(quantile(sorted, part)) : "";
    rows.push([name, all.length, all.filter((c) => c.outcome === "failed").length,
      all.filter((c) => c.outcome === "late").length,
      all.filter((c) => c.outcome === "unanswered").length, span(0.5), span(0.9), span(0.99), span(1)]);
  });
  return make("div", "", chart, table(["type", "commands", "failed", "late", "no answer", "p50", "p90", "p99", "max"], rows));
}

function axisTime(nanoseconds) {
  if (nanoseconds < 1e6) return nanoseconds / 1e3 + " µs";
  return nanoseconds < 1e9 ? nanoseconds / 1e6 + " ms" : nanoseconds / 1e9 + " s";
}

function table(names, rows) {
  const head = make("tr", "", ...names.map((name) => make("th", "", name)));
  return make("table", "figures", make("thead", "", head),
    make("tbody", "", ...rows.map((row) => make("tr", "", ...row.map((cell) => make("td", "", String(cell)))))));
}

function heartbeatChart(model, width) {
  const gaps = [];
  for (const [conn, times] of model.heartbeats) {
    for (let at = 1; at < times.length; at++) gaps.push({ conn, time: times[at], gap: times[at] - times[at - 1] });
  }
  if (!gaps.length) return make("p", "dim", "There are not yet two heartbeats of the app on one connection.");
  const height = 220;
  const left = 60;
  const right = width - 16;
  const bottom = height - 24;
  const end = Math.max(1, model.end);
  const longest = gaps.reduce((most, { gap }) => Math.max(most, gap), 6e9);
  const x = (time) => left + (right - left) * time / end;
  const y = (gap) => bottom - (bottom - 12) * gap / longest;
  const chart = svg("svg", { viewBox: "0 0 " + width + " " + height, width, height, role: "img",
    "aria-label": "Time between heartbeats of the app; the longest is " + timeSpan(longest) });
  const limits = [[5e9, "5 s: the contract's interval", "limit"], [60e9, "60 s: unhealthy", "limit bad"]];
  for (const [gap, text, kind] of limits) {
    if (gap > longest) continue;
    chart.append(svg("line", { x1: left, x2: right, y1: y(gap), y2: y(gap), class: kind }),
      svg("text", { x: right, y: y(gap) - 4, class: "tick", "text-anchor": "end" }, text));
  }
  for (let part = 0; part <= 4; part++) {
    const gap = longest * part / 4;
    chart.append(svg("text", { x: left - 6, y: y(gap) + 4, class: "tick", "text-anchor": "end" },
      (gap / 1e9).toFixed(1) + " s"));
    chart.append(svg("text", { x: x(end * part / 4), y: height - 6, class: "tick", "text-anchor": part ? "end" : "start" },
      clockTime(end * part / 4).slice(0, -4)));
  }
  chart.append(svg("line", { x1: left, x2: right, y1: bottom, y2: bottom, class: "grid" }));
  // The longest ones are what is looked for: they are never thinned away.
  const shown = new Set(thinned(gaps));
  [...gaps].sort((a, b) => b.gap - a.gap).slice(0, 100).forEach((gap) => shown.add(gap));
  for (const { conn, time, gap } of shown) {
    const dot = svg("circle", { cx: x(time), cy: y(gap), r: 2.4, class: "dot " + (gap > 60e9 ? "late" : gap > 10e9 ? "failed" : "ok") });
    dot.append(svg("title", {}, "connection " + conn + ", " + clockTime(time) + ": " + timeSpan(gap)));
    chart.append(dot);
  }
  const sorted = gaps.map(({ gap }) => gap).sort((a, b) => a - b);
  return make("div", "", chart, table(["heartbeat gaps", "p50", "p90", "p99", "max"],
    [[sorted.length, ...[0.5, 0.9, 0.99, 1].map((part) => timeSpan(quantile(sorted, part)))]]));
}

"""##

private let mainScript = ##"""
// The page: one session at a time, its list, lanes, details, filter and keys.

const config = JSON.parse($("config").textContent);
const rowHeight = 22;

let announceTimer = 0;
// The filter is read a moment after the last key.
let typing = 0;

// Says something to whoever looks and to whoever listens.
function announce(text) {
  $("said").textContent = text;
  clearTimeout(announceTimer);
  announceTimer = setTimeout(() => { $("said").textContent = ""; }, 4000);
}

class View {
  constructor() {
    this.list = new List($("rows"), rowHeight, (place) => this.drawRow(place));
    this.list.onShow = () => this.tellWindow();
    this.detail = new Detail($("event"), this);
    this.tab = "event";
    this.picked = -1;
    this.filter = null;
    this.follows = false;
    const box = $("rows");
    box.addEventListener("click", (event) => {
      const node = event.target.closest("[data-place]");
      if (node) this.pick(this.indexAt(Number(node.dataset.place)));
    });
    // Who goes away from the end wants to stay there; who comes to it follows again.
    box.addEventListener("wheel", () => this.seen(), { passive: true });
    box.addEventListener("scroll", () => this.seen(), { passive: true });
  }

  open(session) {
    this.source?.stop();
    this.session = session;
    this.model = new Model();
    this.source = config.live ? new LiveSource(session) : new FileSource(session);
    this.store = new EventStore(this.source);
    this.lanes = this.lanes ?? new Lanes($("lanes"), this.model, (index) => this.pick(index, true));
    this.lanes.restart(this.model);
    this.picked = -1;
    this.shown = null;
    this.filter = null;
    this.isWhole = false;
    $("filter").value = "";
    $("wrong").textContent = "";
    this.follows = config.live;
    this.list.set(0);
    this.list.refresh();
    this.tellState("loading");
    this.detail.clear("Pick a line to see what crossed; ? shows the keys.");
    const model = this.model;
    this.source.start((records) => {
      if (model !== this.model) return;
      this.take(records);
    }, (state) => {
      if (model !== this.model) return;
      this.tellState(state);
    }, (rows) => {
      if (model !== this.model) return;
      this.takePending(rows);
    });
  }

  // MARK: Data

  take(records) {
    const { model } = this;
    const from = model.rows.length;
    model.take(records, this.store);
    model.pending = [];
    if (this.filter) this.filterNew(from);
    this.changed();
  }

  takePending(rows) {
    this.model.pending = rows.map((record) => this.model.read(record));
    for (const row of this.model.pending) this.model.end = Math.max(this.model.end, row.time);
    this.changed();
  }

  // At once, and then some times a second.
  changed() {
    if (this.waits) return;
    this.waits = true;
    const due = Math.max(0, (this.updated || 0) + 120 - performance.now());
    setTimeout(() => requestAnimationFrame(() => {
      this.waits = false;
      this.updated = performance.now();
      this.update();
    }), due);
  }

  update() {
    this.list.set(this.count);
    if (this.follows) this.list.toEnd();
    // What is still counted, and badges of rules that broke later, stand among the rows in sight.
    if (this.isWhole || config.live) this.list.refresh();
    this.tellCounts();
    this.lanes.later();
    if (this.wanted) this.goTo(this.wanted);
    if (this.tab === "charts" && !this.chartWaits) {
      this.chartWaits = setTimeout(() => {
        this.chartWaits = 0;
        if (this.tab === "charts") this.drawCharts();
      }, 1000);
    }
    if (this.tab === "rules") this.drawRules();
  }

  // Rows as they stand in the list: all and what is still counted, or those that a filter chose.
  get count() { return this.shown ? this.shown.length : this.model.rows.length + this.model.pending.length; }
  indexAt(place) { return this.shown ? this.shown[place] : place; }
  rowAt(place) {
    const index = this.indexAt(place);
    const { rows, pending } = this.model;
    return index < rows.length ? rows[index] : pending[index - rows.length];
  }
  placeOf(index) {
    if (!this.shown) return index;
    const place = lowerBound(this.shown.length, (at) => this.shown[at] >= index);
    return this.shown[place] === index ? place : -1;
  }

  // MARK: The list

  drawRow(place) {
    const row = this.rowAt(place);
    const index = this.indexAt(place);
    const node = make("div", "row");
    if (!row) return node;
    node.dataset.place = place;
    node.id = "row-" + index;
    node.setAttribute("role", "option");
    node.setAttribute("aria-setsize", this.count);
    node.setAttribute("aria-posinset", place + 1);
    node.setAttribute("aria-selected", index === this.picked);
    const mark = marks[row.mark];
    if (mark) node.classList.add("is-" + mark[0]);
    if (row.first) node.classList.add("fold");
    if (index >= this.model.rows.length) node.classList.add("pending");
    const command = this.pickedCommand;
    if (command !== undefined && row.command && row.command[0] === command) node.classList.add("same");
    if (index === this.picked) node.classList.add("picked");
    const breaches = !row.breach && row.seq ? this.model.breachesOfSeq.get(row.seq) : undefined;
    const isCounted = breaches && breaches.some((breach) => breach.standing === "counted");
    const badge = mark && row.mark !== "note" ? make("span", "badge " + mark[0], mark[1])
      : breaches ? make("span", "badge " + (isCounted ? "bad" : "warning"), "rule") : make("span", "badge");
    const link = make("span", "link " + row.side);
    if (row.conn) link.classList.add("c" + row.conn % 6);
    if (row.side !== "none") {
      link.append(make("i"));
      link.setAttribute("aria-label", { app: "from the app", board: "from the board", both: "both ways" }[row.side]);
    }
    const text = make("span", "text");
    for (const [part, style] of runsOf(row.text)) text.append(style ? make("span", style, part) : part);
    node.append(make("span", "time", clockTime(row.time)), make("span", "conn", row.conn ? String(row.conn) : ""),
      link, make("span", "label " + (styles[row.style] || ""), row.label), text, badge);
    return node;
  }

  get pickedCommand() {
    const row = this.model.rows[this.picked];
    return row && row.command ? row.command[0] : undefined;
  }

  pick(index, isCentred, seq) {
    const { rows } = this.model;
    if (index < 0 || index >= rows.length) return;
    this.picked = index;
    const row = rows[index];
    const place = this.placeOf(index);
    if (place >= 0) this.list.reveal(place, isCentred);
    $("rows").setAttribute("aria-activedescendant", "row-" + index);
    this.lanes.picked = row.time;
    this.lanes.reveal(row.time);
    this.lanes.later();
    this.list.refresh();
    const number = seq || row.seq || row.first;
    if (number) history.replaceState(null, "", this.hash(number));
    if (this.tab !== "event") this.showTab("event");
    this.detail.show(row, seq);
  }

  hash(seq) {
    return "#" + (config.sessions.length > 1 ? "session=" + this.session + "&" : "") + "seq=" + seq;
  }

  step(by) {
    const place = this.picked < 0 ? (by > 0 ? -1 : this.count) : this.shown
      ? lowerBound(this.shown.length, (at) => this.shown[at] >= this.picked) - (by > 0 && this.placeOf(this.picked) < 0 ? 1 : 0)
      : this.picked;
    const next = Math.max(0, Math.min(this.count - 1, place + by));
    if (this.count) this.stay(), this.pick(Math.min(this.indexAt(next), this.model.rows.length - 1));
  }

  // The next or last row that something is wrong with.
  stepTrouble(by) {
    const { troubles } = this.model;
    const inSight = (index) => this.placeOf(index) >= 0;
    const at = lowerBound(troubles.length, (at) => troubles[at] > this.picked);
    let place = by > 0 ? at : at - 1 - (troubles[at - 1] === this.picked ? 1 : 0);
    while (place >= 0 && place < troubles.length && !inSight(troubles[place])) place += by;
    if (place < 0 || place >= troubles.length) return announce("nothing more that stands out");
    this.stay();
    this.pick(troubles[place], true);
  }

  stay() { this.setFollow(false); }

  setFollow(isOn) {
    if (this.follows === isOn) return;
    this.follows = isOn;
    $("follow").setAttribute("aria-pressed", isOn);
    if (isOn) this.list.toEnd();
  }

  seen() {
    if (!config.live || this.isWhole) return;
    this.setFollow(this.list.isAtEnd);
  }

  // Part of the lanes is what the list shows.
  tellWindow() {
    const first = this.rowAt(this.list.first);
    const last = this.rowAt(Math.min(this.count - 1, this.list.first + this.list.room - 1));
    this.lanes.window = first && last && this.count > this.list.room ? [first.time, last.time] : null;
    this.lanes.later();
  }

  // MARK: Links

  readHash() {
    const words = new URLSearchParams(location.hash.slice(1));
    const session = Number(words.get("session") || 0);
    if (session !== this.session && session < config.sessions.length) {
      $("sessions").value = String(session);
      this.open(session);
    }
    const seq = Number(words.get("seq"));
    if (seq > 0) this.goTo(seq);
  }

  goTo(seq) {
    const { rows } = this.model;
    const last = this.store.blocks.length ? this.store.blocks[this.store.blocks.length - 1][1] : 0;
    const isHere = this.isWhole || last >= seq || (rows.length && Math.max(rows[rows.length - 1].seq, rows[rows.length - 1].last || 0) >= seq);
    this.wanted = isHere ? null : seq;
    if (!isHere) return;
    const index = this.model.rowOf(seq);
    if (index < 0) return announce("there is no event " + seq);
    this.stay();
    if (this.shown && this.placeOf(index) < 0) this.setFilter("");
    this.pick(index, true, rows[index].seq === seq ? undefined : seq);
  }

  // MARK: The filter

  setFilter(source) {
    clearTimeout(typing);
    if (this.filter && this.filter.source === source) return;
    if ($("filter").value !== source) $("filter").value = source;
    $("wrong").textContent = "";
    $("filter").removeAttribute("aria-invalid");
    const turn = this.filterTurn = (this.filterTurn || 0) + 1;
    if (!source.trim()) {
      this.filter = null;
      this.shown = null;
      this.list.set(this.count);
      this.list.refresh();
      if (this.picked >= 0) this.list.reveal(this.picked, true);
      this.update();
      return;
    }
    let test;
    try { test = parseFilter(source); } catch (error) {
      if (!(error instanceof FilterError)) throw error;
      $("wrong").textContent = error.message;
      $("filter").setAttribute("aria-invalid", "true");
      return;
    }
    this.filter = { source, test, turn, seqs: [], conns: [], block: 0, seen: 0, row: 0, commands: new Set() };
    this.shown = [];
    this.list.set(0);
    this.list.refresh();
    this.filterOn(this.filter);
  }

  // Looks at the events that it has not seen, some milliseconds at a time, then at the rows.
  async filterOn(filter) {
    if (filter.isAtWork) { filter.isDue = true; return; }
    filter.isAtWork = true;
    do {
      filter.isDue = false;
      const isEnd = () => this.filter !== filter;
      while (filter.block <= this.store.blocks.length) {
        const isOpen = filter.block >= this.store.blocks.length;
        let lines;
        try { lines = await this.store.lines(filter.block); } catch { break; }
        let started = performance.now();
        for (const line of lines) {
          const seq = numberIn(line);
          if (seq <= filter.seen) continue;
          filter.seen = seq;
          const event = ExactJSON.parse(line);
          if (filter.test(event)) {
            filter.seqs.push(seq);
            filter.conns.push(numberOf(member(event, "conn")) || 0);
          }
          if (performance.now() - started > 12) {
            await rest();
            if (isEnd()) return;
            started = performance.now();
          }
        }
        if (isEnd()) return;
        if (isOpen) break;
        filter.block++;
        this.filterRows(filter, false);
      }
      this.filterRows(filter, true);
      if (filter.isDue) await new Promise((done) => setTimeout(done, 200));
      if (isEnd()) return;
    } while (filter.isDue);
    filter.isAtWork = false;
    this.list.set(this.count);
    this.list.refresh();
    this.tellCounts();
    announce(counted(this.count, "line") + " of " + grouped(this.model.rows.length));
  }

  filterNew() { this.filterOn(this.filter); }

  // Chooses rows whose events were looked at.
  filterRows(filter, isAll) {
    const { rows } = this.model;
    for (; filter.row < rows.length; filter.row++) {
      const row = rows[filter.row];
      const last = row.breach ? 0 : row.last || row.seq || 0;
      if (last > filter.seen || (!last && !isAll)) break;
      if (this.isChosen(filter, row)) {
        this.shown.push(filter.row);
        if (row.command) filter.commands.add(row.command[0]);
      }
    }
    this.changed();
  }

  isChosen(filter, row) {
    const has = (first, last, conn) => {
      let at = lowerBound(filter.seqs.length, (at) => filter.seqs[at] >= first);
      for (; at < filter.seqs.length && filter.seqs[at] <= last; at++) {
        if (!conn || filter.conns[at] === conn) return true;
      }
      return false;
    };
    if (row.breach) return row.breach.events.some((seq) => has(seq, seq, 0));
    if (row.first) return has(row.first, row.last, row.conn);
    if (row.seq) return has(row.seq, row.seq, 0);
    // A command that was never answered is shown where it is.
    return row.command ? filter.commands.has(row.command[0]) : true;
  }

  // MARK: What is told of the whole

  tellState(state) {
    this.isWhole = state === "whole";
    const words = { loading: "reading …", live: "live", whole: "whole", away: "no connection; trying again" };
    $("state").textContent = words[state];
    $("state").className = state;
    $("follow").hidden = !config.live || this.isWhole;
    $("follow").setAttribute("aria-pressed", this.follows);
    if (this.isWhole) this.follows = false;
    this.changed();
  }

  tellCounts() {
    const { model } = this;
    const events = this.store.blocks.length ? this.store.blocks[this.store.blocks.length - 1][1] : 0;
    const last = model.rows[model.rows.length - 1];
    const { outcomes } = model;
    const broken = model.brokenRules.size;
    const chips = [
      ["", counted(Math.max(events, last ? last.seq || last.last || 0 : 0), "event")],
      ["", counted(model.commands.size, "command")],
      ["warning", outcomes.failed && grouped(outcomes.failed) + " failed"],
      ["bad", outcomes.late && grouped(outcomes.late) + " late"],
      ["bad", outcomes.unanswered && grouped(outcomes.unanswered) + " without an answer"],
      ["bad", outcomes.doubled && grouped(outcomes.doubled) + " answered twice"],
      ["bad", broken && counted(broken, "rule") + " broken"],
      ["bad", model.left && counted(model.left, "line") + " more are not shown"],
    ];
    $("counts").replaceChildren(...chips.filter(([, text]) => text).map(([kind, text]) => make("span", kind, text)));
    const name = model.about.name || config.sessions[this.session];
    $("lanes").setAttribute("aria-label", "Time lanes of " + name + ": "
      + counted(model.connections.size, "connection") + ", " + counted(model.commands.size, "command") + ", "
      + counted(model.troubles.length, "place") + " that stand out; the list below has all of it as text");
    $("found").textContent = this.filter ? counted(this.count, "line") : "";
    $("empty").hidden = this.count > 0;
    $("empty").textContent = this.filter ? "Nothing matches the filter." : "Nothing yet.";
  }

  // MARK: The tabs

  showTab(name) {
    this.tab = name;
    for (const tab of document.querySelectorAll("[role=tab]")) {
      const isOn = tab.dataset.tab === name;
      tab.setAttribute("aria-selected", isOn);
      tab.tabIndex = isOn ? 0 : -1;
      $(tab.dataset.tab).hidden = !isOn;
    }
    if (name === "charts") this.drawCharts();
    if (name === "rules") this.drawRules();
    if (name === "about") this.drawAbout();
  }

  drawCharts() {
    const width = Math.max(420, $("charts").clientWidth - 30);
    const pick = (index) => this.pick(index, true);
    $("charts").replaceChildren(make("h2", "", "Latency by type of command"),
      latencyChart(this.model, width, pick), make("h2", "", "Time between heartbeats"),
      heartbeatChart(this.model, width));
  }

  drawRules() {
    const { breaches } = this.model;
    if (this.rulesDrawn === breaches && this.rulesCount === breaches.length) return;
    this.rulesDrawn = breaches;
    this.rulesCount = breaches.length;
    const rules = new Map();
    for (const breach of breaches) {
      if (!rules.has(breach.id)) rules.set(breach.id, []);
      rules.get(breach.id).push(breach);
    }
    if (!rules.size) {
      $("rules").replaceChildren(make("p", "dim", "No rule is broken so far."));
      return;
    }
    const order = [...rules.values()].sort((a, b) =>
      (b[0].standing === "counted") - (a[0].standing === "counted") || a[0].time - b[0].time);
    $("rules").replaceChildren(...order.map((list) => {
      const [first] = list;
      const counts = first.standing === "counted";
      const box = make("section", "warn " + (counts ? "bad" : "warning"),
        make("strong", "", first.id), "  " + first.side + ", " + counted(list.length, "time"), make("br"),
        first.demand, make("br"),
        make("span", "dim", first.section + (counts ? "" : "; does not count" + (first.words ? ": " + first.words : ""))));
      const places = make("ol", "");
      for (const breach of list.slice(0, 50)) {
        const item = make("li", "", button(clockTime(breach.time) + "  " + breach.text,
          () => this.pick(breach.row, true), "plain"));
        places.append(item);
      }
      if (list.length > 50) places.append(make("li", "dim", "and " + grouped(list.length - 50) + " more"));
      box.append(places);
      return box;
    }));
  }

  drawAbout() {
    const { about, summary, connections } = this.model;
    const labels = (about.labels || []).map(([name, value]) => ["label " + name, value]);
    $("about").replaceChildren(make("h2", "", about.name || ""), facts([
      ["session", about.id], ["began", about.startedAt], ["source", about.source], ["listened on", about.listen],
      ["went to", about.upstream], ["interface", about.interface], ["contract", about.contract],
      ["recorded by", about.tool], ["part", about.part], ["redacted", about.redacted ? "yes" : null],
      ...labels, ["connections", grouped(connections.size)], ["in short", summary],
    ]), make("div", "tools", copyButton("Copy replay command", "command", () => about.replay || "")));
  }
}

const view = new View();

// MARK: Keys

const keys = {
  "/": () => { $("filter").focus(); $("filter").select(); },
  j: () => view.step(1), ArrowDown: () => view.step(1),
  k: () => view.step(-1), ArrowUp: () => view.step(-1),
  PageDown: () => view.step(Math.max(1, view.list.room - 2)),
  PageUp: () => view.step(-Math.max(1, view.list.room - 2)),
  g: () => { view.stay(); if (view.count) view.pick(view.indexAt(0)); },
  Home: () => keys.g(),
  G: () => {
    if (!view.count) return;
    view.pick(Math.min(view.indexAt(view.count - 1), view.model.rows.length - 1));
    if (config.live && !view.isWhole) view.setFollow(true);
  },
  End: () => keys.G(),
  n: () => view.stepTrouble(1),
  p: () => view.stepTrouble(-1),
  f: () => { if (config.live && !view.isWhole) view.setFollow(!view.follows); },
  "+": () => view.lanes.zoom(0.6), "-": () => view.lanes.zoom(1 / 0.6), "0": () => view.lanes.fit(),
  "?": () => $("help").showModal(),
  Escape: () => { if ($("filter").value || view.filter) view.setFilter(""); },
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || $("help").open) return;
  const target = event.target;
  if (target === $("filter")) {
    if (event.key === "Escape") {
      view.setFilter("");
      $("rows").focus();
    } else if (event.key === "Enter") {
      view.setFilter(target.value);
      $("rows").focus();
    }
    return;
  }
  const isText = target.closest("input, select, textarea");
  const isInPanel = target.closest("pre, #panel") && /^(Arrow|Page|Home|End)/.test(event.key);
  if (isText || isInPanel || (target === $("lanes") && /^Arrow/.test(event.key))) return;
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

$("lanes").addEventListener("keydown", (event) => {
  const span = view.lanes.to - view.lanes.from;
  if (event.key === "ArrowLeft") view.lanes.show(view.lanes.from - span / 5, view.lanes.to - span / 5);
  else if (event.key === "ArrowRight") view.lanes.show(view.lanes.from + span / 5, view.lanes.to + span / 5);
  else return;
  event.preventDefault();
});

$("filter").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => view.setFilter($("filter").value), 200);
});
$("follow").addEventListener("click", () => view.setFollow(!view.follows));
$("zoom-in").addEventListener("click", () => view.lanes.zoom(0.6));
$("zoom-out").addEventListener("click", () => view.lanes.zoom(1 / 0.6));
$("zoom-fit").addEventListener("click", () => view.lanes.fit());
$("keys").addEventListener("click", () => $("help").showModal());
$("help-close").addEventListener("click", () => $("help").close());
$("next-trouble").addEventListener("click", () => view.stepTrouble(1));
for (const tab of document.querySelectorAll("[role=tab]")) {
  tab.addEventListener("click", () => view.showTab(tab.dataset.tab));
  tab.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    event.stopPropagation();
    const tabs = [...document.querySelectorAll("[role=tab]")];
    const next = tabs[(tabs.indexOf(tab) + (event.key === "ArrowRight" ? 1 : tabs.length - 1)) % tabs.length];
    view.showTab(next.dataset.tab);
    next.focus();
  });
}
const sessions = $("sessions");
config.sessions.forEach((name, index) => {
  const option = make("option", "", name);
  option.value = String(index);
  sessions.append(option);
});
// Two sessions side by side are a page of their own, which the server makes, or which lies within.
const compare = $("compare");
const pairs = config.comparisons || [];
compare.hidden = config.live ? config.sessions.length < 2 : pairs.length === 0;
config.sessions.forEach((name, index) => {
  if (!config.live && !pairs.some((pair) => pair.includes(index))) return;
  const option = make("option", "", name);
  option.value = String(index);
  compare.append(option);
});
compare.addEventListener("change", () => {
  const other = compare.value;
  compare.value = "";
  if (other === "" || Number(other) === view.session) return;
  if (!config.live) {
    const pair = pairs.find((pair) => pair.includes(Number(other)) && pair.includes(view.session));
    if (pair) openInside("compare-" + pair.join("-"));
    else announce("These two are not side by side in this file.");
    return;
  }
  location.assign(new URL("compare/" + view.session + "/" + other, location.href.split("#")[0]));
});
sessions.addEventListener("change", () => {
  history.replaceState(null, "", "#session=" + sessions.value);
  view.open(Number(sessions.value));
});
window.addEventListener("hashchange", () => view.readHash());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => view.lanes.later());

const asked = Number(new URLSearchParams(location.hash.slice(1)).get("session") || 0);
sessions.value = String(asked < config.sessions.length ? asked : 0);
view.open(Number(sessions.value));
view.readHash();
view.showTab(config.tab || "event");
$("rows").focus({ preventScroll: true });

"""##

private let pageStyle = ##"""
:root {
  --strong: #0b5cad; --picked: #0b5cad; --sight: #e9eef6; --same: #e7f0fb; --hover: #f0f2f5;
  --socket: #3b7ddd; --queue: #8250df; --plain: #8b94a1; --on: #ffffff; --span: #4c9aff; --note: #68707b;
  --active: #cdebd3; --away: #dcdfe5; --inactive: #f6e2b8; --string: #0a6b3d; --name: #6f42c1;
}
@media (prefers-color-scheme: dark) {
  :root {
    --strong: #6cb2f5; --picked: #6cb2f5; --sight: #20262f; --same: #1d2b3d; --hover: #1f242c;
    --socket: #3f74bf; --queue: #8058c8; --plain: #5d6673; --on: #ffffff; --span: #4a90e2; --note: #8b94a1;
    --active: #1f4a2b; --away: #343a44; --inactive: #54431c; --string: #7fd2a2; --name: #c3a6ff;
  }
}
html, body { height: 100%; margin: 0; }
body {
  display: flex; flex-direction: column; background: var(--back); color: var(--text);
  font: 13px/1.45 system-ui, "DejaVu Sans", sans-serif; overflow: hidden;
}
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
[hidden] { display: none !important; }
button, select, input { font: inherit; color: inherit; }
button, select {
  border: 1px solid var(--edge); border-radius: 5px; background: var(--back); padding: 2px 9px; cursor: pointer;
}
button:hover { background: var(--hover); }
button[aria-pressed="true"] { background: var(--picked); border-color: var(--picked); color: var(--back); }
:focus-visible { outline: 2px solid var(--picked); outline-offset: 1px; }
#top {
  display: flex; align-items: center; gap: 10px; padding: 6px 12px; background: var(--panel);
  border-bottom: 1px solid var(--edge); flex: none;
}
h1 { font-size: 14px; margin: 0; }
#sessions, #compare { max-width: 24em; min-width: 0; text-overflow: ellipsis; }
#state { color: var(--dim); white-space: nowrap; }
#state.live { color: var(--good); font-weight: 600; }
#state.live::before { content: "● "; }
#state.away { color: var(--bad); }
#state.whole { display: none; }
#counts { margin: 0; display: flex; gap: 6px; flex-wrap: wrap; min-width: 0; }
#counts span { padding: 1px 8px; border-radius: 10px; background: var(--back); border: 1px solid var(--edge); white-space: nowrap; }
#counts .bad { color: var(--bad); border-color: currentColor; }
#counts .warning { color: var(--warning); border-color: currentColor; }
.room { flex: 1; }
#time { flex: none; position: relative; border-bottom: 1px solid var(--edge); padding: 4px 0; }
#lanes { display: block; width: 100%; height: 120px; cursor: crosshair; touch-action: none; }
#zoom { position: absolute; right: 6px; bottom: 6px; display: flex; gap: 3px; opacity: 0.35; }
#time:hover #zoom, #zoom:focus-within { opacity: 1; }
#zoom button { padding: 0 6px; min-width: 24px; background: var(--panel); }
#page { flex: 1; display: flex; min-height: 0; }
main { flex: 1; display: flex; flex-direction: column; min-width: 0; }
#asking {
  display: flex; align-items: center; gap: 8px; padding: 5px 12px; flex: none; flex-wrap: wrap;
  border-bottom: 1px solid var(--edge);
}
#asking label { color: var(--dim); }
#filter {
  flex: 1; min-width: 12em; border: 1px solid var(--edge); border-radius: 5px; background: var(--back); padding: 3px 8px;
  font: 12px ui-monospace, "DejaVu Sans Mono", monospace;
}
#filter[aria-invalid="true"] { border-color: var(--bad); }
#filter::placeholder { color: var(--dim); opacity: 0.75; }
#found { color: var(--dim); white-space: nowrap; }
#wrong { color: var(--bad); }
#wrong:not(:empty) { flex-basis: 100%; }
#columns, .row {
  display: grid; grid-template-columns: 10ch 3.5ch 84px 10ch minmax(0, 1fr) auto; column-gap: 8px; padding: 0 12px;
  font: 12px/22px ui-monospace, "DejaVu Sans Mono", monospace;
}
#columns { color: var(--dim); border-bottom: 1px solid var(--edge); flex: none; font-size: 11px; padding-right: 24px; }
#columns .both { display: flex; justify-content: space-between; }
#columns span:nth-child(1), #columns span:nth-child(2) { text-align: right; }
#body { position: relative; flex: 1; min-height: 0; display: flex; }
#rows { flex: 1; overflow-y: scroll; overflow-x: hidden; overflow-anchor: none; }
#rows:focus-visible { outline-width: 1px; outline-offset: -1px; }
#empty { position: absolute; inset: 40px 0 auto; text-align: center; color: var(--dim); margin: 0; }
.pad { position: relative; }
.row { position: absolute; left: 0; right: 0; height: 22px; white-space: pre; cursor: default; contain: strict; }
.row > span { overflow: hidden; text-overflow: ellipsis; }
.row:hover { background: var(--hover); }
.row.same { background: var(--same); }
.row.is-bad { background: var(--red); }
.row.picked { background: var(--same); box-shadow: inset 3px 0 0 var(--picked), inset 0 0 0 1px var(--picked); }
.row.fold, .row.pending { color: var(--dim); }
.row.pending { font-style: italic; }
.time, .conn { color: var(--dim); text-align: right; }
.label { font-weight: 600; }
.row.fold .label { font-weight: normal; }
.link { position: relative; --line: var(--plain); }
.link.c0 { --line: #3b7ddd; } .link.c1 { --line: #8250df; } .link.c2 { --line: #0d8a8a; }
.link.c3 { --line: #c06a12; } .link.c4 { --line: #b4479b; } .link.c5 { --line: #5b7f1e; }
.link::before { content: ""; position: absolute; left: 3px; right: 3px; top: 0; bottom: 0; border: 1px solid var(--edge); border-width: 0 1px; }
.link i { position: absolute; left: 4px; right: 4px; top: 10px; height: 2px; background: var(--line); }
.link i::before, .link i::after { content: ""; position: absolute; top: -4px; border: 5px solid transparent; border-width: 5px 7px; display: none; }
.link.app i::after { display: block; right: -7px; border-left-color: var(--line); }
.link.board i::before { display: block; left: -7px; border-right-color: var(--line); }
.link.both i { background: repeating-linear-gradient(90deg, var(--line) 0 3px, transparent 3px 7px); }
.badge { font: 11px/16px system-ui, "DejaVu Sans", sans-serif; align-self: center; }
.badge.bad, .badge.warning, .badge.note { padding: 0 7px; border-radius: 8px; color: var(--back); background: var(--note); }
.badge.bad { background: var(--bad); }
.badge.warning { background: var(--warning); }
.dim { color: var(--dim); }
.strong { color: var(--strong); }
.good { color: var(--good); }
.bad { color: var(--bad); }
.warning { color: var(--warning); }
#panel {
  width: 40%; min-width: 360px; max-width: 720px; flex: none; display: flex; flex-direction: column; min-height: 0;
  border-left: 1px solid var(--edge); background: var(--panel);
}
[role="tablist"] { display: flex; gap: 2px; padding: 5px 10px 0; border-bottom: 1px solid var(--edge); flex: none; }
[role="tab"] { border: 0; border-bottom: 2px solid transparent; border-radius: 0; background: none; padding: 3px 10px 5px; }
[role="tab"][aria-selected="true"] { border-bottom-color: var(--picked); font-weight: 600; }
[role="tabpanel"] { flex: 1; overflow: auto; padding: 10px 14px; min-height: 0; outline-offset: -2px; }
#panel h2 { font-size: 13px; margin: 4px 0 8px; overflow-wrap: anywhere; font-weight: normal; }
#panel h2 .label { font-weight: 600; }
#charts h2, #about h2 { font-weight: 600; }
.warn { border-left: 3px solid currentColor; padding: 5px 10px; margin: 0 0 8px; background: var(--back); overflow-wrap: anywhere; }
.warn.bad strong { color: var(--bad); }
.warn.bad, .warn.warning { color: var(--text); border-left-color: var(--bad); }
.warn.warning { border-left-color: var(--warning); }
.warn ol { margin: 4px 0 0; padding: 0; list-style: none; max-height: 16em; overflow: auto; }
button.plain { border: 0; background: none; padding: 0; text-align: left; color: var(--strong); }
button.plain:hover { text-decoration: underline; }
a { color: var(--strong); }
.card { background: var(--back); border: 1px solid var(--edge); border-radius: 6px; padding: 8px 10px; margin: 0 0 8px; }
.spanline { position: relative; height: 12px; margin: 0 0 8px; background: var(--sight); border-radius: 2px; }
.bar { position: absolute; left: 0; top: 2px; bottom: 2px; background: var(--span); border-radius: 2px; }
.bar.late { background: var(--bad); }
.bar.failed { background: var(--warning); }
.bar.unanswered { background: none; border: 1px solid var(--bad); }
.bar.open { background: none; border: 1px dashed var(--dim); }
.tick { position: absolute; top: -2px; bottom: -2px; width: 2px; background: var(--text); }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: 1px 12px; margin: 4px 0; }
.facts dt { color: var(--dim); }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.tools { display: flex; gap: 6px; flex-wrap: wrap; margin: 0 0 8px; }
details { border-top: 1px solid var(--edge); padding: 4px 0; }
summary { cursor: pointer; color: var(--dim); font-size: 12px; padding: 2px 0; }
pre, code { font: 12px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
pre {
  margin: 4px 0; padding: 6px 8px; background: var(--back); border: 1px solid var(--edge); border-radius: 4px;
  white-space: pre-wrap; overflow-wrap: anywhere; max-height: 60vh; overflow: auto;
}
.json .name { color: var(--name); }
.json .string { color: var(--string); }
.json .number, .json .word { color: var(--strong); }
.cut { color: var(--warning); }
.counted ol { margin: 4px 0; padding-left: 0; list-style: none; font: 12px/1.6 ui-monospace, "DejaVu Sans Mono", monospace; }
#said {
  position: fixed; left: 50%; bottom: 18px; transform: translateX(-50%); margin: 0; padding: 5px 14px; border-radius: 14px;
  background: var(--text); color: var(--back); pointer-events: none;
}
#said:empty { display: none; }
dialog { border: 1px solid var(--edge); border-radius: 8px; background: var(--panel); color: inherit; max-width: 620px; }
dialog::backdrop { background: rgb(0 0 0 / 0.35); }
dialog h2 { font-size: 14px; margin: 6px 0; }
dialog dl { display: grid; grid-template-columns: max-content 1fr; gap: 3px 14px; margin: 0 0 10px; align-items: center; }
dialog dd { margin: 0; }
kbd {
  border: 1px solid var(--edge); border-radius: 3px; padding: 0 5px; background: var(--back);
  font: 11px ui-monospace, "DejaVu Sans Mono", monospace;
}
.key { display: inline-block; width: 34px; height: 9px; border-radius: 2px; vertical-align: middle; }
.key.socket { background: var(--socket); } .key.queue { background: var(--queue); } .key.plain { background: var(--plain); }
.key.span { background: var(--span); } .key.late { background: var(--bad); } .key.failed { background: var(--warning); }
.key.unanswered { border: 1px solid var(--bad); }
svg { display: block; max-width: 100%; height: auto; }
svg text { fill: var(--text); font: 11px system-ui, "DejaVu Sans", sans-serif; }
svg .tick { fill: var(--dim); }
svg .grid { stroke: var(--edge); }
svg .limit { stroke: var(--dim); stroke-dasharray: 4 4; }
svg .limit.bad { stroke: var(--bad); }
svg .box { fill: var(--same); stroke: var(--span); }
svg .median { stroke: var(--span); stroke-width: 2; }
svg .high { stroke: var(--dim); stroke-dasharray: 2 2; }
svg .dot { fill: var(--span); fill-opacity: 0.75; cursor: pointer; }
svg .dot.failed { fill: var(--warning); }
svg .dot.late { fill: var(--bad); }
.figures { border-collapse: collapse; margin: 8px 0 16px; font-size: 11px; display: block; overflow-x: auto; }
.figures th { color: var(--dim); font-weight: normal; }
.figures th, .figures td { text-align: right; padding: 2px 8px 2px 0; white-space: nowrap; }
.figures th:first-child, .figures td:first-child { text-align: left; }
noscript { padding: 14px; }
@media (max-width: 1000px) {
  #page { flex-direction: column; }
  #panel { width: auto; max-width: none; min-width: 0; height: 45%; border-left: 0; border-top: 1px solid var(--edge); }
}
@media (prefers-reduced-motion: no-preference) { #zoom { transition: opacity 0.15s; } }

"""##

private let pageBody = ##"""
<header id="top">
<h1>bridgetap</h1>
<label for="sessions" class="hidden">Session</label>
<select id="sessions"></select>
<span id="state" role="status"></span>
<label for="compare" class="hidden">Compare with another session</label>
<select id="compare" hidden><option value="">Compare with …</option></select>
<p id="counts"></p>
<span class="room"></span>
<button type="button" id="next-trouble" title="the next line that stands out (n)">Next trouble</button>
<button type="button" id="follow" aria-pressed="false" title="stay at the end (f)" hidden>Follow</button>
<button type="button" id="keys" title="keys (?)" aria-label="Keys">?</button>
</header>
<section id="time" aria-label="Lanes">
<canvas id="lanes" tabindex="0" role="img"></canvas>
<div id="zoom">
<button type="button" id="zoom-in" title="closer (+)" aria-label="Closer">+</button>
<button type="button" id="zoom-out" title="farther (-)" aria-label="Farther">−</button>
<button type="button" id="zoom-fit" title="all of it (0)" aria-label="All of it">↔</button>
</div>
</section>
<div id="page">
<main>
<div id="asking" role="search">
<label for="filter">Filter</label>
<input id="filter" type="text" spellcheck="false" autocomplete="off" autocapitalize="off" placeholder="result late=true   ·   type=calendar_create   ·   text~&quot;event_id&quot;   ·   not heartbeat" aria-describedby="wrong">
<span id="found"></span>
<span id="wrong" role="alert"></span>
</div>
<div id="columns" aria-hidden="true"><span>time</span><span>link</span><span class="both"><span>app</span><span>board</span></span><span>what</span><span></span><span></span></div>
<div id="body">
<div id="rows" tabindex="0" role="listbox" aria-label="What happened"></div>
<p id="empty" hidden></p>
</div>
</main>
<aside id="panel" aria-label="Details">
<div role="tablist" aria-label="Details">
<button type="button" role="tab" data-tab="event" id="tab-event" aria-controls="event">Event</button>
<button type="button" role="tab" data-tab="rules" id="tab-rules" aria-controls="rules">Rules</button>
<button type="button" role="tab" data-tab="charts" id="tab-charts" aria-controls="charts">Charts</button>
<button type="button" role="tab" data-tab="about" id="tab-about" aria-controls="about">Session</button>
</div>
<div role="tabpanel" id="event" aria-labelledby="tab-event" tabindex="0"></div>
<div role="tabpanel" id="rules" aria-labelledby="tab-rules" tabindex="0" hidden></div>
<div role="tabpanel" id="charts" aria-labelledby="tab-charts" tabindex="0" hidden></div>
<div role="tabpanel" id="about" aria-labelledby="tab-about" tabindex="0" hidden></div>
</aside>
</div>
<p id="said" role="status" aria-live="polite"></p>
<dialog id="help" aria-label="Keys">
<h2>Keys</h2>
<dl>
<dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next and previous line</dd>
<dt><kbd>g</kbd> <kbd>G</kbd></dt><dd>first and last line; at the last one a recording is followed</dd>
<dt><kbd>n</kbd> <kbd>p</kbd></dt><dd>next and previous line that stands out</dd>
<dt><kbd>/</kbd></dt><dd>filter, in the language of <code>bridgetap show --help</code></dd>
<dt><kbd>Esc</kbd></dt><dd>no filter</dd>
<dt><kbd>f</kbd></dt><dd>follow a recording, or stay</dd>
<dt><kbd>+</kbd> <kbd>-</kbd> <kbd>0</kbd></dt><dd>the lanes closer, farther, all of it; drag to move them</dd>
</dl>
<h2>Lanes</h2>
<dl id="legend">
<dt><i class="key socket"></i></dt><dd>WebSocket</dd>
<dt><i class="key queue"></i></dt><dd>connection that polls or fills the queue</dd>
<dt><i class="key plain"></i></dt><dd>other HTTP</dd>
<dt><i class="key span"></i></dt><dd>command, from sending to result</dd>
<dt><i class="key late"></i></dt><dd>its part behind the time-out</dd>
<dt><i class="key failed"></i></dt><dd>answered with an error</dd>
<dt><i class="key unanswered"></i></dt><dd>never answered</dd>
<dt class="bad">▲</dt><dd>broken rule, gap, invalid frame</dd>
<dt class="warning">◆</dt><dd>injected fault</dd>
</dl>
<p><button type="button" id="help-close">Close</button></p>
</dialog>
<noscript>The session is shown by a script of this page, which loads nothing from elsewhere.</noscript>

"""##
