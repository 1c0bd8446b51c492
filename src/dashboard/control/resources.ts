import { computed, signal } from "@preact/signals";
import { callBare } from "./call.js";
import { resource, useResources } from "./resource.js";
import type {
  Clock,
  Health,
  Key,
  Request,
  RequestChecks,
  ShownFault,
  ShownReport,
  ShownScenario,
  ShownUpcoming,
  Story,
} from "./responses.js";
import { connection } from "./revision.js";

// The data that several views share.

export const health = resource<Health>("/health", callBare);
export const clock = resource<Clock>("/clock");
export const report = resource<ShownReport>("/report?story=true");
/** The first keys: as many as a list to choose from can show. */
export const keys = resource<readonly Key[]>("/keys?limit=1000");
/** The journal: the last 1,000 requests, oldest first. */
export const journal = resource<readonly Request[]>("/requests");
export const requestChecks = resource<RequestChecks>("/request-checks");
export const story = resource<Story>("/story");
export const faults = resource<readonly ShownFault[]>("/faults");
export const scenarios = resource<readonly ShownScenario[]>("/scenarios");
export const upcoming = resource<readonly ShownUpcoming[]>("/upcoming");

/** A request to the first endpoint of a sandbox at this base URL, for a shell; `undefined` until the report is read. */
export function curlLine(url: string, secret?: string): string | undefined {
  const header = secret === undefined ? "" : `-H "x-api-key: ${secret}" `;
  const path = report.data.value?.endpoints[0]?.path;
  return path && `curl -i ${header}${url}${path}`;
}

/** The time of the page in milliseconds, updated every second while the sandbox responds. */
export const elapsed = signal(0);
const readAt = computed(() => (clock.data.value === undefined ? 0 : performance.now()));

/** The time of the sandbox's clock, in epoch milliseconds; updated every second. */
export const now = computed(() => {
  const read = clock.data.value;
  if (read === undefined) return Number.NaN;
  const start = Date.parse(read.now);
  return read.frozen ? start : start + Math.max(0, elapsed.value - readAt.value);
});

setInterval(() => {
  // The time of a sandbox that does not respond is unknown.
  if (connection.peek() === "open") elapsed.value = performance.now();
}, 1000);

/** Keeps `now` up to date while a component is shown. */
export const useNow = () => useResources(clock);
