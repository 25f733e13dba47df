// Bars beneath each other, laid out of parts.
const VALUE = 60; // pixels that a value takes beside its bar
const ROW = 34;
const MOST_BARS = 80;

class BarsChart extends Frame {
  constructor(figure, chart) {
    super(figure, chart);
    this.addLegend(chart.names, "");
    this.addValues(["", ...chart.names], chart.bars.map((bar) => [bar.label, ...bar.parts.map((part) => part.value)]));
    this.zoom = null;
    this.reset = null;
    this.fit();
  }
  nameOf(found) {
    return found.bar.label;
  }
  // Times from fractions of a millisecond to minutes are read more easily with three digits and their unit.
  value(amount) {
    if (this.chart.x.unit !== " s") return number(amount) + (this.chart.x.unit ?? "");
    const [shown, unit] = amount < 0.1 ? [amount * 1000, "ms"] : [amount, "s"];
    return `${number(Number(shown.toPrecision(3)))} ${unit}`;
  }
  textOf(found) {
    const lines = [`${found.part.name}: ${this.value(found.part.value)}`];
    if (found.bar.parts.length > 1) lines.push(`together ${this.value(d3.sum(found.bar.parts, (part) => part.value))}`);
    if (found.bar.limit !== null && found.bar.limit !== undefined) lines.push(`limit ${this.value(found.bar.limit)}`);
    return lines.join("\n");
  }
  pick(found) {
    if (found && this.chart.link === "build") choose({ build: choice.build === found.bar.key ? null : found.bar.key });
  }
  render() {
    const { chart, width } = this;
    const linked = chart.link === "build";
    const bars = chart.bars.filter((bar) => !(linked && choice.hidden.has(bar.key))).slice(0, MOST_BARS);
    const room = Math.min(width * 0.42, 18 + 7.2 * (d3.max(bars, (bar) => Math.min(bar.label.length, 60)) ?? 4));
    const height = bars.length * ROW + 40;
    this.svg.selectAll("*").remove();
    this.svg.attr("viewBox", `0 0 ${width} ${height}`).attr("height", height);
    const parts = (bar) => bar.parts.filter((part) => !this.hidden?.has(part.name));
    const most = d3.max(bars, (bar) => Math.max(d3.sum(parts(bar), (part) => part.value), bar.limit ?? 0)) || 1;
    this.x = d3.scaleLinear().domain([0, most]).range([room, width - 78]);
    const points = [];
    bars.forEach((bar, row) => {
      const top = row * ROW + 6;
      let sum = 0;
      const line = this.svg.append("g");
      line.append("text").attr("class", "bar-label").attr("x", room - 10).attr("y", top + ROW / 2 - 1).attr("text-anchor", "end").text(short(bar.label, Math.max(6, Math.floor(room / 7.4)))).append("title").text(short(bar.label, 400));
      for (const part of parts(bar)) {
        const left = this.x(sum), right = this.x((sum += part.value));
        if (right - left < 0.3) continue;
        const faded = linked && choice.build !== null && choice.build !== bar.key;
        line.append("g").attr("class", `series ${colorClass(chart.names.indexOf(part.name))}`).classed("dim", faded)
          .append("rect").attr("x", left).attr("y", top).attr("width", Math.max(right - left - 1, 0.8)).attr("height", ROW - 14).attr("rx", 3).attr("stroke", "none");
        points.push({ bar, part, px: (left + right) / 2, py: top + (ROW - 14) / 2, left, right, r: 2 });
      }
      const limit = this.x(bar.limit ?? 0), end = this.x(sum);
      line.append("text").attr("class", "bar-value").attr("x", (limit > end && limit < end + VALUE ? limit : end) + 8).attr("y", top + ROW / 2 - 1).text(this.value(sum));
      if (bar.limit !== null && bar.limit !== undefined) line.append("line").attr("class", "limit").attr("x1", this.x(bar.limit)).attr("x2", this.x(bar.limit)).attr("y1", top - 4).attr("y2", top + ROW - 10);
    });
    this.svg.append("text").attr("class", "axis-title").attr("x", room).attr("y", height - 8).text(chart.x.title);
    this.points = points;
    this.svg.on("pointermove", (event) => {
      const [x, y] = d3.pointer(event);
      this.point(points.find((point) => x >= point.left && x <= point.right && Math.abs(y - point.py) <= ROW / 2) ?? null, event.clientX, event.clientY);
    }).on("pointerleave", () => this.point(null)).on("click", () => this.pick(this.pointed));
  }
}

const CHARTS = { lines: PointChart, dots: PointChart, bars: BarsChart };

function drawCharts() {
  for (const figure of document.querySelectorAll("[data-chart]")) {
    const chart = data.charts[figure.dataset.chart];
    new CHARTS[chart.kind](figure, chart);
  }
}
