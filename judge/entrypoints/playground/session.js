// What this tab knows: the key, which is forgotten when the tab is closed. Who asks, and how.

import * as client from "./client.js";

export { Problem } from "./client.js";

const KEY = "judge.key";

export const savedKey = () => sessionStorage.getItem(KEY) ?? "";
export const saveKey = (key) => sessionStorage.setItem(KEY, key);
export const forgetKey = () => sessionStorage.removeItem(KEY);

const options = (signal) => ({ key: savedKey(), signal });

export const judgeInSteps = (dispute, signal) => client.judgeInSteps(dispute, options(signal));
export const listDomains = () => client.listDomains(options());
export const search = (query) => client.search({ query, limit: 20 }, options());

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
