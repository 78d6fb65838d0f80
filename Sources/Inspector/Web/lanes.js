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
