import { keyStateAt, keyStateTable } from "../rules/api-key.js";
import { publicCause } from "../rules/authorize.js";
import { faultOutcomeOf } from "../rules/fault-effects.js";
import { type ApiOutcomeId, outcomeOf } from "../rules/outcomes.js";
import { isoOf } from "../sandbox/clock.js";
import type { Endpoint } from "../sandbox/endpoint.js";
import { effectOn } from "../sandbox/faults.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import { type ApiCall, presentedAs } from "./call.js";
import { firstEndpoint } from "./endpoints.js";
import { faultFacts } from "./faults.js";
import { readLimits } from "./limits.js";
import { expectedCode } from "./messages.js";
import { authorizationFacts, predictOutcome, scopeOf } from "./response.js";

/** Where a request with this header `x-api-key` would end, and the faults that may hit it; `undefined` without the header. */
export function predictHeader(
  sandbox: SandboxState,
  apiKey: string | undefined,
  endpoint: Endpoint = firstEndpoint(sandbox),
) {
  const entry = sandbox.registry.find(sandbox.platform.sha256(apiKey ?? ""));
  return predictCall(sandbox, { presented: presentedAs(apiKey), entry, endpoint });
}

/** The same for a key of the sandbox. */
export function predictKey(sandbox: SandboxState, ref: string, endpoint: Endpoint = firstEndpoint(sandbox)) {
  return predictCall(sandbox, { presented: "well_formed", entry: sandbox.registry.key(ref), endpoint });
}

function predictCall(sandbox: SandboxState, call: Pick<ApiCall, "presented" | "entry" | "endpoint">) {
  const timed = { ...call, now: sandbox.clock.now() };
  const outcome = predictOutcome(sandbox, timed);
  const facts = faultFacts(timed, () => outcome);
  const effects = sandbox.faults.flatMap((fault) => effectOn(fault, facts) ?? []);
  // Each fault that may hit it is listed once; only a real request shows whether one fires.
  return { outcome, faultOutcomes: [...new Set(effects.map(faultOutcomeOf))] };
}

/** The result of the next request with a key; counts nothing. */
export function nextRequest(sandbox: SandboxState, ref: string, endpoint?: Endpoint) {
  const { outcome, faultOutcomes } = predictKey(sandbox, ref, endpoint);
  const { status } = outcomeOf(outcome);
  const code = expectedCode(sandbox, outcome);
  const why = causeOf(sandbox, outcome, sandbox.registry.key(ref), endpoint);
  // Every 401 and 429 has the same code, so the reason is enough.
  const codeText = status === 403 ? ` ${code}:` : "";
  const fault = faultOutcomes.length === 0 ? "" : ", or a fault";
  const sentence = `${status}${codeText}${why === null ? "" : ` ${why}`}${fault}`;
  const isLimited = outcome === "429.per_minute" || outcome === "429.per_day";
  const until = isLimited ? limitOf(sandbox, outcome, sandbox.registry.key(ref)).until : undefined;
  const untilText = until === undefined ? null : isoOf(until);
  return { status, code, outcome, why, faultOutcomes, sentence, until: untilText };
}

/** When the limit of a 429 resets; `undefined` if it allows no requests. */
function limitOf(sandbox: SandboxState, outcome: "429.per_minute" | "429.per_day", entry: KeyEntry) {
  const [ofMinute, ofDay] = readLimits(entry, sandbox, sandbox.clock.now());
  const { name, quota, resetsAt } = outcome === "429.per_day" ? ofDay : ofMinute;
  return { name, until: quota === 0 ? undefined : resetsAt };
}

/** The cause of this outcome, with facts of the key, such as `expired since …`; `null` on success. */
export function causeOf(
  sandbox: SandboxState,
  outcome: ApiOutcomeId,
  entry: KeyEntry,
  endpoint: Endpoint = firstEndpoint(sandbox),
): string | null {
  const { key } = entry;
  const now = sandbox.clock.now();
  const state = keyStateAt(key, now);
  const { rejection, since } = keyStateTable[state];
  if (since !== null && rejection === outcome) return `${state} since ${shortIso(key[since] ?? now)}`;
  switch (outcome) {
    case "429.per_minute":
    case "429.per_day": {
      const limit = limitOf(sandbox, outcome, entry);
      if (limit.until === undefined) return `always: allows 0 requests a ${limit.name}`;
      const until = shortIso(limit.until);
      const [today] = shortIso(now).split("T");
      return `until ${until.startsWith(`${today}T`) ? until.slice(11, 19) : until}`;
    }
    default: {
      const facts = authorizationFacts(
        sandbox,
        { presented: "well_formed", entry, now },
        scopeOf(endpoint, sandbox),
      );
      return publicCause(outcome, facts)?.why ?? null;
    }
  }
}

function shortIso(instant: number): string {
  return isoOf(instant).replace(/(?:\.\d+)?Z$/, "Z");
}
