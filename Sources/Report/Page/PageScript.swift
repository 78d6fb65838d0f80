/// What makes a page move: plain JavaScript, which makes text of what the data blocks say and
/// never markup.
enum PageScript {
    /// The script.
    static let text = #"""

        (function () {
          "use strict";
          const $ = (id) => document.getElementById(id);
          const parse = (node) => JSON.parse(node.textContent);
          const sessions = [...document.querySelectorAll("script.about")].map(parse)
            .sort((a, b) => a.index - b.index);
          let current = null;   // the session that is shown, with its items and rows
          let picked = { item: -1, line: -1 };

          function make(tag, className, text) {
            const node = document.createElement(tag);
            if (className) node.className = className;
            if (text !== undefined) node.textContent = text;
            return node;
          }

          // A list of any length: only what is in sight is there.
          class List {
            constructor(box, height, draw) {
              this.box = box;
              this.height = height;
              this.draw = draw;
              this.count = 0;
              this.pad = make("div", "pad");
              box.replaceChildren(this.pad);
              box.addEventListener("scroll", () => this.later());
              new ResizeObserver(() => this.later()).observe(box);
            }
            later() {
              if (this.waits) return;
              this.waits = true;
              requestAnimationFrame(() => { this.waits = false; this.show(); });
            }
            set(count) {
              this.count = count;
              this.pad.style.height = count * this.height + "px";
              this.show();
            }
            show() {
              const from = Math.max(0, Math.floor(this.box.scrollTop / this.height) - 8);
              const room = Math.ceil(this.box.clientHeight / this.height) + 16;
              const nodes = [];
              for (let i = from; i < Math.min(this.count, from + room); i++) {
                const node = this.draw(i);
                node.style.top = i * this.height + "px";
                nodes.push(node);
              }
              this.pad.replaceChildren(...nodes);
            }
            reveal(index, centred) {
              const top = index * this.height;
              const room = this.box.clientHeight - this.height;
              if (centred) this.box.scrollTop = top - room / 2;
              else if (top < this.box.scrollTop) this.box.scrollTop = top;
              else if (top > this.box.scrollTop + room) this.box.scrollTop = top - room;
              this.show();
            }
          }

          const outcomeClass = (item) =>
            item.counts ? "bad" : item.outcome === "skipped" ? "warning" : "good";

          const items = new List($("items"), 42, (place) => {
            const index = current.shown[place];
            const item = current.items[index];
            const node = make("div", "item" + (index === picked.item ? " picked" : ""));
            node.setAttribute("role", "option");
            node.setAttribute("aria-selected", index === picked.item);
            const head = make("div");
            head.append(make("span", "word " + outcomeClass(item), item.outcome),
              make("span", "", "  " + item.group));
            node.append(head, make("div", "", item.kind + " " + item.name));
            node.addEventListener("click", () => pickItem(index));
            return node;
          });

          function cell(row) {
            const node = make("div");
            if (!row) {
              node.className = "none";
              return node;
            }
            const [time, conn, direction, label, broken, runs] = row;
            node.append(make("span", "bad", broken ? "!" : ""), make("span", "dim", time),
              make("span", "dim", conn), make("span", "", direction), make("span", "", label));
            const text = make("span");
            for (let i = 0; i < runs.length; i += 2) text.append(make("span", runs[i], runs[i + 1]));
            node.append(text);
            return node;
          }

          const lines = new List($("rows"), 22, (index) => {
            const [left, right, which] = current.rows.lines[index];
            const item = current.items[which];
            let name = "line";
            if (item && item.counts) name += " counts";
            if (item && which === picked.item) name += " same";
            if (item && item.outcome === "skipped") name += " skipped";
            if (index === picked.line) name += " picked";
            const node = make("div", name);
            node.setAttribute("role", "option");
            node.setAttribute("aria-selected", index === picked.line);
            node.append(cell(current.rows.first[left]), cell(current.rows.second[right]));
            node.addEventListener("click", () => pickLine(index));
            return node;
          });

          function rowText(row) {
            if (!row) return "";
            const [time, conn, direction, label, , runs] = row;
            return [time, conn, direction, label, runs.filter((_, i) => i % 2).join("")]
              .filter((part) => part !== "").join("  ");
          }

          function table(names, rows) {
            const node = make("table");
            const head = make("tr");
            for (const name of names) head.append(make("th", "", name));
            node.append(head);
            for (const [className, cells] of rows) {
              const line = make("tr", className);
              for (const text of cells) line.append(make("td", "", text));
              node.append(line);
            }
            return node;
          }

          function tell() {
            const box = $("detail");
            const parts = [];
            const item = current.items[picked.item];
            if (item) {
              const head = make("h2");
              head.append(make("span", outcomeClass(item), item.outcome),
                make("span", "", "  " + item.group + " " + item.name));
              parts.push(head);
              for (const text of item.remarks || []) parts.push(make("p", "", text));
              if (item.differences) {
                const rows = item.differences.map(([path, a, b, why, counts]) =>
                  [counts ? "" : "dim", [path, a, b, why]]);
                parts.push(table(["", current.first, current.second, ""], rows));
              }
            }
            const line = current.rows.lines[picked.line];
            if (line) {
              parts.push(table(["", "event"], [
                ["", [current.first, rowText(current.rows.first[line[0]])]],
                ["", [current.second, rowText(current.rows.second[line[1]])]],
              ].filter(([, cells]) => cells[1] !== "")));
            }
            if (!item && !line) {
              for (const text of current.remarks) parts.push(make("p", "", text));
            }
            if (current.again && (current.different || !line)) {
              const again = make("p", "dim", "again: ");
              again.append(make("code", "", current.again));
              parts.push(again);
            }
            box.replaceChildren(...parts);
            box.scrollTop = 0;
          }

          function redraw() {
            items.show();
            lines.show();
            tell();
          }

          function pickItem(index) {
            const item = current.items[index];
            picked = { item: index, line: item.lines.length ? item.lines[0] : -1 };
            if (picked.line >= 0) lines.reveal(picked.line, true);
            const place = current.shown.indexOf(index);
            if (place >= 0) items.reveal(place, false);
            redraw();
          }

          function pickLine(index) {
            if (index < 0 || index >= current.rows.lines.length) return;
            picked = { item: current.rows.lines[index][2], line: index };
            lines.reveal(index, false);
            const place = current.shown.indexOf(picked.item);
            if (place >= 0) items.reveal(place, false);
            redraw();
          }

          function fillItems() {
            const all = $("all").checked;
            current.shown = current.items.map((_, index) => index).filter((index) =>
              all || current.items[index].counts || current.items[index].outcome === "skipped");
            items.set(current.shown.length);
          }

          // Differences in the order in which they took place, those of the whole behind them.
          function differences(session) {
            const place = (item) => item.lines.length ? item.lines[0] : Infinity;
            return session.items.map((_, index) => index)
              .filter((index) => session.items[index].counts)
              .sort((a, b) => place(session.items[a]) - place(session.items[b]) || a - b);
          }

          function open(session, atEnd) {
            if (!session.items) {
              session.items = parse($("items-" + session.index));
              session.order = differences(session);
            }
            if (current && current !== session) current.rows = null;   // what is big goes first
            session.rows = session.rows || parse($("rows-" + session.index));
            current = session;
            picked = { item: -1, line: -1 };
            $("look").hidden = !session.inside;
            $("look").dataset.inside = "inside-" + session.index;
            $("first").textContent = session.first;
            $("second").textContent = session.second;
            for (const button of $("sessions").children) {
              const isCurrent = button.session === session;
              button.setAttribute("aria-current", isCurrent);
              if (isCurrent) button.scrollIntoView({ block: "nearest" });
            }
            $("sum").textContent = overall + session.name + ": " + session.summary;
            fillItems();
            lines.set(session.rows.lines.length);
            const bar = $("rows").offsetWidth - $("rows").clientWidth;
            $("names").style.paddingRight = bar + "px";
            const target = session.order[atEnd ? session.order.length - 1 : 0];
            if (target !== undefined) pickItem(target);
            else { lines.reveal(0, false); redraw(); }
          }

          // To the next difference, in this session or in the next one that has any.
          function step(by) {
            const order = current.order;
            let place = order.indexOf(picked.item);
            if (place < 0 && picked.line >= 0) {
              const behind = order.findIndex((i) => current.items[i].lines[0] > picked.line);
              place = behind < 0 ? order.length : by > 0 ? behind - 1 : behind;
            }
            const next = order[place + by];
            if (next !== undefined) return pickItem(next);
            for (let i = sessions.indexOf(current) + by; sessions[i]; i += by) {
              if (sessions[i].different) return open(sessions[i], by < 0);
            }
          }

          const red = sessions.filter((session) => session.different).length;
          const overall = sessions.length > 1
            ? red + " of " + sessions.length + " sessions to look at · " : "";
          if (sessions.length > 1) {
            for (const session of sessions) {
              const button = make("button");
              button.session = session;
              button.title = session.name + ": " + session.summary;
              button.append(make("span", session.different ? "bad word" : "good", session.verdict));
              const name = make("span");
              name.append(make("bdi", "", session.name));
              button.append(name);
              button.addEventListener("click", () => open(session));
              $("sessions").append(button);
            }
          }
          $("all").addEventListener("change", fillItems);
          document.addEventListener("keydown", (event) => {
            if (event.ctrlKey || event.metaKey || event.altKey || !current) return;
            switch (event.key) {
              case "n": step(1); break;
              case "p": step(-1); break;
              case "j": case "ArrowDown": pickLine(picked.line + 1); break;
              case "k": case "ArrowUp": pickLine(Math.max(0, picked.line - 1)); break;
              default: return;
            }
            event.preventDefault();
          });
          if (sessions.length) open(sessions.find((session) => session.different) || sessions[0]);
        })();

        """# + InsidePage.script
}
