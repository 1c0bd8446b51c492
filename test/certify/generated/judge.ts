import { failuresByReason } from "../../../src/certify/brief.js";
import type { Run } from "../../../src/certify/result.js";
import type { Certified } from "./certify-suite.js";
import type { Cause, Flaw } from "./flaws.js";

/**
 * What a certificate shows of a client. A client without a flaw has `passed`, or is `accused`. One with a flaw is `named`, `not
 * tried`, `misnamed` (something else is named, or comes first), or it passes in silence.
 */
export type Judgment = "passed" | "accused" | "named" | "not tried" | "misnamed" | "silent";

export function judge(certified: Certified, flaw: Flaw | undefined): Judgment {
  const findings = findingsIn(certified);
  const isClean = findings.length === 0;
  if (flaw === undefined) return isClean ? "passed" : "accused";
  const isNamed = findings.some((cause) => isCauseOf(flaw, cause)) && isFirst(certified, flaw);
  if (!isClean) return isNamed ? "named" : "misnamed";
  const { causes, statedAs } = flaw;
  if (statedAs !== undefined && certified.notTried.some(({ why }) => why.includes(statedAs))) return "named";
  return causes.some((cause) => isOpen(cause, certified)) ? "not tried" : "silent";
}

/** What a certificate names, as a cause or in its own words. */
export function findingsIn({ verdict, runs, retries = [], promises, unmet }: Certified): string[] {
  const failing = runs.filter(({ outcome }) => ["failed", "flaky", "timed_out"].includes(outcome));
  const isUnmet = unmet.some(({ gate }) => gate === "swaps");
  const findings = [
    ...failing.flatMap(causesIn),
    ...retries.flatMap(({ after, outcome }) => (outcome === "failed" ? [`retries after ${after}`] : [])),
    ...promises.runs.flatMap(({ id, outcome }) =>
      isUnmet && outcome === "not_noticed" ? [`promise ${id.split(":")[1]}`] : [],
    ),
  ];
  const isBad = verdict === "failed" || verdict === "flaky";
  return findings.length === 0 && isBad ? unmet.map(({ sentence }) => sentence) : findings;
}

const isCauseOf = ({ causes }: Flaw, cause: string) => causes.some((right) => right === cause);

function causesIn({ name, outcome, cause }: Run): string[] {
  if (cause === undefined) return [`${name} ${outcome}`];
  if (cause.fault !== undefined) return [cause.fault];
  if (cause.points.length > 0) return cause.points.map(({ row }) => `row ${row}`);
  const [, needs = ""] = /because it needs (.*)$/.exec(cause.sentence) ?? [];
  const needed = [...needs.matchAll(/`(\w+)`/g)].map(([, assumption]) => `needs ${assumption}`);
  return needed.length > 0 ? needed : [`${name}: ${cause.sentence}`];
}

/** Whether the first cause, which people read first, has only the flaw. */
function isFirst({ runs }: Certified, flaw: Flaw): boolean {
  const [[first] = []] = failuresByReason(runs);
  return first === undefined || causesIn(first).every((cause) => isCauseOf(flaw, cause));
}

/** Whether a certificate states that it did not try what would show a cause, or that repeated tests may hide it. */
function isOpen(cause: Cause, { notTried, runs }: Certified): boolean {
  const isListed = (isRight: (row: Certified["notTried"][number]) => boolean) => notTried.some(isRight);
  if (isListed(({ why }) => why.includes("hides what fails only sometimes"))) return true;
  const [kind, name = ""] = cause.split(/ (.*)/);
  if (cause === "no request") return isListed((row) => row.kind === "run");
  if (kind === "promise") return isListed(({ what }) => what.endsWith(`:${name}`));
  if (kind === "retries") return isListed(({ what }) => what === cause);
  if (kind?.startsWith("fault.")) return isListed(({ kind: of, what }) => of === "faults" || what === cause);
  const isVaried = runs.some(({ profile, outcome }) => profile === "varied" && outcome === "passed");
  return !isVaried || isListed(({ kind, what, why }) => kind === "run" || `${what} ${why}`.includes(name));
}
