import { authorizationChecks, type GateCheck } from "../spec/authorize.js";
import { type ApiPathId, apiPathIds, isFault, type PathId } from "../spec/outcomes.js";
import { isAdmitted } from "./answer.js";

const targetChecks: readonly GateCheck[] = [
  {
    name: "path",
    question: "Does the API have this path?",
    rules: "R1",
    exits: ["404.unknown_path"],
  },
  {
    name: "method",
    question: "Does the path accept this method?",
    rules: "R1",
    exits: ["405.method"],
  },
];

const previewChecks: readonly GateCheck[] = [
  {
    name: "input",
    question: "If the endpoint accepts a body or parameters: are they valid?",
    rules: "R49",
    exits: ["400.bad_request", "422.validation"],
  },
  {
    name: "record",
    question: "If the request is about a record: does it exist, and does its state allow the change?",
    rules: "R49",
    exits: ["404.unknown_record", "422.idempotency_key", "409.conflict"],
  },
];

/** Every check of a request, in order; checks of records only with the preview. */
export function gateChecks(preview: boolean): readonly GateCheck[] {
  return [...targetChecks, ...authorizationChecks, ...(preview ? previewChecks : [])];
}

/** The path ids of requests that pass all checks. */
export const successPaths: readonly ApiPathId[] = apiPathIds.filter(isAdmitted);

export interface GateResult extends Pick<GateCheck, "name" | "question" | "rules"> {
  readonly result: "passed" | "refused" | "not_reached";
}

/** The checks of a request with this path id; a request with a fault has reached none. */
export function gateResults(pathId: PathId, preview: boolean): GateResult[] {
  let isOver = isFault(pathId);
  return gateChecks(preview).map(({ name, question, rules, exits }) => {
    const isRefused = !isOver && (exits as readonly PathId[]).includes(pathId);
    const result = isRefused ? "refused" : isOver ? "not_reached" : "passed";
    isOver ||= isRefused;
    return { name, question, rules, result };
  });
}
