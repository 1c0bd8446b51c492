import { callBare } from "./call.js";
import { resource } from "./resource.js";
import type { Shown } from "./responses.js";

// The data that several views share.

export const health = resource<Shown<"Health">>("/health", callBare);
export const clock = resource<Shown<"Clock">>("/clock");
export const report = resource<Shown<"Report">>("/report?story=true");
/** A request to the first endpoint of a sandbox at this base URL, for a shell; `undefined` until the report is read. */
export function curlLine(url: string, secret?: string): string | undefined {
  const header = secret === undefined ? "" : `-H "x-api-key: ${secret}" `;
  const path = report.data.value?.endpoints[0]?.path;
  return path && `curl -i ${header}${url}${path}`;
}

const maxKeys = 2000;
/** The first 2,000 keys. */
export const keys = resource<readonly Shown<"ListedKey">[]>(
  `/keys?limit=${maxKeys}`,
  async (path) => (await callBare<Shown<"KeyPage">>(path)).data,
);
/** The journal: the last 1,000 requests, oldest first. */
export const journal = resource<readonly Shown<"Request">[]>("/requests");
export const requestChecks = resource<Shown<"RequestChecks">>("/request-checks");
export const story = resource<Shown<"Story">>("/story");
export const assumptions = resource<Shown<"Assumptions">>("/assumptions");
export const faults = resource<readonly Shown<"Fault">[]>("/faults");
export const scenarios = resource<readonly Shown<"Scenario">[]>("/scenarios");
export const upcoming = resource<readonly Shown<"Upcoming">[]>("/upcoming");
