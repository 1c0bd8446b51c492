import type { Environment } from "../domain/api-key.js";
import { failures } from "../domain/fault.js";
import { type Outcome, outcomeOf, outcomes, type PathId } from "../domain/outcomes.js";
import { isMe, type Reason, whyNotLetIn, whyNotThere, whyNotTogether } from "./expect-answers.js";
import type { Finding } from "./finding.js";
import type { KeyEnd } from "./key-ends.js";
import type { Path } from "./located.js";
import { nearest } from "./nearest.js";
import { quote } from "./quote.js";
import type { ReservedKeyRef } from "./ref.js";
import type { Scenario } from "./scenario.generated.js";

type StoryFields = NonNullable<Scenario["story"]>[number];
type Request = NonNullable<StoryFields["request"]>;
type Expectation = NonNullable<StoryFields["expect"]>;

/** What is known of a request before it is sent. */
export interface KnownOfRequest {
  /** The key that it carries; `undefined` when that is not known. */
  readonly key:
    | { readonly reserved: ReservedKeyRef }
    | {
        readonly ref: string;
        readonly environment?: Environment | undefined;
        readonly legacy?: boolean | undefined;
        /** How it has ended, if it certainly has. */
        readonly end?: KeyEnd | undefined;
      }
    | undefined;
  readonly faultsArePossible: boolean;
  /** The code of a 429, which is an assumption. */
  readonly rateLimitCode: string;
  /** Whether there are the announced endpoints. */
  readonly preview: boolean;
}

/** What is wrong with an expectation that cannot come true, whatever happens before it. */
export function expectationFindings(
  request: Request,
  { status, code, path: pathId }: Expectation,
  at: Path,
  known: KnownOfRequest,
): Finding[] {
  const impossible = (name: string, message: string, hint: string): Finding[] => [
    { code: "cannot_happen", path: [...at, name], message, hint },
  ];
  const statuses = known.preview ? statusesOfPreview : statusesOfApi;
  if (status !== undefined && !statuses.includes(status)) {
    return impossible(
      "status",
      `no answer of the API has the status ${status}`,
      `there are ${statuses.join(", ")}`,
    );
  }
  const meant = code === undefined || code === null ? undefined : misspelt(code, known.rateLimitCode);
  if (meant !== undefined && request.path === undefined) {
    return impossible("code", `no answer of the API has the code ${quote(code)}`, `did you mean ${meant}?`);
  }
  if (pathId === undefined) return answerFindings(request, status, code, known, impossible);
  const why = whyNot(pathId, request, known);
  if (why !== undefined)
    return impossible("path", `the request cannot end on ${pathId}: ${why.message}`, why.hint);
  const outcome = outcomeOf(pathId);
  // What a fault answers with, and the code of a 429, is not fixed.
  if (outcome.status === 0) return [];
  // A success of an announced endpoint may have made something.
  const isCreation = known.preview && outcome.status === 200 && status === 201 && request.method === "POST";
  if (status !== undefined && status !== outcome.status && !isCreation) {
    return impossible(
      "status",
      `${pathId} has the status ${outcome.status}, not ${status}`,
      `write status: ${outcome.status}`,
    );
  }
  if (code !== undefined && outcome.status !== 429 && code !== outcome.code && !hasNoBody(request, code)) {
    const right = outcome.code ?? "null";
    return impossible(
      "code",
      `${pathId} has the code ${right}, not ${code ?? "null"}`,
      `write code: ${right}`,
    );
  }
  return [];
}

// What is wrong with a status and a code without a path.
function answerFindings(
  request: Request,
  status: Expectation["status"],
  code: Expectation["code"],
  known: KnownOfRequest,
  impossible: (name: string, message: string, hint: string) => Finding[],
): Finding[] {
  if (status === undefined) return [];
  // A fault can answer 200 to whatever was asked.
  if ((status === 200 || status === 201) && !known.faultsArePossible) {
    const why = whyNoSuccess(request, known);
    if (why !== undefined)
      return impossible("status", `the request cannot get ${status}: ${why.message}`, why.hint);
  }
  if (code === undefined || hasNoBody(request, code)) return [];
  // A code that is none of ours may be that of an endpoint of somebody's own.
  if (request.path !== undefined && code !== null && !codes.includes(code)) return [];
  const why = whyNotTogether(status, code, known);
  return why === undefined ? [] : impossible("code", why.message, why.hint);
}

