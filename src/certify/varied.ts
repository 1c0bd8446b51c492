import { outcomeOf } from "../rules/outcomes.js";
import { listed } from "../rules/schema/words.js";
import { type Cause, findCauses } from "./causes.js";
import { type ClientRun, hasFailed } from "./client-run.js";
import {
  type Check,
  checkOf,
  type Finding,
  failed,
  held,
  type Judgment,
  joined,
  judged,
  type Note,
  notJudged,
  notMade,
} from "./judgment.js";
import { lastLineOf } from "./last-line.js";
import { whyNotJudged } from "./not-judged.js";
import { againOf, againWith, type CertifyPlan, mixedName, seedCount, seedsOf } from "./plan.js";
import type { Runs } from "./runs.js";

/** Runs the client with each seed of varied responses. */
export async function runVaried(runs: Runs) {
  const attempts = await Promise.all(
    seedsOf(runs.plan).map(async (seed) => {
      const run = await runs.make(`varied.${seed}`, { profile: "varied" }, { seed });
      const reason = run === undefined ? notMade : whyNotJudged(runs.plain, run, "varied");
      return { seed, run, reason };
    }),
  );
  const failures = attempts.flatMap(({ run }) => (hasFailed(run) ? [run] : []));
  const passed = attempts.flatMap(({ run, reason }) =>
    run?.result === "passed" && reason === undefined ? [run] : [],
  );
  const checks = attempts.map(({ seed, run, reason }) => {
    if (hasFailed(run)) return checkOf(`varied.${seed}`, { kind: "failed" });
    return checkOf(`varied.${seed}`, reason ? notJudged(reason) : held);
  });
  return { passed, failures, checks };
}

export async function judgeVaried(runs: Runs): Promise<Judgment> {
  const { plan } = runs;
  const { passed, failures, checks } = await runVaried(runs);
  const causes = await findCauses(runs, failures);
  const isWhole = checks.length >= seedCount;
  const notes = isWhole ? whatIsNotShown(runs, [...passed, ...failures]) : [];
  const isAsked = plan.only?.includes(mixedName) || (isWhole && passed.length === checks.length);
  const mixed = isAsked ? [await judgeMixed(runs)] : [];
  const findings = causes.map((cause) => findingOf(cause, plan));
  const judgedChecks = runs.isStopped ? withoutOpen(checks, findings) : checks;
  return joined([{ checks: judgedChecks, problems: findings, notes }, ...mixed]);
}

/** The checks of a search that was stopped: a failure shows nothing before it is repeated and has a cause. */
function withoutOpen(checks: readonly Check[], findings: readonly Finding[]): Check[] {
  const named = findings.flatMap(({ runs }) => runs);
  return checks.map((check) =>
    check.result.kind !== "failed" || named.includes(check.name)
      ? check
      : checkOf(check.name, notJudged(notMade)),
  );
}

/** Its name, its command and its last line are of the run that its sentence is about. */
function findingOf({ failed, shownBy, ...cause }: Cause, plan: CertifyPlan): Finding {
  return {
    ...cause,
    name: shownBy.name,
    again: againOf(shownBy, plan),
    ...lastLineOf(shownBy),
    runs: failed.map((run) => run.name),
  };
}

/** One more run, whose responses differ from each other. */
async function judgeMixed(runs: Runs): Promise<Judgment> {
  const { plan } = runs;
  const run = await runs.make(mixedName, { profile: "varied", mixed: true }, { seed: plan.firstSeed });
  if (run === undefined) return judged(mixedName, notJudged(notMade));
  if (run.result === "passed") {
    const reason = whyNotJudged(runs.plain, run, "varied");
    return judged(mixedName, reason === undefined ? held : notJudged(reason));
  }
  if ((await runs.repeat([run])) === "not_made") return judged(mixedName, notJudged(notMade));
  return judged(mixedName, failed, {
    name: mixedName,
    sentence: "Breaks when the responses of one run differ in what the specification leaves open",
    whatToDo: "Read each response by itself, whatever the others of the run have, such as their headers.",
    again: againWith(plan, "certify", "--only", mixedName, "--seed", String(plan.firstSeed)),
    ...lastLineOf(run),
    runs: [mixedName],
  });
}

/** What too few requests, or the client's own settings, kept from varying. */
function whatIsNotShown({ covered, plan }: Runs, all: readonly ClientRun[]): Note[] {
  const { ownAssumptions: ofScenario = [] } = plan;
  const statuses = covered.map((outcome) => outcomeOf(outcome).status);
  const missing = [401, 403, 429].filter((status) => !statuses.includes(status));
  const varied = new Set(all.flatMap(({ points }) => points.map(({ row }) => row)));
  const ownAssumptions = [...new Set(all.flatMap((run) => run.ownAssumptions))].filter(
    (name) => !varied.has(name) && !ofScenario.includes(name),
  );
  const notes = missing.map(
    (status): Note => ({
      what: `varied ${status}`,
      why: `no request got a ${status}`,
      whatToDo: `Send a key that gets a ${status}.`,
    }),
  );
  if (ownAssumptions.length === 0) return notes;
  const names = ownAssumptions.map((name) => `\`${name}\``);
  const reason = { why: `your tests set ${listed(names, "and")}`, whatToDo: "Leave them out of your tests." };
  return [...notes, { what: "varied assumptions", ...reason }];
}
