import { environments } from "../domain/api-key.js";
import { failures } from "../domain/fault.js";
import { type Outcome, outcomes, type PathId, type PromisedPathId } from "../domain/outcomes.js";
import { fieldsOf, shapeAt, shapeOf } from "../schema/shape.js";
import type { KeyEntry } from "../world/registry.js";
import type { Trial, World } from "../world/world.js";
import { type Ending, refuse, successAnswer } from "./answer.js";
import type { Call } from "./call.js";
import { contextOf, me } from "./endpoints/me.js";
import { errorBody, jsonBody, withBody } from "./messages.js";

/** One way to break a promise of the specification. The tests of a client that relies on the promise must fail then. */
export interface BrokenPromise {
  /** As in `200.test:scopes-empty`. */
  readonly id: string;
  readonly path: PromisedPathId;
  /** `swap`: an accepted key is rejected, or the reverse. */
  readonly kind: "swap" | "other";
  /** Whether it is the same on each 200, so that one of these paths is enough to try it. */
  readonly isShared?: true;
  /** Whether it also changes responses after the one on its path. */
  readonly isLasting?: true;
  /** The broken response, as in "empty `scopes` on a 200". */
  readonly sentence: string;
  /** The harm to the users of a client that does not notice. */
  readonly loss: string;
  readonly respond: Respond;
}

/** The response instead of another one; `undefined` leaves that one unchanged. */
type Respond = (ending: Ending, call: Call, world: World) => Pick<Ending, "answer" | "code"> | undefined;

/** A row of the table before its path makes it an id. */
type Row = Omit<BrokenPromise, "id" | "path"> & { readonly name: string };

interface PromisedOutcome extends Outcome {
  readonly path: PromisedPathId;
}

const promised = outcomes.filter((row) => row.promised) as readonly PromisedOutcome[];

const lossByStatus: Readonly<Record<number, string>> = {
  401: "a key that must be rejected stays in use",
  403: "the client acts on a right that the key does not have",
  429: "nobody notices that the limit is not enforced",
};

/** Every way to break a promise, made from the outcomes and from the shape of a response. */
export const brokenPromises: readonly BrokenPromise[] = promised.flatMap((outcome) => {
  const { path, status } = outcome;
  const rows = status === 200 ? successRows(outcome) : rejectionRows(outcome);
  return rows.map(({ name, ...row }): BrokenPromise => ({ id: `${path}:${name}`, path, ...row }));
});

/** The promises to break for a client that covers these paths, swaps first. */
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
    end(world, call: Call, ending: Ending): Ending {
      const isOnPath = isLasting || ending.pathId === path;
      if (!isOnPath || ending.fault !== undefined || call.endpoint !== me) return ending;
      const other = respond(ending, call, world);
      if (other === undefined) return ending;
      this.responses += 1;
      // The path stays the one that the request would have ended on.
      return { ...ending, answer: other.answer, code: other.code };
    },
  };
}

function rejectionRows({ path, status, code, when }: PromisedOutcome): Row[] {
  const accepted: Row = {
    name: "accepted",
    kind: "swap",
    sentence: `200 instead of ${status} for ${when}`,
    loss: String(lossByStatus[status]),
    respond: (_, call, world) => ({ answer: acceptance(world, call), code: null }),
  };
  const other = outcomes.find((one) => one.status === status && one.code !== code)?.code;
  if (status === 429) return [accepted, neverEnds(path)];
  if (status !== 403 || typeof other !== "string") return [accepted];
  const anotherCode: Row = {
    name: "another-code",
    kind: "other",
    sentence: `\`${other}\` instead of \`${code}\` for ${when}`,
    loss: "people get the wrong remedy, because each code has its own",
    respond: edited("error", () => ({ code: other }), other),
  };
  return [accepted, anotherCode];
}

// As if the key had passed each check; an unknown key gets the documented example.
function acceptance(world: World, call: Call): Ending["answer"] {
  const { entry } = call;
  if (entry === undefined) return successAnswer(world, call, me, jsonBody(me.responseExample));
  const usage = { ...entry.usage, dayCount: entry.usage.dayCount + 1 };
  return successAnswer(world, call, me, contextOf({ ...entry, usage }));
}

