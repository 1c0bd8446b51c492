import { environments } from "../rules/api-key.js";
import { failures } from "../rules/fault-effects.js";
import { type ApiPathId, isSuccess, type Outcome, outcomes, type PathId } from "../rules/outcomes.js";
import { fieldsOf, type MappingField, shapeOf } from "../rules/schema/shape.js";
import type { CallResult } from "../sandbox/journal/exchange.js";
import type { KeyEntry } from "../sandbox/keys.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import type { ApiCall } from "./call.js";
import type { ReleasedEndpoint } from "./endpoint.js";
import { contextOf, me } from "./endpoints/me.js";
import { type BodyMembers, errorBody, headerPairs, jsonBody, withBody, withBodyMembers } from "./messages.js";
import { rejectCall, responseOf, successResponse } from "./response.js";

/** A way to break a promise of the specification. The tests of a client that relies on the promise must then fail. */
export interface BrokenPromise {
  /** For example, `200.test:scopes-empty`. */
  readonly id: string;
  readonly path: PathId;
  /** `swap`: an accepted key is rejected, or the reverse. */
  readonly kind: "swap" | "other";
  /** What its texts call it, such as "missing" for each missing member. */
  readonly words: string;
  /** Whether it is the same on every 200, so that one 200 is enough to try it. */
  readonly isShared?: true;
  /** Whether it also changes later responses. */
  readonly isLasting?: true;
  /** The broken response, such as "empty `scopes` on a 200". */
  readonly sentence: string;
  /** The harm to the users of a client that does not notice. */
  readonly loss: string;
  readonly respond: Respond;
}

/** Returns a replacement for a response; `undefined` leaves the response unchanged. */
type Respond = (
  result: CallResult,
  call: ApiCall,
  sandbox: SandboxState,
) => Pick<CallResult, "response" | "code"> | undefined;

/** A row of the table, before its path id is added to the id. */
interface Row extends Pick<BrokenPromise, "isShared" | "isLasting" | "respond"> {
  readonly name: string;
  /** The name of its texts in the table. Default: its own name. */
  readonly words?: string;
  /** Values for its texts, besides the outcome's. */
  readonly facts?: Readonly<Record<string, string>>;
}

const promised = outcomes.filter((row) => row.promised);
/** The texts of a row: its broken response, and the harm. */
const wordsOf: Readonly<Record<string, readonly [sentence: string, loss: string]>> = {
  rejected: ["401 instead of {status} for {when}", "nobody notices that a key which must work is rejected"],
  "accepted 401": ["200 instead of 401 for {when}", "a key that must be rejected stays in use"],
  "accepted 403": [
    "200 instead of 403 for {when}",
    "the client acts on a permission that the key does not have",
  ],
  "accepted 429": ["200 instead of 429 for {when}", "nobody notices that the limit is not enforced"],
  "another-code": [
    "`{other}` instead of `{code}` for {when}",
    "people get the wrong remedy, because each code has its own",
  ],
  "never-ends": ["a 429 that never ends, for {path}", "the client waits forever, and nobody is alerted"],
  "environment-swapped": [
    "`environment` is `{other}` on {path}",
    "the client takes test data for live data, or the reverse",
  ],
  missing: ["no `{member}` on {on}", "the client continues without `{member}` and fails later or elsewhere"],
  null: [
    "`null` as `{member}` on {on}",
    "the client continues without `{member}` and fails later or elsewhere",
  ],
  "wrong-type": [
    "`{member}` of the wrong type on {on}",
    "the client continues without `{member}` and fails later or elsewhere",
  ],
  empty: ["empty `{member}` on {on}", "the client acts on a permission that the key does not have"],
  unknown: ["unknown `{member}` on {on}", "the client takes an unknown `{member}` for one that it knows"],
  "usage-not-counting": [
    "`usage.today` that does not count on {on}",
    "the client reaches its limit without a warning",
  ],
  "invalid-json": ["invalid JSON on {on}", "the client works with a response that it could not read"],
  "status-500": ["500 instead of {success}", "an outage looks like a success"],
};

