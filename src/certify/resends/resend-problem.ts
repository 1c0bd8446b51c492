import { listed } from "../../schema/words.js";
import { nameOf } from "../checks/check.js";
import type { Finding } from "../checks/judgment.js";
import type { CertifyPlan } from "../checks/plan.js";
import { againCommand } from "../client-runs/again-command.js";
import { passedMsIfTooEarly } from "../client-runs/client-run.js";
import type { WorkingKey } from "./replaced-run.js";
import { nameOfKey, type Suspect } from "./resend-kinds.js";

/** The one problem of these kinds, which are all timed or all not. */
export function resendProblem(suspects: readonly Suspect[], { ref }: WorkingKey, plan: CertifyPlan): Finding {
  const names: string[] = [];
  const times: string[] = [];
  // Ids of requests do not depend on what was rejected, so several kinds often have the same id.
  const ids = new Set<string>();
  const fixes = new Set<string>();
  for (const { resendKind, firstRequest } of suspects) {
    const after = `after ${resendKind.responseWords}`;
    names.push(nameOf(resendKind.check));
    times.push(resendKind.isTimed ? `${passedMsIfTooEarly(firstRequest)} ms ${after}` : after);
    ids.add(firstRequest.id);
    fixes.add(resendKind.whatToDo);
  }

  const isTimed = suspects[0]?.resendKind.isTimed === true;
  if (isTimed) fixes.add(moveSandboxClock);
  fixes.add(turnOffTestRetries);
  const requestWord = ids.size === 1 ? "request" : "requests";
  const sentence = `Sends ${nameOfKey(ref)} again ${listed(times, "and")} (${requestWord} ${listed([...ids], "and")})`;
  const only: string[] = [];
  for (const name of names) only.push("--only", name);
  return {
    name: names[0] as string, // of a problem, there is a suspect
    sentence: (isTimed ? sentence : `${sentence}, and not after a 404`) + byClientOrRunner,
    whatToDo: [...fixes].join(" "),
    again: againCommand(plan, "certify", ...only),
    runs: names,
  };
}

/** Nothing that runs show tells the two apart. */
const byClientOrRunner = ": by the client, or by its runner's retry of a failed test";

const turnOffTestRetries =
  "If it is not your client that sends it, but each test (polling) or their runner (a retry of failed tests), turn that off.";

const moveSandboxClock = "(If your tests replace the pause, move the sandbox's clock by it.)";
