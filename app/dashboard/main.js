// What is asked of the daemon and when, and who draws it.
//
// Theory of operation. One round asks for what moves (ports, networks) and draws everything; every
// few rounds, and when an event says that it has changed, also for what seldom does. Rounds follow
// each other after a second, or after much longer than a round has taken, so that a page is never a
// load. While the daemon does not answer the rounds become rare. While nobody sees the page there
// are none, and no stream of events: coming back, it goes on behind the last event it has seen.
import { get, watchEvents } from "./api.js";
import { Chart } from "./chart.js";
import { announce, byId, el, setAttribute, setText } from "./dom.js";
import { dropRows, dropTable } from "./drops.js";
import { Events } from "./events.js";
import { clock, duration, rate } from "./format.js";
import { Forwards } from "./forwards.js";
import { keyOf, Model } from "./model.js";
import { fillBadge, Picture } from "./picture.js";
import { leaseTable, macTable, portTable } from "./tables.js";

const interval = 1000; // ms, likewise the others
const rareEvery = 5;   // rounds
const shareOfTime = 4;  // a pause is at least so many times as long as the round before
const longestPause = 10000;
const backOff = [1000, 2000, 4000, 8000, 15000];
const rareEvents = /^(lease|forward|mac_|network_|port_|host_|log_level|reload)/;

const model = new Model();
let network = ""; // the name of the one that is shown
let chosen = "";  // the key of the port that the chart shows; "": all

const choose = (port) => chooseKey(chosen === keyOf(port) ? "" : keyOf(port));
function chooseKey(key) {
  chosen = key;
  draw();
}

const picture = new Picture(byId("picture"), byId("picture-note"), choose);
const chart = new Chart(chooseKey);
const ports = portTable(byId("ports"), model, (port) => {
  chooseKey(keyOf(port));
  byId("traffic-title").scrollIntoView({ block: "nearest" });
});
const drops = dropTable(byId("drops"));
const leases = leaseTable(byId("leases"));
const macs = macTable(byId("macs"));
const forwards = new Forwards(byId("forwards"), async () => {
  await askRare();
  draw();
});
const events = new Events();

// --- Asking --------------------------------------------------------------------------------------

let life; // an AbortController while somebody looks
let rounds = 0;
let failures = 0;
let isRareWanted = false;
let lastEvent = 0;
let reason = {}; // why there is no list, by its name
let answered = null;

const sleep = (time, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, time);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });

// A list that this daemon does not have is no failure.
async function askList(name, signal) {
  try {
    model[name] = (await get(name, signal))[name];
    delete reason[name];
  } catch (problem) {
    if (problem.status < 400) throw problem;
    model[name] = null;
    reason[name] = problem.status === 404 ? "This daemon has none." : problem.message;
  }
}

async function askRare(signal) {
  isRareWanted = false;
  [model.status] = await Promise.all([
    get("status", signal),
    askList("leases", signal),
    askList("macs", signal),
    askList("forwards", signal),
  ]);
}

async function round(signal) {
  const rare = rounds++ % rareEvery === 0 || isRareWanted ? askRare(signal) : null;
  const [list, all] = await Promise.all([get("ports", signal), get("networks", signal), rare]);
  model.takePorts(list.ports, Date.now() / 1000);
  model.networks = all.networks;
  answered = new Date();
}

async function follow(signal) {
  while (!signal.aborted) {
    const begin = performance.now();
    let wait = interval;
    try {
      await round(signal);
      if (failures) announce("The daemon answers again.");
      failures = 0;
      const took = performance.now() - begin;
      wait = Math.min(longestPause, Math.max(interval, shareOfTime * took));
      trouble("");
      draw();
    } catch (problem) {
      if (signal.aborted) return;
      wait = backOff[Math.min(failures++, backOff.length - 1)];
      complain(problem, wait);
    }
    await sleep(wait, signal);
  }
}

async function listen(signal) {
  let tries = 0;
  const since = lastEvent; // what was before the page is not news
  while (!signal.aborted) {
    const opened = Date.now();
    try {
      await watchEvents(lastEvent, (event) => {
        tries = 0;
        if (event.id) lastEvent = Number(event.id);
        take(event, since > 0 || Date.now() - opened > 1000);
      }, signal);
      lastEvent = lastEvent || 0;
    } catch (problem) {
      if (signal.aborted) return;
    }
    await sleep(backOff[Math.min(tries++, backOff.length - 1)], signal);
  }
}

