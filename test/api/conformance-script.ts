import type { Duration, Overlap } from "../../src/index.js";
import type { Sandbox } from "../../src/library/sandbox.js";
import type { ScenarioName } from "../../src/scenario/bundled.js";
import type { Scenario } from "../../src/scenario/scenario.generated.js";
import type { Seen, Send, Sent } from "../support/send.js";

/** A request whose key may be named by its ref. */
export interface KeyedSent extends Sent {
  /** A ref of the scenario or of a key made by an earlier step; `unknown` is a well-formed key that does not exist. */
  readonly key?: string;
}

/** One step of a case, as plain data: it runs in a page as it does here. */
export type Step =
  | { readonly send: KeyedSent; readonly times?: number }
  | { readonly advance: Duration }
  | { readonly revoke: string }
  | { readonly rotate: string; readonly as: string; readonly overlap: Overlap }
  | { readonly reset: true };

export interface ConformanceCase {
  readonly title: string;
  readonly scenario: ScenarioName | Scenario;
  readonly steps: readonly Step[];
}

/** What came of a request: a response, or the client's rejection to send it, as status 0 and the name of the error. */
function rejectedByClient(error: unknown): Seen {
  return { status: 0, headers: [], body: (error as Error).name };
}

/** What steps ask of a sandbox; one behind a network takes its time. */
export type Operated = Pick<Sandbox, "secret"> & {
  readonly clock: { readonly advance: (by: Duration) => unknown };
  readonly keys: {
    readonly revoke: (key: string) => unknown;
    readonly rotate: (
      key: string,
      rotation: { readonly as: string; readonly overlap: Overlap },
    ) => { readonly secret: string } | Promise<{ readonly secret: string }>;
  };
  readonly reset: () => unknown;
};

/** Runs the steps on a sandbox, its requests through a door; returns what was seen, in order. */
export async function runSteps(sandbox: Operated, send: Send, steps: readonly Step[]): Promise<Seen[]> {
  const madeHere = new Map<string, string>();
  const secretOf = (ref: string) => madeHere.get(ref) ?? sandbox.secret(ref);
  const seen: Seen[] = [];
  for (const step of steps) {
    if ("advance" in step) await sandbox.clock.advance(step.advance);
    else if ("revoke" in step) await sandbox.keys.revoke(step.revoke);
    else if ("reset" in step) await sandbox.reset();
    else if ("rotate" in step) {
      const { rotate, as, overlap } = step;
      madeHere.set(as, (await sandbox.keys.rotate(rotate, { as, overlap })).secret);
    } else {
      const { key, headers, ...sent } = step.send;
      const keyed = { ...headers, ...(key !== undefined && { "x-api-key": secretOf(key) }) };
      for (let i = 0; i < (step.times ?? 1); i++) {
        seen.push(await send({ ...sent, headers: keyed }).catch(rejectedByClient));
      }
    }
  }
  return seen;
}

/**
 * The same response without what does not matter: the case and the order of the headers' names, and whether the values of
 * one name come on one line or on several.
 */
export function comparable({ status, headers, body }: Seen): Seen {
  const values = new Map<string, string>();
  for (const [name, value] of headers) {
    const others = values.get(name.toLowerCase());
    values.set(name.toLowerCase(), others === undefined ? value : `${others}, ${value}`);
  }
  return { status, headers: [...values].sort(([one], [other]) => (one < other ? -1 : 1)), body };
}
