import { type AdviceId, adviceTable } from "../rules/advice.js";
import { variableOf } from "../rules/api-key.js";
import { type ApiPathId, outcomeOf, type PathId } from "../rules/outcomes.js";
import type { Resend } from "../sandbox/conditions.js";
import { type ClientRun, notMade, type Reason, tooLate, whyNotJudged } from "./run.js";

/** One kind of rejection, after which a client must not send the key again, or not at once. */
export interface ResendKind extends Pick<Resend, "path" | "when" | "seconds" | "asDate"> {
  /** Its name in `--only`. */
  readonly name: string;
  readonly after: string;
  readonly advice: AdviceId;
}

const [seconds, lastingSeconds] = [4, 10];

/** The kinds of rejections for a client that covers these paths. */
export function resendKinds(covered: readonly PathId[]): ResendKind[] {
  const pathOf = (status: number, usual: ApiPathId) =>
    (covered.find((path) => outcomeOf(path).status === status) ?? usual) as ApiPathId;
  const codes = new Map<string, ApiPathId>();
  for (const path of covered.filter((one) => outcomeOf(one).status === 403)) {
    const code = String(outcomeOf(path).code);
    if (!codes.has(code)) codes.set(code, path as ApiPathId);
  }
  const soon = {
    path: pathOf(429, "429.per_minute"),
    when: "too soon",
    advice: "too-soon-after-429",
  } as const;
  const failing = { path: "fault.status", when: "too soon", advice: "too-soon-after-503" } as const;
  return [
    { name: "resend.429.without", ...soon, after: "a 429 without `Retry-After`" },
    { name: "resend.429.seconds", ...soon, after: `a 429 with \`Retry-After: ${seconds}\``, seconds },
    { name: "resend.429.date", ...soon, after: "a 429 with a date in `Retry-After`", seconds, asDate: true },
    {
      name: "resend.503.date",
      ...failing,
      after: "a 503 with a date in `Retry-After`",
      seconds,
      asDate: true,
    },
    {
      name: "resend.outage",
      path: "fault.status",
      when: "hasty",
      after: "a 503",
      advice: "no-pause-after-failure",
    },
    {
      ...{ name: "resend.401", path: pathOf(401, "401.revoked"), when: "always" },
      ...{ after: "a 401", advice: "same-key-after-401" },
    },
    ...[...codes].map(([code, path]): ResendKind => {
      const after = `a 403 with \`${code}\``;
      return { name: `resend.403.${code}`, path, when: "always", after, advice: "same-key-after-403" };
    }),
  ];
}

/** What certify has seen of a kind of rejection. */
export type Resent =
  | { readonly kind: "held" }
  | { readonly kind: "not judged"; readonly reason: Reason }
  | { readonly kind: "problem"; readonly sentence: string; readonly whatToDo: string };

/** What a form of a kind shows. */
type Form = Resent | { readonly kind: "nothing" };

export interface ResendTools {
  readonly plain: ClientRun;
  readonly key: string;
  /** How often the plain run sent the key. */
  readonly count: number;
  /** How many runs of each form must pass: more if the runs do not send the key equally often. */
  readonly passes: () => Promise<number>;
  readonly run: (kind: ResendKind, resend: Resend) => Promise<ClientRun | undefined>;
  /** Why the command passes although a rejected key is accepted once; `undefined` if it fails, as it must. */
  readonly whyUnnoticed: () => Promise<Reason | undefined>;
}

/** Finds out by reward whether a client sends a key again: a command that passes although requests were rejected has resent them. */
export async function judgeResends(kind: ResendKind, tools: ResendTools): Promise<Resent> {
  const isTwice = kind.when === "always" && tools.count > 1;
  // A client that resends only a key that has worked passes only the second form, which finds any other as well.
  const forms = isTwice && kind.name !== "resend.401" ? [1, 0] : isTwice ? [0, 1] : [0];
  let [isHeld, reason] = [false, undefined as Reason | undefined];
  for (const after of forms) {
    const form = await tryForm(kind, after, tools);
    if (form.kind === "problem") return form;
    if (form.kind === "not judged") reason ??= form.reason;
    isHeld ||= form.kind === "held";
    if (isHeld && kind.name !== "resend.401") break;
  }
  if (reason !== undefined) return { kind: "not judged", reason };
  return isHeld ? { kind: "held" } : { kind: "not judged", reason: nothingRejected };
}

const unmade: Form = { kind: "not judged", reason: notMade };

const nothingRejected: Reason = {
  why: "no request was rejected that another one followed",
  whatToDo: "Send the key in each run, and check the response.",
};

