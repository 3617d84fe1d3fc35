// The tables that only show.
import { el, setAttribute, setText } from "./dom.js";
import { bytes, duration, rate, whole } from "./format.js";
import { keyOf } from "./model.js";
import { fillBadge, stateOf } from "./picture.js";
import { Table } from "./table.js";

function badge(cell, state) {
  if (!cell.firstChild) cell.append(el("span", { class: "badge" }));
  fillBadge(cell.firstChild, state);
}

const macsOf = (port) =>
  port.macs[0] ? port.macs[0] + (port.mac_count > 1 ? ` +${port.mac_count - 1}` : "") : "none yet";
const peerOf = (port) => port.peer ?? (port.pid == null ? "" : `pid ${port.pid}`);

export const portTable = (parent, model, choose) =>
  new Table(parent, {
    caption: "Ports",
    key: keyOf,
    empty: "Nothing is attached.",
    columns: [
      { title: "Port", value: (port) => port.name, fill: (cell, port) => {
        if (!cell.firstChild)
          cell.append(el("button", { type: "button", class: "plain", title: "Show its traffic",
            onclick: () => choose(cell.port) }, port.name));
        cell.port = port;
      } },
      { title: "State", value: (port) => port.state, fill: (cell, port) =>
        badge(cell, stateOf(port)) },
      { title: "Name", value: (port) => model.labelOf(port).name ?? "" },
      { title: "MAC", value: macsOf, class: "mono", hex: true, fill: (cell, port) => {
        setText(cell, macsOf(port));
        setAttribute(cell, "title", port.mac_count > 1 ? port.macs.join("\n") : null);
      } },
      { title: "Peer", value: peerOf, class: "peer", fill: (cell, port) => {
        setText(cell, peerOf(port));
        setAttribute(cell, "title", peerOf(port) || null);
      } },
      { title: "Age", number: true, value: (port) => port.age_seconds,
        text: (port) => duration(port.age_seconds) },
      { title: "Sends", number: true, value: (port) => model.now(port).bitsIn,
        text: (port) => rate(model.now(port).bitsIn) },
      { title: "Receives", number: true, value: (port) => model.now(port).bitsOut,
        text: (port) => rate(model.now(port).bitsOut) },
      { title: "Sent", number: true, value: (port) => port.bytes_in,
        text: (port) => bytes(port.bytes_in) },
      { title: "Received", number: true, value: (port) => port.bytes_out,
        text: (port) => bytes(port.bytes_out) },
      { title: "Waiting", number: true, value: (port) => port.queue.frames,
        text: (port) => whole(port.queue.frames) },
      { title: "Dropped", number: true, value: (port) => port.dropped,
        text: (port) => whole(port.dropped) },
    ],
  });

const leaseStates = {
  bound: { tone: "good", text: "bound", why: "in use" },
  offered: { tone: "idle", text: "offered", why: "not taken yet" },
  ended: { tone: "idle", text: "ended", why: "free, but kept for its VM" },
  declined: { tone: "warn", text: "declined", why: "a VM said that somebody else uses it" },
  in_use: { tone: "warn", text: "in use", why: "somebody uses it without a lease" },
};

export const leaseTable = (parent) =>
  new Table(parent, {
    caption: "DHCP leases",
    key: (lease) => `${lease.network} ${lease.address}`,
    empty: "No address has been given out.",
    columns: [
      { title: "Address", value: (lease) => lease.address, class: "mono" },
      { title: "Name", value: (lease) => lease.name ?? "" },
      { title: "MAC", value: (lease) => lease.mac, class: "mono", hex: true },
      { title: "State", value: (lease) => lease.state, fill: (cell, lease) =>
        badge(cell, leaseStates[lease.state] ?? { tone: "idle", text: lease.state }) },
      { title: "Left", number: true, value: (lease) => lease.seconds_left,
        text: (lease) => duration(lease.seconds_left) },
    ],
  });

export const macTable = (parent) =>
  new Table(parent, {
    caption: "Learned MAC addresses",
    key: (mac) => `${mac.network} ${mac.mac}`,
    empty: "No address has been learned.",
    columns: [
      { title: "Address", value: (mac) => mac.mac, class: "mono", hex: true },
      { title: "Port", value: (mac) =>
        mac.alias ? `${mac.port} (${mac.alias})` : mac.port ?? "" },
      { title: "Last frame", number: true, value: (mac) => mac.age_seconds,
        text: (mac) => `${duration(mac.age_seconds)} ago` },
    ],
  });
