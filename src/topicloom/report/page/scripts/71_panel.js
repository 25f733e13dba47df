// The panel beside the drawing: what is known of the node, edge or topic that was picked.
Object.assign(OverlayDrawing.prototype, {
  panelNow() {
    this.way = null;
    const parts = this.edge !== null ? this.edgePanel() : this.node !== null ? this.nodePanel() : this.topicAt >= 0 ? this.topicPanel() : choice.box ? this.boxPanel() : this.emptyPanel();
    this.panel.replaceChildren(...parts.flat().filter(Boolean));
    if (this.goal !== null && this.topicAt >= 0) this.pathNow();
  },
  facts(rows) {
    return make("dl", {}, ...rows.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
  },
  heading(text) {
    return make("h3", { dir: "auto", title: short(text, 400) }, short(text, 300));
  },
  // A list of buttons; of very many the first.
  choices(title, entries, action) {
    if (!entries.length) return [];
    const more = entries.length - MANY;
    return [
      make("h4", {}, `${title} (${number(entries.length)})`),
      make("ul", {}, ...entries.slice(0, MANY).map((entry) =>
        make("li", {}, make("button", { type: "button", dir: "auto", title: short(entry.name, 200), onclick: () => action(entry) }, short(entry.name, 40), entry.more ?? "")))),
      more > 0 ? make("p", {}, `and ${number(more)} more`) : null,
    ];
  },
  topicEntries(topics) {
    return [...topics].map((topic) => ({ name: this.drawing.topics[topic], topic }));
  },
  emptyPanel() {
    const { drawing, graph } = this;
    return [
      this.heading(choice.moment === null ? drawing.graphs[this.at].name : `after ${number(choice.moment)} s`),
      this.facts(drawing.kinds?.length
        ? ["user", "broker"].map((kind) => [`${kind}s`, number(drawing.kinds.filter((one) => one === kind).length)])
        : [[`${drawing.node_word}s`, number(this.look.nodes.filter((node) => !node.hidden).length)], [`${drawing.edge_word}s`, number(graph.u.length)], [`${drawing.topic_word}s`, number(drawing.topics.length)]]),
      make("p", { class: "hint" }, `${drawing.topics.length ? `Pick a ${drawing.topic_word}, search` : "Search"} a ${drawing.node_word}, or click in the drawing. Drag moves it, the wheel zooms.`),
      drawing.graphs[this.at].note ? make("p", {}, drawing.graphs[this.at].note) : null,
    ];
  },
  boxPanel() {
    const lit = [...this.litNodes()];
    return [make("h3", {}, `${plural(lit.length, this.drawing.node_word)} selected`), ...this.choices("they are", lit.map((node) => ({ name: this.drawing.nodes[node], node })), (entry) => this.pickNode(entry.node))];
  },
  topicPanel() {
    const { graph, drawing, topicAt } = this;
    const parts = graph.components(topicAt), members = parts.flatMap((part) => part.nodes);
    const split = parts.length > 1 && !drawing.sampled;
    return [
      this.heading(drawing.topics[topicAt]),
      this.facts([["subscribers", number(members.length)], [`${drawing.edge_word}s that carry it`, number(graph.topicEdges(topicAt).length)], ["in the spanning tree", number(parts.reduce((sum, part) => sum + part.tree.length, 0))], drawing.sampled ? ["drawn", "a sample"] : ["components", number(parts.length)]]),
      make("p", { class: split ? "bad" : "good" }, drawing.sampled ? "" : split ? `Split: ${parts.slice(0, 8).map((part) => number(part.nodes.length)).join(", ")} subscribers in separate components.` : "Connected. Thick lines are a spanning tree."),
      ...this.choices("subscribers", members.sort((a, b) => a - b).map((node) => ({ name: drawing.nodes[node], node })), (entry) => this.pickNode(entry.node)),
    ];
  },
  edgePanel() {
    const { graph, drawing, edge } = this;
    const [a, b] = [graph.u[edge], graph.v[edge]], topics = graph.topicsAlong(edge);
    return [
      make("h3", {}, `The ${drawing.edge_word} between`),
      ...this.choices("ends", [a, b].map((node) => ({ name: drawing.nodes[node], node })), (entry) => this.pickNode(entry.node)),
      topics.length || !drawing.topics.length ? null : make("p", {}, `No ${drawing.topic_word} can use it: its ends share none.`),
      ...this.choices(`${drawing.topic_word}s it carries`, this.topicEntries(topics), (entry) => choose({ topic: entry.name, box: null })),
    ];
  },
  nodePanel() {
    const { graph, drawing, node } = this;
    const near = [];
    for (let k = graph.first[node]; k < graph.first[node + 1]; k++) near.push({ name: drawing.nodes[graph.near[k]], node: graph.near[k], edge: graph.over[k] });
    near.sort((one, other) => graph.degree[other.node] - graph.degree[one.node]);
    return [
      this.heading(drawing.nodes[node]),
      drawing.notes?.[node] ? make("p", {}, drawing.notes[node]) : null,
      this.facts(drawing.topics.length
        ? [["neighbors", number(graph.degree[node])], [`${drawing.topic_word}s`, number(graph.topicsOf(node).length)], ["load", `${number(graph.load()[node])} ${drawing.topic_word}s on its ${drawing.edge_word}s`]]
        : [[`${drawing.edge_word}s`, number(graph.degree[node])]]),
      this.deathPart(),
      this.pathPart(),
      ...this.choices(`${drawing.edge_word}s to`, near, (entry) => this.pickEdge(entry.edge)),
      ...this.choices(`${drawing.topic_word}s`, this.topicEntries(graph.topicsOf(node)), (entry) => choose({ topic: entry.name, box: null })),
    ];
  },
  deathPart() {
    const { graph, drawing, node } = this;
    if (drawing.sampled || !drawing.topics.length) return null;
    const splits = graph.splits(node), total = graph.topicsOf(node).length;
    const holder = make("div", {}, make("h4", {}, "if it dies"));
    if (!splits.length) holder.append(make("p", { class: "good" }, `Nothing splits: its ${plural(total, drawing.topic_word)} stay connected.`));
    else {
      splits.sort((one, other) => other.sizes.length - one.sizes.length);
      holder.append(make("p", { class: "bad" }, `${number(splits.length)} of its ${plural(total, drawing.topic_word)} would split.`));
      holder.append(...this.choices("they are", splits.map((one) => ({ name: drawing.topics[one.topic], more: ` → ${one.sizes.length}`, topic: one.topic })), (entry) => choose({ topic: entry.name, box: null })).filter(Boolean));
    }
    return holder;
  },
  pathPart() {
    const { drawing, graph, node } = this;
    if (!drawing.topics.length) return null;
    const holder = make("div", { class: "path" }, make("h4", {}, this.topicAt >= 0 ? `path within ${short(drawing.topics[this.topicAt], 30)}` : "path to another node"));
    const field = make("div", { class: "picker" }, make("input", { type: "search", placeholder: `To which ${drawing.node_word}?`, "aria-label": `Path to which ${drawing.node_word}`, autocomplete: "off" }));
    this.pathTold = make("p", {}, "");
    holder.append(field, this.pathTold);
    const picker = new Picker(field, drawing.nodes, (goal) => this.pickGoal(goal));
    if (this.goal !== null) picker.show(this.goal);
    return holder;
  },
  // The topic that is picked, or else the common one with the shortest path.
  pickGoal(goal) {
    const { graph, drawing, node } = this;
    this.goal = goal;
    if (this.topicAt >= 0 && graph.path(node, goal, this.topicAt)) return this.paint();
    let best = null;
    for (const topic of graph.topicsOf(node)) {
      const way = graph.path(node, goal, topic);
      if (way && (best === null || way.nodes.length < best.way.nodes.length)) best = { topic, way };
    }
    if (best) return choose({ topic: drawing.topics[best.topic], box: null });
    this.goal = null;
    this.pathTold.textContent = `No ${drawing.topic_word} leads there: the two share none that connects them.`;
  },
  pathNow() {
    const { graph, drawing } = this;
    this.way = graph.path(this.node, this.goal, this.topicAt);
    if (this.way && this.pathTold) {
      const names = this.way.nodes.map((node) => isolate(short(drawing.nodes[node], 24)));
      this.pathTold.textContent = `${plural(this.way.edges.length, "hop")}: ${names.join(" → ")}`;
    } else if (this.pathTold) this.pathTold.textContent = `No path within this ${drawing.topic_word}.`;
    this.style();
    this.view.refresh();
  },
});
