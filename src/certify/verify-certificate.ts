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
  const facts: Fact[] = [];
  const compare = (fact: string, one: unknown, other: unknown) => {
    facts.push({ fact, certified: shown(one), now: shown(other) });
  };
  compare("verdict", certified.verdict, now.verdict);
  // No matter where the file is now, or its name.
  compare("content of the scenario", certified.scenarioDigest, now.scenarioDigest);
  for (const fact of ["seeds", "faults", "like", "gates"] as const) {
    compare(fact, certified[fact], now[fact]);
  }
  const [promises, promisesNow] = [promisesOf(certified), promisesOf(now)];
  compare("promises", certified.promises.kinds, now.promises.kinds);
  for (const id of new Set([...promises.keys(), ...promisesNow.keys()])) {
    if (promises.get(id)?.outcome !== "not_run")
      compare(`promise ${id}`, promises.get(id), promisesNow.get(id));
  }
  const runs = byName(certified);
  const runsNow = byName(now);
  for (const name of new Set([...runs.keys(), ...runsNow.keys()])) {
    const [one, other] = [runs.get(name), runsNow.get(name)];
    compare(`run ${name}`, one && worldOf(one), other && worldOf(other));
    if (one === undefined || other === undefined || one.outcome === "not_run") continue;
    compare(`outcome of ${name}`, one.outcome, other.outcome);
    compare(`exit code of ${name}`, one.code, other.code);
    compare(`cause of ${name}`, one.cause, other.cause);
    if (one.outcome === "passed" && other.outcome === "passed") {
      compare(`coverage of ${name}`, `${one.percent}%`, `${other.percent}%`);
    }
  }
  // Runs that were stopped may all be made now, and cover more.
  if (unmadeRuns(certified) === 0) {
    const gatesOf = ({ unmet }: CertifyResult) => unmet.map(({ threshold }) => threshold);
    compare("failed gates", gatesOf(certified), gatesOf(now));
    const shareOf = ({ promises: { noticed, tried } }: CertifyResult) => `${noticed} of ${tried}`;
    compare("promises noticed", shareOf(certified), shareOf(now));
    const retriesOf = ({ retries }: CertifyResult) => retries?.map((one) => `${one.after} ${one.outcome}`);
    compare("retries", retriesOf(certified), certified.retries && retriesOf(now));
    for (const { pathId, promised, met } of certified.report.paths) {
      const path = now.report.paths.find((one) => one.pathId === pathId);
      compare(`path ${pathId}`, coverageText({ promised, met }), path && coverageText(path));
    }
    for (const fact of ["coverage", "faults", "preview"] as const) {
      compare(`${fact} of all runs`, certified.report[fact], now.report[fact]);
    }
  }
  const verified = facts.every(isSame);
  return { verified, scenario: certified.scenario, facts, notes: notesOn(certified, now) };
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

// Exit codes and durations depend on the machine.
function promisesOf({ promises }: CertifyResult) {
  return new Map(promises.runs.map(({ code: _, durationMs: __, ...promise }) => [promise.id, promise]));
}

function byName({ runs }: CertifyResult): Map<string, Run> {
  return new Map(runs.map((run) => [run.name, run]));
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
