// A field that finds one of many names: type, go through what is found, take one.
const MOST_OPTIONS = 40;
let pickers = 0;

class Picker {
  constructor(holder, names, onPick) {
    Object.assign(this, { names, onPick, found: [], at: -1 });
    const id = `options-${++pickers}`;
    this.input = holder.querySelector("input");
    this.list = make("ul", { class: "options", id, role: "listbox", "aria-label": this.input.placeholder, hidden: true });
    holder.append(this.list);
    for (const [name, value] of Object.entries({ role: "combobox", "aria-controls": id, "aria-expanded": "false", "aria-autocomplete": "list" })) this.input.setAttribute(name, value);
    this.input.addEventListener("input", () => this.open());
    this.input.addEventListener("focus", () => this.input.select());
    this.input.addEventListener("click", () => this.open(""));
    this.input.addEventListener("blur", () => setTimeout(() => this.close(), 150));
    this.input.addEventListener("keydown", (event) => this.key(event));
  }
  open(wanted = this.input.value) {
    const text = wanted.toLowerCase();
    this.found = [];
    // Names that begin with the text come before those that hold it.
    for (const starts of [true, false])
      for (let at = 0; at < this.names.length && this.found.length < MOST_OPTIONS; at++) {
        const name = this.names[at].toLowerCase();
        if (starts ? name.startsWith(text) : text && !name.startsWith(text) && name.includes(text)) this.found.push(at);
      }
    this.at = this.found.length && text ? 0 : -1;
    this.list.replaceChildren(...this.found.map((at, place) => {
      const option = make("li", { role: "option", id: `${this.list.id}-${place}`, dir: "auto" }, short(this.names[at], 80));
      option.addEventListener("pointerdown", (event) => { event.preventDefault(); this.take(at); });
      return option;
    }));
    if (!this.found.length) this.list.append(make("li", { class: "none", role: "option", "aria-disabled": "true" }, "nothing found"));
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.mark();
  }
  close() {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }
  mark() {
    [...this.list.children].forEach((option, place) => option.setAttribute("aria-selected", String(place === this.at)));
    const marked = this.at >= 0 ? this.list.children[this.at] : null;
    if (marked) { this.input.setAttribute("aria-activedescendant", marked.id); marked.scrollIntoView({ block: "nearest" }); }
    else this.input.removeAttribute("aria-activedescendant");
  }
  take(at) {
    this.show(at);
    this.input.select(); // the next name is typed over this one
    this.close();
    this.onPick(at);
  }
  show(at) {
    this.input.value = at === null || at < 0 ? "" : short(this.names[at], 60);
  }
  key(event) {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (this.list.hidden) this.open("");
      this.at = Math.max(0, Math.min(this.found.length - 1, this.at + (event.key === "ArrowDown" ? 1 : -1)));
      this.mark();
    } else if (event.key === "Enter" && !this.list.hidden && this.at >= 0) this.take(this.found[this.at]);
    else if (event.key === "Escape") this.close();
    else return;
    event.preventDefault();
  }
}
