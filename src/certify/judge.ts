import type { Report } from "../report/report-shape.js";
import { variableOf } from "../rules/api-key.js";
import type { Profile } from "../rules/assumptions.js";
import { isSuccess, outcomeOf, type PathId } from "../rules/outcomes.js";
import { listed } from "../rules/schema/words.js";
import { createAnswers, judgeAnswers, whyUnnoticed } from "./answers.js";
import { type Causes, type FailedRun, findCauses } from "./causes.js";
import {
  type Context,
  check,
  createRuns,
  findDependency,
  held,
  type Judged,
  open,
  type Runs,
  type Variations,
} from "./context.js";
import { judgeFaults } from "./faults.js";
import { type CertifyPlan, isWanted, longestWait, resendKeyOf, seedsOf, whyTooLittle } from "./plan.js";
import { type Certification, type Judgment, onlyOnce, type Problem } from "./report.js";
import {
  judgeResends,
  maxPasses,
  minPasses,
  type ResendKind,
  type ResendTools,
  resendKinds,
} from "./resends.js";
import { type ClientRun, lastLineOf, notMade, type Reason, type Tools, whyNotJudged } from "./run.js";

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
  const parts = [caused, faulty, resent, once, judgeAdvice(plain.report), answered].flat();
  return done({
    checks: parts.flatMap(({ checks }) => checks),
    problems: parts.flatMap(({ problems }) => problems),
  });
}

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

async function runVaried(plan: CertifyPlan, runs: Runs, plain: ClientRun): Promise<Variations> {
  const seeds = seedsOf(plan);
  const attempts = await Promise.all(
    seeds.map(async (seed) => {
      const run = await runs.run(`varied.${seed}`, { profile: "varied" }, { seed });
      const reason = run === undefined ? notMade : whyNotJudged(plain, run, "varied");
      return { seed, run, reason };
    }),
  );
  const failed = attempts.flatMap(({ seed, run }) =>
    run !== undefined && run.outcome !== "passed" ? [{ seed, run }] : [],
  );
  const passed = attempts.flatMap(({ run, reason }) =>
    run?.outcome === "passed" && reason === undefined ? [run] : [],
  );
  const checks = attempts.flatMap(({ seed, run, reason }) => {
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

async function judgeAllResends(context: Context): Promise<Judged[]> {
  const { plan, runs, plain, covered, varied, whyHidden } = context;
  const kinds = resendKinds(covered).filter(({ name }) => isWanted(plan, name));
  const subject = resendKeyOf(plain.sent, plan);
  if (kinds.length === 0) return [];
  if (subject === undefined)
    return [
      open("resends", {
        why: "the plain run sent no key that works",
        whatToDo: "Send a key that works, such as SVC_KEY_ACTIVE.",
      }),
    ];
  const { key, paths } = subject;
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