const onSuccess = { on: "a 200", success: "200" };

const rejectedRow: Row = {
  name: "rejected",
  respond: (_, call, sandbox) => rejectCall(sandbox, call, { path: "401.unknown" }),
};

const jsonRow: Row = {
  name: "invalid-json",
  respond: ({ response }) => ({ response: withBody(response, `{${response.body}`), code: null }),
};

const statusRow: Row = {
  name: "status-500",
  respond({ response }) {
    const { code, message } = failures[500];
    const keptHeaders = headerPairs(response.headers).filter(
      ([name]) => !/^content-(?:type|length)$/i.test(name),
    );
    return { response: responseOf(500, errorBody(code, message), keptHeaders.flat()), code };
  },
};

/** Every way to break a promise of `/me` or of the checks, made from the outcomes and the shape of a response. */
export const brokenPromises: readonly BrokenPromise[] = promised.flatMap((outcome) =>
  promisesOf(outcome, outcome.status === 200 ? successRows(outcome) : rejectionRows(outcome)),
);

function promisesOf(outcome: Outcome, rows: readonly Row[], on = onSuccess): BrokenPromise[] {
  return rows.map(({ name, words = name, facts, ...row }): BrokenPromise => {
    const placeholders: Readonly<Record<string, unknown>> = { ...outcome, ...on, ...facts };
    const filled = (text = "") => text.replace(/\{(\w+)\}/g, (_, fact) => String(placeholders[fact]));
    const [sentence, loss] = wordsOf[words] ?? [];
    const path = outcome.path as PathId;
    const kind = name === "rejected" || name === "accepted" ? "swap" : "other";
    const texts = { sentence: filled(sentence), loss: filled(loss) };
    return { ...row, id: `${path}:${name}`, path, kind, words, ...texts };
  });
}

/** The promises to break for a client that covers these path ids, swaps first. */
export function promisesOn(covered: readonly PathId[], kinds: "all" | "swaps" | "none"): BrokenPromise[] {
  const rows = brokenPromises.filter(({ path }) => covered.includes(path));
  const firstSuccess = rows.find(({ isShared }) => isShared)?.path;
  const swaps = kinds === "none" ? [] : rows.filter(({ kind }) => kind === "swap");
  const others = kinds === "all" ? rows.filter(({ kind }) => kind === "other") : [];
  return [...swaps, ...others.filter(({ path, isShared }) => !isShared || path === firstSuccess)];
}

/** Returns the result in place of a call's own if it is about the promise. */
export function breakPromise(
  { path, isLasting, respond }: BrokenPromise,
  sandbox: SandboxState,
  call: ApiCall,
  result: CallResult,
): CallResult | undefined {
  const isOnPath = isLasting || result.pathId === path;
  if (!isOnPath || result.fault !== undefined || call.endpoint === undefined) return undefined;
  const broken = respond(result, call, sandbox);
  // The request keeps its original path id.
  return broken && { ...result, response: broken.response, code: broken.code };
}

function rejectionRows({ path, status, code }: Outcome): Row[] {
  const accepted: Row = {
    name: "accepted",
    words: `accepted ${status}`,
    respond: (_, call, sandbox) => ({ response: acceptance(sandbox, call), code: null }),
  };
  const otherCode = outcomes.find((one) => one.status === status && one.code !== code)?.code;
  if (status === 429) return [accepted, neverEnds(path as ApiPathId)];
  if (status !== 403 || typeof otherCode !== "string") return [accepted];
  const respond = edited("error", () => ({ code: otherCode }), otherCode);
  return [accepted, { name: "another-code", facts: { other: otherCode }, respond }];
}

// As if the key had passed each check; an unknown key, or another endpoint than `/me`, gets the documented example.
function acceptance(sandbox: SandboxState, call: ApiCall): CallResult["response"] {
  const { entry, endpoint = me } = call;
  if (entry === undefined || endpoint !== me) {
    const documented = endpoint.documented?.(endpoint.status ?? 200, sandbox);
    return successResponse(sandbox, call, endpoint, documented ?? jsonBody(me.responseExample));
  }
  const usage = { ...entry.usage, dayCount: entry.usage.dayCount + 1 };
  return successResponse(sandbox, call, me, contextOf({ ...entry, usage }));
}

