// The overlay as a graph that answers questions. Pure: no elements here.
class OverlayGraph {
  constructor(drawing, graph) {
    this.n = drawing.nodes.length;
    this.starts = unpack(drawing.starts);
    this.wants = unpack(drawing.wants);
    this.u = unpack(graph.u);
    this.v = unpack(graph.v);
    this.groups = unpack(graph.groups);
    // Links of a mesh carry what they were configured for; edges of an overlay what both ends want.
    this.carried = graph.carried ? { starts: unpack(graph.carry_starts), topics: unpack(graph.carried) } : null;
    this.index();
  }
  // Neighbors of node i are near[first[i]..first[i+1]], over the edges of the same places in `over`.
  index() {
    const { n, u, v } = this, m = u.length;
    this.degree = new Uint32Array(n);
    for (let e = 0; e < m; e++) { this.degree[u[e]]++; this.degree[v[e]]++; }
    this.first = new Uint32Array(n + 1);
    for (let i = 0; i < n; i++) this.first[i + 1] = this.first[i] + this.degree[i];
    const fill = this.first.slice(0, n);
    this.near = new Uint32Array(2 * m);
    this.over = new Uint32Array(2 * m);
    for (let e = 0; e < m; e++) {
      this.near[fill[u[e]]] = v[e]; this.over[fill[u[e]]++] = e;
      this.near[fill[v[e]]] = u[e]; this.over[fill[v[e]]++] = e;
    }
    this.loads = null;
  }
  setEdges(u, v) {
    this.u = u;
    this.v = v;
    this.index();
  }
  topicsOf(node) {
    return this.wants.subarray(this.starts[node], this.starts[node + 1]);
  }
  hasTopic(node, topic) {
    let low = this.starts[node], high = this.starts[node + 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.wants[middle] < topic) low = middle + 1;
      else high = middle;
    }
    return low < this.starts[node + 1] && this.wants[low] === topic;
  }
  nodesOf(topic) {
    const found = [];
    for (let i = 0; i < this.n; i++) if (this.hasTopic(i, topic)) found.push(i);
    return found;
  }
  // The topics that both ends want.
  topicsAlong(edge) {
    if (this.carried) return [...this.carried.topics.subarray(this.carried.starts[edge], this.carried.starts[edge + 1])];
    const a = this.topicsOf(this.u[edge]), b = this.topicsOf(this.v[edge]), found = [];
    for (let i = 0, j = 0; i < a.length && j < b.length; ) {
      if (a[i] === b[j]) { found.push(a[i]); i++; j++; }
      else if (a[i] < b[j]) i++;
      else j++;
    }
    return found;
  }
  carries(edge, topic) {
    if (!this.carried) return true;
    for (let k = this.carried.starts[edge]; k < this.carried.starts[edge + 1]; k++) if (this.carried.topics[k] === topic) return true;
    return false;
  }
  // Topics on the edges of each node, summed.
  load() {
    if (this.loads) return this.loads;
    this.loads = new Float64Array(this.n);
    for (let e = 0; e < this.u.length; e++) {
      const count = this.topicsAlong(e).length;
      this.loads[this.u[e]] += count;
      this.loads[this.v[e]] += count;
    }
    return this.loads;
  }
  // Components of a topic's subscribers, without one node if told so, each with the edges of a spanning tree.
  components(topic, without = -1) {
    const members = this.nodesOf(topic).filter((node) => node !== without);
    const inside = new Uint8Array(this.n);
    for (const node of members) inside[node] = 1;
    const found = [];
    for (const root of members) {
      if (inside[root] !== 1) continue;
      const nodes = [root], tree = [];
      inside[root] = 2;
      for (let at = 0; at < nodes.length; at++)
        for (let k = this.first[nodes[at]]; k < this.first[nodes[at] + 1]; k++)
          if (inside[this.near[k]] === 1 && this.carries(this.over[k], topic)) {
            inside[this.near[k]] = 2;
            nodes.push(this.near[k]);
            tree.push(this.over[k]);
          }
      found.push({ nodes, tree });
    }
    return found.sort((one, other) => other.nodes.length - one.nodes.length);
  }
  topicEdges(topic) {
    const inside = new Uint8Array(this.n), found = [];
    for (const node of this.nodesOf(topic)) inside[node] = 1;
    for (let e = 0; e < this.u.length; e++) if (inside[this.u[e]] && inside[this.v[e]] && this.carries(e, topic)) found.push(e);
    return found;
  }
  // Topics that fall into more components than before when a node dies.
  splits(node) {
    const found = [];
    for (const topic of this.topicsOf(node)) {
      const before = this.components(topic).length;
      const after = this.components(topic, node);
      if (after.length > before) found.push({ topic, sizes: after.map((part) => part.nodes.length) });
    }
    return found;
  }
  // The fewest hops from a to b through nodes that want the topic; null if there is no path.
  path(a, b, topic) {
    if (!this.hasTopic(a, topic) || !this.hasTopic(b, topic)) return null;
    const before = new Int32Array(this.n).fill(-1), edge = new Int32Array(this.n).fill(-1);
    before[a] = a;
    const queue = [a];
    for (let at = 0; at < queue.length && before[b] < 0; at++)
      for (let k = this.first[queue[at]]; k < this.first[queue[at] + 1]; k++) {
        const next = this.near[k];
        if (before[next] < 0 && this.hasTopic(next, topic) && this.carries(this.over[k], topic)) {
          before[next] = queue[at];
          edge[next] = this.over[k];
          queue.push(next);
        }
      }
    if (before[b] < 0) return null;
    const nodes = [b], edges = [];
    for (let node = b; node !== a; node = before[node]) { edges.push(edge[node]); nodes.push(before[node]); }
    return { nodes: nodes.reverse(), edges: edges.reverse() };
  }
}