function neverEnds(path: PromisedPathId): Row {
  const limited = new WeakSet<KeyEntry>();
  return {
    name: "never-ends",
    kind: "other",
    isLasting: true,
    sentence: `a 429 that never ends, for ${path}`,
    loss: "the client waits forever, and nobody is told",
    respond({ pathId }, call, world) {
      const { entry } = call;
      if (entry === undefined) return undefined;
      if (pathId === path) limited.add(entry);
      return pathId.startsWith("200") && limited.has(entry) ? refuse(world, call, { path }) : undefined;
    },
  };
}

function successRows({ path, when }: PromisedOutcome): Row[] {
  const swapped = environments.find((name) => `200.${name}` !== path);
  const isOfEnvironment = environments.some((name) => `200.${name}` === path);
  const shared: readonly Omit<Row, "kind">[] = [
    ...memberRows(),
    usageNotCounting(),
    {
      name: "invalid-json",
      sentence: "invalid JSON on a 200",
      loss: "the client works with a response that it could not read",
      respond: ({ answer }) => ({ answer: withBody(answer, `{${answer.body}`), code: null }),
    },
    {
      name: "status-500",
      sentence: "500 instead of 200",
      loss: "an outage looks like a success",
      respond({ answer }) {
        const { code, message } = failures[500];
        return { answer: { ...withBody(answer, errorBody(code, message).text), status: 500 }, code };
      },
    },
  ];
  return [
    {
      name: "rejected",
      kind: "swap",
      sentence: `401 instead of 200 for ${when}`,
      loss: "nobody notices that a key which must work is rejected",
      respond: (_, call, world) => refuse(world, call, { path: "401.unknown" }),
    },
    ...(isOfEnvironment ? [environmentSwapped(path, String(swapped))] : []),
    ...shared.map((row): Row => ({ ...row, kind: "other", isShared: true })),
  ];
}

function environmentSwapped(path: PromisedPathId, other: string): Row {
  return {
    name: "environment-swapped",
    kind: "other",
    sentence: `\`environment\` is \`${other}\` on ${path}`,
    loss: "the client takes test data for live data, or the reverse",
    respond: edited("data", () => ({ environment: other })),
  };
}

/** For each list and each object of the response: it is missing, or has another form. */
function memberRows(): Omit<Row, "kind">[] {
  const members = Object.entries(fieldsOf(shapeAt(me.responseShape, ["data"]) ?? me.responseShape) ?? {});
  return members.flatMap(([name, field]) => {
    const shape = shapeOf(field);
    if (shape.kind !== "list" && shape.kind !== "mapping") return [];
    const later = `the client continues without \`${name}\` and fails later or elsewhere`;
    const row = (way: string, sentence: string, form: (member: object) => unknown, loss = later) => ({
      name: `${name}-${way}`,
      sentence: `${sentence} on a 200`,
      loss,
      respond: edited("data", (data) => ({ [name]: form(data[name] as object) })),
    });
    const isList = shape.kind === "list";
    const right = "the client acts on a right that the key does not have";
    const choices = Object.entries(fieldsOf(shape) ?? {}).filter(([, of]) => shapeOf(of).kind === "choice");
    return [
      row("missing", `no \`${name}\``, () => undefined),
      row("null", `\`null\` as \`${name}\``, () => null),
      row("wrong-type", `\`${name}\` of the wrong type`, (of) => (isList ? String(of) : Object.values(of))),
      ...(isList ? [row("empty", `empty \`${name}\``, () => [], right)] : []),
      ...choices.map(([inner]) => {
        const loss = `the client takes an unknown \`${name}.${inner}\` for one that it knows`;
        return row(
          `${inner}-unknown`,
          `unknown \`${name}.${inner}\``,
          (of) => ({ ...of, [inner]: "other" }),
          loss,
        );
      }),
    ];
  });
}

function usageNotCounting(): Omit<Row, "kind"> {
  const first = new WeakMap<KeyEntry, number>();
  return {
    name: "usage-not-counting",
    sentence: "`usage.today` that does not count on a 200",
    loss: "the client reaches its limit without a warning",
    respond(ending, call, world) {
      const { entry } = call;
      if (entry === undefined) return undefined;
      const today = first.get(entry) ?? entry.usage.dayCount;
      first.set(entry, today);
      if (today === entry.usage.dayCount) return undefined;
      const same = edited("data", ({ usage }) => ({ usage: { ...(usage as object), today } }));
      return same(ending, call, world);
    },
  };
}

type Members = Readonly<Record<string, unknown>>;

/** Changes members of `data` or `error`; `undefined` removes one. `code` is the error code that the body has then. */
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
