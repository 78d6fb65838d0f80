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
