// What all charts share: axes, zoom, the pointer, the keyboard, the legend, the values as a table.
const MARGIN = { top: 22, right: 18, bottom: 44, left: 58 };
const PALETTE = 8;
const NEAR = 48; // pixels within which a point answers to the pointer
const MOST_VALUES = 300; // rows of the table under a chart

function colorClass(place) {
  return `k${place % PALETTE}`;
}

class Frame {
  constructor(figure, chart) {
    this.chart = chart;
    this.plot = figure.querySelector(".plot");
    this.zoomed = null; // {x: [low, high], y: [low, high]} or everything
    this.at = -1; // the point under the keyboard
    this.tools = make("div", { class: "bar-tools" });
    this.surface = make("div", {
      class: "surface", tabindex: "0", role: "group", "aria-roledescription": "chart",
      "aria-label": `${chart.title}. ${chart.about} Arrow keys go from value to value, Enter chooses, plus and minus zoom, 0 shows all.`,
    });
    this.plot.append(this.tools, this.surface);
    this.svg = d3.select(this.surface).append("svg").attr("aria-hidden", "true");
    this.width = 0;
    new ResizeObserver(() => this.fit()).observe(this.surface);
    this.surface.addEventListener("keydown", (event) => this.key(event));
    this.surface.addEventListener("blur", () => this.leave());
    onChoice((part) => this.heard(part));
  }
  fit() {
    const width = Math.round(this.surface.clientWidth);
    if (width && width !== this.width) {
      this.width = width;
      this.render();
    }
  }
  // Paper is narrower than the screen: draw for its width, so that letters keep their size.
  paper(on) {
    this.zoomed = null;
    this.width = 0;
    if (!on) return this.fit();
    this.width = this.plot.closest(".charts:not(.n1)") ? 300 : 640;
    this.render();
  }
  heard(part) {
    if ("paper" in part) return this.paper(part.paper);
    if ("theme" in part) return;
    if ("moment" in part && Object.keys(part).length === 1 && !this.chart.timed) return;
    this.legendState?.();
    if (this.width) this.render();
  }
  leave() {
    this.at = -1;
    this.svg.selectAll(".ring").remove();
    hideTip();
  }
  // --- tools above the chart
  addTools(zoomable) {
    if (!zoomable) return;
    const button = (label, name, action) => make("button", { type: "button", "aria-label": `${name}: ${this.chart.title}`, title: name, onclick: action }, label);
    this.tools.append(
      make("div", { class: "view-tools" },
        button("+", "Zoom in", () => this.zoom(0.6)),
        button("−", "Zoom out", () => this.zoom(1 / 0.6)),
        button("Reset", "Reset", () => this.reset())),
    );
  }
  addLegend(names, link, colors = names.map((_, place) => place)) {
    if (names.length < 2 && link !== "build") return;
    const legend = make("div", { class: "legend", role: "group", "aria-label": `Shown in ${this.chart.title}` });
    const own = new Set();
    this.hidden = link === "build" ? choice.hidden : own;
    const buttons = names.map((name, place) => {
      const swatch = make("i", { class: colorClass(colors[place]) });
      return make("button", { type: "button", "aria-pressed": "true", title: short(name, 200), onclick: () => {
        if (this.hidden.has(name)) this.hidden.delete(name);
        else if (this.hidden.size < names.length - 1) this.hidden.add(name);
        choose({ hidden: choice.hidden });
      } }, swatch, make("span", {}, short(name, 40)));
    });
    this.legendState = () => buttons.forEach((button, place) => {
      button.setAttribute("aria-pressed", String(!this.hidden.has(names[place])));
      button.classList.toggle("chosen", link === "build" && choice.build === names[place]);
    });
    legend.append(...buttons);
    this.tools.prepend(legend);
  }
  addValues(columns, rows) {
    if (!rows.length) return;
    const details = make("details", { class: "values" }, make("summary", {}, "Values as a table"));
    details.addEventListener("toggle", () => {
      if (!details.open || details.children.length > 1) return;
      const head = make("tr", {}, ...columns.map((name, at) => make("th", { scope: "col", class: at ? "number plain" : "plain" }, name)));
      const body = make("tbody", {}, ...rows.slice(0, MOST_VALUES).map((cells) =>
        make("tr", {}, ...cells.map((cell, at) => make("td", { class: at ? "number" : "" }, typeof cell === "number" ? number(cell) : short(String(cell ?? "–"), 200))))));
      const more = rows.length > MOST_VALUES ? make("p", {}, `${number(rows.length - MOST_VALUES)} more are not listed.`) : null;
      details.append(make("div", { tabindex: "0", role: "region", "aria-label": `Values of ${this.chart.title}` }, make("table", {}, make("thead", {}, head), body)), more ?? "");
    });
    this.plot.append(details);
  }
  // --- zoom
  zoom(factor) {
    const shrink = (scale) => {
      const [a, b] = scale.range();
      const middle = (a + b) / 2, half = ((b - a) / 2) * factor;
      return [scale.invert(middle - half), scale.invert(middle + half)];
    };
    this.zoomTo({ x: shrink(this.x), y: shrink(this.y) });
  }
  zoomTo(domains) {
    const inside = (found, all) => [Math.max(found[0], all[0]), Math.min(found[1], all[1])];
    this.zoomed = { x: inside(domains.x, this.all.x), y: inside(domains.y, this.all.y) };
    this.render();
  }
  reset() {
    this.zoomed = null;
    this.render();
  }
  // --- scales and axes
  scale(axis, values, range, rules) {
    const seen = values.concat(rules).filter((value) => value !== null && (!axis.log || value > 0));
    let low = seen.length ? d3.min(seen) : 0, high = seen.length ? d3.max(seen) : 1;
    if (axis.log) {
      const room = Math.max((high / low) ** 0.06, 1.08);
      low = axis.whole && low === 1 ? 0.85 : low / room;
      high *= room;
    } else {
      const room = (high - (axis.from_zero ? Math.min(0, low) : low)) * 0.06 || Math.abs(high) * 0.1 || 1;
      low = axis.from_zero ? Math.min(0, low) : Math.max(low - room * 1.5, low > 0 ? 0 : -Infinity);
      high += room;
    }
    return (axis.log ? d3.scaleLog() : d3.scaleLinear()).domain([low, high]).range(range);
  }
  ticks(scale, axis, pixels) {
    const count = Math.max(2, Math.floor(pixels / (axis.unit === "%" ? 60 : 70)));
    let found;
    if (axis.log) {
      const [low, high] = scale.domain();
      const wide = Math.log10(high / low);
      if (wide < 0.7) found = d3.ticks(low, high, count);
      else {
        const steps = wide < 2.2 ? [1, 2, 5] : [1];
        found = [];
        for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++)
          for (const step of steps) {
            const value = step * 10 ** power;
            if (value >= low && value <= high) found.push(Number(value.toPrecision(3)));
          }
      }
    } else found = scale.ticks(count);
    return axis.whole ? [...new Set(found.filter(Number.isInteger))] : found;
  }
  axes(height) {
    const { chart, width } = this;
    const format = (axis) => (value) => (Math.abs(value) >= 10000 && !axis.unit ? d3.format("~s")(value) : number(value)) + (axis.unit ?? "");
    const right = width - MARGIN.right, bottom = height - MARGIN.bottom;
    const ys = this.svg.append("g").attr("class", "grid");
    for (const value of this.ticks(this.y, chart.y, bottom - MARGIN.top)) {
      const at = this.y(value);
      ys.append("line").attr("x1", MARGIN.left).attr("x2", right).attr("y1", at).attr("y2", at);
      ys.append("g").attr("class", "tick").append("text").attr("x", MARGIN.left - 8).attr("y", at).attr("dy", "0.32em").attr("text-anchor", "end").text(format(chart.y)(value));
    }
    const xs = this.svg.append("g");
    for (const value of this.ticks(this.x, chart.x, right - MARGIN.left))
      xs.append("g").attr("class", "tick").append("text").attr("x", this.x(value)).attr("y", bottom + (chart.marks?.length ? 22 : 18)).attr("text-anchor", "middle").text(format(chart.x)(value));
    xs.append("line").attr("class", "base").attr("x1", MARGIN.left).attr("x2", right).attr("y1", bottom).attr("y2", bottom);
    this.svg.append("text").attr("class", "axis-title").attr("x", (MARGIN.left + right) / 2).attr("y", height - 6).attr("text-anchor", "middle").text(chart.x.title);
    this.svg.append("text").attr("class", "axis-title").attr("transform", `translate(13 ${(MARGIN.top + bottom) / 2}) rotate(-90)`).attr("text-anchor", "middle").text(chart.y.title);
  }
  rules(layer, rules, height) {
    const right = this.width - MARGIN.right, bottom = height - MARGIN.bottom;
    for (const rule of rules) {
      const one = layer.append("g").attr("class", "rule");
      if (rule.axis === "x") {
        const at = this.x(rule.at);
        one.append("line").attr("x1", at).attr("x2", at).attr("y1", MARGIN.top).attr("y2", bottom);
        one.append("text").attr("x", at + 5).attr("y", MARGIN.top - 5).text(`${rule.label} ${number(Number(rule.at.toPrecision(3)))}`);
      } else {
        const at = this.y(rule.at);
        one.append("line").attr("x1", MARGIN.left).attr("x2", right).attr("y1", at).attr("y2", at);
        one.append("text").attr("x", right - 4).attr("y", at - 6).attr("text-anchor", "end").text(`${rule.label} ${number(rule.at)}`);
      }
    }
  }
  // --- pointer and keyboard over points [{px, py, series, at}]
  answer(points, height) {
    this.points = points;
    const finder = points.length ? d3.Delaunay.from(points, (point) => point.px, (point) => point.py) : null;
    const bounds = [[MARGIN.left, MARGIN.top], [this.width - MARGIN.right, height - MARGIN.bottom]];
    const brush = d3.brush().extent(bounds).filter((event) => !event.button && !event.ctrlKey).on("end", (event) => this.brushed(event));
    const layer = this.svg.append("g").attr("class", "brush").call(brush);
    this.clearBrush = () => layer.call(brush.move, null);
    layer.on("pointermove", (event) => {
      const [x, y] = d3.pointer(event, this.svg.node());
      const found = finder ? points[finder.find(x, y)] : null;
      const near = found && Math.hypot(found.px - x, found.py - y) <= NEAR;
      this.point(near ? found : null, event.clientX, event.clientY);
      layer.select(".overlay").attr("cursor", near && this.chart.link ? "pointer" : "crosshair");
    });
    layer.on("pointerleave", () => this.point(null));
    layer.on("dblclick", () => this.reset());
    this.surface.onwheel = (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 0.8 : 1.25);
    };
    if (this.at >= points.length) this.at = -1;
  }
  point(found, x, y) {
    this.svg.selectAll(".ring").remove();
    this.pointed = found;
    if (!found) return hideTip();
    this.svg.append("circle").attr("class", "ring").attr("cx", found.px).attr("cy", found.py).attr("r", (found.r ?? 4) + 4);
    if (x === undefined) {
      const box = this.surface.getBoundingClientRect();
      [x, y] = [box.left + found.px, box.top + found.py];
    }
    showTip(this.nameOf(found), this.textOf(found), x, y);
  }
  brushed(event) {
    if (!event.sourceEvent) return;
    if (!event.selection) return this.pick(this.pointed);
    const [[x0, y0], [x1, y1]] = event.selection;
    const domains = { x: [this.x.invert(x0), this.x.invert(x1)], y: [this.y.invert(y1), this.y.invert(y0)] };
    this.clearBrush();
    if (this.chart.link === "degree") choose({ box: domains, topic: null });
    else this.zoomTo(domains);
  }
  pick(found) {
    if (!found) return;
    const { link } = this.chart;
    const key = found.series.keys?.[found.at];
    if (link === "build") choose({ build: choice.build === found.series.name ? null : found.series.name });
    else if (link === "topic" && key !== undefined) choose({ topic: choice.topic === key ? null : key, box: null });
    else if (link === "degree") {
      const x = found.series.x[found.at], y = found.series.y[found.at];
      choose({ box: { x: [x - 0.5, x + 0.5], y: [y - 0.5, y + 0.5] }, topic: null });
    }
  }
  key(event) {
    if (event.target !== this.surface || event.altKey || event.ctrlKey || event.metaKey) return;
    const points = this.points ?? [];
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
    if (step && points.length) {
      this.at = this.at < 0 ? (step > 0 ? 0 : points.length - 1) : Math.max(0, Math.min(points.length - 1, this.at + step));
      this.point(points[this.at]);
    } else if (event.key === "Home" && points.length) this.point(points[(this.at = 0)]);
    else if (event.key === "End" && points.length) this.point(points[(this.at = points.length - 1)]);
    else if (event.key === "Enter" || event.key === " ") this.pick(points[this.at]);
    else if (event.key === "+" || event.key === "=") this.zoom?.(0.6);
    else if (event.key === "-") this.zoom?.(1 / 0.6);
    else if (event.key === "0") this.reset?.();
    else if (event.key === "Escape") choose({ build: null, topic: null, box: null });
    else return;
    event.preventDefault();
  }
}
