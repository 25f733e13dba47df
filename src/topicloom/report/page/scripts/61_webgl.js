// The drawing in WebGL, by sigma. The same interface as the plain canvas.
function webglWorks() {
  try {
    return Boolean(document.createElement("canvas").getContext("webgl2"));
  } catch {
    return false;
  }
}

class WebglView {
  constructor(holder, look, events) {
    this.look = look;
    this.graph = new graphology.Graph({ type: "undirected", multi: true });
    this.stage = make("div");
    Object.assign(this.stage.style, { position: "absolute", inset: "0" });
    holder.append(this.stage);
    // Filled afterwards: Sigma draws what it is given at once, and each time costs.
    this.sigma = new Sigma(new graphology.Graph({ type: "undirected", multi: true }), this.stage, {
      allowInvalidContainer: true, enableEdgeEvents: true, zIndex: true, hideEdgesOnMove: look.edges.length > 25000,
      labelFont: css("--sans") || "sans-serif", labelSize: 12, labelWeight: "600", labelDensity: 0.35, labelRenderedSizeThreshold: 7,
      labelColor: { color: css("--ink") }, defaultDrawNodeHover: () => {}, stagePadding: 30, minCameraRatio: 0.02, maxCameraRatio: 4,
      nodeReducer: (id) => this.node(look.nodes[id]),
      edgeReducer: (id) => this.edge(look.edges[id]),
    });
    // Coordinates stay where the layout has put them, whatever is drawn.
    this.sigma.setCustomBBox({ x: [0, 1], y: [0, 1] });
    this.sigma.on("clickNode", ({ node }) => events.node(Number(node)));
    this.sigma.on("clickEdge", ({ edge }) => events.edge(Number(edge)));
    this.sigma.on("clickStage", () => events.nothing());
    this.sigma.on("enterNode", ({ node, event }) => events.over(Number(node), event));
    this.sigma.on("leaveNode", () => hideTip());
    look.nodes.forEach((node, at) => this.graph.addNode(at, { x: node.x, y: node.y }));
    this.addEdges();
    this.sigma.setGraph(this.graph);
  }
  node(one) {
    return { x: one.x, y: one.y, size: one.size, color: one.color, label: one.named ? short(one.label, 40) : "", forceLabel: one.named, zIndex: one.z, hidden: one.hidden };
  }
  edge(one) {
    return { size: one.size, color: one.color, zIndex: one.z, hidden: one.hidden };
  }
  addEdges() {
    this.look.edges.forEach((edge, at) => this.graph.addEdgeWithKey(at, edge.u, edge.v));
  }
  edgesChanged() {
    this.graph.clearEdges();
    this.addEdges();
    this.refresh();
  }
  refresh() {
    this.sigma.setSetting("labelColor", { color: css("--ink") });
    this.sigma.refresh();
  }
  zoom(factor) {
    const camera = this.sigma.getCamera();
    camera.setState({ ratio: Math.max(0.02, Math.min(4, camera.ratio * factor)) });
  }
  move(x, y) {
    const camera = this.sigma.getCamera();
    camera.setState({ x: camera.x + x * 0.12 * camera.ratio, y: camera.y + y * 0.12 * camera.ratio });
  }
  show(node) {
    const place = this.sigma.getNodeDisplayData(node);
    const camera = this.sigma.getCamera();
    camera.setState({ x: place.x, y: place.y, ratio: Math.min(camera.ratio, 0.4) });
  }
  fit() {
    this.sigma.getCamera().setState({ x: 0.5, y: 0.5, ratio: 1, angle: 0 });
  }
  destroy() {
    this.sigma.kill();
    this.stage.remove();
  }
}
