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
