import { send } from "./api.js";
import { announce, el, setText } from "./dom.js";
import { bytes, whole } from "./format.js";
import { Table } from "./table.js";

const sureFor = 4000; // ms that a second press counts

const listenText = (forward) => {
  const host = forward.listen_address.includes(":")
    ? `[${forward.listen_address}]`
    : forward.listen_address;
  return `${forward.protocol} ${host}:${forward.listen_port}`;
};

const trafficText = (forward) =>
  forward.open == null
    ? "not counted"
    : `${whole(forward.open)} open of ${whole(forward.accepted)}, ` +
      `${bytes(forward.bytes_to_vm)} to it, ${bytes(forward.bytes_from_vm)} from it`;

export class Forwards {
  constructor(parent, refresh) {
    this.refresh = refresh;
    this.mayChange = false;
    const list = el("div");
    this.form = this.makeForm();
    this.hint = el("p", { class: "note" });
    this.problem = el("p", { class: "problem", role: "alert", hidden: true });
    parent.replaceChildren(list, this.form, this.problem, this.hint);
    this.table = new Table(list, {
      caption: "Port forwards",
      key: (row) => `${row.network} ${listenText(row)}`,
      empty: "No port of the host leads to a VM.",
      columns: [
        { title: "On the host", value: listenText },
        { title: "To", value: (row) => `${row.to}:${row.to_port}` },
        { title: "Its address now", value: (row) => row.address ?? "none yet" },
        { title: "Traffic", value: (row) => row.accepted ?? -1, text: trafficText, class: "wrap" },
        { title: "Remove", unsorted: true, quiet: true, class: "act", fill: (cell, row) =>
          this.fillRemove(cell, row) },
      ],
    });
  }

  makeForm() {
    this.targets = el("datalist", { id: "forward-targets" });
    const number = (name, extra) =>
      el("input", { name, type: "number", min: 1, max: 65535, inputmode: "numeric", ...extra });
    return el(
      "form",
      { class: "add", hidden: true, "aria-label": "Add a forward", autocomplete: "off",
        onsubmit: (event) => this.submit(event) },
      el("label", {}, "Protocol", el("select", { name: "protocol" },
        el("option", {}, "tcp"), el("option", {}, "udp"))),
      el("label", {}, "Host address", el("input", {
        name: "listen_address", value: "127.0.0.1", required: true, size: 12,
        spellcheck: "false" })),
      el("label", {}, "Host port", number("listen_port", { required: true })),
      el("label", {}, "VM", el("input", {
        name: "to", required: true, size: 16, list: "forward-targets", spellcheck: "false",
        placeholder: "name, address or MAC" })),
      el("label", {}, "VM port", number("to_port", { placeholder: "the same" })),
      el("button", { type: "submit", class: "main" }, "Add forward"),
      this.targets,
    );
  }

  /** `why`: what is shown in place of the list if there is none. */
  show(network, model, why) {
    this.network = network.name;
    this.mayChange = model.status?.role === "full" && !why;
    this.form.hidden = !this.mayChange;
    this.hint.hidden = this.mayChange || Boolean(why) || !model.status;
    setText(this.hint, "You may look but not change: control_admins of the configuration may.");
    const ofNetwork = (row) => row.network === network.name;
    this.table.show(model.forwards?.filter(ofNetwork) ?? null, why);
    const leases = (model.leases ?? []).filter(ofNetwork);
    const names = leases.map((lease) => lease.name ?? lease.address);
    const now = [...this.targets.children].map((option) => option.value);
    if (names.join("\n") !== now.join("\n"))
      this.targets.replaceChildren(...names.map((value) => el("option", { value })));
  }

  complain(text) {
    setText(this.problem, text);
    this.problem.hidden = !text;
  }

  async submit(event) {
    event.preventDefault();
    const { protocol, listen_address, listen_port, to, to_port } = this.form.elements;
    const port = Number(listen_port.value);
    await this.change(listen_port, "POST", "forwards", {
      network: this.network,
      protocol: protocol.value,
      listen_address: listen_address.value.trim(),
      listen_port: port,
      to: to.value.trim(),
      to_port: Number(to_port.value) || port,
    }, `Port ${port} of the host leads to ${to.value.trim()} now.`, () => {
      listen_port.value = "";
      to_port.value = "";
    });
  }

  async change(focus, method, path, body, done, then) {
    const submit = this.form.querySelector("button");
    submit.disabled = true;
    try {
      await send(method, path, body);
      this.complain("");
      announce(done);
      then();
      await this.refresh();
    } catch (problem) {
      this.complain(problem.message);
    }
    submit.disabled = false;
    focus?.focus();
  }

  // Asks to be pressed twice, since connections end with the forward.
  fillRemove(cell, row) {
    if (!this.mayChange) return cell.replaceChildren();
    if (cell.firstChild) return undefined;
    const text = listenText(row);
    const button = el("button", { type: "button", class: "quiet", onclick: () => {
      if (button.dataset.sure) return this.remove(row, text);
      button.dataset.sure = "yes";
      setText(button, "Really remove");
      setTimeout(() => {
        delete button.dataset.sure;
        setText(button, "Remove");
      }, sureFor);
      return undefined;
    } }, "Remove");
    button.setAttribute("aria-describedby", "forwards-title");
    button.title = `Remove ${text}`;
    return cell.replaceChildren(button);
  }

  remove(row, text) {
    const query = new URLSearchParams({
      network: row.network,
      protocol: row.protocol,
      listen_address: row.listen_address,
      listen_port: row.listen_port,
    });
    const next = this.form.elements.listen_port;
    const done = `${text} is removed.`;
    return this.change(next, "DELETE", `forwards?${query}`, undefined, done, () => {});
  }
}
