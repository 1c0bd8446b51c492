import { isFault } from "../../rules/fault-effects.js";
import { keyVariable } from "../../rules/keys/key-text.js";
import { isSuccess, outcomeRow } from "../../rules/outcomes.js";
import { listed } from "../../schema/words.js";
import type { Reason } from "../checks/judgment.js";
import type { KeyRequest, SentKey } from "../client-runs/client-run.js";
import type { Runs } from "../client-runs/runs.js";
import type { WorkingKey } from "./replaced-run.js";

// The reasons why no key shows whether the client resends.

/** Why there is no key that always works and comes twice. A key that came twice, and was only rejected sometimes, is named first. */
export function whyNoRepeatedKey(
  { plain, plan: { defaultKey } }: Runs,
  working: readonly WorkingKey[],
): Reason {
  const keysOfSandbox = plain.sentKeys.filter(({ isUnknown }) => !isUnknown);
  const defaultKeys = keysOfSandbox.filter(({ key }) => key === defaultKey);
  const otherKeys = keysOfSandbox.filter(({ key }) => key !== defaultKey);
  for (const sentKey of [...defaultKeys, ...otherKeys]) {
    const rejected = requestRejectedSometimes(sentKey);
    if (rejected !== undefined) return worksOnlySometimes(sentKey, rejected);
  }
  return working.length === 0 ? noKey : sentOnce(working);
}

/** The first request with a key that was rejected, if another one was accepted. */
function requestRejectedSometimes({ requests }: SentKey): KeyRequest | undefined {
  const isEverAccepted = requests.some(({ outcome }) => isSuccess(outcome));
  return isEverAccepted ? requests.find(({ outcome }) => !isSuccess(outcome)) : undefined;
}

function worksOnlySometimes({ key }: SentKey, { id, outcome }: KeyRequest): Reason {
  const response = isFault(outcome) ? "a fault" : `a ${outcomeRow(outcome).status}`;
  return {
    why: `${keyVariable(key)} got ${response} in the plain run (${id}), and no key that always works came twice`,
    whatToDo: "Send a key that works in two tests, and let another one expire, be revoked or be limited.",
  };
}

const noKey: Reason = {
  why: "the plain run sent no key that always works",
  whatToDo: "Send a key that works, such as SVC_KEY_ACTIVE.",
};

function sentOnce(keys: readonly WorkingKey[]): Reason {
  return {
    why: `the plain run sent ${variablesOf(keys)} once`,
    whatToDo:
      "Send a key that works in two tests. Turn off what keeps its first response for the second one.",
  };
}

export function notEquallyOften(keys: readonly WorkingKey[]): Reason {
  return {
    why: `not all runs sent ${variablesOf(keys)} equally often, although nothing was rejected`,
    whatToDo:
      "Send a key that works equally often in each run. Turn off what sends it in the background, such as a health check.",
  };
}

export function sentAfter404({ ref }: WorkingKey): Reason {
  return {
    why: `${keyVariable(ref)} was also sent again after a 404`,
    whatToDo:
      "Send a request again only after a 429, a 5xx or no response. If your tests repeat requests, turn that off, such as `--retry` of a runner, or polling until a 200.",
  };
}

/** A run shows nothing that passed although the last request with the key got this response, and after which nothing came. */
export function passesUnnoticed({ ref }: WorkingKey, response: string): Reason {
  return {
    why: `the command passes when the last request with ${keyVariable(ref)} gets ${response}, and does not send it again`,
    whatToDo:
      "Use each response of a key that works in a test. If your client survives a rejection on purpose, such as by a second key, add --allow with the outcome of this key.",
  };
}

function variablesOf(keys: readonly WorkingKey[]): string {
  const variables = keys.map(({ ref }) => keyVariable(ref));
  return listed(variables, "and");
}
