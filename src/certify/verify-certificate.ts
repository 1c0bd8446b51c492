import { commandLine, pluralize } from "../report/plain-text.js";
import type { ReportFormat, TestCase } from "../report/render/document.js";
import { render, type TextStyle } from "../report/render/render.js";
import { canonicalJson, snakeCase } from "../spec/schema/json.js";
import { type CertifyResult, certificateOf, type Run } from "./result.js";

/** The findings of repeated runs about a certificate. Plain data. */
export interface Verification {
  readonly verified: boolean;
  /** The certified scenario. */
  readonly scenario: string;
  /** Every compared fact. */
  readonly facts: readonly Fact[];
  /** Other differences, one sentence each. */
  readonly notes: readonly string[];
}

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
export function verifyCertificate(certified: CertifyResult, again: CertifyResult): Verification {
  const now = certificateOf(again).result;
  const factsNow = factsOf(now);
  // Without the runs that the certificate leaves out. If the outcome of a run differs, its other facts may be missing.
  const compared = [...factsOf(certified)].filter(([fact, value]) =>
    factsNow.has(fact) ? value !== "not_run" : !/^(?:outcome|exit code|cause|coverage) of /.test(fact),
  );
  const facts = compared.map(([fact, value]): Fact => {
    return { fact, certified: shown(value), now: shown(factsNow.get(fact)) };
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
  const { runs, promises, gates, retries, report, unmet } = result;
  const ofRuns = runs.flatMap((run): [string, unknown][] => {
    const { name, outcome, code, cause, percent } = run;
    const made: [string, unknown][] = [
      [`exit code of ${name}`, code],
      [`cause of ${name}`, cause],
    ];
    const coverage: [string, unknown] = [`coverage of ${name}`, `${percent}%`];
    return [
      [`run ${name}`, worldOf(run)],
      [`outcome of ${name}`, outcome],
      ...(outcome === "not_run" ? [] : made),
      ...(outcome === "passed" ? [coverage] : []),
    ];
  });
  const tried = retries?.map((one) => `${one.after} ${one.outcome}`);
  const ofAll: [string, unknown][] = [
    ...(tried === undefined ? [] : [["retries", tried] as [string, unknown]]),
    ["failed gates", unmet.map(({ threshold }) => threshold)],
    ["promises noticed", `${promises.noticed} of ${promises.tried}`],
    ...report.paths.map((path): [string, unknown] => [`path ${path.pathId}`, coverageText(path)]),
    ["coverage of all runs", report.coverage],
    ["faults of all runs", report.faults],
    ["preview of all runs", report.preview],
  ];
  return new Map<string, unknown>([
    ["verdict", result.verdict],
    // No matter where the file is now, or its name.
    ["content of the scenario", result.scenarioDigest],
    ...Object.entries({ seeds: result.seeds, faults: result.faults, like: result.like, gates }),
    ["promises", promises.kinds],
    ...promises.runs
      .filter(({ outcome }) => outcome !== "not_run")
      .map(({ code: _, durationMs: __, ...promise }): [string, unknown] => [
        `promise ${promise.id}`,
        promise,
      ]),
    ...ofRuns,
    ...(unmadeRuns(result) === 0 ? ofAll : []),
  ]);
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
    suites: [{ name: "facts", cases: facts.map(factCase) }],
    json: snakeCase({ ...verification, facts: undefined, differences: different }) as object,
  } as const;
  return render(document, format, style);
}

function factCase(one: Fact): TestCase {
  const { fact, certified, now } = one;
  if (isSame(one)) return { name: fact, verdict: "passed" };
  return { name: fact, verdict: "failed", message: `certified ${certified}, now ${now}` };
}

function isSame({ certified, now }: Fact): boolean {
  return certified === now;
}

function unmadeRuns({ runs, promises, retries = [] }: CertifyResult): number {
  return [...runs, ...promises.runs, ...retries].filter(({ outcome }) => outcome === "not_run").length;
}

function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  return typeof value === "string" ? value : canonicalJson(value);
}

function worldOf({ profile, seed, fault }: Run): string {
  return `profile ${profile}, seed ${seed}${fault === undefined ? "" : `, ${fault}`}`;
}

function coverageText({ promised, met }: { readonly promised: boolean; readonly met: boolean }): string {
  return `${met ? "covered" : "not covered"}${promised ? "" : ", not promised"}`;
}

function notesOn(certified: CertifyResult, now: CertifyResult): string[] {
  const notes: string[] = [];
  const versions = (["sandbox", "specification"] as const).filter((name) => certified[name] !== now[name]);
  for (const name of versions) {
    const what = name === "sandbox" ? "svc-sandbox" : "version of the specification";
    notes.push(
      `The certificate was written with ${what} ${certified[name]}, and this is ${now[name]}, which may explain differences.`,
    );
  }
  const unmade = unmadeRuns(certified);
  if (unmade > 0) {
    notes.push(
      `The certificate leaves out ${pluralize(unmade, "run")}. They are not compared, and neither is the coverage of all runs.`,
    );
  }
  const named = [
    ["scenario", certified.scenario, now.scenario],
    ["command", commandLine(certified.command), commandLine(now.command)],
  ] as const;
  for (const [what, before, after] of named) {
    if (before !== after) notes.push(`The certificate names the ${what} ${before}; this run used ${after}.`);
  }
  return notes;
}
