// The daemon's API, /v1. Addresses are relative, so that the page works behind any prefix.

export class ApiError extends Error {
  /** `status` is 0 if nobody answered. */
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

const patience = 8000; // ms; the daemon itself gives up after 5 s

async function ask(method, path, body, signal) {
  const limit = AbortSignal.timeout(patience);
  let answer;
  let text;
  try {
    answer = await fetch(`v1/${path}`, {
      method,
      body: body && JSON.stringify(body),
      headers: body && { "Content-Type": "application/json" },
      cache: "no-store",
      credentials: "same-origin",
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    });
    text = await answer.text();
  } catch (problem) {
    if (signal?.aborted) throw problem;
    throw new ApiError(0, "The daemon does not answer.");
  }
  let json;
  try {
    json = text ? JSON.parse(text) : {};
  } catch {
    throw new ApiError(answer.ok ? 0 : answer.status, "What answers is not vmswitchd.");
  }
  if (!answer.ok) throw new ApiError(answer.status, json.error ?? answer.statusText);
  return json;
}

export const get = (path, signal) => ask("GET", path, undefined, signal);
export const send = (method, path, body) => ask(method, path, body);

/** Server-sent events (HTML standard, 9.2) taken apart, however they are cut. */
export function eventParser(take) {
  let rest = "";
  let event = { data: [] };
  return (piece) => {
    const lines = (rest + piece).split("\n");
    rest = lines.pop();
    for (const raw of lines) {
      const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
      const colon = line.indexOf(":");
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (line === "") {
        if (event.data.length) take({ ...event, data: event.data.join("\n") });
        event = { data: [] };
      } else if (field === "data") event.data.push(value);
      else if (field === "id") event.id = value;
      else if (field === "event") event.type = value;
    }
  };
}

/** Hands over every event behind number `since`, until the stream ends. Throws if it cannot. */
export async function watchEvents(since, take, signal) {
  const answer = await fetch(`v1/events?since=${since}`, { cache: "no-store", signal });
  if (!answer.ok) throw new ApiError(answer.status, answer.statusText);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  const feed = eventParser(take);
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    feed(value);
  }
}
