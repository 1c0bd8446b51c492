import { handle } from "../api/handle.js";
import type { MaskedRequest } from "../api/mask.js";
import { nodePlatform } from "../node/platform.js";
import type { ApiRequest } from "../sandbox/journal/exchange.js";
import { settled } from "../sandbox/operations/operations.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import { secretFrom } from "../scenario/population.js";
import { type Environment, environments } from "../spec/api-key.js";
import { redactEncoded, redactValue } from "../spec/redact.js";
import type { RandomStream } from "../spec/seed.js";
import type { ControlCall } from "./log.js";

/** The SHA-256 of a key that a call may create, for each environment; never the key. */
export type NewKeyHashes = Readonly<Record<Environment, string>>;

/** An event of a sandbox, in the order that its log keeps. In a store, requests are masked. */
export type Entry =
  | { readonly kind: "request"; readonly request: ApiRequest | MaskedRequest }
  | { readonly kind: "call"; readonly call: ControlCall; readonly newKey?: NewKeyHashes }
  /** A read that advances time. Only its own server uses the result. */
  | { readonly kind: "look" }
  /** A client did not wait for a response that a fault delayed. */
  | { readonly kind: "unread"; readonly id: string }
  /** Shortens the journal, and continues from the state's description. Ignored after fewer than `least` entries. */
  | { readonly kind: "compact"; readonly least: number; readonly journal: number }
  /** Adds new organizations and keys to the scenario with the hash `from`. */
  | ({ readonly kind: "extend"; readonly from: string } & NamedScenario);

/** Applies an entry to a sandbox. `run` is the call's route, or the read of a look. */
export function applyEntry(
  entry: Exclude<Entry, { readonly kind: "compact" | "extend" }>,
  runtime: SandboxState,
  run?: () => unknown,
): unknown {
  switch (entry.kind) {
    case "request":
      return handle(settled(runtime), entry.request as ApiRequest);
    case "unread": {
      const { counters, history } = runtime;
      counters.countUnread();
      // The journal may have discarded the request.
      const exchange = history.find(entry.id);
      if (exchange !== undefined) exchange.isUnread = true;
      return undefined;
    }
    case "call":
    case "look":
      // Runs what is due first.
      settled(runtime);
      return run?.();
  }
}

/** Draws the random numbers of a key. The hashes are for both environments, since the call decides later. */
export function drawKey(): { readonly newKey: NewKeyHashes; readonly words: () => RandomStream } {
  const drawn: number[] = [];
  const words = (): RandomStream => {
    let next = 0;
    return () => {
      if (next === drawn.length) drawn.push(nodePlatform.random());
      next += 1;
      return drawn[next - 1] as number;
    };
  };
  const hashIn = (environment: Environment) =>
    nodePlatform.sha256(secretFrom(words(), { environment, legacy: false }));
  const hashes = environments.map((environment) => [environment, hashIn(environment)]);
  return { newKey: Object.fromEntries(hashes), words };
}

/**
 * Shortens every key in a call to the control plane, where no key belongs. A scenario's pinned keys stay: the sandbox and
 * state files also contain them.
 */
export function maskCall({ params, body, ...call }: ControlCall): ControlCall {
  const isScenario = (name: string, member: unknown) => name === "scenario" && typeof member !== "string";
  const shown = call.isYaml ? body : redactValue(body, redactEncoded, isScenario);
  return { ...call, params: redactValue(params, redactEncoded, isScenario), body: shown };
}
