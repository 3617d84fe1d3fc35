// What the page knows: the latest answers, and what has become of the counters since it was opened.

const kept = 600; // samples of a port

/** A port that has gone and come again under the same name is another one. */
export const keyOf = (port) => `${port.network}/${port.name}/${port.since}`;

const counters = ["bytes_in", "bytes_out", "frames_in", "frames_out", "dropped"];
const nothing = { bitsIn: 0, bitsOut: 0, framesIn: 0, framesOut: 0, drops: 0, wait: 0 };

class History {
  constructor(port, at) {
    this.samples = []; // {at, bitsIn, ...}; at in seconds
    this.latest = nothing;
    this.remember(port, at);
  }

  remember(port, at) {
    this.counters = Object.fromEntries(counters.map((name) => [name, port[name]]));
    this.at = at;
  }

  add(port, at) {
    const seconds = at - this.at;
    // Silent: its counters are missing from the answer, or stand still.
    if (seconds <= 0 || port.state === "silent") return;
    const per = (name) => Math.max(0, port[name] - this.counters[name]) / seconds;
    this.latest = {
      at,
      bitsIn: 8 * per("bytes_in"),
      bitsOut: 8 * per("bytes_out"),
      framesIn: per("frames_in"),
      framesOut: per("frames_out"),
      drops: per("dropped"),
      wait: port.queue.oldest_ms,
    };
    this.samples.push(this.latest);
    if (this.samples.length > kept) this.samples.shift();
    this.remember(port, at);
  }
}

export class Model {
  status = null;
  networks = [];
  ports = [];
  leases = null; // null: not asked yet
  macs = null;
  forwards = null;
  histories = new Map();

  /** Takes an answer of /v1/ports that was given at `at`, in seconds. */
  takePorts(ports, at) {
    this.ports = ports;
    const there = new Set();
    for (const port of ports) {
      const key = keyOf(port);
      there.add(key);
      const known = this.histories.get(key);
      if (known) known.add(port, at);
      else this.histories.set(key, new History(port, at));
    }
    for (const key of this.histories.keys()) if (!there.has(key)) this.histories.delete(key);
  }

  portsOf(network) {
    return this.ports.filter((port) => port.network === network);
  }

  now(port) {
    return this.histories.get(keyOf(port))?.latest ?? nothing;
  }

  samples(port) {
    return this.histories.get(keyOf(port))?.samples ?? [];
  }

  /** Of the last half minute, so that what is chosen by it does not change all the time. */
  traffic(port) {
    const last = this.samples(port).slice(-30);
    return last.reduce((sum, sample) => sum + sample.bitsIn + sample.bitsOut, 0);
  }

  /** The name and address of a port: its alias, or what leases of its MAC addresses say. */
  labelOf(port) {
    const leases = (this.leases ?? []).filter(
      (lease) => lease.network === port.network && port.macs.includes(lease.mac) &&
        lease.state === "bound",
    );
    const name = port.alias ?? leases.find((lease) => lease.name)?.name;
    return { name, address: leases[0]?.address };
  }
}
