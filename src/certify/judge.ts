import type { Report } from "../report/report-shape.js";
import { variableOf } from "../rules/api-key.js";
import type { Profile } from "../rules/assumptions.js";
import { effectAt, type FaultPathId, whatToDoAfter } from "../rules/fault-effects.js";
import { faultPathIds, isSuccess, outcomeOf, type PathId } from "../rules/outcomes.js";
import { listed } from "../rules/schema/words.js";
import type { RunConditions } from "../sandbox/conditions.js";
import { type Causes, type FailedRun, findCauses } from "./causes.js";
import {
  type CertifyPlan,
  faultsOf,
  isWanted,
  longestWait,
  otherPath,
  resendKeyOf,
  seedsOf,
  timeoutsFor,
  usualFaults,
  whyTooLittle,
} from "./plan.js";
import { type Certification, type Judgment, onlyOnce, type Problem } from "./report.js";
import {
  judgeResends,
  maxPasses,
  minPasses,
  type ResendKind,
  type ResendTools,
  resendKinds,
} from "./resends.js";
import {
  type ClientRun,
  lastLineOf,
  notMade,
  type Reason,
  type Tools,
  tooLate,
  whyNotJudged,
} from "./run.js";

type Judged = { readonly checks: readonly Judgment[]; readonly problems: readonly Problem[] };

/** Makes runs of one client; a later run has the time that the plain one shows it needs. */
function createRuns(plan: CertifyPlan, tools: Tools) {
  let count = 0;
  let plainMs: number | undefined;
  const scenarios = new Set<string>();
  return {
    count: () => count,
    scenarios: () => [...scenarios],
    measured(plain: ClientRun): void {
      plainMs = plain.durationMs;
    },
    async run(
      name: string,
      { profile = "minimal", ...conditions }: RunConditions,
      { seed = plan.seed, wait = 0, isAlone = false } = {},
    ): Promise<ClientRun | undefined> {
      const timeouts = timeoutsFor(plan.timeout, plainMs, wait);
      const run = await tools.run({ name, seed, conditions: { profile, ...conditions }, timeouts, isAlone });
      count += run === undefined ? 0 : 1;
      for (const scenario of run?.scenarios ?? []) scenarios.add(scenario);
      return run;
    },
  };
}
type Runs = ReturnType<typeof createRuns>;

/** Certifies a client: one plain run, and then what `only` asks for. */
export async function certify(plan: CertifyPlan, tools: Tools): Promise<Certification> {
  const runs = createRuns(plan, tools);
  const plain = await runs.run("plain", {});
  const unusable = plain && (await whyUnusable(plain, runs));
  const nothing = { checks: [], problems: [] };
  const done = (judged: Judged) => ({ ...judged, runs: runs.count(), plain, scenarios: runs.scenarios() });
  if (plain === undefined || unusable !== undefined)
    return { ...done(nothing), ...(unusable && { unusable }) };
  runs.measured(plain);
  const varied = runVaried(plan, runs, plain);
  const covered = coveredPaths(plain.report);
  const answerOn = createAnswers(plan, runs, plain);
  let hidden: Promise<Reason | undefined> | undefined;
  const whyHidden = () => (hidden ??= whyUnnoticed(covered, answerOn));
  const context: Context = { plan, runs, plain, covered, varied, answerOn, whyHidden };
  const [answered, resent, faulty, variations] = await Promise.all([
    judgeAnswers(context),
    judgeAllResends(context),
    judgeFaults(context),
    varied,
  ]);
  const caused = await judgeVaried(context, variations);
  if (caused.disturbed !== undefined) {
    tools.separate(`varied.${caused.disturbed.seed}`);
    const again = await certify(plan, tools);
    return { ...again, runs: again.runs + runs.count() };
  }
  const reason = await hidden;
  const once = reason === undefined ? [] : [open(onlyOnce, reason)];
  const all = [caused, faulty, resent, once, judgeAdvice(plain.report), answered].flat();
  return done({
    checks: all.flatMap(({ checks }) => checks),
    problems: all.flatMap(({ problems }) => problems),
  });
}

interface Context {
  readonly plan: CertifyPlan;
  readonly runs: Runs;
  readonly plain: ClientRun;
  readonly covered: readonly PathId[];
  readonly varied: Promise<Variations>;
  readonly answerOn: (path: PathId) => Promise<Answer>;
  /** Why a failure that comes only once may not show, such as a runner that repeats tests; `undefined` if it shows. */
  readonly whyHidden: () => Promise<Reason | undefined>;
}

