// Problems and dates in plain words; verdicts and broken rules are worded in wording.js.

/** @type {Record<string, [string, string]>} */
const PROBLEMS = {
  "invalid-request": ["Something is missing or too long", "Look at the fields that are marked, then ask again."],
  "unknown-domain": ["That subject is not known here", "Choose another under “More options”, or let it be worked out."],
  "bad-scope": ["That limit cannot be used", ""],
  "forbidden": ["This is not open to you here", "Ask whoever runs this service for access."],
  "not-found": ["This is not available here", "Whoever runs this service can say why."],
  "too-large": ["That is more than can be read at once", "Shorten what happened, and ask again."],
  "content-blocked": [
    "The model’s safety filter stopped here",
    "That is a filter being careful; it says nothing about you or about who is right. You can put it in other words. If you or somebody else is in danger, please turn to people who can help now.",
  ],
  "rate-limited": ["A short pause, please", "Many questions came at once."],
  "invalid-reply": [
    "The answer did not pass our checks, so it is withdrawn",
    "Please forget what you may have seen of it. The model was asked twice, and both answers broke a rule that protects you from made-up evidence. Asking again often works.",
  ],
  "model-unavailable": ["The model cannot be reached just now", "It is not you. What you wrote is still here; try again in a little while."],
  "budget-spent": ["Today’s allowance is used up", "What can be spent in a day is limited. Please come back tomorrow."],
  "overloaded": ["Many people are asking just now", "What you wrote is still here. Please try again in a moment."],
  "index-unavailable": ["The documents cannot be searched just now", "Please try again in a little while."],
  "deadline-exceeded": ["This took too long", "What you wrote is still here. Please try again; a shorter text is answered sooner."],
  "internal-error": ["Something went wrong on our side", "It is not you. If it happens again, tell whoever runs this service."],
  "offline": ["There is no connection to the service", "Check your network, then try again. What you wrote is still here."],
  "interrupted": ["The connection broke before the answer was there", "What you wrote is still here. Please try again."],
};

const UNKNOWN = ["That did not work", "What you wrote is still here. Please try again."];

/** What happened, and what to do next. */
export function problemInWords(problem) {
  const [title, advice] = PROBLEMS[problem.slug] ?? UNKNOWN;
  const wait = problem.retryAfter ? `Try again in ${inSeconds(problem.retryAfter)}.` : "";
  return { title, advice: [advice, wait].filter(Boolean).join(" ") };
}

function inSeconds(count) {
  if (count < 120) return count === 1 ? "a second" : `${count} seconds`;
  if (count < 7200) return `about ${Math.round(count / 60)} minutes`;
  return `about ${Math.round(count / 3600)} hours`;
}

/** @type {[number, Intl.RelativeTimeFormatUnit][]} */
const AGES = [[60, "minute"], [3600, "hour"], [86400, "day"]];

/** How dates are written: as the country of the sources file does. */
const LANGUAGE = globalThis.document?.documentElement.lang || undefined;

/** How long ago *iso* was. */
export function ago(iso, now = Date.now()) {
  const seconds = Math.max(0, (now - Date.parse(iso)) / 1000);
  if (seconds < 60) return "just now";
  const [size, unit] = AGES.findLast(([least]) => seconds >= least) ?? AGES[0];
  return new Intl.RelativeTimeFormat(LANGUAGE).format(-Math.floor(seconds / size), unit);
}

/** The day of *iso*: local for a moment, unchanged for a date. */
export const day = (iso) =>
  new Date(iso).toLocaleDateString(LANGUAGE, {
    day: "numeric", month: "long", year: "numeric", timeZone: iso.includes("T") ? undefined : "UTC",
  });

export const plural = (count, one, many) => (count === 1 ? `1 ${one}` : `${count} ${many}`);
