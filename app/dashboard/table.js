import { el, setAttribute, setText } from "./dom.js";

const most = 100; // rows, unless all are asked for

/**
 * A table that can be sorted, and searched once it is long. A column is
 * {title, value(row), text(row), number, hex, fill(cell, row), unsorted}: `value` is what is sorted
 * by, `text` (default: the value) is what is shown, `fill` puts something else into the cell.
 */
export class Table {
  constructor(parent, { caption, columns, key, empty, sort = 0, descending = false }) {
    Object.assign(this, { columns, key, sort, descending, rows: [], lines: new Map() });
    this.search = el("input", {
      type: "search",
      placeholder: "Search",
      "aria-label": `Search: ${caption}`,
      oninput: () => this.draw(),
    });
    this.searching = el("div", { class: "search", hidden: true }, this.search);
    this.heads = columns.map((column, index) => this.head(column, index));
    this.body = el("tbody");
    const table = el(
      "table",
      {},
      el("caption", { class: "unseen" }, caption),
      el("thead", {}, el("tr", {}, ...this.heads)),
      this.body,
    );
    this.scroller = el(
      "div",
      { class: "scroll", tabindex: "0", role: "group", "aria-label": `${caption}, table` },
      table,
    );
    this.empty = el("p", { class: "empty" });
    this.emptyText = empty;
    this.more = el("button", { class: "more", type: "button", hidden: true, onclick: () => {
      this.all = true;
      this.draw();
    } });
    parent.replaceChildren(this.searching, this.scroller, this.more, this.empty);
    this.show(null);
  }

  head(column, index) {
    const cell = el("th", { scope: "col", class: column.number ? "number" : null });
    if (column.unsorted) {
      cell.append(el("span", { class: column.quiet ? "unseen" : null }, column.title));
      return cell;
    }
    const button = el("button", { type: "button", onclick: () => {
      this.descending = this.sort === index ? !this.descending : Boolean(column.number);
      this.sort = index;
      this.draw();
    } }, column.title);
    cell.append(button);
    return cell;
  }

  /** `rows` is null as long as they are not known. `why` is shown in place of the usual words. */
  show(rows, why) {
    this.why = rows ? why : why ?? "Asking the daemon ...";
    this.rows = rows ?? [];
    this.draw();
  }

  textOf(column, row) {
    return String((column.text ?? column.value)(row) ?? "");
  }

  wanted() {
    const words = this.search.value.trim().toLowerCase();
    const fits = (row) =>
      this.columns.some(
        (column) => column.value && this.textOf(column, row).toLowerCase().includes(words),
      );
    const rows = words ? this.rows.filter(fits) : [...this.rows];
    const { value, hex } = this.columns[this.sort];
    const numeric = !hex; // "lab.10" stands behind "lab.9"
    const sign = this.descending ? -1 : 1;
    return rows.sort((a, b) => {
      const [x, y] = [value(a) ?? "", value(b) ?? ""];
      if (typeof x === "number" && typeof y === "number") return sign * (x - y);
      return sign * String(x).localeCompare(String(y), "en", { numeric });
    });
  }

  draw() {
    const rows = this.wanted();
    const shown = this.all ? rows : rows.slice(0, most);
    this.heads.forEach((head, index) => {
      if (this.columns[index].unsorted) return;
      const is = index === this.sort;
      setAttribute(head, "aria-sort", !is ? null : this.descending ? "descending" : "ascending");
    });
    const lines = new Map();
    let before = null;
    for (const row of shown) {
      const key = this.key(row);
      const line = this.lines.get(key) ?? this.line();
      lines.set(key, line);
      this.fill(line, row);
      // Only what is in the wrong place is moved: focus and selection stay where they are.
      const after = before ? before.nextSibling : this.body.firstChild;
      if (after !== line) this.body.insertBefore(line, after);
      before = line;
    }
    for (const [key, line] of this.lines) if (!lines.has(key)) line.remove();
    this.lines = lines;
    this.scroller.hidden = !shown.length;
    this.searching.hidden = this.rows.length < 12 && !this.search.value;
    this.more.hidden = shown.length === rows.length;
    setText(this.more, `Show all ${rows.length}`);
    this.empty.hidden = shown.length > 0;
    setText(this.empty, this.rows.length ? "Nothing fits the search." : this.why ?? this.emptyText);
  }

  line() {
    return el(
      "tr",
      {},
      ...this.columns.map((column, index) =>
        el(index ? "td" : "th", {
          scope: index ? null : "row",
          class: [column.number && "number", column.class].filter(Boolean).join(" ") || null,
        }),
      ),
    );
  }

  fill(line, row) {
    this.columns.forEach((column, index) => {
      const cell = line.children[index];
      if (column.fill) column.fill(cell, row);
      else setText(cell, this.textOf(column, row));
    });
  }
}