const check = (name: string, outcome: Judgment["outcome"], reason?: Reason): Judgment => ({
  name,
  outcome,
  ...reason,
});
const held = (name: string): Judged => ({ checks: [check(name, "held")], problems: [] });
const open = (name: string, reason: Reason): Judged => ({
  checks: [check(name, "not_judged", reason)],
  problems: [],
});
/** For a run that ended differently although the sandbox behaved the same. */
const findDependency = "Find out what else the command depends on: time, order, other tests.";

function coveredPaths({ paths }: Report): PathId[] {
  return paths.flatMap(({ promised, covered, pathId }) =>
    covered && (promised || isSuccess(pathId)) ? pathId : [],
  );
}

async function whyUnusable(plain: ClientRun, runs: Runs): Promise<Reason | undefined> {
  const { outcome, code, report, failure } = plain;
  if (outcome === "passed" || failure !== undefined)
    return outcome === "passed" ? whyTooLittle(report) : undefined;
  if (outcome === "timed_out") {
    const [most] = report.repeats.toSorted((one, other) => other.count - one.count);
    const resent =
      most && most.count > 100
        ? `. It still resends \`${most.key ?? most.fingerprint}\` after ${outcomeOf(most.pathId).status} (${most.count} times)`
        : "";
    return {
      why: `the command does not end in time in the plain run${resent}`,
      whatToDo:
        "Set a longer --timeout. A command that never ends, such as a watcher or a server, cannot be judged.",
    };
  }
  const why = `the command fails in the plain run with exit code ${code}`;
  const again = async (profile: Profile) => (await runs.run("plain", { profile }))?.outcome === "passed";
  if (await again("minimal"))
    return {
      why: `${why}, and passes when it runs again`,
      whatToDo: findDependency,
    };
  if (await again("typical"))
    return {
      why: `${why}, and passes with \`--profile typical\``,
      whatToDo:
        "Accept responses without what `typical` adds, such as `Retry-After`, `X-Request-Id` on errors, `error.details` or `WWW-Authenticate`: the specification does not promise it.",
    };
  return {
    why,
    whatToDo: "Fix that first: in this run the sandbox only does what the specification promises.",
  };
}

interface Variations {
  readonly asked: number;
  readonly passed: readonly ClientRun[];
  readonly failed: readonly FailedRun[];
  readonly checks: readonly Judgment[];
}

async function runVaried(plan: CertifyPlan, runs: Runs, plain: ClientRun): Promise<Variations> {
  const seeds = seedsOf(plan);
  const all = await Promise.all(
    seeds.map(async (seed) => {
      const run = await runs.run(`varied.${seed}`, { profile: "varied" }, { seed });
      const reason = run === undefined ? notMade : whyNotJudged(plain, run, "varied");
      return { seed, run, reason };
    }),
  );
  const failed = all.flatMap(({ seed, run }) =>
    run !== undefined && run.outcome !== "passed" ? [{ seed, run }] : [],
  );
  const passed = all.flatMap(({ run, reason }) =>
    run?.outcome === "passed" && reason === undefined ? [run] : [],
  );
  const checks = all.flatMap(({ seed, run, reason }) => {
    if (run !== undefined && run.outcome !== "passed") return [check(`varied.${seed}`, "failed")];
    return [check(`varied.${seed}`, reason ? "not_judged" : "held", reason)];
  });
  return { asked: seeds.length, passed, failed, checks };
}

async function judgeVaried(
  { runs, plain }: Context,
  { asked, passed, failed, checks }: Variations,
): Promise<Judged & Pick<Causes, "disturbed">> {
  const { causes, flaky, disturbed } = await findCauses(
    failed,
    passed.flatMap(({ points }) => points),
    (seed, points, isAlone = false) =>
      runs.run(`varied.${seed}`, { profile: "varied", ...(points && { points }) }, { seed, isAlone }),
  );
  const again = ({ seed }: FailedRun) => ["exec", "--profile", "varied", "--seed", String(seed)];
  const problems = causes.map(({ failed: [first, ...others], ...cause }): Problem => {
    const { seed, run } = first as FailedRun;
    const names = [seed, ...others.map((other) => other.seed)].map((one) => `varied.${one}`);
    const { sentence, whatToDo, row, points } = cause;
    return {
      name: `varied.${seed}`,
      sentence,
      whatToDo,
      again: again(first as FailedRun),
      ...lastLineOf(run),
      runs: names,
      ...(row && { row, points }),
    };
  });
  const isFlaky = flaky.map(
    (one): Problem => ({
      name: `varied.${one.seed}`,
      sentence: `Passed once and failed once with seed ${one.seed}, although the sandbox behaved the same`,
      whatToDo: findDependency,
      again: again(one),
      ...lastLineOf(one.run),
      runs: [`varied.${one.seed}`],
    }),
  );
  const unshown = asked < 8 ? [] : whatIsNotShown(plain, [...passed, ...failed.map(({ run }) => run)]);
  return {
    checks: [...checks, ...unshown],
    problems: [...problems, ...isFlaky],
    ...(disturbed && { disturbed }),
  };
}

