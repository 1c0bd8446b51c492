import { mapTexts, redact } from "../../rules/keys/redact.js";
import type { Check } from "../checks/check.js";
import type { JudgedCheck } from "../checks/judgment.js";
import { type CertifyPlan, variedSeeds } from "../checks/plan.js";
import type { CertifyResult } from "./certificate.js";
import type { JudgedClient } from "./certification.js";

/** What a certificate states about its call that the plan does not have. */
interface CallFacts {
  /** The name of the scenario, or its given file. */
  readonly scenario: string;
  readonly scenarioDigest: string;
  readonly specification: string;
  readonly sandbox: string;
  readonly command: readonly string[];
  readonly startedAt: string;
  readonly durationMs: number;
}

type StatedPlan = Pick<CertifyPlan, "only" | "allow" | "ownAssumptions" | "firstSeed">;

/** The certificate of a client: what its runs have shown, its plan, and its call. */
export function certifyResultOf(client: JudgedClient, plan: StatedPlan, call: CallFacts): CertifyResult {
  const { checks, problems, notes, runCount, plain, whyNotJudged, scenarios } = client;
  const { only, ownAssumptions } = plan;
  const otherScenarios = scenarios.filter((name) => name !== call.scenario);
  const notJudged = checks.filter(({ result }) => result.kind === "not_judged").length;
  const result = {
    scenario: call.scenario,
    ...(ownAssumptions && { assumptions: ownAssumptions }),
    scenarioDigest: call.scenarioDigest,
    specification: call.specification,
    sandbox: call.sandbox,
    command: call.command,
    ...(only && { only }),
    seeds: variedSeeds(plan),
    allow: plan.allow,
    startedAt: call.startedAt,
    durationMs: call.durationMs,
    verdict: verdictOf(client),
    ...(whyNotJudged && { why: whyNotJudged.why, whatToDo: whyNotJudged.whatToDo }),
    ...(otherScenarios.length > 0 && { otherScenarios }),
    runs: runCount,
    judged: checks.length - notJudged,
    notJudged,
    problems,
    checks,
    notes,
    report: plain.report,
  };
  return mapTexts(result as CertifyResult, redact); // what --allow names are outcomes
}

/** The verdict. A problem comes before a missing request: a command that sends nothing may still print a key. */
export function verdictOf(client: JudgedClient): CertifyResult["verdict"] {
  const { checks, problems, plain, whyNotJudged, isStopped } = client;
  const hasProblem = problems.length > 0 || checks.some(({ result }) => result.kind === "failed");
  if (hasProblem && !isStopped) return "failed";
  if (plain.result === "passed" && plain.report.requests === 0) return "no_request";
  if (isStopped) return "stopped";
  if (whyNotJudged !== undefined) return "not_judged";

  // Faults and resends do not stop the verdict: with a runner that repeats failing tests, they show nothing, and the client is not to blame.
  // The certificate lists them as not judged.
  const areJudged = isGroupJudged(checks, "varied") && isGroupJudged(checks, "answer");
  return areJudged ? "passed" : "not_judged";
}

/** Whether one of the checks of this kind is judged, or there is none. */
function isGroupJudged(checks: readonly JudgedCheck[], kind: Check["kind"]): boolean {
  const group = checks.filter(({ check }) => check.kind === kind);
  return group.length === 0 || group.some(({ result }) => result.kind !== "not_judged");
}
