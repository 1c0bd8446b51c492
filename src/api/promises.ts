import type { Ending } from "../sandbox/journal/exchange.js";
import type { KeyEntry } from "../sandbox/keys.js";
import type { SandboxState, Trial } from "../sandbox/sandbox.js";
import { environments } from "../spec/api-key.js";
import { failures } from "../spec/fault-effects.js";
import { isSuccess, type Outcome, outcomes, type PathId, type PromisedPathId } from "../spec/outcomes.js";
import { fieldsOf, shapeAt, shapeOf } from "../spec/schema/shape.js";
import { type ApiCall, rejectCall, successAnswer } from "./answer.js";
import { contextOf, me } from "./endpoints/me.js";
import { errorBody, jsonBody, withBody } from "./messages.js";
import words from "./promises.json" with { type: "json" };

/** A way to break a promise of the specification. The tests of a client that relies on the promise must then fail. */
export interface BrokenPromise {
  /** For example, `200.test:scopes-empty`. */
  readonly id: string;
  readonly path: PromisedPathId;
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
  ending: Ending,
  call: ApiCall,
  world: SandboxState,
) => Pick<Ending, "answer" | "code"> | undefined;

/** A row of the table, before its path id is added to the id. */
interface Row extends Pick<BrokenPromise, "isShared" | "isLasting" | "respond"> {
  readonly name: string;
  /** The name of its texts in `promises.json`. Default: its own name. */
  readonly words?: string;
  /** Values for its texts, besides the outcome's. */
  readonly facts?: Readonly<Record<string, string>>;
}

type PromisedOutcome = Outcome & { readonly path: PromisedPathId };

const promised = outcomes.filter((row) => row.promised) as readonly PromisedOutcome[];
const wordsOf: Readonly<Record<string, Pick<BrokenPromise, "sentence" | "loss">>> = words;

/** Every way to break a promise, made from the outcomes and the shape of a response. */
export const brokenPromises: readonly BrokenPromise[] = promised.flatMap((outcome) => {
  const { path, status } = outcome;
  const rows = status === 200 ? successRows(outcome) : rejectionRows(outcome);
  return rows.map(({ name, words = name, facts, ...row }): BrokenPromise => {
    const all: Readonly<Record<string, unknown>> = { ...outcome, ...facts };
    const filled = (text = "") => text.replace(/\{(\w+)\}/g, (_, fact) => String(all[fact]));
    const { sentence, loss } = wordsOf[words] ?? {};
    const kind = name === "rejected" || name === "accepted" ? "swap" : "other";
    return {
      ...row,
      id: `${path}:${name}`,
      path,
      kind,
      words,
      sentence: filled(sentence),
      loss: filled(loss),
    };
  });
});

/** The promises to break for a client that covers these path ids, swaps first. */
export function promisesOn(covered: readonly PathId[], kinds: "all" | "swaps" | "none"): BrokenPromise[] {
  const rows = brokenPromises.filter(({ path }) => covered.includes(path));
  const firstSuccess = rows.find(({ isShared }) => isShared)?.path;
  const swaps = kinds === "none" ? [] : rows.filter(({ kind }) => kind === "swap");
  const others = kinds === "all" ? rows.filter(({ kind }) => kind === "other") : [];
  return [...swaps, ...others.filter(({ path, isShared }) => !isShared || path === firstSuccess)];
}

/** Breaks a promise in a trial of a client. */
export function breaking({ path, isLasting, respond }: BrokenPromise): NonNullable<Trial["broken"]> {
  return {
    responses: 0,
    end(world, call: ApiCall, ending: Ending): Ending {
      const isOnPath = isLasting || ending.pathId === path;
      if (!isOnPath || ending.fault !== undefined || call.endpoint !== me) return ending;
      const other = respond(ending, call, world);
      if (other === undefined) return ending;
      this.responses += 1;
      // The request keeps its original path id.
      return { ...ending, answer: other.answer, code: other.code };
    },
  };
}

function rejectionRows({ path, status, code }: PromisedOutcome): Row[] {
  const accepted: Row = {
    name: "accepted",
    words: `accepted ${status}`,
    respond: (_, call, world) => ({ answer: acceptance(world, call), code: null }),
  };
  const other = outcomes.find((one) => one.status === status && one.code !== code)?.code;
  if (status === 429) return [accepted, neverEnds(path)];
  if (status !== 403 || typeof other !== "string") return [accepted];
  const respond = edited("error", () => ({ code: other }), other);
  return [accepted, { name: "another-code", facts: { other }, respond }];
}

