import { outcomeOf } from "../rules/outcomes.js";
import { listed } from "../rules/schema/words.js";
import { type Cause, findCauses } from "./causes.js";
import type { Finding, Note } from "./certificate.js";
import {
  type Context,
  checkOf,
  failedCheck,
  heldCheck,
  type Judgment,
  joinJudgments,
  judgment,
  notJudged,
  notJudgedCheck,
  type Runs,
  type Variations,
} from "./context.js";
import {
  againOf,
  againWith,
  type CertifyPlan,
  coveredOutcomes,
  mixedName,
  seedCount,
  seedsOf,
} from "./plan.js";
import { type ClientRun, hasFailed, lastLineOf, notMade, whyNotJudged } from "./run.js";

/** Runs the client with each seed of varied responses. */
export async function runVaried(plan: CertifyPlan, runs: Runs, plain: ClientRun): Promise<Variations> {
  const attempts = await Promise.all(
    seedsOf(plan).map(async (seed) => {
      const run = await runs.make(`varied.${seed}`, { profile: "varied" }, { seed });
      const reason = run === undefined ? notMade : whyNotJudged(plain, run, "varied");
      return { seed, run, reason };
    }),
  );
  const failed = attempts.flatMap(({ run }) => (hasFailed(run) ? [run] : []));
  const passed = attempts.flatMap(({ run, reason }) =>
    run?.result === "passed" && reason === undefined ? [run] : [],
  );
  const checks = attempts.map(({ seed, run, reason }) => {
    if (hasFailed(run)) return checkOf(`varied.${seed}`, { is: "failed" });
    return checkOf(`varied.${seed}`, reason ? notJudged(reason) : { is: "held" });
  });
  return { passed, failed, checks };
}

export async function judgeVaried(context: Context): Promise<Judgment> {
  const { plan, runs, plain } = context;
  const { passed, failed, checks } = await context.varied;
  const points = passed.flatMap((run) => run.points);
  const causes = await findCauses(failed, points, runs);
  const isWhole = checks.length >= seedCount;
  const notes = isWhole ? whatIsNotShown(plan, plain, [...passed, ...failed]) : [];
  const isAsked = plan.only?.includes(mixedName) || (isWhole && passed.length === checks.length);
  const mixed = isAsked ? [await judgeMixed(context)] : [];
  return joinJudgments([
    judgment(
      checks,
      causes.map((cause) => findingOf(cause, plan)),
      notes,
    ),
    ...mixed,
  ]);
}

function findingOf({ failed, shownBy, ...cause }: Cause, plan: CertifyPlan): Finding {
  const [{ name, result }] = failed as [ClientRun, ...ClientRun[]];
  return {
    ...cause,
    name,
    again: againOf({ name, result }, plan),
    ...lastLineOf(shownBy),
    runs: failed.map((run) => run.name),
  };
}

/** One more run, whose responses differ from each other. */
async function judgeMixed({ plan, runs, plain }: Context): Promise<Judgment> {
  const run = await runs.make(mixedName, { profile: "varied", mixed: true }, { seed: plan.firstSeed });
  if (run === undefined) return notJudgedCheck(mixedName, notMade);
  if (run.result === "passed") {
    const reason = whyNotJudged(plain, run, "varied");
    return reason === undefined ? heldCheck(mixedName) : notJudgedCheck(mixedName, reason);
  }
  await runs.failAgain([run]);
  return failedCheck(mixedName, {
    name: mixedName,
    sentence: "Breaks when the responses of one run differ in what the specification leaves open",
    whatToDo: "Do not expect a response to have the form of an earlier one, such as its headers.",
    again: againWith(plan, "certify", "--only", mixedName, "--seed", String(plan.firstSeed)),
    ...lastLineOf(run),
    runs: [mixedName],
  });
}

/** What too few requests, or the client's own settings, kept from varying. */
function whatIsNotShown(
  { ownAssumptions: ofScenario = [] }: CertifyPlan,
  { report }: ClientRun,
  all: readonly ClientRun[],
): Note[] {
  const covered = coveredOutcomes(report).map((outcome) => outcomeOf(outcome).status);
  const missing = [401, 403, 429].filter((status) => !covered.includes(status));
  const varied = new Set(all.flatMap(({ points }) => points.map(({ row }) => row)));
  const ownAssumptions = [...new Set(all.flatMap((run) => run.ownAssumptions))].filter(
    (name) => !varied.has(name) && !ofScenario.includes(name),
  );
  const statuses = missing.map(
    (status): Note => ({
      what: `varied ${status}`,
      why: `no request got a ${status}`,
      whatToDo: `Send a key that gets a ${status}.`,
    }),
  );
  if (ownAssumptions.length === 0) return statuses;
  const names = ownAssumptions.map((name) => `\`${name}\``);
  const reason = { why: `your tests set ${listed(names, "and")}`, whatToDo: "Leave them out of your tests." };
  return [...statuses, { what: "varied assumptions", ...reason }];
}
