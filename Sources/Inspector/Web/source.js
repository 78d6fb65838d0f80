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