/** What too few requests, or the client's own settings, kept from varying. */
function whatIsNotShown({ report }: ClientRun, all: readonly ClientRun[]): Judgment[] {
  const covered = coveredPaths(report).map((path) => outcomeOf(path).status);
  const missing = [401, 403, 429].filter((status) => !covered.includes(status));
  const varied = new Set(all.flatMap(({ points }) => points.map(({ row }) => row)));
  const unvaried = [...new Set(all.flatMap((run) => run.unvaried))].filter((name) => !varied.has(name));
  const statuses = missing.map((status) =>
    check(`varied ${status}`, "not_judged", {
      why: `no request got a ${status}`,
      whatToDo: `Send a key that gets a ${status}.`,
    }),
  );
  if (unvaried.length === 0) return statuses;
  const why = `your tests set ${listed(
    unvaried.map((name) => `\`${name}\``),
    "and",
  )}`;
  return [
    ...statuses,
    check("varied assumptions", "not_judged", { why, whatToDo: "Leave them out of your tests." }),
  ];
}

/** Whether the command fails when a path has the wrong answer: already once, or only always. */
type Answer =
  | { readonly kind: "noticed once" | "noticed" | "unnoticed" }
  | { readonly kind: "not judged"; readonly reason: Reason };

/** Breaks a path: first its first request alone, which shows whether a test uses that one, and then all of them. */
function createAnswers(plan: CertifyPlan, runs: Runs, plain: ClientRun): Context["answerOn"] {
  const answers = new Map<PathId, Promise<Answer>>();
  const breaks = async (path: PathId): Promise<Answer> => {
    const name = `answer.${path}`;
    const once = plan.allow.includes(path)
      ? undefined
      : await runs.run(name, { answer: { path, once: true } });
    if (once?.outcome === "failed" && once.hits > 0) return { kind: "noticed once" };
    const run = await runs.run(name, { answer: { path } });
    if (run === undefined) return { kind: "not judged", reason: notMade };
    if (run.outcome === "timed_out") return { kind: "not judged", reason: tooLate };
    if (run.outcome === "failed" && run.hits > 0) return { kind: "noticed" };
    const reason = whyNotJudged(run.hits === 0 ? { sent: [] } : plain, run, "hit");
    return reason === undefined ? { kind: "unnoticed" } : { kind: "not judged", reason };
  };
  return (path) => {
    const answer = answers.get(path) ?? breaks(path);
    answers.set(path, answer);
    return answer;
  };
}

/** The command must notice a wrong answer on each covered path. */
async function judgeAnswers({ plan, covered, answerOn }: Context): Promise<Judged[]> {
  const judge = async (path: PathId): Promise<Judged> => {
    const name = `answer.${path}`;
    const answer = await answerOn(path);
    if (answer.kind === "not judged") return open(name, answer.reason);
    if (answer.kind !== "unnoticed") return held(name);
    if (plan.allow.includes(path)) return { checks: [check(name, "allowed")], problems: [] };
    return { checks: [check(name, "failed")], problems: [unnoticed(path)] };
  };
  return Promise.all(covered.filter((path) => isWanted(plan, `answer.${path}`)).map(judge));
}

function unnoticed(path: PathId): Problem {
  const { status, when } = outcomeOf(path);
  const name = `answer.${path}`;
  const instead = isSuccess(path) ? "401" : "200";
  return {
    name,
    sentence: `Passes with the wrong answer: ${when} got ${instead} in place of ${status}`,
    whatToDo: `Make a test fail on it. If your client survives it on purpose, add --allow ${path}.`,
    again: ["certify", "--only", name],
    runs: [name],
  };
}

async function judgeFaults(context: Context): Promise<Judged[]> {
  const { plan } = context;
  const faults = plan.hasAllFaults || plan.only !== undefined ? faultPathIds : usualFaults;
  const isAsked = (fault: FaultPathId) =>
    isWanted(plan, fault) && (plan.hasAllFaults || plan.only?.includes(fault) || usualFaults.includes(fault));
  const asked = faults.filter(isAsked);
  const subject = asked.length === 0 ? undefined : await faultSubject(context);
  return Promise.all(asked.map((fault) => judgeFault(fault, subject, context)));
}

/** The path of the first request with a working key that a test uses and that each run sends; `undefined` if none is known. */
async function faultSubject({ plain, varied, answerOn }: Context): Promise<PathId | undefined> {
  const { passed } = await varied;
  const paths = [...new Set(plain.sent.flatMap(({ paths }) => paths))].filter((path) => isSuccess(path));
  const isSteady = (path: PathId) => passed.every((run) => countOn(run, path) === countOn(plain, path));
  for (const path of [...paths.filter(isSteady), ...paths.filter((path) => !isSteady(path))])
    if ((await answerOn(path)).kind === "noticed once") return path;
  return undefined;
}

type Hit = (path?: PathId, isAlone?: boolean) => Promise<ClientRun | undefined>;

async function judgeFault(
  fault: FaultPathId,
  subject: PathId | undefined,
  context: Context,
): Promise<Judged> {
  const { runs, plain } = context;
  const faults = faultsOf(fault);
  const hit: Hit = (path, isAlone = false) =>
    runs.run(fault, { faults, once: path === undefined ? {} : { path } }, { wait: longestWait, isAlone });
  const first = await hit(subject);
  if (first === undefined) return open(fault, notMade);
  const reason = first.outcome === "passed" ? whyNotJudged(plain, first, "hit") : undefined;
  const path = first.hitPath;
  if (reason !== undefined || path === undefined) return open(fault, reason ?? notHit);
  const hidden = first.outcome === "passed" && subject === undefined ? await context.whyHidden() : undefined;
  if (hidden !== undefined) return open(fault, hidden);
  return first.outcome === "passed"
    ? judgeSurvival(fault, first, context, hit)
    : judgeFailure(fault, first, path, context, hit);
}

/** A fault may hit a response that nobody uses: without a request after it, another one is hit as well. */
async function judgeSurvival(
  fault: FaultPathId,
  first: ClientRun,
  { plain, covered }: Context,
  hit: Hit,
): Promise<Judged> {
  const isFollowed = (run: ClientRun) => countOn(run, run.hitPath) > countOn(plain, run.hitPath);
  if (isFollowed(first)) return held(fault);
  const other = otherPath(covered, first.hitPath);
  const second = other !== undefined && isSuccess(other) ? await hit(other) : first;
  if (second === undefined) return open(fault, notMade);
  if (second.outcome !== "passed") return faultFailed(fault, second, [other as PathId]);
  return isFollowed(second) || effectAt(fault).onlyDelays ? held(fault) : open(fault, notFollowed);
}

/** Another path shows where the command fails; the same one, whether it does so again. */
async function judgeFailure(
  fault: FaultPathId,
  first: ClientRun,
  path: PathId,
  { covered }: Context,
  hit: Hit,
): Promise<Judged> {
  if (fault === "fault.hang" && first.outcome === "timed_out") return faultFailed(fault, first, [path]);
  const other = otherPath(covered, path) ?? path;
  const second = await hit(other);
  if (second !== undefined && second.outcome !== "passed" && second.hits > 0)
    return faultFailed(fault, first, [...new Set([path, other])]);
  const again = await hit(path, true);
  return again?.outcome === "passed" ? open(fault, onceFailed) : faultFailed(fault, first, [path]);
}

const countOn = ({ sent }: ClientRun, path: PathId | undefined) =>
  sent.reduce((sum, { paths }) => sum + paths.filter((one) => one === path).length, 0);

const faultFailed = (fault: FaultPathId, run: ClientRun, paths: readonly PathId[]): Judged => ({
  checks: [check(fault, "failed")],
  problems: [faultProblem(fault, run, paths)],
});

const notFollowed: Reason = {
  why: "the command passed, and no request followed the one that was hit",
  whatToDo: "Make a test fail when the response of a key that works does not come.",
};
const notHit: Reason = {
  why: "no request with a key that works was hit",
  whatToDo: "Send a GET with a key that works in each run.",
};
const onceFailed: Reason = {
  why: "the command failed once, and passed when it ran again",
  whatToDo: findDependency,
};

function faultProblem(fault: FaultPathId, { outcome, output }: ClientRun, paths: readonly PathId[]): Problem {
  const page = fault === "fault.status" ? " with an HTML page" : "";
  const happens = `the first request that would end on ${listed(paths, "or")} ${effectAt(fault).happens}${page}`;
  const isLate = outcome === "timed_out";
  const pageFix = page && " Read the status before the body: the error page of a gateway is HTML.";
  const longer = isLate
    ? " If your client has a longer timeout, raise --timeout, for example to --timeout 60s."
    : "";
  return {
    name: fault,
    sentence: isLate ? `Does not end in time when ${happens}` : `Fails when ${happens}`,
    whatToDo: whatToDoAfter(fault, { isRepeatable: true, status: 503 }) + pageFix + longer,
    again: ["certify", "--only", fault],
    ...lastLineOf({ output }),
    runs: [fault],
  };
}

async function judgeAllResends(context: Context): Promise<Judged[]> {
  const { plan, runs, plain, covered, varied, whyHidden } = context;
  const kinds = resendKinds(covered).filter(({ name }) => isWanted(plan, name));
  const sent = resendKeyOf(plain.sent, plan);
  if (kinds.length === 0) return [];
  if (sent === undefined)
    return [
      open("resends", {
        why: "the plain run sent no key that works",
        whatToDo: "Send a key that works, such as SVC_KEY_ACTIVE.",
      }),
    ];
  const { key, paths } = sent;
  const countIn = (run: ClientRun) => run.sent.find((one) => one.key === key)?.paths.length ?? 0;
  const tools: ResendTools = {
    plain,
    key,
    count: paths.length,
    async passes() {
      const { passed, asked } = await varied;
      return asked > 1 && passed.every((run) => countIn(run) === paths.length) ? minPasses : maxPasses;
    },
    run(kind, resend) {
      return runs.run(kind.name, { resend }, { wait: waitFor(kind, paths.length) });
    },
    whyUnnoticed: whyHidden,
  };
  const judged = await Promise.all(kinds.map((kind) => judgeResend(kind, tools)));
  const isOnce = paths.length === 1 && kinds.some(({ when }) => when === "always");
  const once = {
    why: `the plain run sent ${variableOf(key)} once`,
    whatToDo: "Send it twice, in two tests.",
  };
  return isOnce ? [...judged, open("resends of a key that has worked", once)] : judged;
}

/** How long a client may wait: until the minute ends, or in each of its outages. */
function waitFor({ when, seconds }: ResendKind, requests: number): number {
  if (when === "hasty") return longestWait * Math.min(requests, maxOutages);
  return when === "too soon" && seconds === undefined ? 61_000 : longestWait;
}

/** More of them would take minutes. */
const maxOutages = 6;

async function judgeResend(kind: ResendKind, tools: ResendTools): Promise<Judged> {
  const { name } = kind;
  const resent = await judgeResends(kind, tools);
  if (resent.kind === "held") return held(name);
  if (resent.kind === "not judged") return open(name, resent.reason);
  const { sentence, whatToDo } = resent;
  const again = ["certify", "--only", name];
  return {
    checks: [check(name, "failed")],
    problems: [{ name, sentence, whatToDo, again, runs: [name] }],
  };
}

const maxNoticed = 3;

/** A command must fail when a rejected key is accepted once, on up to three paths, or something repeats what fails. */
async function whyUnnoticed(
  covered: readonly PathId[],
  answerOn: Context["answerOn"],
): Promise<Reason | undefined> {
  let count = 0;
  for (const path of covered.filter((path) => [401, 403].includes(outcomeOf(path).status))) {
    const { kind } = await answerOn(path);
    if (kind === "noticed")
      return {
        why: `the command also passes when ${outcomeOf(path).when} is accepted once`,
        whatToDo:
          "Turn off what repeats failing tests, such as `--retry` of vitest, `jest.retryTimes` or `--reruns` of pytest.",
      };
    count += kind === "noticed once" ? 1 : 0;
    if (count === maxNoticed) return undefined;
  }
  if (count > 0) return undefined;
  return {
    why: "the command fails in no run where a rejected key is accepted",
    whatToDo: "Make a test fail when a rejected key is accepted.",
  };
}

/** Advice of level error in the plain run is a problem of its own. */
function judgeAdvice({ advice }: Report): Judged {
  const problems = advice
    .filter(({ level, count }) => level === "error" && count > 0)
    .map(({ id, meaning, whatToDo }): Problem => {
      return {
        name: `advice.${id}`,
        sentence: meaning.replace(/\.$/, ""),
        whatToDo,
        again: ["exec"],
        runs: ["plain"],
      };
    });
  return {
    checks:
      problems.length === 0 ? [check("advice", "held")] : problems.map(({ name }) => check(name, "failed")),
    problems,
  };
}
