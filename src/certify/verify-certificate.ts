import { canonicalJson } from "./certificate.js";
import { commandLine } from "./document.js";
import type { CertifyResult, Run } from "./result.js";

/** What running again showed of a certificate. Plain data. */
export interface Verification {
  readonly verified: boolean;
  readonly differences: readonly Difference[];
  /** What else is not the same, a sentence each. */
  readonly notes: readonly string[];
}

/** A fact that came out differently. */
interface Difference {
  readonly fact: string;
  readonly certified: string;
  readonly now: string;
}

/**
 * Compares what was certified with what the same runs came to now: verdict, outcomes, causes, coverage by path.
 *
 * Not compared is what a machine decides: times, numbers of requests, request ids, advice, and the coverage of a run that did
 * not pass, which may end at any request.
 */
export function verifyCertificate(certified: CertifyResult, now: CertifyResult): Verification {
  const differences: Difference[] = [];
  const compare = (fact: string, one: unknown, other: unknown) => {
    const [before, after] = [one, other].map((value) => (value === undefined ? "nothing" : shown(value)));
    if (before !== after) differences.push({ fact, certified: before as string, now: after as string });
  };
  for (const fact of ["verdict", "scenario", "seeds", "faults", "like"] as const) {
    compare(fact, certified[fact], now[fact]);
  }
  const runs = byName(certified);
  const runsNow = byName(now);
  for (const name of new Set([...runs.keys(), ...runsNow.keys()])) {
    const [one, other] = [runs.get(name), runsNow.get(name)];
    compare(`run ${name}`, one && worldOf(one), other && worldOf(other));
    if (one === undefined || other === undefined) continue;
    compare(`outcome of ${name}`, one.outcome, other.outcome);
    compare(`exit code of ${name}`, one.code, other.code);
    compare(`cause of ${name}`, one.cause, other.cause);
    if (one.outcome === "passed" && other.outcome === "passed") {
      compare(`coverage of ${name}`, `${one.percent} %`, `${other.percent} %`);
    }
  }
  for (const { pathId, promised, met } of certified.report.paths) {
    const path = now.report.paths.find((one) => one.pathId === pathId);
    compare(`path ${pathId}`, metText({ promised, met }), path && metText(path));
  }
  for (const fact of ["coverage", "faults", "preview"] as const) {
    compare(`${fact} of all runs`, certified.report[fact], now.report[fact]);
  }
  return { verified: differences.length === 0, differences, notes: notesOn(certified, now) };
}

function byName({ runs }: CertifyResult): Map<string, Run> {
  return new Map(runs.map((run) => [run.name, run]));
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : canonicalJson(value);
}

function worldOf({ profile, seed, fault }: Run): string {
  return `profile ${profile}, seed ${seed}${fault === undefined ? "" : `, ${fault}`}`;
}

function metText({ promised, met }: { readonly promised: boolean; readonly met: boolean }): string {
  return `${met ? "met" : "missed"}${promised ? "" : ", not promised"}`;
}

function notesOn(certified: CertifyResult, now: CertifyResult): string[] {
  const notes: string[] = [];
  const versions = (["sandbox", "specification"] as const).filter((name) => certified[name] !== now[name]);
  for (const name of versions) {
    const what = name === "sandbox" ? "svc-sandbox" : "version of the specification";
    notes.push(
      `It was written with ${what} ${certified[name]}, and this is ${now[name]}: what differs may come from that.`,
    );
  }
  const [line, lineNow] = [certified, now].map(({ command }) => commandLine(command));
  if (line !== lineNow) notes.push(`It names the command ${line}, and this was ${lineNow}.`);
  return notes;
}
