import { fieldsOf, type Shape, shapeAt } from "../format/shape.js";
import { type Diagnostic, type Path, pathText } from "./scenario-error.js";
import { listed, nearest, quote } from "./words.js";

/**
 * A field that the format does not have at this place, with what was probably meant, or where it belongs.
 *
 * `holder` is the mapping that has the field.
 */
export function unknownField(root: Shape, parent: Path, name: string, holder: unknown): Diagnostic {
  const where = parent.length === 0 ? "at the top level" : `in ${pathText(parent)}`;
  const diagnostic = {
    code: "unknown_field",
    path: [...parent, name],
    pointAt: "key",
    message: `unknown field ${quote(name)} ${where}`,
  } as const;
  const shape = shapeAt(root, parent);
  const fields = Object.keys((shape && fieldsOf(shape)) ?? {});
  const suggest = (field: string) => ({
    ...diagnostic,
    hint: `did you mean ${quote(field)}?`,
    suggestion: [...parent, field],
  });

  const spelled = snakeCase(name);
  // `overlap_minutes: 60`: a duration says its unit itself.
  const withoutUnit = spelled.replace(/_(?:ms|millis|seconds|minutes|hours|days)$/, "");
  const words = [spelled, ...meaningsOf(spelled), withoutUnit];
  const isFree = (field: string) => fields.includes(field) && !Object.hasOwn((holder ?? {}) as object, field);
  const free = words.find(isFree);
  if (free !== undefined) return suggest(free);
  const near = nearest(name, fields);
  if (near !== undefined) return suggest(near);
  const hint =
    fields.length === 0 ? "no fields are known here" : `known fields here: ${listed(fields, "and")}`;
  return { ...diagnostic, hint };
}

/** `perMinute`, `PER_MINUTE` and `per-minute` as `per_minute`. */
function snakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[\s-]+/g, "_")
    .toLowerCase();
}

// The words of other tools and services for our fields and choices, by the word that the format has.
const aliasesOf: Readonly<Record<string, string>> = {
  organizations: "org orgs organisation organisations organization relying_parties keys",
  organization: "org organisation",
  keys: "api_keys api_key",
  environment: "env live test",
  type: "kind",
  status: "state error code http_status",
  state: "status",
  expires: "expiry expire expires_at expiration",
  scopes: "scope permissions",
  limits: "limit rate_limit rate_limits per_minute per_day",
  per_minute: "minute",
  per_day: "day",
  this_minute: "minute",
  today: "day",
  live_access: "live",
  sandbox_access: "sandbox",
  overlap_ends: "overlap",
  overlap: "overlap_ends",
  replaced_by: "replacement",
  name: "title",
  extends: "base import",
  // Choices
  test: "sandbox testing staging dev",
  live: "production prod",
  revoked: "disabled deleted",
  rotated: "replaced",
  retiring: "rotating",
  not_approved: "pending unapproved",
  insurer: "insurance",
  active: "enabled",
  inactive: "suspended",
  // Faults
  faults: "failures",
  when: "if match key organization path_id every requests probability after until",
  // biome-ignore lint/suspicious/noThenProperty: nothing awaits a table
  then: "do",
  latency: "delay",
  hang: "timeout",
  every: "nth",
  probability: "chance rate percentage",
  path_id: "path",
  after: "from",
  until: "before to",
  min: "minimum",
  max: "maximum",
  // Steps
  timeline: "events schedule",
  story: "steps script",
  at: "time after when in on delay",
  now: "time",
  advance: "wait wait_for pause sleep pass delay",
  say: "note tell narrate text",
  request: "send call get",
  expect: "assert",
  create_key: "create",
  rotate: "rotate_key",
  revoke: "revoke_key",
  do: "action decision grant reject revoke",
  farmer: "farmer_id index",
  // What a step refers to
  key: "ref id name old from token secret api_key auth authorization x_api_key as",
  as: "to new new_key new_ref name ref replacement replaced_by",
  ref: "key id name as to org organization",
  // Requests and answers
  method: "verb",
  path: "path_id url uri endpoint query params",
  body: "data json payload",
  repeat: "times count",
  code: "error_code",
  secret: "value token api_key",
};

/** The words of the format that a word of another tool can mean; the first one that fits is suggested. */
export function meaningsOf(word: string): string[] {
  return Object.keys(aliasesOf).filter((ours) => aliasesOf[ours]?.split(" ").includes(word));
}
