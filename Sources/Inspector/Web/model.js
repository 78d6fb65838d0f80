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
