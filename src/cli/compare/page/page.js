"use strict";
// The page's script: sorting, the target, the pair, its texts side by side, and what comes from which line. Everything chosen is in the
// address behind `#`, so that a link shows the same.
(() => {
  const strings = JSON.parse(document.getElementById("strings").textContent);
  const node = (tag, cls, text) => {
    const made = document.createElement(tag);
    if (cls) made.className = cls;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  // What of a line is a name that a compiler made up: two lines that differ in no more are the same line.
  const made = { ptx: /%[a-z]+\d+|\$L\d+/g, sass: /\bU?[RP]\d+\b|\.L_x_\d+/g, opencl: /\bv\d+\b/g };
  const lexer = /(\/\/.*)|("(?:[^"\\]|\\.)*")|(%[\w.]+|\bU?[RP]\d+\b)|(#!?\[?\w+|(?:^|[\s@!])\.\w[\w.]*)|([A-Za-z_]\w*)|(\b\d[\w.]*)/g;
  const keywords = new Set(("as break const continue else fn for if in let loop match mut pub return static struct use while true false " +
    "__kernel __global __local __constant __attribute__ restrict void int uint float double half ulong long char uchar short ushort bool " +
    "float2 float4 double2 volatile do").split(" "));

  /** Appends a line with its words marked by what they are. */
  const paint = (into, line) => {
    let at = 0;
    for (const match of line.matchAll(lexer)) {
      const [all, comment, text, register, directive, word, number] = match;
      const cls = comment ? "c" : text || number ? "n" : register ? "r" : directive ? "d" : keywords.has(word) ? "k" : "";
      if (!cls) continue;
      if (match.index > at) into.append(line.slice(at, match.index));
      into.append(node("span", cls, all));
      at = match.index + all.length;
    }
    into.append(line.slice(at));
  };

  /** Pairs of equal items of two lists, in order (Myers 1986); nothing beyond `most` differences. */
  const common = (a, b, most) => {
    let from = 0, ends = 0;
    while (from < a.length && from < b.length && a[from] === b[from]) from++;
    while (ends < a.length - from && ends < b.length - from && a[a.length - 1 - ends] === b[b.length - 1 - ends]) ends++;
    const n = a.length - from - ends, m = b.length - from - ends, limit = Math.min(n + m, most);
    const pairs = [];
    for (let i = 0; i < from; i++) pairs.push([i, i]);
    const reach = new Int32Array(2 * limit + 3), trace = [];
    let found = -1;
    for (let d = 0; d <= limit && found < 0; d++) {
      trace.push(reach.slice(limit + 1 - d - 1, limit + 1 + d + 2));
      for (let k = -d; k <= d; k += 2) {
        const at = limit + 1 + k;
        let x = k === -d || (k !== d && reach[at - 1] < reach[at + 1]) ? reach[at + 1] : reach[at - 1] + 1;
        while (x < n && x - k < m && a[from + x] === b[from + x - k]) x++;
        reach[at] = x;
        if (x >= n && x - k >= m) { found = d; break; }
      }
    }
    const middle = [];
    if (found >= 0) {
      let x = n, y = m;
      for (let d = found; d >= 0; d--) {
        const before = trace[d], of = (k) => before[k + d + 1], k = x - y;
        const last = k === -d || (k !== d && of(k - 1) < of(k + 1)) ? k + 1 : k - 1;
        const startX = d === 0 ? 0 : of(last), startY = d === 0 ? 0 : startX - last;
        while (x > startX && y > startY) middle.push([from + --x, from + --y]);
        x = startX; y = startY;
      }
    }
    pairs.push(...middle.reverse());
    for (let i = ends; i > 0; i--) pairs.push([a.length - i, b.length - i]);
    return pairs;
  };

  /** Rows of two texts, each `[line of a, line of b, class]`. */
  const align = (a, b, keyOf) => {
    const ka = a.map(keyOf), kb = b.map(keyOf), pairs = common(ka, kb, 1500);
    const gone = new Map(), come = new Map(), count = (map, key) => map.set(key, (map.get(key) || 0) + 1);
    const inA = new Set(pairs.map((pair) => pair[0])), inB = new Set(pairs.map((pair) => pair[1]));
    ka.forEach((key, i) => { if (!inA.has(i)) count(gone, key); });
    kb.forEach((key, i) => { if (!inB.has(i)) count(come, key); });
    const moved = (key, line) => strings[line].trim().length > 1 && gone.get(key) === 1 && come.get(key) === 1;
    const rows = [];
    let i = 0, j = 0;
    for (const [x, y] of [...pairs, [a.length, b.length]]) {
      while (i < x || j < y) {
        const left = i < x && !moved(ka[i], a[i]), right = j < y && !moved(kb[j], b[j]);
        if (left || right) rows.push([left ? i++ : null, right ? j++ : null, "changed"]);
        else {
          if (i < x) rows.push([i++, null, "moved"]);
          if (j < y) rows.push([null, j++, "moved"]);
        }
      }
      if (x < a.length && y < b.length) rows.push([i++, j++, a[x] === b[y] ? "same" : "renamed"]);
    }
    return rows;
  };

  const words = (line) => line.match(/\s+|\w+|./g) || [];
  /** Two lines that stand beside each other, with the words that differ marked; as they are where most do. */
  const paintPair = (left, right, a, b) => {
    const wa = words(a), wb = words(b), pairs = common(wa, wb, 200);
    const shared = pairs.reduce((sum, [i]) => sum + wa[i].trim().length, 0);
    if (shared * 3 < Math.max(a.trim().length, b.trim().length)) { paint(left, a); paint(right, b); return; }
    const side = (into, list, kept) => {
      let run = "", open = false;
      const flush = () => { if (run) { if (open) into.append(node("mark", "", run)); else paint(into, run); } run = ""; };
      list.forEach((word, i) => { if (kept.has(i) === open) { flush(); open = !kept.has(i); } run += word; });
      flush();
    };
    side(left, wa, new Set(pairs.map((pair) => pair[0])));
    side(right, wb, new Set(pairs.map((pair) => pair[1])));
  };

  /** A figure of the table with its unit and what is said beside it, as it is said where there is no script. */
  const full = (cell, unit) => {
    const figure = cell.firstChild.textContent, small = cell.querySelector("small"), more = small ? small.textContent : "";
    const differs = cell.querySelector("em") ? ", other results" : "";
    return figure === "?" ? figure : `${figure}${unit ? ` ${unit}` : ""}${more ? ` (${more})` : ""}${differs}`;
  };

  /** Whether the time of one of two variants is among the runs of the other. */
  const alike = (a, b) => {
    const times = (cell) => [cell.firstChild.textContent, ...cell.querySelector("small").textContent.split("–")].map(parseFloat);
    const among = ([time], [, least, most]) => least <= time && time <= most;
    return among(times(a), times(b)) || among(times(b), times(a));
  };

  class Kernel {
    constructor(main) {
      this.main = main;
      this.number = main.dataset.n;
      this.data = JSON.parse(document.getElementById(`data${this.number}`).textContent);
      const { a, b, target, kinds } = this.data;
      this.start = { a, b, t: target, k: kinds.length ? kinds[0].key : "", sort: "", desc: 0, names: 1, list: "b" };
      this.state = { ...this.start };
      this.tables = this.all("table.figures").map((table) => [table, [...table.tBodies[0].rows]]);
      this.listen();
    }
    all(selector) { return [...this.main.querySelectorAll(selector)]; }
    one(selector) { return this.main.querySelector(selector); }
    get prefix() { return this.number === "0" ? "" : `${this.number}.`; }

    listen() {
      for (const head of this.all("table.figures thead th[data-key]")) {
        const button = node("button");
        button.type = "button";
        button.append(...head.childNodes);
        head.append(button);
        button.addEventListener("click", () => {
          const { sort, desc } = this.state, key = head.dataset.key;
          const down = head.dataset.better === "more" || key === "pareto" ? 1 : 0;
          if (sort !== key) this.set({ sort: key, desc: down });
          else if (desc === down) this.set({ desc: 1 - down });
          else this.set({ sort: "", desc: 0 });
        });
      }
      const pressed = (selector, change) => this.all(selector).forEach((button) => button.addEventListener("click", () => this.set(change(button))));
      pressed("button[data-target]", (button) => ({ t: Number(button.dataset.target) }));
      pressed("button[data-kind]", (button) => ({ k: button.dataset.kind }));
      pressed("button[data-listing]", (button) => ({ list: button.dataset.listing }));
      pressed("button[data-pick]", (button) => ({ [button.dataset.pick]: Number(button.closest("tr").dataset.n) }));
      pressed("button[data-swap]", () => ({ a: this.state.b, b: this.state.a }));
      for (const select of this.all("select")) select.addEventListener("change", () => this.set({ [select.dataset.select]: Number(select.value) }));
      const names = this.one("[data-option=names]");
      if (names) names.addEventListener("change", () => this.set({ names: names.checked ? 1 : 0 }));
      const columns = this.one("[data-show=listing]");
      const place = (event) => { const line = event.target.closest(".line[data-p]"); return line && columns.contains(line) ? line : null; };
      const hold = (line) => { this.held = !line || this.held === line.dataset.p ? null : line.dataset.p; this.light(line); };
      columns.addEventListener("mouseover", (event) => { if (!this.held) this.light(place(event)); });
      columns.addEventListener("mouseleave", () => { if (!this.held) this.light(null); });
      columns.addEventListener("focusin", (event) => {
        const line = place(event);
        if (!line) return;
        // Tab goes to a column; the arrows go on from where one was there.
        line.parentNode.querySelectorAll("[tabindex='0']").forEach((other) => { other.tabIndex = -1; });
        line.tabIndex = 0;
        if (!this.held) this.light(line);
      });
      columns.addEventListener("click", (event) => hold(place(event)));
      columns.addEventListener("keydown", (event) => {
        const line = place(event), { key } = event;
        if (!line || event.ctrlKey || event.altKey || event.metaKey) return;
        const column = line.parentNode, lines = [...column.querySelectorAll(".line[data-p]")], at = lines.indexOf(line);
        const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: lines.length - 1 }[key];
        const beside = { ArrowRight: column.nextElementSibling, ArrowLeft: column.previousElementSibling }[key];
        if (to !== undefined) (lines[to] || line).focus();
        else if (key === "ArrowRight" || key === "ArrowLeft") {
          const other = beside && beside.querySelector(`[data-p="${line.dataset.p}"]`);
          if (other) other.focus();
        } else if (key === "Enter" || key === " ") hold(line);
        else if (key === "Escape") { this.held = null; this.light(line); }
        else return;
        event.preventDefault();
      });
      // Lines take the focus, so the boxes that they scroll in need not.
      for (const column of columns.children) column.removeAttribute("tabindex");
    }

    /** Takes what the address says; what it says wrongly counts as not said. */
    read(address) {
      const { names, targets, kinds } = this.data;
      const state = { ...this.start };
      const whole = (text, below) => (/^\d+$/.test(text) && Number(text) < below ? Number(text) : undefined);
      const take = (key, value) => { if (value !== undefined && value !== null) state[key] = value; };
      for (const key of ["a", "b"]) take(key, whole(address.get(this.prefix + key), names.length));
      const target = address.get(`${this.prefix}t`), at = targets.indexOf(target);
      take("t", at >= 0 ? at : undefined);
      const kind = address.get(`${this.prefix}k`);
      take("k", kinds.some((known) => known.key === kind) ? kind : undefined);
      take("sort", address.get(`${this.prefix}sort`));
      for (const key of ["desc", "names"]) take(key, whole(address.get(this.prefix + key), 2));
      const list = address.get(`${this.prefix}list`);
      take("list", list === "a" || list === "b" ? list : undefined);
      this.state = state;
    }

    write(address) {
      for (const [key, value] of Object.entries(this.state)) {
        const said = key === "t" ? this.data.targets[value] : value;
        if (value !== this.start[key]) address.set(this.prefix + key, said);
      }
    }

    set(change) {
      Object.assign(this.state, change);
      // Of all kernels: where a link led to a part of the page, the address says nothing of them.
      const address = new URLSearchParams();
      for (const kernel of kernels) kernel.write(address);
      const said = address.toString();
      history.replaceState(null, "", said ? `#${said}` : location.pathname + location.search);
      this.show(change);
    }

    /** Shows the state; of a change only what it touches. */
    show(change) {
      const has = (...keys) => !change || keys.some((key) => key in change), { a, b, t, k, list } = this.state;
      const press = (selector, is) => this.all(selector).forEach((button) => button.setAttribute("aria-pressed", String(is(button.dataset))));
      if (has("t")) {
        press("button[data-target]", (data) => Number(data.target) === t);
        this.all("section.target").forEach((section) => { section.hidden = Number(section.dataset.target) !== t; });
        this.all("[data-say=target]").forEach((place) => { place.textContent = this.data.targets[t]; });
      }
      if (has("sort", "desc")) this.tables.forEach(([table, rows]) => this.sort(table, rows));
      if (has("a", "b", "t", "sort", "desc")) {
        this.all("[data-n]").forEach((marked) => {
          marked.classList.toggle("is-a", Number(marked.dataset.n) === a);
          marked.classList.toggle("is-b", Number(marked.dataset.n) === b);
        });
        // Charts of many variants scroll: the chosen right one is to be seen, once they are laid out.
        requestAnimationFrame(() => {
          for (const box of this.all(".tall")) {
            const row = box.querySelector(".names .is-b"), head = box.querySelector(".head").offsetHeight;
            if (row && box.clientHeight) box.scrollTop = Math.max(0, row.offsetTop - head - (box.clientHeight - head) / 2);
          }
        });
        // What is drawn last is on top.
        this.all(".dot.is-a, .dot.is-b").forEach((dot) => dot.parentNode.append(dot));
        for (const key of ["a", "b"]) {
          this.one(`select[data-select=${key}]`).value = String(this.state[key]);
          this.one(`[data-say=${key}]`).textContent = this.data.names[this.state[key]];
        }
      }
      if (has("k")) press("button[data-kind]", (data) => data.kind === k);
      if (has("list")) press("button[data-listing]", (data) => data.listing === list);
      if (has("names") && this.one("[data-option=names]")) this.one("[data-option=names]").checked = this.state.names === 1;
      if (has("a", "b", "t")) { this.showDeltas(); this.showPanels(); }
      if (has("a", "b", "t", "k", "names")) this.showDiff();
      if (has("a", "b", "t", "list")) this.showListing();
    }

    sort(table, rows) {
      const { sort, desc } = this.state, heads = [...table.tHead.rows[0].cells];
      heads.forEach((head) => head.removeAttribute("aria-sort"));
      const column = heads.findIndex((head) => head.dataset.key === sort);
      let sorted = rows;
      // Nothing moves that is where it belongs: a page of a hundred variants opens the sooner.
      if (column < 0 && !table.classList.contains("sorted")) return;
      table.classList.toggle("sorted", column >= 0);
      if (column >= 0) {
        heads[column].setAttribute("aria-sort", desc ? "descending" : "ascending");
        const value = (row) => {
          const cell = row.cells[column];
          if (!cell || cell.colSpan > 1) return null;
          if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
          const text = cell.textContent.trim();
          return text === "?" || text === "–" ? null : text !== "" && !isNaN(text) ? Number(text) : text;
        };
        const order = (x, y) => (typeof x === typeof y ? (x < y ? -1 : x > y ? 1 : 0) : typeof x === "number" ? -1 : 1);
        const keyed = rows.map((row) => [row, value(row)]);
        // What is not known comes last, whichever way.
        keyed.sort(([, x], [, y]) => (x === null || y === null ? (x === null) - (y === null) : desc ? order(y, x) : order(x, y)));
        sorted = keyed.map(([row]) => row);
      }
      table.tBodies[0].append(...sorted);
      // Bars stand in the order of the rows.
      for (const bars of table.closest("section").querySelectorAll(".bars")) {
        const names = bars.querySelector(".names"), height = Number(bars.querySelector("[data-row]").dataset.row), of = (selector) => new Map([...bars.querySelectorAll(selector)].map((item) => [item.dataset.n, item]));
        const [labels, groups] = [of(".names span"), of("g[data-n]")];
        sorted.map((row) => row.dataset.n).filter((n) => groups.has(n)).forEach((n, at) => {
          names.append(labels.get(n));
          groups.get(n).setAttribute("transform", `translate(0 ${at * height})`);
        });
      }
    }

    showDeltas() {
      const { a, b, t } = this.state, list = this.one("[data-show=deltas]"), [table, rows] = this.tables[t];
      const heads = [...table.tHead.rows[0].cells], items = [];
      const [ra, rb] = [rows[a], rows[b]];
      heads.forEach((head, n) => {
        const [ca, cb] = [ra && ra.cells[n], rb && rb.cells[n]];
        if (head.dataset.better === undefined || !ca || !cb || ca.colSpan > 1 || cb.colSpan > 1) return;
        const { unit, kind } = head.dataset, [from, to] = [full(ca, unit), full(cb, unit)];
        if (from === to) return;
        const [x, y] = [Number(ca.dataset.v), Number(cb.dataset.v)], better = head.dataset.better;
        const way = !better || !(x < y || x > y) || (kind === "timed" && alike(ca, cb)) ? "" : (y < x) === (better === "less") ? "better" : "worse";
        const item = node("li", way, `${head.dataset.key} `);
        item.append(node("span", `kind ${kind}`, kind), node("br"), node("span", "a", from), " → ", node("span", "b", to));
        items.push(item);
      });
      if (!items.length) items.push(node("li", "", "no figure differs"));
      list.replaceChildren(...items);
    }

    showPanels() {
      for (const key of ["a", "b"]) {
        const panel = this.data.panelOf[this.state[key]][this.state.t];
        this.one(`[data-show=panel-${key}]`).innerHTML = panel === null ? "" : this.data.panels[panel];
      }
    }

    /** The text of a variant: lines and, by line, the place they come from. */
    body(variant, kind) {
      const of = this.data.texts[kind][variant];
      const number = Array.isArray(of) ? of[this.state.t] : of;
      if (number === null || number === undefined) return null;
      const [lines, marks] = this.data.bodies[number], places = new Array(lines.length).fill(null);
      for (let m = 0; m < marks.length; m += 3) {
        const end = m + 3 < marks.length ? marks[m + 3] : lines.length;
        if (marks[m + 1] >= 0) places.fill(`${marks[m + 1]}:${marks[m + 2]}`, marks[m], end);
      }
      return { lines, places };
    }

    showDiff() {
      const { a, b, k, names } = this.state, diff = this.one("[data-show=diff]"), summary = this.one("[data-show=summary]");
      const [left, right] = [this.body(a, k), this.body(b, k)];
      this.one("[data-option=names]").disabled = !(k in made);
      summary.textContent = "";
      if (!left || !right) { diff.replaceChildren(node("p", "quiet", "There is no such text of both.")); return; }
      const pattern = names ? made[k] : undefined, keys = new Map();
      const key = (line) => {
        if (!pattern) return line;
        if (!keys.has(line)) keys.set(line, strings[line].replace(pattern, "•"));
        return keys.get(line);
      };
      const rows = align(left.lines, right.lines, key);
      const same = (cls) => cls === "same" || cls === "renamed";
      const show = ([i, j, cls]) => {
        const row = node("div", `row ${cls}`), ca = node("code", "a"), cb = node("code", "b");
        const [x, y] = [i === null ? "" : strings[left.lines[i]], j === null ? "" : strings[right.lines[j]]];
        if (cls === "changed" && i !== null && j !== null) paintPair(ca, cb, x, y);
        else { if (x) paint(ca, x); if (y) paint(cb, y); }
        row.append(node("i", "", i === null ? "" : i + 1), ca, node("i", "", j === null ? "" : j + 1), cb);
        return row;
      };
      // A text beside itself is there to be read.
      const out = [], differs = rows.some(([, , cls]) => !same(cls));
      let changed = 0, moved = 0;
      for (let at = 0; at < rows.length;) {
        const cls = rows[at][2];
        let end = at;
        while (end < rows.length && (same(cls) ? same(rows[end][2]) : rows[end][2] === cls)) end++;
        if (cls === "changed") changed += end - at;
        if (cls === "moved") moved += end - at;
        const before = at === 0 || !same(cls) ? 0 : 3, after = end === rows.length || !same(cls) ? 0 : 3;
        if (cls !== "changed" && differs && end - at >= before + after + 4) {
          const [from, to] = [at + before, end - after], fold = node("details");
          fold.append(node("summary", same(cls) ? "" : "moved", `${to - from} ${same(cls) ? "unchanged" : "moved"} lines`));
          // Rows of a fold are made when it is opened: most never are.
          fold.addEventListener("toggle", () => { if (fold.children.length === 1) fold.append(...rows.slice(from, to).map(show)); });
          out.push(...rows.slice(at, from).map(show), fold, ...rows.slice(to, end).map(show));
        } else out.push(...rows.slice(at, end).map(show));
        at = end;
      }
      diff.replaceChildren(...out);
      const renamed = rows.filter((row) => row[2] === "renamed").length;
      const parts = [[changed, "changed"], [moved / 2, "moved"], [renamed, "with other numbers of registers only"]].filter(([count]) => count > 0);
      summary.textContent = parts.length ? `lines: ${parts.map(([count, what]) => `${count} ${what}`).join(", ")}` : "the same text";
    }

    showListing() {
      const { a, b, t, list } = this.state, variant = list === "a" ? a : b, { files, lives, liveOf, counters } = this.data.listing;
      const say = this.one("[data-say=listing]");
      say.textContent = this.data.names[variant];
      say.className = list;
      const live = new Map(), counted = new Map();
      const number = liveOf[variant][t];
      if (number !== null) for (let n = 0, l = lives[number]; n < l.length; n += 4) live.set(`${l[n]}:${l[n + 1]}`, [l[n + 2], l[n + 3]]);
      const c = counters[variant];
      if (c) for (let n = 0; n < c.length; n += 4) counted.set(`${c[n]}:${c[n + 1]}`, [c[n + 2], c[n + 3]]);
      const most = Math.max(1, ...[...live.values()].map((found) => found[0]));
      const line = (place, gutter, text) => {
        const row = node("div", "line"), code = node("code");
        if (place) { row.dataset.p = place; row.tabIndex = -1; }
        paint(code, text);
        row.append(node("i", "", gutter), code);
        return row;
      };
      const source = this.one("[data-show=listing] .source"), rows = [];
      for (const [file, name, lines] of files) {
        rows.push(node("h4", "", name));
        let before = null;
        for (const [n, text] of lines) {
          if (before !== null && before + 1 !== n) rows.push(node("div", "gap", "⋯"));
          before = n;
          const place = `${file}:${n}`, row = line(place, n, text), bar = node("u"), found = live.get(place);
          if (found) {
            bar.textContent = found[0];
            bar.title = `${found[0]} registers live`;
            bar.style.setProperty("--share", `${(found[0] * 100) / most}%`);
            if (found[1]) { const peak = node("b", "peak", "▲"); peak.title = "live at the peak"; bar.append(peak); }
          }
          row.firstChild.after(bar);
          const count = counted.get(place);
          if (count) row.lastChild.append(node("em", "", `${count[0]} warp instr${count[1] ? `, ${count[1]} sectors/req` : ""}`));
          rows.push(row);
        }
      }
      source.replaceChildren(...rows);
      for (const kind of ["ptx", "sass"]) {
        const column = this.one(`[data-show=listing] .${kind}`), body = column && this.body(variant, kind);
        if (!column) continue;
        const head = column.firstElementChild, shown = body ? body.lines : [];
        column.replaceChildren(head, ...shown.map((text, n) => line(body.places[n], body.places[n] ? body.places[n].split(":")[1] : "", strings[text])));
      }
      for (const column of source.parentNode.children) {
        const first = column.querySelector(".line[data-p]");
        if (first) first.tabIndex = 0;
      }
      this.held = null;
      this.light(null);
    }

    /** Lights up everything of a line's place, and says how much that is; brings it into view in columns where none of it is. */
    light(line) {
      const columns = this.one("[data-show=listing]");
      columns.querySelectorAll(".on").forEach((lit) => { lit.classList.remove("on", "held"); lit.removeAttribute("aria-current"); });
      columns.querySelectorAll("[data-say=count]").forEach((count) => { count.textContent = ""; });
      if (!line) return;
      for (const column of columns.children) {
        const lit = [...column.querySelectorAll(`[data-p="${line.dataset.p}"]`)], count = column.querySelector("[data-say=count]");
        for (const row of lit) {
          row.classList.add("on");
          if (this.held === line.dataset.p) { row.classList.add("held"); row.setAttribute("aria-current", "true"); }
        }
        if (count) count.textContent = `${lit.length} line${lit.length === 1 ? "" : "s"} of line ${line.dataset.p.split(":")[1]}`;
        if (column.contains(line) || !lit.length) continue;
        const box = column.getBoundingClientRect();
        const inView = (row) => { const at = row.getBoundingClientRect(); return at.top >= box.top + 24 && at.bottom <= box.bottom; };
        if (!lit.some(inView)) column.scrollTop += lit[0].getBoundingClientRect().top - box.top - 60;
      }
    }
  }

  const kernels = [...document.querySelectorAll(".kernel")].map((kernel) => new Kernel(kernel));
  const showAll = (event) => {
    // A link to a part of the page changes nothing of what is shown.
    if (event && location.hash && !location.hash.includes("=")) return;
    const address = new URLSearchParams(location.hash.slice(1));
    for (const kernel of kernels) { kernel.read(address); kernel.show(); }
  };
  addEventListener("hashchange", showAll);
  showAll();
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
})();
