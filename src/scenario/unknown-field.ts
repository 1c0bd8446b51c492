import type { Finding } from "./finding.js";
import { pathText } from "./finding.js";
import { fieldsAt, type Level, levelPath, levels } from "./format-lookup.js";
import type { Path } from "./located.js";
import { nearest } from "./nearest.js";
import { listed, quote } from "./quote.js";

/**
 * What is said of a field that the format does not have at this place: where it belongs, or what was probably meant.
 */
export function unknownField(parent: Path, name: string): Finding {
  const path = [...parent, name];
  const level = levelPath(parent);
  const where = parent.length === 0 ? "at the top level" : `in ${pathText(parent)}`;
  return {
    code: "unknown_field",
    path,
    aim: "key",
    message: `unknown field ${quote(name)} ${where}`,
    ...guess(name, parent, level),
  };
}

// What other tools and other people call our fields. Where several are given, the one that fits the level is meant.
const otherNames: Readonly<Record<string, readonly string[]>> = {
  org: ["organizations"],
  orgs: ["organizations"],
  organisation: ["organizations"],
  organisations: ["organizations"],
  organization: ["organizations", "ref"],
  relying_parties: ["organizations"],
  api_keys: ["keys"],
  env: ["environment"],
  live: ["environment"],
  test: ["environment"],
  state: ["state", "status"],
  status: ["status", "state"],
  kind: ["type"],
  expiry: ["expires"],
  expires_at: ["expires"],
  expiration: ["expires"],
  scope: ["scopes"],
  permissions: ["scopes"],
  limit: ["limits"],
  rate_limit: ["limits"],
  rate_limits: ["limits"],
  minute: ["per_minute", "this_minute"],
  day: ["per_day", "today"],
  time: ["now", "clock"],
  value: ["secret"],
  token: ["secret"],
  api_key: ["secret", "keys"],
  overlap: ["overlap_ends"],
  replacement: ["replaced_by"],
  title: ["name"],
  failures: ["faults"],
  if: ["when"],
  match: ["when"],
  do: ["then"],
  delay: ["latency"],
  timeout: ["hang"],
  error: ["status"],
  code: ["status"],
  nth: ["every"],
  chance: ["probability"],
  rate: ["probability"],
  percentage: ["probability"],
  path: ["path_id"],
  path_id: ["path"],
  from: ["after"],
  before: ["until"],
  to: ["until"],
  minimum: ["min"],
  maximum: ["max"],
  wait: ["advance"],
  sleep: ["advance"],
  pass: ["advance"],
  note: ["say"],
  tell: ["say"],
  narrate: ["say"],
  text: ["say"],
  send: ["request"],
  call: ["request"],
  get: ["request"],
  assert: ["expect"],
  then_expect: ["expect"],
  steps: ["story"],
  script: ["story"],
  events: ["timeline"],
  schedule: ["timeline"],
  create: ["create_key"],
  rotate_key: ["rotate"],
  revoke_key: ["revoke"],
  times: ["repeat"],
  count: ["repeat"],
  url: ["path"],
  base: ["extends"],
  import: ["extends"],
};

function guess(name: string, parent: Path, level: readonly string[]): Pick<Finding, "hint" | "meant"> {
  const fields = fieldsAt(parent);
  const spelled = snakeCase(name);
  const meant = [spelled, ...(Object.hasOwn(otherNames, spelled) ? (otherNames[spelled] ?? []) : [])];
  const here = meant.find((one) => fields.includes(one));
  if (here !== undefined) return { hint: `did you mean ${quote(here)}?`, meant: [...parent, here] };
  for (const one of meant) {
    const home = homeOf(one, level);
    if (home !== undefined) return { hint: `${quote(one)} belongs ${describeLevel(home, level)}` };
  }
  const near = nearest(name, fields);
  if (near !== undefined) return { hint: `did you mean ${quote(near)}?`, meant: [...parent, near] };
  return { hint: `known fields here: ${listed(fields, "and")}` };
}

/** `perMinute`, `PER_MINUTE` and `per-minute` as `per_minute`. */
function snakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[\s-]+/g, "_")
    .toLowerCase();
}

// Of several levels that have the field, the one that shares most of the way; of equals the outermost. What stands in
// a list is not looked for from outside of it: it would not be said in which item the field belongs.
function homeOf(name: string, level: readonly string[]): Level | undefined {
  let best: Level | undefined;
  let bestShared = -1;
  for (const candidate of levels()) {
    if (!candidate.fields.includes(name)) continue;
    if (candidate.path.includes("<item>") && !level.includes("<item>")) continue;
    const shared = sharedSteps(candidate.path, level);
    if (shared > bestShared) [best, bestShared] = [candidate, shared];
  }
  return best;
}

function sharedSteps(one: readonly string[], other: readonly string[]): number {
  const index = one.findIndex((step, position) => step !== other[position]);
  return index === -1 ? one.length : index;
}

function describeLevel({ path }: Level, from: readonly string[]): string {
  if (path.length === 0) return "at the top level";
  const inside = sharedSteps(path, from) === from.length;
  // Of a list it is said in which, and that its items are meant goes without saying.
  const named = path.at(-1) === "<item>" ? path.slice(0, -1) : path;
  const shown = inside ? named.slice(from.length) : named.at(-2) === "<item>" ? named.slice(-1) : named;
  return `in ${quote(shown.join("."))}`;
}
