/* global uPlot */
import { byId, el, setAttribute, setText } from "./dom.js";
import { clock, perSecond, rate } from "./format.js";
import { keyOf } from "./model.js";

const mostLines = 8;
const seconds = 300; // that are shown
const milliseconds = (value) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;

// What can be measured: the sum of a port, and its parts.
const measures = {
  bits: {
    title: "bits",
    least: 1000, // that the scale shows
    text: rate,
    sum: (sample) => sample.bitsIn + sample.bitsOut,
    parts: { "from it": (sample) => sample.bitsIn, "to it": (sample) => sample.bitsOut },
  },
  frames: {
    title: "frames",
    least: 10,
    text: perSecond,
    sum: (sample) => sample.framesIn + sample.framesOut,
    parts: { "from it": (sample) => sample.framesIn, "to it": (sample) => sample.framesOut },
  },
  drops: { title: "drops", least: 10, text: perSecond, sum: (sample) => sample.drops },
  wait: {
    title: "oldest frame that waits",
    least: 10,
    text: milliseconds,
    sum: (sample) => sample.wait,
  },
};

export class Chart {
  constructor(changed) {
    this.place = byId("chart");
    this.legend = byId("legend");
    this.portChoice = byId("chart-port");
    this.measureChoice = byId("chart-measure");
    this.measureChoice.append(
      ...Object.entries(measures).map(([key, { title }]) => el("option", { value: key }, title)),
    );
    this.hiddenLines = new Set();
    this.lines = [];
    this.portChoice.addEventListener("change", () => changed(this.portChoice.value));
    this.measureChoice.addEventListener("change", () => this.draw());
    new ResizeObserver(() => this.resize()).observe(this.place);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.rebuild());
  }

  show(network, model, chosen) {
    Object.assign(this, { network, model, chosen });
    this.offer();
    this.draw();
  }

  // The choice of ports; left alone while somebody has it open.
  offer() {
    const ports = this.model.portsOf(this.network.name);
    const wanted = ports.map((port) => [keyOf(port), this.titleOf(port)]);
    wanted.unshift(["", `all (the busiest ${mostLines})`]);
    const now = [...this.portChoice.options].map(({ value, text }) => [value, text]);
    if (wanted.join("\n") !== now.join("\n"))
      this.portChoice.replaceChildren(
        ...wanted.map(([value, text]) => el("option", { value }, text)),
      );
    if (this.portChoice.value !== this.chosen) this.portChoice.value = this.chosen;
  }

  titleOf(port) {
    const { name } = this.model.labelOf(port);
    return name ? `${name} (${port.name})` : port.name;
  }

  wantedLines() {
    const measure = measures[this.measureChoice.value];
    const ports = this.model.portsOf(this.network.name);
    const one = ports.find((port) => keyOf(port) === this.chosen);
    if (one && measure.parts)
      return Object.entries(measure.parts).map(([title, value]) => ({
        key: `${this.chosen}/${title}`, title: `${this.titleOf(one)}, ${title}`, port: one, value,
      }));
    if (one)
      return [{ key: this.chosen, title: this.titleOf(one), port: one, value: measure.sum }];
    // By the whole time shown, and not by the last second, or lines would come and go.
    const weight = (port) => {
      const all = this.model.samples(port).slice(-seconds);
      return all.reduce((sum, sample) => sum + measure.sum(sample), 0);
    };
    return ports
      .map((port) => ({ port, weight: weight(port) }))
      .sort((a, b) => b.weight - a.weight)
      .slice(0, mostLines)
      .map(({ port }) => port)
      .sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }))
      .map((port) => ({
        key: keyOf(port), title: this.titleOf(port), port, value: measure.sum,
      }));
  }

  draw() {
    if (!this.network) return;
    const lines = this.wantedLines();
    const names = lines.map((line) => `${line.key} ${line.title}`).join("\n");
    const signature = `${this.measureChoice.value}\n${names}`;
    this.lines = lines;
    if (signature !== this.signature || !this.plot) {
      this.signature = signature;
      this.build();
    }
    this.plot.setData(this.data());
    this.tell();
  }

  // All ports are asked at the same moments; one that came later has gaps.
  data() {
    const times = [...new Set(this.lines.flatMap(({ port }) =>
      this.model.samples(port).map((sample) => sample.at)))].sort((a, b) => a - b);
    return [times, ...this.lines.map(({ port, value }) => {
      const by = new Map(this.model.samples(port).map((sample) => [sample.at, value(sample)]));
      return times.map((at) => by.get(at) ?? null);
    })];
  }

  rebuild() {
    if (!this.plot) return;
    this.build();
    this.plot.setData(this.data());
  }

  build() {
    this.plot?.destroy();
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const measure = measures[this.measureChoice.value];
    const axis = {
      stroke: colour("--text-quiet"),
      grid: { stroke: colour("--line"), width: 1 },
      ticks: { show: false },
      font: "12px system-ui, sans-serif",
    };
    const series = this.lines.map((line, i) => ({
      label: line.title,
      stroke: colour(`--line-${i + 1}`),
      // Not by colour alone.
      dash: i >= 4 ? [6, 4] : [],
      width: 2,
      points: { show: false },
      spanGaps: false,
      show: !this.hiddenLines.has(line.key),
    }));
    this.plot = new uPlot({
      width: this.place.clientWidth || 600,
      height: this.place.clientHeight || 220,
      legend: { show: false },
      cursor: { y: false, points: { size: 7 }, drag: { x: false, y: false } },
      scales: {
        x: { range: (_, low, high) => [(high ?? Date.now() / 1000) - this.span(low, high), high] },
        y: { range: (_, low, high) => [0, Math.max(high ?? 0, measure.least) * 1.08] },
      },
      axes: [
        {
          ...axis,
          values: (_, ticks) => ticks.map((at) => clock(new Date(1000 * at))),
          space: 80,
          size: 30,
        },
        { ...axis, values: (_, ticks) => ticks.map(measure.text), size: 84 },
      ],
      series: [{}, ...series],
      hooks: { setCursor: [() => this.tell()] },
    }, [[], ...series.map(() => [])], this.place);
    this.buildLegend();
  }

  // A minute at least, so that the first samples do not fill the whole width.
  span(low, high) {
    return Math.min(seconds, Math.max(60, (high ?? 0) - (low ?? 0)));
  }

  buildLegend() {
    const items = this.lines.map((line, i) => {
      line.valueText = el("span", { class: "legend-value" });
      const button = el(
        "button",
        {
          type: "button",
          "aria-pressed": String(!this.hiddenLines.has(line.key)),
          onclick: () => this.toggle(line.key, i, button),
        },
        el("span", { class: "swatch", "data-line": i + 1, "aria-hidden": "true" }),
        line.title,
        line.valueText,
      );
      return el("li", {}, button);
    });
    this.legend.replaceChildren(...items);
    this.legendTexts = this.lines.map((line) => line.valueText);
  }

  toggle(key, index, button) {
    const isHidden = this.hiddenLines.delete(key) ? false : Boolean(this.hiddenLines.add(key));
    button.setAttribute("aria-pressed", String(!isHidden));
    this.plot.setSeries(index + 1, { show: !isHidden });
  }

  // The values below the pointer, or else the latest.
  tell() {
    if (!this.plot || !this.legendTexts) return;
    const { text } = measures[this.measureChoice.value];
    const at = this.plot.cursor.idx ?? this.plot.data[0].length - 1;
    const values = this.legendTexts.map((element, i) => {
      const value = this.plot.data[i + 1]?.[at];
      const shown = value == null ? "–" : text(value);
      setText(element, shown);
      return `${this.lines[i].title} ${shown}`;
    });
    setAttribute(this.place, "aria-label", `Over time, now: ${values.join("; ") || "nothing"}`);
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.place;
    if (this.plot && width) this.plot.setSize({ width, height });
  }
}
