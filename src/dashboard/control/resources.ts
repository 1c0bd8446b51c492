import { callBare } from "./call.js";
import { resource } from "./resource.js";
import type { Shown } from "./responses.js";

// The data that several views share. All of it changes when another scenario starts.
const sandbox = "sandbox.";

export const health = resource<Shown<"Health">>("/health", { on: [sandbox], read: callBare });
export const clock = resource<Shown<"Clock">>("/clock", { on: [sandbox, "clock."] });
const changes = [sandbox, "key.", "organization.", "assumptions.", "faults.", "timeline.", "story."];
/** Events that may change a key, or the response to its next request. */
export const keyEvents = [...changes, "request", "clock.", "time."];
// The instructions for covering a path depend on nearly everything.
export const report = resource<Shown<"Report">>("/report?story=true&own=true", {
  on: [...keyEvents, "instances."],
});
/** A request to the first endpoint of a sandbox at this base URL, for a shell; `undefined` until the report is read. */
export function curlLine(url: string, secret?: string): string | undefined {
  const header = secret === undefined ? "" : `-H "x-api-key: ${secret}" `;
  const path = report.data.value?.endpoints[0]?.path;
  return path && `curl -i ${header}${url}${path}`;
}

const maxKeys = 2000;
/** The first 2,000 keys. */
export const keys = resource<readonly Shown<"ListedKey">[]>(`/keys?limit=${maxKeys}`, {
  on: keyEvents,
  read: async (path) => (await callBare<Shown<"KeyPage">>(path)).data,
});
/** The journal: the last 1,000 requests, oldest first. */
export const journal = resource<readonly Shown<"Request">[]>("/requests", { on: ["request", sandbox] });
export const requestChecks = resource<Shown<"RequestChecks">>("/request-checks", { on: [sandbox] });
export const story = resource<Shown<"Story">>("/story", { on: [sandbox, "story."] });
export const assumptions = resource<Shown<"Assumptions">>("/assumptions", { on: [sandbox, "assumptions."] });
export const faults = resource<readonly Shown<"Fault">[]>("/faults", {
  // Each request may match one.
  on: [sandbox, "faults.", "timeline.", "story.", "request"],
});
export const scenarios = resource<readonly Shown<"Scenario">[]>("/scenarios", { on: [] });
export const collections = resource<readonly Shown<"Collection">[]>("/records", { on: [sandbox, "record."] });
