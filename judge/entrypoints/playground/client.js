// @ts-nocheck Written by `make docs` from client/src/client.ts, where its types are checked.
// A client for browsers, Node, Deno and Bun, with nothing but fetch.

/** The address of the service, and the API key. Aborting `signal` also ends the call of the model. */

/** A step of a judgement; the last one is the verdict. */

/** How long a stream may be silent: the service promises something every 10 seconds. */
const SILENCE_MS = 30_000;

/** An error of the service, or on the way to it, as problem details (RFC 9457). */
export class Problem extends Error {
           details;
  /** The last part of `type`: one of the service's, or `offline`, `interrupted`, `unreadable`. */
           slug;
  /** Seconds after which trying again makes sense. */
           retryAfter;

  constructor(details                , retryAfter                = null) {
    super(`${details.title}: ${details.detail}`);
    this.details = details;
    this.slug = details.type.split("/").pop() ?? "";
    this.retryAfter = retryAfter;
  }
}

/** The verdict; throws Problem, and the reason of `signal` when that aborts. */
export async function judge(dispute              , options          = {})                       {
  return read(post("/api/judge", dispute, options), options);
}

/** Each step as it happens, the verdict last; throws as `judge`. */
export async function* judgeInSteps(dispute              , options          = {})                       {
  const response = await post("/api/judge/stream", dispute, options);
  let isOver = false;
  try {
    for await (const [name, data] of eventsIn(response.body )) {
      if (name === "error") throw new Problem(data                  );
      isOver = name === "verdict";
      yield { name, data };
    }
  } catch (error) {
    if (error instanceof Problem || options.signal?.aborted) throw error;
  }
  if (!isOver) throw interrupted();
}

/** The citations of an answer, checked against its sources; throws as `judge`. */
export async function check(request              , options          = {})                         {
  return read(post("/api/check", request, options), options);
}

/** Passages found in the documents; throws as `judge`. */
export async function search(request               , options          = {})                          {
  return read(post("/api/search", request, options), options);
}

/** What a dispute can be about; throws as `judge`. */
export async function listDomains(options          = {})                            {
  const reply                  = await read(send("/api/domains", {}, options), options);
  return reply.domains;
}

function ownProblem(type        , title        , detail        , status = 0)          {
  return new Problem({ type, title, detail, status, instance: "", error: detail });
}

const interrupted = () => ownProblem("interrupted", "The connection broke", "Try again.");

const unreadable = ({ status }          ) =>
  ownProblem("unreadable", "The answer cannot be read", "Is this the service's address?", status);

/** The JSON in the reply; a proxy may send something else, or the connection break in its middle. */
async function read(sent                   , { signal }         ) {
  const response = await sent;
  try {
    return await response.json();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw error instanceof SyntaxError ? unreadable(response) : interrupted();
  }
}

function post(path        , body        , options         )                    {
  const headers = { "content-type": "application/json" };
  return send(path, { method: "POST", body: JSON.stringify(body), headers }, options);
}

async function send(path        , init             , { baseUrl = "", key, signal }         )                    {
  const headers = new Headers(init.headers);
  try {
    // A header holds bytes, given as the first 256 characters; the service reads them as UTF-8.
    if (key) headers.set("authorization", `Bearer ${String.fromCharCode(...new TextEncoder().encode(key))}`);
  } catch {
    throw ownProblem("unauthorized", "A key cannot be sent", "A key has no line ends.");
  }
  let response;
  try {
    response = await fetch(baseUrl + path, { ...init, headers, cache: "no-store", signal: signal ?? null });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw ownProblem("offline", "There is no connection to the service", "Check the address and the network.");
  }
  if (!response.ok) throw await problemIn(response);
  return response;
}

async function problemIn(response          )                   {
  const seconds = Number(response.headers.get("retry-after"));
  try {
    return new Problem(await response.json(), seconds > 0 ? seconds : null);
  } catch {
    return unreadable(response);
  }
}

/** The server-sent events in *body*, with their data; comments, which are heartbeats, are left out. */
async function* eventsIn(body                            )                                    {
  let rest = "";
  for await (const text of textsIn(body)) {
    const blocks = (rest + text).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const found = /^event: (.*)\ndata: (.*)$/.exec(block);
      if (found) yield [found[1] , JSON.parse(found[2] )];
    }
  }
}

/** *body* chunk by chunk; throws when nothing comes for too long, and always releases it. */
async function* textsIn(body                            )                         {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { value, done } = await inTime(reader.read());
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

function inTime   (awaited            )             {
  let timer;
  const silence = new Promise       ((_, reject) => {
    timer = setTimeout(() => reject(new Error("nothing came")), SILENCE_MS);
  });
  return Promise.race([awaited, silence]).finally(() => clearTimeout(timer));
}
