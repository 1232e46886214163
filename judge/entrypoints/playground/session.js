// What this tab knows: the key, which is forgotten when the tab is closed. Who asks, and how.

import * as client from "./client.js";

/** @import {DomainResponse, JudgeRequest, SearchResponse, Step} from "../../../client/src/client.ts" */

export { Problem } from "./client.js";

const KEY = "judge.key";

export const savedKey = () => sessionStorage.getItem(KEY) ?? "";
export const saveKey = (key) => sessionStorage.setItem(KEY, key);
export const forgetKey = () => sessionStorage.removeItem(KEY);

const options = (/** @type {AbortSignal | undefined} */ signal = undefined) => ({ key: savedKey(), signal });

/** @type {(dispute: JudgeRequest, signal: AbortSignal) => AsyncGenerator<Step>} */
export const judgeInSteps = (dispute, signal) => client.judgeInSteps(dispute, options(signal));
/** @type {() => Promise<DomainResponse[]>} */
export const listDomains = () => client.listDomains(options());
/** @type {(query: string) => Promise<SearchResponse>} */
export const search = (query) => client.search({ query, limit: 20 }, options());

/** The dispute as a command for a terminal; a key is named, never shown. @param {JudgeRequest} dispute */
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
