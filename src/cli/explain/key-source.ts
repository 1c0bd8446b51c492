import { me } from "../../api/endpoints/me.js";
import { endpointNamed } from "../../api/endpoints.js";
import { nextRequest } from "../../api/next-request.js";
import type { ControlClient } from "../../node/clients/control-client.js";
import { startInNode } from "../../node/platform.js";
import { fingerprintOf } from "../../rules/keys/key-text.js";
import type { OutcomeId } from "../../rules/outcomes.js";
import { isoTime } from "../../rules/time.js";
import type { Endpoint } from "../../sandbox/endpoint.js";
import { runDue } from "../../sandbox/operations/run-due.js";
import { fingerprintOfRef } from "../../sandbox/secrets.js";
import type { SandboxFlags } from "../flags/shared-flags.js";
import type { Io } from "../io.js";
import { loadScenarioArgument } from "../scenario/open-scenario.js";

/** The keys of a sandbox: of one that runs, or of one in this process. */
export interface KeySource {
  readonly scenario: string;
  /** `null` for a sandbox of this process. */
  readonly url: string | null;
  /** The time of its clock. */
  readonly at: string;
  /** The endpoint that gets the next request. */
  readonly method: string;
  readonly path: string;
  readonly refs: readonly string[];
  /** The ref of the key with this SHA-256. */
  readonly findRef: (sha256: string) => string | undefined;
  /** What the next request with the key of a ref gets, also of a reserved ref. */
  readonly predict: (ref: string) => NextRequest | Promise<NextRequest>;
}

interface NextRequest {
  /** `null` for `none`. */
  readonly fingerprint: string | null;
  readonly outcome: OutcomeId;
  readonly code: string | null;
  readonly why: string | null;
  readonly until: string | null;
  readonly faultOutcomes: readonly OutcomeId[];
}

/** The keys of a running sandbox. */
export async function runningKeys(
  client: ControlClient,
  operationId: string | undefined,
): Promise<KeySource> {
  const { url, scenario, now, keys } = await client.keys();
  let endpoint: Pick<Endpoint, "method" | "path"> = me;
  if (operationId !== undefined) {
    const { endpoints } = await client.report();
    endpoint = endpointNamed({ name: scenario, endpoints }, operationId);
  }
  return {
    scenario,
    url,
    at: now,
    method: endpoint.method,
    path: endpoint.path,
    refs: keys.map(({ ref }) => ref),
    findRef: (sha256) => keys.find(({ fingerprint }) => fingerprint === fingerprintOf(sha256))?.ref,
    async predict(ref) {
      const { fingerprint, next_request: next } = await client.key(ref, operationId);
      return { fingerprint, ...next, faultOutcomes: next.fault_outcomes };
    },
  };
}

/** The keys of a scenario, in a sandbox of this process. */
export async function keysOfNewSandbox(
  scenario: string | undefined,
  flags: SandboxFlags & { readonly endpoint?: string },
  io: Io,
): Promise<KeySource> {
  const loaded = await loadScenarioArgument(scenario, io);
  const sandbox = startInNode(loaded, flags);
  runDue(sandbox);
  const endpoint = endpointNamed(sandbox, flags.endpoint);
  return {
    scenario: loaded.name,
    url: null,
    at: isoTime(sandbox.clock.now()),
    method: endpoint.method,
    path: endpoint.path,
    refs: [...sandbox.registry.keys.keys()],
    findRef: (sha256) => sandbox.registry.find(sha256)?.key.ref,
    predict: (ref) => ({
      fingerprint: fingerprintOfRef(sandbox, ref),
      ...nextRequest(sandbox, ref, endpoint),
    }),
  };
}
