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
