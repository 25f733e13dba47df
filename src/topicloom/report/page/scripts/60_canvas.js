// The drawing on a plain canvas: where WebGL is missing, and for paper.
class CanvasView {
  constructor(holder, look, events) {
    this.holder = holder;
    this.look = look; // {nodes: [{x, y, size, color, label, z, hidden}], edges: [{u, v, color, size, z, hidden}]}
    this.canvas = make("canvas");
    holder.append(this.canvas);
    this.camera = { x: 0.5, y: 0.5, zoom: 1 };
    this.watch(events);
    this.sized = new ResizeObserver(() => this.refresh());
    this.sized.observe(holder);
  }
  destroy() {
    this.sized.disconnect();
    this.canvas.remove();
  }
  edgesChanged() {
    this.refresh();
  }
  refresh() {
    const ratio = devicePixelRatio || 1, width = this.holder.clientWidth, height = this.holder.clientHeight;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    paintGraph(this.canvas.getContext("2d"), this.look, (x, y) => this.toScreen(x, y), ratio, css("--ink"));
  }
  unit() {
    return Math.min(this.holder.clientWidth, this.holder.clientHeight) * 0.94 * this.camera.zoom;
  }
  toScreen(x, y) {
    return [this.holder.clientWidth / 2 + (x - this.camera.x) * this.unit(), this.holder.clientHeight / 2 - (y - this.camera.y) * this.unit()];
  }
  zoom(factor) {
    this.camera.zoom = Math.max(0.2, Math.min(60, this.camera.zoom / factor));
    this.refresh();
  }
  move(x, y) {
    this.camera.x += (x * 0.12) / this.camera.zoom;
    this.camera.y += (y * 0.12) / this.camera.zoom;
    this.refresh();
  }
  show(node) {
    Object.assign(this.camera, { x: this.look.nodes[node].x, y: this.look.nodes[node].y, zoom: Math.max(this.camera.zoom, 2.5) });
    this.refresh();
  }
  fit() {
    this.camera = { x: 0.5, y: 0.5, zoom: 1 };
    this.refresh();
  }
  nearest(px, py) {
    let best = null, least = 12;
    this.look.nodes.forEach((node, at) => {
      const [x, y] = this.toScreen(node.x, node.y);
      const far = Math.hypot(x - px, y - py) - node.size;
      if (!node.hidden && far < least) { least = far; best = { node: at }; }
    });
    if (best) return best;
    least = 6;
    this.look.edges.forEach((edge, at) => {
      if (edge.hidden) return;
      const [ax, ay] = this.toScreen(this.look.nodes[edge.u].x, this.look.nodes[edge.u].y);
      const [bx, by] = this.toScreen(this.look.nodes[edge.v].x, this.look.nodes[edge.v].y);
      const long = (bx - ax) ** 2 + (by - ay) ** 2 || 1;
      const along = Math.max(0, Math.min(1, ((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / long));
      const far = Math.hypot(px - ax - along * (bx - ax), py - ay - along * (by - ay));
      if (far < least) { least = far; best = { edge: at }; }
    });
    return best;
  }
  watch(events) {
    let from = null, moved = false;
    this.canvas.addEventListener("pointerdown", (event) => { from = [event.clientX, event.clientY]; moved = false; this.canvas.setPointerCapture(event.pointerId); });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!from) return;
      const dx = event.clientX - from[0], dy = event.clientY - from[1];
      if (!moved && Math.hypot(dx, dy) < 4) return;
      moved = true;
      this.camera.x -= dx / this.unit();
      this.camera.y += dy / this.unit();
      from = [event.clientX, event.clientY];
      this.refresh();
    });
    this.canvas.addEventListener("pointerup", (event) => {
      from = null;
      if (moved) return;
      const box = this.canvas.getBoundingClientRect();
      const found = this.nearest(event.clientX - box.left, event.clientY - box.top);
      if (found?.node !== undefined) events.node(found.node);
      else if (found) events.edge(found.edge);
      else events.nothing();
    });
    this.canvas.addEventListener("wheel", (event) => { event.preventDefault(); this.zoom(event.deltaY < 0 ? 0.85 : 1 / 0.85); }, { passive: false });
  }
}

// Paint all visible edges, then nodes, then the labels of those that matter.
function paintGraph(context, look, place, ratio, ink) {
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, context.canvas.width, context.canvas.height);
  for (const layer of [0, 1, 2])
    for (const edge of look.edges) {
      if (edge.hidden || edge.z !== layer) continue;
      context.strokeStyle = edge.color;
      context.lineWidth = edge.size;
      context.beginPath();
      context.moveTo(...place(look.nodes[edge.u].x, look.nodes[edge.u].y));
      context.lineTo(...place(look.nodes[edge.v].x, look.nodes[edge.v].y));
      context.stroke();
    }
  for (const layer of [0, 1, 2])
    for (const node of look.nodes) {
      if (node.hidden || node.z !== layer) continue;
      const [x, y] = place(node.x, node.y);
      context.fillStyle = node.color;
      context.beginPath();
      if (node.square) context.rect(x - node.size, y - node.size, 2 * node.size, 2 * node.size);
      else context.arc(x, y, node.size, 0, 2 * Math.PI);
      context.fill();
      if (node.named) {
        context.fillStyle = ink;
        context.font = `600 12px ${css("--sans") || "sans-serif"}`;
        context.fillText(short(node.label, 30), x + node.size + 4, y + 4);
      }
    }
}
