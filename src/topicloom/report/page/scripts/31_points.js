// Lines and dots: the two kinds of charts with two axes.
let clips = 0;

class PointChart extends Frame {
  constructor(figure, chart) {
    super(figure, chart);
    this.addTools(true);
    const linked = chart.link === "build" || chart.link === "degree" ? "build" : chart.link;
    this.linked = linked;
    this.addLegend(chart.series.map((series) => series.name), linked, chart.series.map((series) => series.color));
    this.addValues(["", chart.x.title, chart.y.title], chart.series.flatMap((series) =>
      series.x.map((x, at) => [chart.link === "topic" && series.keys?.[at] !== undefined ? `${series.keys[at]} (${series.name})` : series.name, x, series.y[at]])));
    this.fit();
  }
  shown() {
    return this.chart.series.filter((series) => !this.hidden?.has(series.name));
  }
  dim(series) {
    return this.linked === "build" && choice.build !== null && choice.build !== series.name && this.chart.series.some((one) => one.name === choice.build);
  }
  nameOf(found) {
    const key = found.series.keys?.[found.at];
    return this.chart.link === "topic" && key !== undefined ? key : found.series.name;
  }
  textOf(found) {
    const { chart } = this, { series, at } = found;
    const happened = (chart.marks ?? []).find((mark) => mark.at === series.x[at]);
    const lasted = (chart.bands ?? []).filter((band) => band.start <= series.x[at] && series.x[at] < band.end);
    const also = [happened, ...lasted].filter(Boolean).map((one) => `\n${one.label}`).join("");
    return series.texts?.[at] ?? `${chart.x.title}: ${number(series.x[at])}${chart.x.unit ?? ""}\n${chart.y.title}: ${number(series.y[at])}${chart.y.unit ?? ""}${also}`;
  }
  render() {
    const { chart, width } = this;
    const height = (chart.height ?? 300) * (onPaper ? 0.78 : 1); // two to a page
    this.svg.selectAll("*").remove();
    this.svg.attr("viewBox", `0 0 ${width} ${height}`).attr("height", height);
    const rules = (axis) => (chart.rules ?? []).filter((rule) => rule.axis === axis).map((rule) => rule.at);
    const series = this.shown();
    this.x = this.scale(chart.x, series.flatMap((one) => one.x), [MARGIN.left, width - MARGIN.right], rules("x"));
    this.y = this.scale(chart.y, series.flatMap((one) => one.y), [height - MARGIN.bottom, MARGIN.top], rules("y"));
    this.all = { x: this.x.domain(), y: this.y.domain() };
    if (this.zoomed) {
      this.x.domain(this.zoomed.x);
      this.y.domain(this.zoomed.y);
    }
    this.axes(height);
    const clip = `clip-${++clips}`;
    this.svg.append("clipPath").attr("id", clip).append("rect").attr("x", MARGIN.left - 6).attr("y", 0)
      .attr("width", width - MARGIN.left - MARGIN.right + 12).attr("height", height - MARGIN.bottom + 10);
    const layer = this.svg.append("g").attr("clip-path", `url(#${clip})`);
    this.bands(layer, height);
    this.rules(layer, chart.rules ?? [], height);
    this.marks(layer, height);
    const points = chart.kind === "lines" ? this.lines(layer, series) : this.dots(layer, series);
    const inside = points.filter((point) => point.px >= MARGIN.left - 2 && point.px <= width - MARGIN.right + 2 && point.py >= MARGIN.top - 4 && point.py <= height - MARGIN.bottom + 4);
    this.answer(inside, height);
  }
  // Stretches of time behind the lines, with their name where there is room for it.
  bands(layer, height) {
    for (const band of this.chart.bands ?? []) {
      const left = this.x(band.start), right = this.x(band.end);
      const one = layer.append("g").attr("class", `band ${band.kind}`);
      one.append("rect").attr("x", left).attr("y", MARGIN.top).attr("width", Math.max(right - left, 1)).attr("height", height - MARGIN.bottom - MARGIN.top);
      if (right - left > 5.5 * band.kind.length + 4) one.append("text").attr("x", left + 4).attr("y", MARGIN.top - 5).text(band.kind);
    }
  }
  marks(layer, height) {
    for (const mark of this.chart.marks ?? []) {
      // Small ticks below the axis: churn may happen all the time, and lines at zero must stay readable.
      const at = this.x(mark.at), top = height - MARGIN.bottom + 1, bottom = top + (mark.kind === "crash" ? 8 : 4);
      layer.append("g").attr("class", `mark ${mark.kind}`).append("line").attr("x1", at).attr("x2", at).attr("y1", top).attr("y2", bottom);
    }
    if (this.chart.timed && choice.moment !== null && choice.moment !== undefined)
      layer.append("line").attr("class", "now").attr("x1", this.x(choice.moment)).attr("x2", this.x(choice.moment)).attr("y1", MARGIN.top).attr("y2", height - MARGIN.bottom);
  }
  visible(series, at) {
    const { chart } = this, x = series.x[at], y = series.y[at];
    return y !== null && (!chart.x.log || x > 0) && (!chart.y.log || y > 0);
  }
  lines(layer, shown) {
    const curve = { before: d3.curveStepBefore, after: d3.curveStepAfter }[this.chart.step] ?? d3.curveLinear;
    const points = [];
    for (const series of shown) {
      const group = layer.append("g").attr("class", `series ${colorClass(series.color)}`).classed("dim", this.dim(series));
      const path = d3.line((at) => this.x(series.x[at]), (at) => this.y(series.y[at])).defined((at) => this.visible(series, at)).curve(curve);
      const places = series.x.map((_, at) => at);
      group.append("path").attr("d", path(places));
      const seen = places.filter((at) => this.visible(series, at));
      if (seen.length) group.append("circle").attr("r", 4).attr("cx", this.x(series.x[seen.at(-1)])).attr("cy", this.y(series.y[seen.at(-1)]));
      for (const at of seen) points.push({ series, at, px: this.x(series.x[at]), py: this.y(series.y[at]) });
    }
    return points;
  }
  dots(layer, shown) {
    const { chart } = this;
    const most = d3.max(shown, (series) => d3.max(series.sizes ?? [])) ?? 1;
    const radius = d3.scaleSqrt().domain([0, most]).range([2, 15]);
    const points = [];
    for (const series of shown) {
      const crowd = d3.sum(chart.series, (one) => one.x.length) > 40;
      const group = layer.append("g").attr("class", `series ${colorClass(series.color)}`).classed("crowd", crowd).classed("dim", this.dim(series));
      series.x.forEach((x, at) => {
        if (!this.visible(series, at)) return;
        const point = { series, at, px: this.x(x), py: this.y(series.y[at]), r: series.sizes?.length ? radius(series.sizes[at]) : chart.named ? 7 : crowd ? 4 : 6 };
        group.append("circle").attr("cx", point.px).attr("cy", point.py).attr("r", point.r);
        points.push(point);
        if (chart.link === "topic" && series.keys?.[at] === choice.topic)
          layer.append("circle").attr("class", "chosen-ring").attr("cx", point.px).attr("cy", point.py).attr("r", point.r + 4);
      });
    }
    if (chart.link === "degree" && choice.box) this.boxed(layer);
    if (chart.named) this.names(layer, points);
    return points;
  }
  boxed(layer) {
    const { x, y } = choice.box;
    layer.append("g").attr("class", "brush").append("rect").attr("class", "selection").attr("x", this.x(x[0])).attr("y", this.y(y[1]))
      .attr("width", Math.max(2, this.x(x[1]) - this.x(x[0]))).attr("height", Math.max(2, this.y(y[0]) - this.y(y[1])));
  }
  // Names beside dots, at the first place where they cover neither a dot nor another name.
  names(layer, points) {
    const taken = points.map((point) => ({ x0: point.px - 9, x1: point.px + 9, y0: point.py - 9, y1: point.py + 9 }));
    const meets = (box) => box.x1 > this.width - 4 || box.x0 < MARGIN.left || box.y0 < 2 || taken.some((other) => box.x0 < other.x1 && other.x0 < box.x1 && box.y0 < other.y1 && other.y0 < box.y1);
    for (const point of points) {
      const text = short(point.series.name, 28), long = text.length * 7.1;
      const places = [];
      for (const far of [13, 20, 30, 44]) places.push([far, 4, 0], [-far, 4, 1], [0, -far, 0.5], [0, far + 8, 0.5], [far * 0.8, -far * 0.8, 0], [far * 0.8, far, 0], [-far * 0.8, -far * 0.8, 1], [-far * 0.8, far, 1]);
      const boxAt = ([dx, dy, anchor]) => ({ x0: point.px + dx - anchor * long, x1: point.px + dx + (1 - anchor) * long, y0: point.py + dy - 11, y1: point.py + dy + 4 });
      const place = places.find((one) => !meets(boxAt(one))) ?? places[0];
      taken.push(boxAt(place));
      layer.append("text").attr("class", "name").attr("x", point.px + place[0]).attr("y", point.py + place[1]).attr("text-anchor", ["start", "middle", "end"][place[2] * 2]).text(text);
    }
  }
}
