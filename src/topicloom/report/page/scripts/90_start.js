// Everything begins here.
drawCharts();
makeTables();
const drawn = document.getElementById("drawn");
const overlayDrawing = drawn && data.drawing ? new OverlayDrawing(drawn, data.drawing) : null;
if (overlayDrawing && data.drawing.moments?.length > 1) new Replay(document.getElementById("draw-replay"), overlayDrawing, data.drawing.moments);
watchSections();
setPaper(printed.matches);
document.documentElement.dataset.ready = "true";

// What is lit, by name: for those who want to check the drawing or go on from it.
window.topicloom = {
  choice,
  lit: () => [...(overlayDrawing?.litNodes() ?? [])].map((node) => data.drawing.nodes[node]).sort(),
  litEdges: () => overlayDrawing?.look.edges.filter((edge) => !edge.hidden).map((edge) => [data.drawing.nodes[edge.u], data.drawing.nodes[edge.v]]) ?? [],
  treeEdges: () => [...(overlayDrawing?.litEdges().tree ?? [])].map((edge) => [data.drawing.nodes[overlayDrawing.graph.u[edge]], data.drawing.nodes[overlayDrawing.graph.v[edge]]]),
};
