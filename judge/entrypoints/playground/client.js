// Talks to the service: requests with the tab's key, problems as errors, server-sent events.

const KEY = "judge.key";

export const savedKey = () => sessionStorage.getItem(KEY) ?? "";
export const saveKey = (key) => sessionStorage.setItem(KEY, key);
export const forgetKey = () => sessionStorage.removeItem(KEY);

/** What the service refuses, as its problem details; or what happened on the way, in that form. */
export class Problem extends Error {
  constructor(details, retryAfter = null) {
    super(details.detail ?? "");
    this.slug = String(details.type ?? "").split("/").pop();
    this.details = details;
    this.retryAfter = retryAfter;
  }
}

const unreadable = { type: "unreadable", detail: "" };

async function problemFrom(response) {
  const details = await response.json().catch(() => unreadable);
  const seconds = Number(response.headers.get("retry-after"));
  return new Problem(details, seconds > 0 ? seconds : null);
}

/** The response when it is a good one; throws Problem, and AbortError when *signal* says so. */
async function send(path, options) {
  const headers = { ...options.headers };
  if (savedKey()) headers.authorization = `Bearer ${savedKey()}`;
  let response;
  try {
    response = await fetch(path, { ...options, headers, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({ type: "offline" });
  }
  if (!response.ok) throw await problemFrom(response);
  return response;
}

const post = (path, body, signal) =>
  send(path, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json" },
    signal,
  });

export async function listDomains() {
  return (await (await send("/api/domains", {})).json()).domains;
}

export async function search(query) {
  return (await post("/api/search", { query, limit: 20 })).json();
}

/** The events of a judgement, as [name, data]; throws Problem for an `error` or a broken line. */
export async function* judge(dispute, signal) {
  const response = await post("/api/judge/stream", dispute, signal);
  let isOver = false;
  try {
    for await (const [name, data] of eventsIn(response.body)) {
      if (name === "error") throw new Problem(data);
      isOver = name === "verdict";
      yield [name, data];
    }
  } catch (error) {
    if (error instanceof Problem || error.name === "AbortError") throw error;
  }
  if (!isOver) throw new Problem({ type: "interrupted" });
}

async function* eventsIn(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const found = /^event: (.*)\ndata: (.*)$/.exec(block);
      if (found) yield [found[1], JSON.parse(found[2])];
    }
  }
}

/** The dispute as a command for a terminal; a key is named, never shown. */
export function curlFor(dispute) {
  const quoted = JSON.stringify(dispute).replaceAll("'", "'\\''");
  const lines = [
    `curl -sS ${location.origin}/api/judge`,
    "-H 'Content-Type: application/json'",
    ...(savedKey() ? ['-H "Authorization: Bearer $JUDGE_API_KEY"'] : []),
    `--data '${quoted}'`,
  ];
  return lines.join(" \\\n  ");
}
