import { handle } from "../../src/api/handle.js";
import { headerPairs } from "../../src/api/http-messages.js";
import type { OutcomeId } from "../../src/rules/outcomes.js";
import type { RunTrace } from "../../src/runs/conditions.js";
import type { SandboxState } from "../../src/sandbox/sandbox-state.js";
import { secretToSend } from "../../src/sandbox/secrets.js";
import { unknownSecret } from "../../src/scenario/keys.js";
import { asked, mePath, type Seen } from "./send.js";

/** A request of the tests of `varied`; `key` is a ref, or what is given as the header itself. */
export interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly key?: string | { readonly header: string };
}

/** A response as the core gives it: names of headers in their case and order. */
export interface Completed extends Seen {
  readonly outcome: OutcomeId;
}

export function ask(sandbox: SandboxState, { method = "GET", path = mePath, key }: Asked): Completed {
  const { response, outcome } = handle(sandbox, asked({ method, path, apiKey: headerFor(sandbox, key) }));
  const { status, headers, body } = response;
  return { status, headers: headerPairs(headers), body, outcome };
}

function headerFor(sandbox: SandboxState, key: Asked["key"]): string | undefined {
  if (key === "unknown") return unknownSecret(sandbox.seed);
  return typeof key === "object" ? key.header : key && secretToSend(sandbox, key);
}

/** What the variant of a sandbox shows from now on, request by request. */
export function collectTraces({ counters }: SandboxState): RunTrace[] {
  const all: RunTrace[] = [];
  counters.alsoCountWith({
    count: (_exchange, trace?: RunTrace) => void (trace && all.push(trace)),
    countUnread() {},
  });
  return all;
}

/** Every kind of key that is rejected. */
export const rejectedKeys: readonly Asked["key"][] = [
  undefined,
  { header: "" },
  { header: "nonsense" },
  { header: "SVC_test_sbx, SVC_test_sbx" },
  "unknown",
  "revoked",
  "expired",
  "rotated",
];

/** Everything that can be asked of `key-states`: every key and none, by GET and HEAD, and what the API does not have. */
export function everyQuestion(sandbox: SandboxState): Asked[] {
  const keys = [...sandbox.registry.keys.keys(), ...rejectedKeys.slice(0, 5)];
  return [
    ...keys.flatMap((key) => [withKey(key), { method: "HEAD", ...withKey(key) }]),
    ...["POST", "DELETE", "OPTIONS"].map((method) => ({ method, key: "active" })),
    { path: "/v1/relying-party/attestations", key: "active" },
    { path: "/", method: "HEAD" },
    { path: "/v1/relying-party/me/" },
  ];
}

function withKey(key: Asked["key"]): Asked {
  return key === undefined ? {} : { key };
}
