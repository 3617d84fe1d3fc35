import { announce, byId, el } from "./dom.js";
import { clock } from "./format.js";

const most = 200; // lines

const tones = {
  network_up: "good", port_up: "good", host_up: "good",
  network_failed: "bad", host_down: "bad", drops: "warn",
  mac_flapping: "warn", mac_moved: "warn", lost: "warn",
};

/** The latest events, newest first. */
export class Events {
  constructor() {
    this.list = byId("events");
    this.empty = el("li", { class: "empty" }, "Nothing has happened yet.");
    this.list.replaceChildren(this.empty);
    this.pending = [];
  }

  /** `network`: of which events are shown, beside those of the daemon itself. */
  show(network) {
    if (this.network === network) return;
    this.network = network;
    for (const line of this.list.children) this.filter(line);
  }

  filter(line) {
    const of = line.dataset.network;
    line.hidden = Boolean(of && this.network && of !== this.network);
  }

  /** `isNew`: it happens now, and is said to who does not see the list. */
  add(event, isNew) {
    this.pending.push(event);
    if (isNew) announce(event.text);
    // A burst is drawn once.
    this.drawing ??= requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.drawing = undefined;
    const lines = this.pending.splice(0).slice(-most).map((event) => this.line(event));
    if (lines.length) this.empty.remove();
    this.list.prepend(...lines.reverse());
    while (this.list.children.length > most) this.list.lastChild.remove();
  }

  line(event) {
    const time = new Date(event.time);
    const isNamed = !event.port || event.text.includes(event.port);
    const line = el(
      "li",
      { "data-network": event.network },
      el("time", { datetime: event.time, title: event.time }, clock(time)),
      el("span", { class: "badge", "data-tone": tones[event.type] ?? "idle" },
        event.type.replaceAll("_", " ")),
      el("span", { class: "event-text" }, isNamed ? event.text : `${event.port}: ${event.text}`),
    );
    this.filter(line);
    return line;
  }
}
