import type { CertifyResult } from "../../../src/certify/certificate/certificate.js";
import { nameOf } from "../../../src/certify/checks/check.js";
import type { Finding } from "../../../src/certify/checks/judgment.js";
import type { Cause, Flaw } from "./flaws.js";

/**
 * What a certificate shows of a client. A client without a flaw has `passed`, is `not judged`, or is `accused`. One with a flaw is
 * `named`, `stated` (no run can show it, and the certificate does not say that it held), `not judged`, `misnamed` (something else is named,
 * or comes first), or it passes in silence.
 */
export type Judgment = "passed" | "accused" | "named" | "stated" | "not judged" | "misnamed" | "silent";

export function judge(certified: CertifyResult, flaw: Flaw | undefined): Judgment {
  const { verdict, problems, why = "", checks, notes } = certified;
  const [first] = problems;
  const failsPlainly = /^the command (?:fails|does not end in time) in the plain run/.test(why);
  const isPlain = verdict === "not_judged" && failsPlainly;
  if (flaw === undefined) return first ? "accused" : verdict === "passed" ? "passed" : "not judged";
  // A run that differs each time has no cause that can be told.
  if (first?.name.startsWith("varied.") && first.row === undefined) return "not judged";
  if (first !== undefined) return isCauseOf(flaw, causeIn(first)) ? "named" : "misnamed";
  if (isPlain) return flaw.causes.includes("plain") ? "named" : "misnamed";
  const areOpen = [
    ...checks.flatMap(({ check, result }) => (result.kind === "not_judged" ? nameOf(check) : [])),
    ...notes.map(({ what }) => what),
  ];
  const isOpen = (cause: Cause) =>
    areOpen.some(
      (name) =>
        name.startsWith(cause) ||
        name.includes("only once") ||
        (name.startsWith("resends of") && cause.startsWith("resend")) ||
        (name.startsWith("varied") && cause.startsWith("row")),
    );
  const isListed = verdict === "not_judged" || flaw.causes.some(isOpen);
  if (!isListed) return "silent";
  return flaw.isStated ? "stated" : "not judged";
}

/** The causes that a certificate names. */
export function findingsIn({ problems, verdict, why = "" }: CertifyResult): string[] {
  return [...problems.map(causeIn), ...(verdict === "not_judged" ? [`not judged: ${why}`] : [])];
}

/** The problems that neither flaw causes. A varied run without a row names no cause. */
export const falseIn = ({ problems }: CertifyResult, ...right: readonly Flaw[]): Finding[] =>
  problems.filter((problem) => {
    const cause = causeIn(problem);
    return !cause.startsWith("varied.") && !right.some((flaw) => isCauseOf(flaw, cause));
  });

const isCauseOf = ({ causes }: Flaw, cause: string) =>
  causes.some((right) => cause === right || cause.startsWith(`${right}.`));

function causeIn({ row, name }: Finding): string {
  return row === undefined ? name : `row ${row}`;
}
