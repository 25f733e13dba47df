// A slider over the snapshots of a simulation: the links of each moment on the drawing.
class Replay {
  constructor(holder, overlay, moments) {
    Object.assign(this, { overlay, moments, at: moments.length - 1, playing: null });
    holder.hidden = false;
    this.button = make("button", { type: "button", onclick: () => this.play() }, "Play");
    this.slider = make("input", { type: "range", min: 0, max: moments.length - 1, value: this.at, "aria-label": "Moment of the simulation" });
    this.told = make("output", {});
    this.slider.addEventListener("input", () => { this.stop(); this.go(Number(this.slider.value)); });
    holder.append(this.button, this.slider, this.told);
    this.changes = moments.map((moment) => ({ added: unpack(moment.added), removed: unpack(moment.removed) }));
    this.tell();
  }
  // Links after a moment: all changes up to it, one after the other.
  linksAt(place) {
    const n = this.overlay.drawing.nodes.length, links = new Map();
    for (let at = 0; at <= place; at++) {
      const { added, removed } = this.changes[at];
      for (let k = 0; k < removed.length; k += 2) links.delete(removed[k] * n + removed[k + 1]);
      for (let k = 0; k < added.length; k += 2) links.set(added[k] * n + added[k + 1], [added[k], added[k + 1]]);
    }
    return [...links.values()];
  }
  go(place) {
    this.at = place;
    this.slider.value = place;
    const links = this.linksAt(place);
    choose({ moment: this.moments[place].time });
    this.overlay.replaceEdges(Uint32Array.from(links, (link) => link[0]), Uint32Array.from(links, (link) => link[1]));
    this.tell();
  }
  tell() {
    const moment = this.moments[this.at];
    const split = moment.split.length ? `${plural(moment.split.length, "topic")} split` : "every topic connected";
    this.told.textContent = `${number(moment.time)} s: ${plural(this.overlay.graph.u.length, "link")}, ${split}`;
    this.slider.setAttribute("aria-valuetext", this.told.textContent);
  }
  play() {
    if (this.playing) return this.stop();
    this.button.textContent = "Stop";
    let at = this.at >= this.moments.length - 1 ? 0 : this.at;
    this.playing = setInterval(() => {
      this.go(at++);
      if (at >= this.moments.length) this.stop();
    }, 500);
  }
  stop() {
    clearInterval(this.playing);
    this.playing = null;
    this.button.textContent = "Play";
  }
}