async function tryForm(kind: ResendKind, after: number, tools: ResendTools): Promise<Form> {
  const { key, plain, whyUnnoticed } = tools;
  const attempt: Attempt = (more) => {
    const { path, when, seconds, asDate } = { ...kind, ...more };
    const timed = { ...(seconds !== undefined && { seconds }), ...(asDate && { asDate }) };
    return tools.run(kind, {
      key,
      path,
      when,
      ...timed,
      after: more.after,
      ...(more.lasts && { lasts: true }),
    });
  };
  const first = await attempt({ after });
  if (first?.outcome !== "passed") return withoutPass(first);
  const whyNot = whyNotJudged(plain, first, "hit");
  if (whyNot !== undefined)
    return first.hits === 0 ? { kind: "nothing" } : { kind: "not judged", reason: whyNot };
  if (first.rewards === 0) return { kind: kind.when === "too soon" ? "held" : "nothing" };
  const longer = kind.seconds !== undefined && { seconds: lastingSeconds };
  const lasting = await attempt({ after, lasts: true, ...longer });
  if (lasting === undefined) return unmade;
  if (lasting.outcome === "passed") return whatLasts(kind, key, after);
  const reason = await whyUnnoticed();
  if (reason !== undefined) return { kind: "not judged", reason };
  return confirm(kind, after, tools, attempt);
}

/** A command that fails has sent nothing again. One that does not end may still do so. */
function withoutPass(run: ClientRun | undefined): Form {
  if (run === undefined) return unmade;
  return run.outcome === "failed" ? { kind: "held" } : { kind: "not judged", reason: tooLate };
}

type Attempt = (more: Pick<Resend, "after" | "lasts" | "seconds">) => Promise<ClientRun | undefined>;

async function confirm(kind: ResendKind, after: number, tools: ResendTools, attempt: Attempt): Promise<Form> {
  const passes = await tools.passes();
  let count = 1;
  for (let left = 2 * passes; left > 0 && count < passes; left--) {
    const run = await attempt({ after });
    if (run?.outcome !== "passed") return withoutPass(run);
    if (run.rewards > 0 && whyNotJudged(tools.plain, run, "hit") === undefined) count += 1;
  }
  if (count < passes) return { kind: "nothing" };
  return (await refute(after + 1, passes, attempt)) ?? problemOf(kind, tools.key);
}

/** Rejects each other request as well: a response that nobody uses may be among one half of them, but not all are. */
async function refute(after: number, passes: number, attempt: Attempt): Promise<Form | undefined> {
  for (let left = passes; left > 0; left--) {
    const run = await attempt({ after });
    if (run === undefined) return unmade;
    const isFirst = left === passes;
    if (run.outcome !== "passed")
      return isFirst ? { kind: "held" } : { kind: "not judged", reason: differing };
    // Deterministic tests send nothing there.
    if (run.hits === 0 && passes === minPasses) return undefined;
  }
  return undefined;
}

const differing: Reason = {
  why: "the command passed and failed, although the same requests with the key were rejected",
  whatToDo: "Send the key equally often, and in the same order, in each run.",
};

/** How often each half must pass, if all runs send the key equally often; more often if they do not. */
export const [minPasses, maxPasses] = [4, 8];

/** A client that waits as long as it should passes; so does one whose responses nobody uses. */
function whatLasts({ when, after: rejection }: ResendKind, key: string, after: number): Form {
  if (when === "too soon") return { kind: "held" };
  const from = after === 0 ? "always" : "from its second request on";
  const why = `the command also passes when ${nameOf(key)} gets ${rejection} ${from}`;
  return { kind: "not judged", reason: { why, whatToDo: "Make a test fail when this key is rejected." } };
}

const nameOf = (key: string) => variableOf(key).replace("SVC_KEY_", "");

function problemOf({ when, after, advice }: ResendKind, key: string): Resent {
  const name = nameOf(key);
  const { whatToDo } = adviceTable.find(({ id }) => id === advice) as { readonly whatToDo: string };
  const clock = " If your test replaces the pause, move the sandbox's clock by the pause that it replaces.";
  const sentences = {
    always: `Sends again after ${after}: the command passed although each second request with ${name} got ${after.slice(2)}`,
    "too soon": `Sends again too soon after ${after}: the command passed although ${name} got ${after.slice(2)}, and only requests before its time were accepted`,
    hasty: `Does not pause or give up after ${after}: the command passed although ${name} got 503 until seven requests came with pauses below a second, or 21 in all`,
  };
  return {
    kind: "problem",
    sentence: sentences[when],
    whatToDo: when === "always" ? whatToDo : whatToDo + clock,
  };
}
