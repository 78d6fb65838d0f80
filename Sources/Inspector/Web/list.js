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
