import { computed, signal } from "@preact/signals";
import type { Request } from "../../control/answers.js";
import { requests } from "../../control/live-requests.js";
import { route } from "../../route.js";

/** The members of the query that choose requests. */
export const filterNames = ["path", "key", "status", "advice"] as const;

/** Whether a request is chosen; each empty filter lets all through. */
function isChosen(request: Request, query: URLSearchParams): boolean {
  const [path, key, status, advice] = filterNames.map((name) => query.get(name) ?? "");
  return (
    (!path || request.path_id === path || request.fault === path) &&
    (!key || (request.key ?? request.fingerprint ?? "none").includes(key) || isIdOf(request, key)) &&
    (!status || String(request.status).startsWith(status)) &&
    (!advice || (advice === "any" ? request.advice.length > 0 : request.advice.some((id) => id === advice)))
  );
}

const isIdOf = ({ id }: Request, text: string) => text.startsWith("req_") && id.startsWith(text);

/** The requests of the list that stands still. */
const held = signal<readonly Request[] | undefined>(undefined);

/** Whether the list stands still. */
export const isHeld = computed(() => held.value !== undefined);

/** The number of requests since then, as far as the page still knows them. */
export const newCount = computed(() => {
  if (held.value === undefined) return 0;
  const last = held.value.at(-1)?.id;
  return requests.value.length - 1 - requests.value.findLastIndex(({ id }) => id === last);
});

/** Lets the list stand still as it is, so that one can read. */
export function hold(): void {
  held.value ??= requests.peek();
}

/** Lets the list go on with what has come meanwhile. */
export function goOn(): void {
  held.value = undefined;
}

/** The chosen requests, newest first. */
export const chosen = computed(() => {
  const { query } = route.value;
  const shown = held.value ?? requests.value;
  return shown.filter((request) => isChosen(request, query)).reverse();
});

/** The statuses that occur, as text, which changes only with them. */
export const statuses = computed(() =>
  [...new Set(requests.value.map(({ status }) => status))].sort((one, other) => one - other).join(" "),
);

/** The refs of the keys that occur, one a line. */
export const keyRefs = computed(() =>
  [...new Set(requests.value.map(({ key }) => key ?? ""))].filter(Boolean).sort().join("\n"),
);
