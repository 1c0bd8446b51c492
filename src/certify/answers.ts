import { isSuccess, outcomeOf, type PathId } from "../rules/outcomes.js";
import type { Problem } from "./certificate.js";
import { type Answer, type Context, check, held, type Judged, open, type Runs } from "./context.js";
import { againWith, type CertifyPlan, isWanted, minPasses } from "./plan.js";
import { type ClientRun, notMade, type Reason, tooLate, whyNotJudged } from "./run.js";

/** Breaks a path: first its first request alone, which shows whether a test uses that one, and then all of them. */
export function createAnswers(
  plan: CertifyPlan,
  runs: Runs,
  plain: ClientRun,
): Pick<Context, "wrongOnce" | "answerOn" | "whyRepeated"> {
  const wrongOnce = keptByPath(async (pathId) =>
    plan.allow.includes(pathId)
      ? undefined
      : runs.make(`answer.${pathId}`, { answer: { pathId, once: true } }),
  );
  const answerOn = keptByPath(async (pathId): Promise<Answer> => {
    const name = `answer.${pathId}`;
    const once = await wrongOnce(pathId);
    if (once?.outcome === "failed" && once.hits > 0) return { kind: "noticed once" };
    const run = await runs.make(name, { answer: { pathId } });
    if (run === undefined) return { kind: "not judged", reason: notMade };
    if (run.outcome === "timed_out") return { kind: "not judged", reason: tooLate };
    if (run.outcome === "failed" && run.hits > 0) return { kind: "noticed" };
    const reason = whyNotJudged(run.hits === 0 ? { sent: [] } : plain, run, "hit");
    return reason === undefined ? { kind: "unnoticed" } : { kind: "not judged", reason };
  });
  const whyRepeated = keptByPath(async (pathId) => {
    for (let left = minPasses; left > 0; left--) {
      const run = await runs.make(`answer.${pathId}`, {
        answer: { pathId, once: true, as: "404.unknown_path" },
      });
      if (run?.outcome === "failed") continue;
      return {
        why: `the command also passes when ${outcomeOf(pathId).when} gets a 404 once`,
        whatToDo: noRepeats,
      };
    }
    return undefined;
  });
  return { wrongOnce, answerOn, whyRepeated };
}

/** Makes the runs of each path once. */
function keptByPath<Result>(make: (pathId: PathId) => Promise<Result>): (pathId: PathId) => Promise<Result> {
  const results = new Map<PathId, Promise<Result>>();
  return (pathId) => {
    const result = results.get(pathId) ?? make(pathId);
    results.set(pathId, result);
    return result;
  };
}

/** The command must notice a wrong answer on each covered path. */
export async function judgeAnswers({ plan, covered, answerOn }: Context): Promise<Judged[]> {
  const judge = async (pathId: PathId): Promise<Judged> => {
    const name = `answer.${pathId}`;
    const answer = await answerOn(pathId);
    if (answer.kind === "not judged") return open(name, answer.reason);
    if (answer.kind !== "unnoticed") return held(name);
    if (plan.allow.includes(pathId)) return { checks: [check(name, "allowed")], problems: [] };
    return { checks: [check(name, "failed")], problems: [unnoticed(pathId, plan)] };
  };
  return Promise.all(covered.filter((pathId) => isWanted(plan, `answer.${pathId}`)).map(judge));
}

function unnoticed(pathId: PathId, plan: CertifyPlan): Problem {
  const { status, when } = outcomeOf(pathId);
  const name = `answer.${pathId}`;
  const instead = isSuccess(pathId) ? "401" : "200";
  return {
    name,
    sentence: `Passes with the wrong answer: ${when} got ${instead} in place of ${status}`,
    whatToDo: `Make a test fail on it. If your client survives it on purpose, add --allow ${pathId}.`,
    again: againWith(plan, "certify", "--only", name),
    runs: [name],
  };
}

const maxNoticed = 3;

/** A command must fail when a rejected key is accepted once, on up to three paths, or something repeats what fails. */
export async function whyUnnoticed(
  covered: readonly PathId[],
  answerOn: Context["answerOn"],
): Promise<Reason | undefined> {
  let count = 0;
  for (const pathId of covered.filter((pathId) => [401, 403].includes(outcomeOf(pathId).status))) {
    const { kind } = await answerOn(pathId);
    if (kind === "noticed")
      return {
        why: `the command also passes when ${outcomeOf(pathId).when} is accepted once`,
        whatToDo: noRepeats,
      };
    count += kind === "noticed once" ? 1 : 0;
    if (count === maxNoticed) return undefined;
  }
  if (count > 0) return undefined;
  return {
    why: "the command fails in no run where a rejected key is accepted",
    whatToDo: "Make a test fail when a rejected key is accepted.",
  };
}

const noRepeats =
  "Turn off what repeats failing tests, such as `--retry` of vitest, `jest.retryTimes` or `--reruns` of pytest.";
