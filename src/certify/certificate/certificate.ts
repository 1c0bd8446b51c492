import { reportShape } from "../../report/report-shape.js";
import { mapTexts, redact } from "../../rules/keys/redact.js";
import { shapeDescription } from "../../scenario/format/scenario-json-schema.js";
import { time } from "../../scenario/format/times.js";
import { type JsonSchema, jsonSchemaDocument } from "../../schema/json-schema.js";
import type { ValueOf } from "../../schema/shape.js";
import * as s from "../../schema/shape.js";
import { membersToSnakeCase, tolerantJsonShape } from "../../schema/spelling.js";
import type { JudgedClient } from "../certify.js";
import { nameOf } from "../checks/check.js";
import { type JudgedCheck, judgmentShapes } from "../checks/judgment.js";
import { type CertifyPlan, variedSeeds } from "../checks/plan.js";

// A certificate is the result of certifying a client. In our code a check of it is a value; in its file, a check is a name with the members
// of its result. All other members are the same.

/** The version of the certificate's format. It changes if a reader of this version could misread a new one. */
const certificateFormat = 1;

const sha256Text = s.text({ noun: "a SHA-256", pattern: /^[0-9a-f]{64}$/ });

/** Made anew for each member, which describes it in its own way. */
const version = () => s.text({ example: "1.0.0", pattern: /^[\w.+-]{1,100}$/ });

const judgedCheckShape = s.mapping({
  name: s.described(s.text(), "What was tried, by its name in --only."),
  result: s.described(
    s.choice(["held", "failed", "not_judged", "allowed"]),
    "held: the client did what it should, in what was tried. not_judged: what was seen shows nothing. allowed: --allow names it.",
  ),
  key: s.optional(s.described(s.text(), "The key whose last request was rejected.")),
  why: s.optional(s.described(s.text(), "Why it is not judged.")),
  whatToDo: s.optional(s.described(s.text(), "What to change so that it is judged.")),
});

const verdicts = ["passed", "failed", "not_judged", "no_request", "stopped"] as const;

const resultFields = {
  verdict: s.described(
    s.choice(verdicts),
    "failed: there is a problem, whatever else is not judged. not_judged: the plain run fails or covers too little, or a part of the runs shows nothing. stopped: a signal ended it, and it has only what runs showed before.",
  ),
  why: s.optional(s.described(s.text(), "Why it cannot be judged, or not wholly.")),
  whatToDo: s.optional(s.described(s.text(), "What to change so that it can.")),
  scenario: s.described(s.text(), "The name of the scenario, or its given file."),
  otherScenarios: s.optional(
    s.described(s.list(s.text()), "The other scenarios of sandboxes in the client's own processes."),
  ),
  assumptions: s.optional(
    s.described(s.list(s.text()), "The assumptions that the scenario sets, and that would vary otherwise."),
  ),
  scenarioDigest: s.described(sha256Text, "SHA-256 in hex of the scenario as JSON with sorted members."),
  specification: s.described(version(), "The version of the API's specification."),
  sandbox: s.described(version(), "The version of svc-sandbox."),
  command: s.described(s.list(s.text()), "The client's program and its arguments, without keys."),
  only: s.optional(s.described(s.list(s.text()), "The only runs, as --only names them. Default: all.")),
  seeds: s.described(s.list(s.integer()), "The seeds of the runs with varied responses."),
  allow: s.described(
    s.list(s.text()),
    "What would be a problem, and is none: checks, by their names in --only, and outcomes whose wrong answer the client survives on purpose.",
  ),
  startedAt: s.described(time(), "The real time when the first run started."),
  durationMs: s.described(s.integer(), "The real duration of all runs, in milliseconds."),
  runs: s.described(s.integer(), "How often the command ran."),
  judged: s.described(
    s.integer(),
    "The number of checks that show what the client does, or that --allow names.",
  ),
  notJudged: s.described(s.integer(), "The number of the other checks, of which no run shows anything."),
  problems: s.described(s.list(judgmentShapes.finding), "What breaks the client, the most serious first."),
  checks: s.described(s.list(judgedCheckShape), "Everything that was tried."),
  notes: s.described(s.list(judgmentShapes.note), "What limits the checks."),
  report: s.described(reportShape, "Coverage and advice of the plain run."),
};
const resultShape = s.mapping(resultFields);

/** The result of certifying a client. Plain data; its texts may contain the caller's input, so renderers redact and escape. */
export interface CertifyResult extends Omit<ValueOf<typeof resultShape>, "checks"> {
  readonly checks: readonly JudgedCheck[];
}

/** The certificate of a client: what its runs have shown, its plan, and its call. */
export function certifyResultOf(
  client: JudgedClient,
  plan: Pick<CertifyPlan, "only" | "allow" | "ownAssumptions" | "firstSeed">,
  call: Pick<
    CertifyResult,
    "scenario" | "scenarioDigest" | "specification" | "sandbox" | "command" | "startedAt" | "durationMs"
  >,
): CertifyResult {
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
  return mapTexts(result as CertifyResult, redact); // a copy of the same shape
}

/** The verdict. A problem comes before a missing request: a command that sends nothing may still print a key. */
export function verdictOf(client: JudgedClient): CertifyResult["verdict"] {
  const { checks, problems, plain, whyNotJudged, isStopped } = client;
  const hasProblem = problems.length > 0 || checks.some(({ result }) => result.kind === "failed");
  if (hasProblem && !isStopped) return "failed";
  if (plain.result === "passed" && plain.report.requests === 0) return "no_request";
  if (isStopped) return "stopped";
  return whyNotJudged === undefined ? "passed" : "not_judged";
}

/** A certificate as a file: its JSON Schema and its checks derive from this. */
const certificateShape = tolerantJsonShape(
  s.mapping({
    svc_sandbox_certificate: s.described(s.choice([certificateFormat]), "The version of this format."),
    ...resultFields,
  }),
);

export function certificateJsonSchema(): JsonSchema {
  return jsonSchemaDocument(certificateShape, shapeDescription);
}

export function certificateJson(certified: CertifyResult): object {
  const checks = certified.checks.map(({ check, result }) => {
    const members = { name: nameOf(check), result: result.kind };
    if (result.kind === "not_judged") return { ...members, why: result.why, whatToDo: result.whatToDo };
    return { ...members, key: result.key };
  });
  const members = membersToSnakeCase({ ...certified, checks }) as object; // of an object, it returns one
  const file = { svc_sandbox_certificate: certificateFormat, ...members };
  // Removes members that are `undefined`.
  return JSON.parse(JSON.stringify(file));
}
