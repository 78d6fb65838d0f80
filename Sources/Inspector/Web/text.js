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
