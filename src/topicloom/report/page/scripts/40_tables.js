// Tables: sorted by their headings, searched, their rows a choice.
const SEARCHED = 12; // rows from which a search field is worth its place

function makeTables() {
  for (const holder of document.querySelectorAll("[data-table]")) new SortedTable(holder);
}

class SortedTable {
  constructor(holder) {
    this.body = holder.querySelector("tbody");
    this.rows = [...this.body.rows];
    this.link = holder.dataset.link;
    const keys = data.keys[holder.dataset.table] ?? [];
    this.key = new Map(this.rows.map((row, place) => [row, keys[place]]));
    this.headings(holder);
    if (this.rows.length > SEARCHED) this.search(holder);
    if (this.link === "build" || this.link === "topic") this.choices();
  }
  headings(holder) {
    holder.querySelectorAll("thead th").forEach((cell, column) => {
      const button = make("button", { type: "button" }, cell.textContent);
      button.addEventListener("click", () => {
        const down = cell.getAttribute("aria-sort") === "descending" || (!cell.hasAttribute("aria-sort") && !cell.classList.contains("number"));
        holder.querySelectorAll("thead th").forEach((other) => other.removeAttribute("aria-sort"));
        cell.setAttribute("aria-sort", down ? "ascending" : "descending");
        this.sort(column, down ? 1 : -1);
      });
      cell.replaceChildren(button);
    });
  }
  sort(column, way) {
    const value = (row) => {
      const cell = row.cells[column];
      return cell.dataset.order === undefined ? cell.textContent : Number(cell.dataset.order);
    };
    this.rows.sort((one, other) => way * d3.ascending(value(one), value(other)));
    this.body.append(...this.rows);
  }
  search(holder) {
    const title = holder.querySelector("h3").textContent;
    const field = make("input", { type: "search", placeholder: "Search", "aria-label": `Search in ${title}` });
    field.addEventListener("input", () => {
      const wanted = field.value.toLowerCase();
      for (const row of this.rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    });
    holder.querySelector(".table-head").append(field);
  }
  choices() {
    for (const row of this.rows) {
      const cell = row.cells[this.link === "topic" && row.cells.length > 4 ? 1 : 0];
      const button = make("button", { type: "button", class: "pick", dir: "auto" }, cell.textContent);
      const name = this.key.get(row);
      button.addEventListener("click", () => choose(this.link === "build" ? { build: choice.build === name ? null : name } : { topic: choice.topic === name ? null : name, box: null }));
      cell.replaceChildren(button);
    }
    onChoice(() => {
      for (const row of this.rows) row.classList.toggle("chosen", this.key.get(row) === choice[this.link] && choice[this.link] !== null);
    });
  }
}
