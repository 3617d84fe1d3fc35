import { el } from "./dom.js";
import { whole } from "./format.js";
import { Table } from "./table.js";

/** What a reason means to a person; the words of `vmswitchctl drops`. */
export const advice = {
  runt: "shorter than an Ethernet header: a fault in the guest",
  oversize: "larger than the mtu allows: lower the guest's, or raise ours",
  group_source: "a multicast source address: a fault in the guest",
  same_port: "its target is where it came from: a bridge in the guest",
  port_isolated: "both ports are isolated; port set --isolate off ends it",
  port_down: "the port was set down; port set --up ends it",
  unknown_port: "its port had just gone",
  egress_expired: "the VM was too slow: egress_deadline_ms passed",
  egress_stalled: "the VM takes nothing: it is paused, or hangs",
  egress_full: "too many bursts wait for the VM: raise egress_bursts",
  egress_refused: "the VM can never take a frame of this size: use one mtu",
  ingress_exhausted: "no slab was free: raise slabs, or ports",
  no_return_address: "the client's socket has no path: QEMU: local.path",
  port_closed: "still queued when the VM went",
  host_refused: "the host's side did not take it, or is down",
};

/** The network's drops by reason, each with the ports and listeners that had them. */
export function dropRows(network, ports) {
  const places = [...ports, ...network.listeners.map(({ path, drops }) => ({ name: path, drops }))];
  return Object.entries(network.drops).map(([reason, frames]) => ({
    reason,
    frames,
    where: places
      .filter((place) => place.drops[reason])
      .sort((a, b) => b.drops[reason] - a.drops[reason])
      .map((place) => `${place.name} ${whole(place.drops[reason])}`),
  }));
}

const mostNames = 3;

function fillWhere(cell, row) {
  const rest = row.where.length - mostNames;
  const names = row.where.slice(0, mostNames).join(", ") + (rest > 0 ? `, ${rest} more` : "");
  const shown = names || "VMs that have gone";
  if (cell.textContent !== shown) cell.replaceChildren(shown);
}

function fillReason(cell, row) {
  if (cell.dataset.reason === row.reason) return;
  cell.dataset.reason = row.reason;
  cell.replaceChildren(
    el("code", {}, row.reason),
    el("span", { class: "advice" }, advice[row.reason] ?? ""),
  );
}

export const dropTable = (parent) =>
  new Table(parent, {
    caption: "Dropped frames by reason",
    key: (row) => row.reason,
    sort: 1,
    descending: true,
    empty: "No frame was dropped.",
    columns: [
      { title: "Reason", value: (row) => row.reason, fill: fillReason, class: "wrap" },
      { title: "Frames", number: true, value: (row) => row.frames,
        text: (row) => whole(row.frames) },
      { title: "Where", value: (row) => row.where.join(), fill: fillWhere, class: "wrap" },
    ],
  });