// As if the key had passed each check; an unknown key gets the documented example.
function acceptance(world: SandboxState, call: ApiCall): Ending["answer"] {
  const { entry } = call;
  if (entry === undefined) return successAnswer(world, call, me, jsonBody(me.responseExample));
  const usage = { ...entry.usage, dayCount: entry.usage.dayCount + 1 };
  return successAnswer(world, call, me, contextOf({ ...entry, usage }));
}

function neverEnds(path: PromisedPathId): Row {
  const limited = new WeakSet<KeyEntry>();
  const respond: Respond = ({ pathId }, call, world) => {
    const { entry } = call;
    if (entry === undefined) return undefined;
    if (pathId === path) limited.add(entry);
    return isSuccess(pathId) && limited.has(entry) ? rejectCall(world, call, { path }) : undefined;
  };
  return { name: "never-ends", isLasting: true, respond };
}

function successRows({ path }: PromisedOutcome): Row[] {
  const swapped = environments
    .filter((other) => path !== `200.${other}` && environments.some((own) => path === `200.${own}`))
    .map((other): Row => {
      const respond = edited("data", () => ({ environment: other }));
      return { name: "environment-swapped", facts: { other }, respond };
    });
  const invalid: Respond = ({ answer }) => ({ answer: withBody(answer, `{${answer.body}`), code: null });
  const failed: Respond = ({ answer }) => {
    const { code, message } = failures[500];
    return { answer: { ...withBody(answer, errorBody(code, message).text), status: 500 }, code };
  };
  const shared: readonly Row[] = [
    ...memberRows(),
    { name: "usage-not-counting", respond: sameUsage() },
    { name: "invalid-json", respond: invalid },
    { name: "status-500", respond: failed },
  ];
  return [
    { name: "rejected", respond: (_, call, world) => rejectCall(world, call, { path: "401.unknown" }) },
    ...swapped,
    ...shared.map((row): Row => ({ ...row, isShared: true })),
  ];
}

/** For each list and object of the response: missing, or of another form. */
function memberRows(): Row[] {
  const members = Object.entries(fieldsOf(shapeAt(me.responseShape, ["data"]) ?? me.responseShape) ?? {});
  return members.flatMap(([name, field]) => {
    const shape = shapeOf(field);
    if (shape.kind !== "list" && shape.kind !== "mapping") return [];
    const row = (words: string, form: (value: object) => unknown, inner = ""): Row => ({
      name: `${name}${inner.replace(".", "-")}-${words}`,
      words,
      facts: { member: name + inner },
      respond: edited("data", (data) => ({ [name]: form(data[name] as object) })),
    });
    const isList = shape.kind === "list";
    const choices = Object.entries(fieldsOf(shape) ?? {}).filter(([, of]) => shapeOf(of).kind === "choice");
    return [
      row("missing", () => undefined),
      row("null", () => null),
      row("wrong-type", (value) => (isList ? String(value) : Object.values(value))),
      ...(isList ? [row("empty", () => [])] : []),
      ...choices.map(([inner]) => row("unknown", (value) => ({ ...value, [inner]: "other" }), `.${inner}`)),
    ];
  });
}

function sameUsage(): Respond {
  const first = new WeakMap<KeyEntry, number>();
  return (ending, call, world) => {
    const { entry } = call;
    if (entry === undefined) return undefined;
    const today = first.get(entry) ?? entry.usage.dayCount;
    first.set(entry, today);
    if (today === entry.usage.dayCount) return undefined;
    return edited("data", ({ usage }) => ({ usage: { ...(usage as object), today } }))(ending, call, world);
  };
}

type Members = Readonly<Record<string, unknown>>;

/** Changes members of `data` or `error`; `undefined` removes one. `code` is the body's new error code. */
function edited(
  within: "data" | "error",
  change: (members: Members) => Members,
  code: string | null = null,
): Respond {
  return ({ answer }) => {
    const body = JSON.parse(answer.body);
    Object.assign(body[within], change(body[within]));
    return { answer: withBody(answer, JSON.stringify(body)), code };
  };
}
