// The drawing: what is lit, in which colours, and what the panel beside it says.
const FADED = 0.16;
const MANY = 40; // buttons in a list of the panel

function mix(color, other, share) {
  return d3.interpolateRgb(other, color)(share);
}

class OverlayDrawing {
  constructor(holder, drawing) {
    Object.assign(this, { holder, drawing, node: null, edge: null, goal: null, colorBy: "degree", topicAt: -1 });
    this.find = (id) => holder.querySelector(id);
    this.topicNumber = new Map(drawing.topics.map((name, at) => [name, at]));
    this.canvas = this.find("#draw-canvas");
    this.panel = this.find("#draw-panel");
    this.controls();
    this.open(drawing.first);
    onChoice((part) => this.heard(part));
  }
  // --- controls
  controls() {
    const { drawing } = this;
    const build = this.find("#draw-build");
    drawing.graphs.forEach((graph, at) => build.append(make("option", { value: at }, short(graph.name, 40))));
    build.closest(".control").hidden = drawing.graphs.length < 2;
    build.addEventListener("change", () => choose({ build: drawing.graphs[Number(build.value)].name }));
    const color = this.find("#draw-color");
    const ways = [["degree", "degree"], ["load", "load"], ["group", "group"]];
    if (!drawing.topics.length) ways.splice(1, 1);
    if (drawing.kinds?.length) ways.reverse();
    for (const [value, name] of ways) color.append(make("option", { value }, name));
    this.colorBy = ways[0][0];
    color.addEventListener("change", () => { this.colorBy = color.value; this.paint(); });
    this.topics = new Picker(this.find("#pick-topic"), drawing.topics, (at) => choose({ topic: drawing.topics[at], box: null }));
    this.nodes = new Picker(this.find("#pick-node"), drawing.nodes, (at) => { this.pickNode(at); this.view.show(at); });
    this.find("#draw-clear").addEventListener("click", () => this.clear());
    for (const button of this.holder.querySelectorAll("[data-zoom]")) button.addEventListener("click", () => this.zoom(button.dataset.zoom));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
  }
  zoom(way) {
    if (way === "fit") this.view.fit();
    else this.view.zoom(way === "in" ? 0.7 : 1 / 0.7);
  }
  key(event) {
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (move) this.view.move(...move);
    else if (event.key === "+" || event.key === "=") this.zoom("in");
    else if (event.key === "-") this.zoom("out");
    else if (event.key === "0") this.zoom("fit");
    else if (event.key === "Escape") this.clear();
    else return;
    event.preventDefault();
  }
  clear() {
    Object.assign(this, { node: null, edge: null, goal: null });
    this.nodes.show(null);
    choose({ topic: null, box: null });
  }
  heard(part) {
    if ("build" in part && part.build !== null) {
      const at = this.drawing.graphs.findIndex((graph) => graph.name === part.build);
      if (at >= 0 && at !== this.at) return this.open(at);
    }
    if ("topic" in part) {
      this.topicAt = this.topicNumber.get(choice.topic) ?? -1;
      this.topics.show(this.topicAt);
      if (this.topicAt >= 0) Object.assign(this, { edge: null });
    }
    if ("theme" in part || "topic" in part || "box" in part) this.paint();
  }
  // --- the graph on the stage
  open(at) {
    const { drawing } = this, graph = drawing.graphs[at];
    this.at = at;
    this.edge = null;
    this.find("#draw-build").value = at;
    this.graph = new OverlayGraph(drawing, graph);
    const x = unpack(graph.x), y = unpack(graph.y);
    const sizes = drawing.sizes ? unpack(drawing.sizes) : null;
    this.look = {
      nodes: drawing.nodes.map((label, node) => ({ x: x[node] / 65535, y: y[node] / 65535, base: sizes ? sizes[node] / 10 : null, square: drawing.kinds?.[node] === "broker", label, z: 0, hidden: false })),
      edges: this.lookEdges(),
    };
    this.style();
    this.view?.destroy();
    const events = {
      node: (node) => this.pickNode(node), edge: (edge) => this.pickEdge(edge), nothing: () => this.clear(),
      over: (node, event) => { const box = this.canvas.getBoundingClientRect(); showTip(drawing.nodes[node], this.told(node), box.left + event.x, box.top + event.y); },
    };
    this.canvas.addEventListener("pointerleave", hideTip);
    const works = webglWorks();
    if (!works) this.remark("WebGL is not available here, so the drawing is made on a plain canvas: the same, but slower.");
    this.view = works ? new WebglView(this.canvas, this.look, events) : new CanvasView(this.canvas, this.look, events);
    this.holder.dataset.renderer = works ? "webgl" : "canvas";
    this.around();
  }
  around() {
    this.panelNow();
    this.showScale();
    this.print();
  }
  lookEdges() {
    const { u, v } = this.graph, found = [];
    for (let e = 0; e < u.length; e++) found.push({ u: u[e], v: v[e], z: 0, hidden: false });
    return found;
  }
  remark(text) {
    const note = this.find("#draw-note");
    note.textContent = text;
    note.hidden = false;
  }
  told(node) {
    const { drawing, graph } = this;
    const extra = drawing.notes?.[node] ? `${drawing.notes[node]}\n` : "";
    if (!drawing.topics.length) return drawing.notes?.[node] ?? plural(graph.degree[node], "neighbor");
    return `${extra}${plural(graph.degree[node], "neighbor")}, ${plural(graph.topicsOf(node).length, drawing.topic_word)}`;
  }
  replaceEdges(u, v) {
    this.graph.setEdges(u, v);
    this.look.edges = this.lookEdges();
    this.edge = null;
    this.style();
    this.view.edgesChanged();
    this.around();
  }
  paint() {
    this.style();
    this.view.refresh();
    this.around();
  }
  // --- what is lit
  style() {
    const { graph, look } = this, paper = css("--card"), ink = css("--ink"), accent = css("--accent");
    const color = this.colors();
    const lit = this.litNodes();
    const n = look.nodes.length, plain = Math.max(1.8, Math.min(6, 75 / Math.sqrt(n)));
    const most = d3.max(graph.degree) || 1;
    look.nodes.forEach((node, at) => {
      const on = !lit || lit.has(at), special = at === this.node || at === this.goal;
      node.size = node.base ?? plain * (0.7 + 1.1 * Math.sqrt(graph.degree[at] / most));
      node.hidden = this.absent(at);
      if (special) node.size += 3;
      else if (!on) node.size *= 0.55; // nodes lie above edges: faint ones must not hide what is lit
      node.color = special ? accent : on ? color(at) : mix(color(at), paper, FADED);
      node.z = special ? 2 : lit && on ? 1 : 0;
      node.named = special || (on && (lit?.size ?? n) <= 30);
    });
    const { carried, tree, path } = this.litEdges();
    const many = look.edges.length, quiet = mix(ink, paper, many > 8000 ? 0.14 : many > 400 ? 0.24 : 0.4);
    look.edges.forEach((edge, at) => {
      edge.hidden = carried !== null && !carried.has(at) && !path?.has(at);
      edge.z = 0;
      edge.size = carried ? 0.9 : 0.7;
      edge.color = carried ? mix(accent, paper, 0.45) : quiet;
      if (this.betweenBrokers(edge)) { edge.color = mix(ink, paper, 0.65); edge.size = 2.2; edge.z = 1; }
      if (carried === null && this.node !== null) {
        const own = edge.u === this.node || edge.v === this.node;
        edge.color = own ? accent : mix(ink, paper, 0.07);
        edge.z = own ? 1 : 0;
        if (own) edge.size = 1.6;
      }
      if (tree?.has(at)) { edge.color = accent; edge.size = 2; edge.z = 1; }
      if (path?.has(at)) { edge.color = css("--c1"); edge.size = 4; edge.z = 2; }
      if (at === this.edge) { edge.color = css("--c1"); edge.size = 4; edge.z = 2; edge.hidden = false; }
    });
  }
  // In a replay: a node that was gone at the end and has no link now.
  absent(node) {
    return Boolean(this.drawing.moments?.length) && !this.graph.degree[node] && !this.graph.topicsOf(node).length;
  }
  betweenBrokers(edge) {
    const { kinds } = this.drawing;
    return kinds?.[edge.u] === "broker" && kinds[edge.v] === "broker";
  }
  litNodes() {
    const { graph } = this;
    if (this.topicAt >= 0) return new Set(graph.nodesOf(this.topicAt));
    if (choice.box) {
      const { x, y } = choice.box, found = new Set();
      for (let node = 0; node < graph.n; node++) {
        const size = graph.topicsOf(node).length, degree = graph.degree[node];
        if (size >= x[0] && size <= x[1] && degree >= y[0] && degree <= y[1]) found.add(node);
      }
      return found;
    }
    if (this.edge !== null) return new Set([graph.u[this.edge], graph.v[this.edge]]);
    if (this.node !== null) {
      const found = new Set([this.node]);
      for (let k = graph.first[this.node]; k < graph.first[this.node + 1]; k++) found.add(graph.near[k]);
      return found;
    }
    return null;
  }
  litEdges() {
    if (this.topicAt < 0) return { carried: null, tree: null, path: null };
    const carried = new Set(this.graph.topicEdges(this.topicAt));
    const tree = new Set(this.graph.components(this.topicAt).flatMap((part) => part.tree));
    return { carried, tree, path: this.way ? new Set(this.way.edges) : null };
  }
  // --- colours
  colors() {
    const { graph } = this;
    if (this.colorBy === "group") return (node) => css(`--c${graph.groups[node] % PALETTE}`);
    const values = this.colorBy === "load" ? graph.load() : graph.degree;
    const low = d3.min(values) ?? 0, high = d3.max(values) ?? 1;
    this.range = [low, high];
    const ramp = this.ramp(), span = Math.sqrt(high - low) || 1;
    const known = new Map();
    return (node) => {
      const value = values[node];
      if (!known.has(value)) known.set(value, ramp(Math.sqrt(value - low) / span));
      return known.get(value);
    };
  }
  ramp() {
    const dark = document.documentElement.dataset.theme === "dark";
    const stops = dark ? ["#35608f", "#2fa39a", "#a6d96a", "#fff1a8"] : ["#9fd0e6", "#35a39a", "#1f6f9e", "#3b1f6b"];
    return d3.piecewise(d3.interpolateRgb, stops);
  }
  showScale() {
    const holder = this.find("#draw-scale");
    if (this.colorBy === "group") return holder.replaceChildren(`a colour for each group: ${this.drawing.group_title}`);
    const canvas = make("canvas", { width: 100, height: 1, "aria-hidden": "true" });
    const context = canvas.getContext("2d"), ramp = this.ramp();
    for (let at = 0; at < 100; at++) { context.fillStyle = ramp(at / 99); context.fillRect(at, 0, 1, 1); }
    holder.replaceChildren(`${this.colorBy} ${number(this.range[0])}`, canvas, number(this.range[1]));
  }
  // --- choices
  pickNode(node) {
    Object.assign(this, { node, edge: null, goal: null });
    this.nodes.show(node);
    this.paint();
  }
  pickEdge(edge) {
    Object.assign(this, { edge, node: null, goal: null });
    this.nodes.show(null);
    choose({ topic: null, box: null });
  }
  // A picture for paper: what WebGL has drawn is gone when a page is printed.
  print() {
    this.canvas.querySelector(".print-only")?.remove();
    if (!onPaper) return;
    const sheet = make("canvas", { class: "print-only", width: 1400, height: 1400 });
    const place = (x, y) => [(0.03 + 0.94 * x) * 700, (0.97 - 0.94 * y) * 700];
    paintGraph(sheet.getContext("2d"), this.look, place, 2, css("--ink"));
    this.canvas.append(sheet);
  }
}