function neverEnds(path: ApiPathId): Row {
  const limited = new WeakSet<KeyEntry>();
  const respond: Respond = ({ pathId }, call, sandbox) => {
    const { entry } = call;
    if (entry === undefined) return undefined;
    if (pathId === path) limited.add(entry);
    return isSuccess(pathId) && limited.has(entry) ? rejectCall(sandbox, call, { path }) : undefined;
  };
  return { name: "never-ends", isLasting: true, respond };
}

function successRows({ path }: Outcome): Row[] {
  const swapped = environments
    .filter((other) => path !== `200.${other}` && environments.some((own) => path === `200.${own}`))
    .map((other): Row => {
      const respond = edited("data", () => ({ environment: other }));
      return { name: "environment-swapped", facts: { other }, respond };
    });
  const shared: readonly Row[] = [
    ...memberRows(me),
    { name: "usage-not-counting", respond: sameUsage() },
    jsonRow,
    statusRow,
  ];
  return [rejectedRow, ...swapped, ...shared.map((row): Row => ({ ...row, isShared: true }))];
}

/** For each list and object of a response, or each member if it has none: missing, or of another form. */
function memberRows({ responseShape, responsesContext }: ReleasedEndpoint): Row[] {
  const { data } = fieldsOf(responseShape) ?? {};
  const inData = data && fieldsOf(shapeOf(data));
  const within = inData === undefined ? undefined : "data";
  const required = Object.entries(inData ?? fieldsOf(responseShape) ?? {}).filter(
    ([, field]) => !("optional" in field),
  );
  const isLarge = (field: MappingField) => /^(?:list|mapping)$/.test(shapeOf(field).kind);
  const large = required.filter(([, field]) => isLarge(field));
  return (large.length > 0 ? large : required).flatMap(([name, field]) => {
    const shape = shapeOf(field);
    const row = (words: string, form: (value: unknown) => unknown, inner = ""): Row => ({
      name: `${name}${inner.replace(".", "-")}-${words}`,
      words,
      facts: { member: name + inner },
      respond: edited(within, (data) => ({ [name]: form(data[name]) })),
    });
    const choices = Object.entries(fieldsOf(shape) ?? {}).filter(([, of]) => shapeOf(of).kind === "choice");
    return [
      row("missing", () => undefined),
      row("null", () => null),
      row("wrong-type", ofWrongType),
      ...(responsesContext && shape.kind === "list" ? [row("empty", () => [])] : []),
      ...(responsesContext ? choices : []).map(([inner]) =>
        row("unknown", (value) => ({ ...(value as object), [inner]: "other" }), `.${inner}`),
      ),
    ];
  });
}

/** A list becomes a text, an object a list, and any other value an object. */
function ofWrongType(value: unknown): unknown {
  if (Array.isArray(value)) return String(value);
  return typeof value === "object" && value !== null ? Object.values(value) : {};
}

function sameUsage(): Respond {
  const first = new WeakMap<KeyEntry, number>();
  return (result, call, sandbox) => {
    const { entry } = call;
    if (entry === undefined) return undefined;
    const today = first.get(entry) ?? entry.usage.dayCount;
    first.set(entry, today);
    if (today === entry.usage.dayCount) return undefined;
    return edited("data", ({ usage }) => ({ usage: { ...(usage as object), today } }))(result, call, sandbox);
  };
}

/** Changes members of the body, or of its `data` or `error`; `undefined` removes one. `code` is its new error code. */
function edited(
  within: "data" | "error" | undefined,
  change: (members: BodyMembers) => BodyMembers,
  code: string | null = null,
): Respond {
  const path = within === undefined ? [] : [within];
  return (result) => {
    const response = withBodyMembers(result.response, path, (members) => ({
      ...members,
      ...change(members),
    }));
    return response && { response, code };
  };
}
