import type { ApiResponse, Ending } from "../sandbox/journal/exchange.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import type { AnnouncedChange } from "../sandbox/timeline.js";
import type { AnnouncedAssumption } from "../scenario/format/schema.js";
import { type Assumptions, assumptionsFor } from "../spec/assumptions.js";
import { outcomeOf } from "../spec/outcomes.js";
import { type FlatHeaders, headerPairs, withBodyMembers } from "./messages.js";
import type { ApiCall } from "./response.js";

/** The ending of a call after the announced changes up to its time. */
export function changedEnding(world: SandboxState, call: ApiCall, given: Ending): Ending {
  const { changes = [], trial } = world;
  let ending = given;
  for (const change of changes) {
    if (change.at > call.now) break;
    const { operation } = change.fields;
    const isOther = operation !== undefined && operation !== call.endpoint?.operationId;
    const next = given.fault === undefined && !isOther ? edited(change, call, ending) : ending;
    if (
      trial?.onChanged !== undefined &&
      (next !== ending ||
        ((!isOther || call.endpoint === undefined) && isAffected(change, world, call, given)))
    ) {
      trial.onChanged();
    }
    ending = next;
  }
  return ending;
}

// Whether a response depends on a change that did not edit it: its path has moved, or an assumption differs.
function isAffected(
  { ends, fields }: AnnouncedChange,
  world: SandboxState,
  call: ApiCall,
  { pathId, response }: Ending,
): boolean {
  const { move, assumptions = {} } = fields;
  const { path } = call.request;
  if (move !== undefined && (path === move.to || (path === move.from && ends <= call.now))) return true;
  const { profile, scenario } = world;
  const before = assumptionsFor(profile, scenario.assumptions as Partial<Assumptions>);
  return Object.entries(assumptions).some(([name, value]) => {
    if (before[name as keyof Assumptions] === value) return false;
    if (name === "me_scope") return pathId === "403.insufficient_scope" || response.status === 200;
    return shownOn[name as keyof typeof shownOn].includes(response.status);
  });
}

/** The statuses whose responses show an assumption. */
const shownOn: Readonly<Record<Exclude<AnnouncedAssumption, "me_scope">, readonly number[]>> = {
  rate_limit_code: [429],
  request_id_on_errors: [401, 403, 429],
  retry_after: [429],
  rate_limit_headers: [200, 429],
  error_details: [403, 429],
  count_rejected: [401, 403, 429],
  www_authenticate: [401],
};

function edited({ at, ends, fields }: AnnouncedChange, call: ApiCall, ending: Ending): Ending {
  const { move, headers, codes = {}, statuses = {} } = fields;
  const { pathId } = ending;
  const name = outcomeOf(pathId).code ?? "";
  const code = codes[pathId] ?? codes[name];
  const status = statuses[pathId] ?? statuses[name];
  let response = withEditedBody(ending.response, fields, code);
  if (status !== undefined) response = { ...response, status };
  if (headers !== undefined && isOn(headers, response)) {
    response = { ...response, headers: editedHeaders(response.headers, headers) };
  }
  if (move !== undefined && call.request.path === move.from && call.now < ends) {
    const deprecation = ["Deprecation", `@${Math.floor(at / 1000)}`, "Sunset", new Date(ends).toUTCString()];
    const link = ["Link", `<${move.to}>; rel="successor-version"`];
    response = { ...response, headers: [...response.headers, ...deprecation, ...link] };
  }
  const isSame = response === ending.response || JSON.stringify(response) === JSON.stringify(ending.response);
  return isSame ? ending : { ...ending, response, code: code ?? ending.code };
}

const isOn = ({ on }: { readonly on?: number | undefined }, { status }: ApiResponse) =>
  on === undefined || on === status;

function editedHeaders(
  headers: FlatHeaders,
  { add = {}, rename = {}, remove = [] }: NonNullable<AnnouncedChange["fields"]["headers"]>,
): FlatHeaders {
  const removed = new Set([...remove, ...Object.keys(add)].map((name) => name.toLowerCase()));
  const renamed = new Map(Object.entries(rename).map(([name, to]) => [name.toLowerCase(), to]));
  const kept = headerPairs(headers).filter(([name]) => !removed.has(name.toLowerCase()));
  return [
    ...kept.flatMap(([name, value]) => [renamed.get(name.toLowerCase()) ?? name, value]),
    ...Object.entries(add).flat(),
  ];
}

function withEditedBody(
  response: ApiResponse,
  { members, scopes }: AnnouncedChange["fields"],
  code?: string,
): ApiResponse {
  let edited = response;
  const edit = (path: readonly string[], change: Parameters<typeof withBodyMembers>[2]) => {
    edited = withBodyMembers(edited, path, change) ?? edited;
  };
  if (code !== undefined) edit(["error"], (error) => ({ ...error, code }));
  if (scopes !== undefined) {
    const { rename = {}, add = [], remove = [] } = scopes;
    const renamed = (name: unknown) => rename[String(name)] ?? name;
    const list = (names: readonly unknown[]) => [
      ...names.filter((name) => !remove.includes(String(name))).map(renamed),
      ...add,
    ];
    edit(["data"], (data) => (Array.isArray(data.scopes) ? { ...data, scopes: list(data.scopes) } : data));
    edit(["error", "details"], (details) =>
      "required_scope" in details ? { ...details, required_scope: renamed(details.required_scope) } : details,
    );
  }
  if (members !== undefined && isOn(members, response)) {
    const { add = {}, rename = {}, remove = [] } = members;
    edit(members.in.split("."), (there) => {
      const kept = Object.entries(there).filter(([name]) => !remove.includes(name));
      return { ...Object.fromEntries(kept.map(([name, value]) => [rename[name] ?? name, value])), ...add };
    });
  }
  return edited;
}
