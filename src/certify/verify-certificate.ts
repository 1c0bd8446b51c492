import { commandLine, pluralize } from "../report/plain-text.js";
import type { ReportFormat } from "../report/render/document.js";
import { render, type TextStyle } from "../report/render/render.js";
import { canonicalJson, snakeCase } from "../spec/schema/json.js";
import { documentText } from "./brief.js";
import { verdictOf } from "./plan.js";
import { type CertifyResult, certificateOf } from "./result.js";

export type Verification = ReturnType<typeof verifyCertificate>;

interface Fact {
  readonly fact: string;
  readonly certified: string;
  readonly now: string;
}

/**
 * Compares a certified result with the result of the same runs now: verdict, outcomes, causes, coverage by path.
 *
 * Ignores what depends on the machine: times, numbers of requests, request ids, advice, and the coverage of a failed run,
 * which may end at any request.
 */
export function verifyCertificate(certified: CertifyResult, again: CertifyResult) {
  const now = certificateOf(again).result;
  const [before, after] = [factsOf(certified), factsOf(now)];
  const isPartial = unmadeRuns(certified) > 0;
  const facts = [...new Set([...before.keys(), ...after.keys()])].flatMap((fact): Fact[] => {
    const isInBoth = before.has(fact) && after.has(fact);
    // The runs that the certificate leaves out, and everything about all runs then.
    if (before.get(fact) === "not_run" || (isPartial && !before.has(fact))) return [];
    // If the outcome of a run differs, its other facts may be missing.
    if (!isInBoth && /^(?:outcome|exit code|cause|coverage) of /.test(fact)) return [];
    return [{ fact, certified: shown(before.get(fact)), now: shown(after.get(fact)) }];
  });
  return {
    verified: facts.every(isSame),
    scenario: certified.scenario,
    facts,
    notes: notesOn(certified, now),
  };
}

/** Returns the facts of a result that do not depend on the machine; those of all runs only if every run was made. */
function factsOf(result: CertifyResult): Map<string, unknown> {
  const { document, runs, promises, gates, retries = [], notTried, report, unmet } = result;
  const facts = new Map<string, unknown>([
    ["verdict", result.verdict],
    ["verdict by the runs", verdictOf(result)],
    // No matter where the file is now, or its name.
    ["content of the scenario", result.scenarioDigest],
    ...Object.entries({ seeds: result.seeds, faults: result.faults, like: result.like, gates }),
    ["promises", promises.kinds],
  ]);
  if (document !== undefined) facts.set("document", documentText({ ...document, file: undefined }));
  for (const { code: _, durationMs: __, ...promise } of promises.runs) {
    if (promise.outcome !== "not_run") facts.set(`promise ${promise.id}`, promise);
  }
  for (const { name, profile, seed, fault, outcome, code, cause, percent } of runs) {
    facts.set(`run ${name}`, `profile ${profile}, seed ${seed}${fault === undefined ? "" : `, ${fault}`}`);
    facts.set(`outcome of ${name}`, outcome);
    if (outcome === "not_run") continue;
    facts.set(`exit code of ${name}`, code);
    facts.set(`cause of ${name}`, cause);
    if (outcome === "passed") facts.set(`coverage of ${name}`, `${percent}%`);
  }
  if (unmadeRuns(result) > 0) return facts;
  for (const { after, outcome } of retries) facts.set(`retries after ${after}`, outcome);
  facts.set(
    "not tried",
    notTried.map(({ kind, what }) => `${kind}: ${what}`),
  );
  facts.set(
    "failed gates",
    unmet.map(({ threshold }) => threshold),
  );
  facts.set("promises noticed", `${promises.noticed} of ${promises.tried}`);
  for (const { pathId, promised, met } of report.paths) {
    facts.set(`path ${pathId}`, `${met ? "covered" : "not covered"}${promised ? "" : ", not promised"}`);
  }
  facts.set("coverage of all runs", report.coverage);
  facts.set("faults of all runs", report.faults);
  for (const { operationId, covered } of report.endpoints)
    facts.set(`endpoint ${operationId} of all runs`, covered);
  return facts;
}

export function renderVerification(
  verification: Verification,
  format: ReportFormat,
  style?: TextStyle,
): string {
  const { verified, scenario, facts, notes } = verification;
  const different = facts.filter((fact) => !isSame(fact));
  const count = `${different.length} of ${pluralize(facts.length, "fact")}`;
  const document = {
    kind: "verification",
    subject: scenario,
    title: `Compared a certificate for ${scenario} with the same runs now`,
    sections: [
      {
        title: "Differences",
        columns: ["fact", "certified", "now"],
        rows: different.map(({ fact, certified, now }) => ({
          cells: [{ text: fact, tone: "bad" as const }],
          details: [[certified], [now]],
        })),
      },
    ],
    notes,
    conclusion: verified
      ? ({ text: `Verified: all ${facts.length} facts are the same.`, tone: "good" } as const)
      : ({ text: `Not verified: ${count} differ.`, tone: "bad" } as const),
    failures: [],
    json: snakeCase({ ...verification, facts: undefined, differences: different }) as object,
  } as const;
  return render(document, format, style);
}

function isSame({ certified, now }: Fact): boolean {
  return certified === now;
}

function unmadeRuns({ runs, promises }: CertifyResult): number {
  return [...runs, ...promises.runs].filter(({ outcome }) => outcome === "not_run").length;
}

function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  return typeof value === "string" ? value : canonicalJson(value);
}

function notesOn(certified: CertifyResult, now: CertifyResult): string[] {
  const unmade = unmadeRuns(certified);
  const left = `The certificate leaves out ${pluralize(unmade, "run")}. They are not compared, and neither is the coverage of all runs.`;
  const used = [
    ["svc-sandbox", certified.sandbox, now.sandbox],
    ["specification", certified.specification, now.specification],
    ["scenario", certified.scenario, now.scenario],
    ["command", commandLine(certified.command), commandLine(now.command)],
  ] as const;
  const different = used.filter(([, before, after]) => before !== after);
  return [
    ...(unmade > 0 ? [left] : []),
    ...different.map(
      ([what, before, after]) => `The certificate names the ${what} ${before}; this run used ${after}.`,
    ),
  ];
}
