// The switch in the middle, and its ports with their links to both sides of it (one side on a
// narrow screen). Where everything stands is up to the style sheet.
import { el, isCalm, setAttribute, setText } from "./dom.js";
import { duration, rate } from "./format.js";
import { keyOf } from "./model.js";

const most = 24; // ports; the busiest
const sparkWidth = 96;
const sparkHeight = 22;
const sparkSamples = 48;

export const states = {
  up: { tone: "good", text: "up", why: "frames go both ways" },
  blocked: { tone: "warn", text: "blocked", why: "the VM does not take frames just now" },
  stalled: { tone: "bad", text: "stalled", why: "the VM takes nothing: frames to it are dropped" },
  down: { tone: "idle", text: "down", why: "switched off, or gone" },
  silent: { tone: "warn", text: "silent", why: "the port did not answer in time" },
};

export const stateOf = (port) => states[port.state] ?? { tone: "idle", text: port.state, why: "" };

export function fillBadge(element, { tone, text, why }) {
  setText(element, text);
  setAttribute(element, "data-tone", tone);
  setAttribute(element, "title", why || null);
}

// One pixel up to 1 kbit/s, one more for each ten times that.
const thickness = (bits) => (bits < 1 ? 1 : Math.min(7, Math.max(1.5, Math.log10(bits) - 2)));
// Of a dash of 14 px: faster with more traffic, but never a flicker.
const runningTime = (bits) => Math.max(0.25, 2.4 - 0.24 * Math.log10(Math.max(1, bits)));

function sparkline(samples) {
  const last = samples.slice(-sparkSamples).map((sample) => sample.bitsIn + sample.bitsOut);
  const top = Math.max(1000, ...last);
  const step = sparkWidth / (sparkSamples - 1);
  const begin = sparkWidth - step * (last.length - 1);
  return last
    .map((value, i) => {
      const y = sparkHeight - 1.5 - (sparkHeight - 3) * (value / top);
      return `${(begin + i * step).toFixed(1)},${y.toFixed(1)}`;
    })
    .join(" ");
}

class Card {
  constructor(choose) {
    this.name = el("span", { class: "card-name" });
    this.badge = el("span", { class: "badge" });
    this.label = el("span", { class: "card-label" });
    this.up = el("span", { class: "rate" });
    this.down = el("span", { class: "rate" });
    this.line = el("polyline", { class: "spark-line" });
    const spark = el("svg", {
      class: "spark",
      viewBox: `0 0 ${sparkWidth} ${sparkHeight}`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    }, this.line);
    const button = el(
      "button",
      { type: "button", class: "card", onclick: () => choose(this.port) },
      el("span", { class: "card-head" }, this.name, this.badge),
      this.label,
      el(
        "span",
        { class: "card-rates" },
        el("span", { class: "from" }, el("span", { class: "unseen" }, "sends "), this.up),
        el("span", { class: "to" }, el("span", { class: "unseen" }, "receives "), this.down),
      ),
      spark,
    );
    this.button = button;
    this.in = el("path", { class: "flow in", d: "M0 7H100" });
    this.out = el("path", { class: "flow out", d: "M100 17H0" });
    const link = el("svg", {
      class: "link",
      viewBox: "0 0 100 24",
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    }, this.in, this.out);
    this.element = el("li", { class: "node" }, button, link);
  }

  update(port, model, chosen) {
    this.port = port;
    const now = model.now(port);
    const label = model.labelOf(port);
    const isHost = port.kind === "host";
    setText(this.name, isHost ? "host" : label.name ?? port.name);
    fillBadge(this.badge, stateOf(port));
    const mac = port.mac_count > 1 ? `${port.macs[0]} +${port.mac_count - 1}` : port.macs[0];
    const parts = isHost
      ? [port.peer ?? "the host's side"]
      : [label.name && port.name, label.address ?? mac ?? `here for ${duration(port.age_seconds)}`];
    setText(this.label, parts.filter(Boolean).join(" · "));
    setText(this.up, rate(now.bitsIn));
    setText(this.down, rate(now.bitsOut));
    this.line.setAttribute("points", sparkline(model.samples(port)));
    this.flow(this.in, now.bitsIn);
    this.flow(this.out, now.bitsOut);
    setAttribute(this.element, "data-tone", stateOf(port).tone);
    setAttribute(this.element, "data-kind", port.kind);
    setAttribute(this.button, "aria-pressed", String(chosen === keyOf(port)));
  }

  flow(path, bits) {
    path.classList.toggle("runs", bits >= 1);
    path.style.strokeWidth = thickness(bits).toFixed(1);
    if (!isCalm()) path.style.animationDuration = `${runningTime(bits).toFixed(1)}s`;
  }
}

export class Picture {
  constructor(parent, note, choose) {
    this.note = note;
    this.choose = choose;
    this.cards = new Map();
    this.sides = [el("ul", { class: "side" }), el("ul", { class: "side right" })];
    this.sides.forEach((side, i) => side.setAttribute("aria-label", `Ports, side ${i + 1}`));
    this.title = el("strong");
    this.lines = el("span", { class: "switch-lines" });
    this.body = el("div", { class: "switch" }, this.title, this.lines);
    this.empty = el("p", { class: "empty" });
    parent.replaceChildren(this.sides[0], this.body, this.sides[1], this.empty);
  }

  show(network, model, chosen) {
    const all = model.portsOf(network.name);
    const vms = all.filter((port) => port.kind !== "host");
    // The busiest are chosen when there are too many; the order is that of names, and stays.
    const shown = vms.length <= most
      ? vms
      : [...vms].sort((a, b) => model.traffic(b) - model.traffic(a)).slice(0, most);
    const byName = (a, b) => a.name.localeCompare(b.name, "en", { numeric: true });
    const ports = [...all.filter((port) => port.kind === "host"), ...shown.sort(byName)];
    this.place(ports, model, chosen);
    setText(this.title, network.name);
    setText(this.lines, [
      network.mode,
      `${network.ports} ${network.ports === 1 ? "VM" : "VMs"}`,
      network.subnet?.replace("/", "\u200b/") ?? "no subnet",
      `mtu ${network.mtu}`,
    ].join("\n"));
    setText(this.note, vms.length > most
      ? `The ${most} busiest of ${vms.length} VMs; the table has all.`
      : "Choose a port to see its traffic.");
    this.empty.hidden = vms.length > 0;
    const path = network.listeners[0]?.path;
    setText(this.empty, `No VM yet.${path ? ` VMs connect to ${path}` : ""}`);
  }

  place(ports, model, chosen) {
    const cards = new Map();
    const half = Math.ceil(ports.length / 2);
    ports.forEach((port, index) => {
      const key = keyOf(port);
      const card = this.cards.get(key) ?? new Card(this.choose);
      cards.set(key, card);
      card.update(port, model, chosen);
      const side = this.sides[index < half ? 0 : 1];
      const slot = index < half ? index : index - half;
      const there = side.children[slot];
      if (there !== card.element) side.insertBefore(card.element, there ?? null);
    });
    for (const [key, card] of this.cards) if (!cards.has(key)) card.element.remove();
    this.cards = cards;
    this.sides[1].hidden = ports.length < 2;
  }
}