function whyNoSuccess(request: Request, { key, preview }: KnownOfRequest): Reason | undefined {
  const why = whyNotThere(request, preview);
  if (why !== undefined || key === undefined) return why;
  if (!("reserved" in key)) return whyNotLetIn(key.ref, key.end);
  return {
    message: `with key: ${key.reserved} it ends on ${pathOfReserved[key.reserved]}`,
    hint: "expect status: 401, or name another key",
  };
}

function hasNoBody({ method }: Request, code: string | null): boolean {
  return method === "HEAD" && code === null;
}

const failed = Object.keys(failures).map(Number);
const rows: readonly Outcome[] = outcomes;
const statusesOfApi = inOrder(rows.filter(({ preview }) => preview !== true).map(({ status }) => status));
const statusesOfPreview = inOrder([...rows.map(({ status }) => status), 201]);

function inOrder(statuses: readonly number[]): readonly number[] {
  const some = [...statuses, ...failed].filter((status) => status > 0);
  return [...new Set(some)].sort((one, other) => one - other);
}

const codes: readonly string[] = [
  ...new Set(outcomes.map(({ code }) => code).filter((code) => code !== null)),
];

// A code that resembles none of them may be that of an endpoint of somebody's own.
function misspelt(code: string, rateLimitCode: string): string | undefined {
  return code === rateLimitCode || codes.includes(code) ? undefined : nearest(code, codes);
}

function whyNot(pathId: PathId, request: Request, known: KnownOfRequest): Reason | undefined {
  if (pathId.startsWith("fault.")) {
    if (known.faultsArePossible) return undefined;
    return {
      message: "the scenario has no faults",
      hint: "add faults: to the scenario, or as a step before this one",
    };
  }
  const { method } = request;
  const isForMe = isMe(request);
  if (outcomeOf(pathId).preview === true) {
    if (!known.preview) {
      return {
        message: "there is no preview of the announced endpoints",
        hint: "write preview: true at the top level",
      };
    }
    if (isForMe)
      return {
        message: "who-am-I does not end so",
        hint: "give the request the path of an announced endpoint",
      };
  }
  if (pathId === "404.unknown_path") {
    return isForMe
      ? { message: "the API has that path", hint: "give the request a path, such as /v1/nothing" }
      : undefined;
  }
  if (pathId === "405.method") {
    return isForMe && (method === undefined || method === "GET" || method === "HEAD")
      ? { message: "the path takes that method", hint: "give the request a method, such as POST" }
      : undefined;
  }
  const why = isBehindGate(pathId) ? whyNotThere(request, known.preview) : undefined;
  return why ?? whyNotWithKey(pathId, known.key);
}

/** Whether only a request with a key that works ends so. */
function isBehindGate(pathId: PathId): boolean {
  return /^(?:200|403|429)\./.test(pathId);
}

const pathOfReserved: Readonly<Record<ReservedKeyRef, PathId>> = {
  none: "401.missing",
  malformed: "401.malformed",
  unknown: "401.unknown",
};

function whyNotWithKey(pathId: PathId, key: KnownOfRequest["key"]): Reason | undefined {
  if (key === undefined) return undefined;
  if ("reserved" in key) {
    const only = pathOfReserved[key.reserved];
    if (pathId === only) return undefined;
    return {
      message: `with key: ${key.reserved} it ends on ${only}`,
      hint: `write path: ${only}, or name another key`,
    };
  }
  const reserved = Object.entries(pathOfReserved).find(([, path]) => path === pathId);
  if (reserved !== undefined) {
    return { message: `${quote(key.ref)} is a key of this scenario`, hint: `write key: ${reserved[0]}` };
  }
  const { environment, legacy, end } = key;
  const ended = isBehindGate(pathId) ? whyNotLetIn(key.ref, end) : undefined;
  if (ended !== undefined) return ended;
  const forTest = pathId === "200.test";
  const forLive = pathId === "200.live" || pathId.startsWith("403.live");
  if ((forTest && environment === "live") || (forLive && environment === "test")) {
    return {
      message: `${quote(key.ref)} is a ${environment} key`,
      hint: "name a key of the other environment",
    };
  }
  if (pathId === "200.legacy" && legacy === false) {
    return { message: `${quote(key.ref)} has no legacy prefix`, hint: "name a key with legacy: true" };
  }
  return undefined;
}