function take(event, isNew) {
  let data;
  try {
    data = JSON.parse(event.data);
  } catch {
    return;
  }
  const type = data.type ?? event.type ?? "event";
  if (rareEvents.test(type)) isRareWanted = true;
  events.add({ time: new Date().toISOString(), text: "", ...data, type }, isNew);
}

// --- Drawing -------------------------------------------------------------------------------------

function trouble(text) {
  setText(byId("trouble"), text);
  byId("trouble").hidden = !text;
  document.body.classList.toggle("stale", Boolean(text));
}

function complain(problem, wait) {
  const since = answered ? ` What you see is from ${clock(answered)}.` : "";
  // The text stays the same while it is so, or a screen reader would read it again and again.
  if (problem.status === 401 || problem.status === 403) trouble(problem.message);
  else trouble(`${problem.message}${since} It will be asked again.`);
  fillBadge(byId("live"), { tone: "bad", text: "no answer" });
  byId("live").title = `next try in ${Math.round(wait / 1000)} s`;
}

function drawFacts() {
  const { status } = model;
  const of = (sum) => model.ports.reduce((total, port) =>
    total + (port.kind === "vm" ? sum(model.now(port)) : 0), 0);
  const facts = {
    VMs: String(model.ports.filter((port) => port.kind === "vm").length),
    "VMs send": rate(of((now) => now.bitsIn)),
    "VMs receive": rate(of((now) => now.bitsOut)),
    Up: status ? duration(status.uptime_seconds) : "",
    Version: status?.version ?? "",
    "You may": status?.role === "full" ? "look and change" : "look",
  };
  const list = byId("facts");
  if (!list.firstChild)
    list.append(...Object.keys(facts).map((name) =>
      el("div", {}, el("dt", {}, name), el("dd"))));
  Object.values(facts).forEach((text, i) => setText(list.children[i].lastChild, text));
}

function drawNetworks() {
  const nav = byId("networks");
  nav.hidden = model.networks.length < 2;
  const names = model.networks.map((each) => each.name);
  if (names.join("\n") !== [...nav.children].map((each) => each.dataset.name).join("\n"))
    nav.replaceChildren(...names.map((name) =>
      el("button", { type: "button", "data-name": name, onclick: () => {
        network = name;
        chosen = "";
        draw();
      } }, el("span", {}, name), el("span", { class: "badge" }), el("small"))));
  model.networks.forEach((each, i) => {
    const button = nav.children[i];
    setAttribute(button, "aria-pressed", String(each.name === network));
    const isUp = each.state === "up" && (each.mode === "isolated" || each.host_up);
    fillBadge(button.children[1], isUp
      ? { tone: "good", text: "up" }
      : { tone: "bad", text: each.state === "up" ? "host down" : each.state });
    setText(button.children[2], `${each.ports} VMs`);
  });
}

function draw() {
  const all = model.networks;
  const shown = all.find((each) => each.name === network) ?? all[0];
  if (!shown) return;
  network = shown.name;
  fillBadge(byId("live"), { tone: "good", text: "live" });
  byId("live").removeAttribute("title");
  if (chosen && !model.histories.has(chosen)) chosen = "";
  const of = (row) => row.network === network;
  const list = model.portsOf(network);
  drawFacts();
  drawNetworks();
  picture.show(shown, model, chosen);
  chart.show(shown, model, chosen);
  ports.show(list);
  drops.show(dropRows(shown, list));
  leases.show(model.leases?.filter(of) ?? null, reason.leases);
  macs.show(model.macs?.filter(of) ?? null, reason.macs);
  forwards.show(shown, model, reason.forwards);
  events.show(network);
}

// --- Only while somebody looks -------------------------------------------------------------------

function begin() {
  if (life || document.hidden) return;
  life = new AbortController();
  rounds = 0;
  follow(life.signal);
  listen(life.signal);
}

function end() {
  life?.abort();
  life = undefined;
}

// The token has become a cookie: it need not stand in the address, and in what is copied of it.
if (location.search) history.replaceState(null, "", location.pathname);
document.addEventListener("visibilitychange", () => (document.hidden ? end() : begin()));
window.addEventListener("pagehide", end);
window.addEventListener("pageshow", begin);
begin();
