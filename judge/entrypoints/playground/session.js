// Calls the service with the key of this tab, which is forgotten when the tab is closed.

import * as client from "./client.js";

/** @import {DomainResponse, JudgeRequest, SearchResponse, Step} from "../../../client/src/client.ts" */

export { Problem } from "./client.js";

const KEY = "judge.key";

const storage = openStorage();
let key = storage?.getItem(KEY) ?? "";

export const savedKey = () => key;

export function saveKey(given) {
  key = given;
  storage?.setItem(KEY, key);
}

export function forgetKey() {
  key = "";
  storage?.removeItem(KEY);
}

/** Null where the browser refuses storage; the key is then kept until the page is left. */
function openStorage() {
  try {
    return sessionStorage;
  } catch {
    return null;
  }
}

/** Where the service is, without a slash at the end: a proxy may serve it under a path. */
const baseUrl = new URL("..", import.meta.url).href.replace(/\/$/, "");

const options = (/** @type {AbortSignal | undefined} */ signal = undefined) => ({ baseUrl, key, signal });

/** @type {(dispute: JudgeRequest, signal: AbortSignal) => AsyncGenerator<Step>} */
export const judgeInSteps = (dispute, signal) => client.judgeInSteps(dispute, options(signal));
/** @type {() => Promise<DomainResponse[]>} */
export const listDomains = () => client.listDomains(options());
/** @type {(query: string) => Promise<SearchResponse>} */
export const search = (query) => client.search({ query, limit: 20 }, options());

/** The dispute as a curl command; the key is a shell variable, never shown. @param {JudgeRequest} dispute */
export function curlFor(dispute) {
  const quoted = JSON.stringify(dispute).replaceAll("'", "'\\''");
  const lines = [
    `curl -sS ${baseUrl}/api/judge`,
    "-H 'Content-Type: application/json'",
    ...(key ? ['-H "Authorization: Bearer $JUDGE_API_KEY"'] : []),
    `--data '${quoted}'`,
  ];
  return lines.join(" \\\n  ");
}
