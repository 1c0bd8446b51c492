import { outcomeOf } from "../rules/outcomes.js";
import { listed } from "../rules/schema/words.js";
import { type Causes, type FailedRun, findCauses } from "./causes.js";
import type { Finding, Note } from "./certificate.js";
import {
  type Context,
  checkOf,
  failed as failedOn,
  held,
  type Judged,
  open,
  type Runs,
  shown,
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
import { type ClientRun, findDependency, lastLineOf, notMade, whyNotJudged } from "./run.js";

/** Runs the client with each seed of varied responses. */
export async function runVaried(plan: CertifyPlan, runs: Runs, plain: ClientRun): Promise<Variations> {
  const attempts = await Promise.all(
    seedsOf(plan).map(async (seed) => {
      const run = await runs.make(`varied.${seed}`, { profile: "varied" }, { seed });
      const reason = run === undefined ? notMade : whyNotJudged(plain, run, "varied");
      return { seed, run, reason };
    }),
  );
  const failed = attempts.flatMap(({ run }) => (run !== undefined && run.result !== "passed" ? [run] : []));
  const passed = attempts.flatMap(({ run, reason }) =>
    run?.result === "passed" && reason === undefined ? [run] : [],
  );
  const checks = attempts.map(({ seed, run, reason }) => {
    if (run !== undefined && run.result !== "passed") return checkOf(`varied.${seed}`, { is: "failed" });
    return checkOf(`varied.${seed}`, reason ? { is: "not judged", ...reason } : { is: "held" });
  });
  return { passed, failed, checks };
}

export async function judgeVaried(context: Context): Promise<Judged & Pick<Causes, "disturbed">> {
  const { plan, runs, plain } = context;
  const { passed, failed, checks } = await context.varied;
  if (failed.length > 0) runs.expectMore(runsOfSearch);
  const { causes, disturbed } = await findCauses(
    failed.map((run) => ({ seed: run.seed, run })),
    passed.flatMap(({ points }) => points),
    (seed, rows, isAlone = false) =>
      runs.make(`varied.${seed}`, { profile: "varied", ...(rows && { rows }) }, { seed, isAlone }),
  );
  const problems = causes.map(({ failed, sentence, whatToDo, row, points }): Finding => {
    const names = failed.map(({ seed }) => `varied.${seed}`);
    const first = failed[0] as FailedRun;
    return {
      name: names[0] as string,
      sentence,
      whatToDo,
      again: againOf({ name: names[0] as string, result: first.run.result }, plan),
      ...lastLineOf(first.run),
      runs: names,
      ...(row && { row, points }),
    };
  });
  const isWhole = checks.length >= seedCount;
  const unshown = isWhole ? whatIsNotShown(plain, [...passed, ...failed]) : [];
  const isAsked = plan.only?.includes(mixedName) || (isWhole && passed.length === checks.length);
  const mixed = isAsked ? await judgeMixed(context) : shown([]);
  return {
    checks: [...checks, ...mixed.checks],
    problems: [...problems, ...mixed.problems],
    notes: unshown,
    ...(disturbed && { disturbed }),
  };
}

/** As many as most searches take. */
const runsOfSearch = 10;

/** One more run, whose responses differ from each other. */
async function judgeMixed({ plan, runs, plain }: Context): Promise<Judged> {
  const mix = (isAlone: boolean) =>
    runs.make(mixedName, { profile: "varied", mixed: true }, { seed: plan.firstSeed, isAlone });
  const run = await mix(false);
  if (run === undefined) return open(mixedName, notMade);
  if (run.result === "passed") {
    const reason = whyNotJudged(plain, run, "varied");
    return reason === undefined ? held(mixedName) : open(mixedName, reason);
  }
  const again = await mix(true);
  if (again === undefined || again.result === "passed")
    return open(mixedName, {
      why: "the command failed once, and passed when it ran again",
      whatToDo: findDependency,
    });
  return failedOn(mixedName, {
    name: mixedName,
    sentence: "Breaks when the responses of one run differ in what the specification leaves open",
    whatToDo: "Do not expect a response to have the form of an earlier one, such as its headers.",
    again: againWith(plan, "certify", "--only", mixedName, "--seed", String(plan.firstSeed)),
    ...lastLineOf(run),
    runs: [mixedName],
  });
}

/** What too few requests, or the client's own settings, kept from varying. */
function whatIsNotShown({ report }: ClientRun, all: readonly ClientRun[]): Note[] {
  const covered = coveredOutcomes(report).map((outcome) => outcomeOf(outcome).status);
  const missing = [401, 403, 429].filter((status) => !covered.includes(status));
  const varied = new Set(all.flatMap(({ points }) => points.map(({ row }) => row)));
  const unvaried = [...new Set(all.flatMap((run) => run.unvaried))].filter((name) => !varied.has(name));
  const statuses = missing.map(
    (status): Note => ({
      what: `varied ${status}`,
      why: `no request got a ${status}`,
      whatToDo: `Send a key that gets a ${status}.`,
    }),
  );
  if (unvaried.length === 0) return statuses;
  const names = unvaried.map((name) => `\`${name}\``);
  const reason = { why: `your tests set ${listed(names, "and")}`, whatToDo: "Leave them out of your tests." };
  return [...statuses, { what: "varied assumptions", ...reason }];
}
