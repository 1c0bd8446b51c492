import { createSandbox } from "../../src/index.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import type { Scenario } from "../../src/scenario/scenario.generated.js";
import { randomStream } from "../../src/spec/seed.js";

/** A key of the job, and the response that a server must send to it. */
export type Exchange = Readonly<{ ref: string; key: string; status: number; body: string }>;

export type Job = Readonly<{ scenario: Scenario; exchanges: readonly Exchange[] }>;

export const path = "/v1/relying-party/me";

/** The job with that many keys: the organizations and keys of `key-states` repeated, each key with its response. */
export async function makeJob(keys: number): Promise<Job> {
  const scenario = jobScenario(keys);
  const sandbox = createSandbox({ scenario });
  const exchanges = sandbox.keys.list().map(async ({ ref }) => {
    const key = sandbox.secret(ref);
    const headers = { "x-api-key": key };
    const response = await sandbox.fetch(`http://sandbox.example${path}`, { headers });
    return { ref, key, status: response.status, body: await response.text() };
  });
  return { scenario, exchanges: await Promise.all(exchanges) };
}

// Keys with a 200 must keep it for a whole load, and a key with a 429 must not recover during one.
const limits = { per_minute: 1e9, per_day: 1e9 };
// All keys of a rotation have the same limits.
const lasting = ["active", "live", "legacy", "legacy-live", "rotated", "retiring", "replacement"];

function jobScenario(keys: number): Scenario {
  const { organizations: bundled = {}, ...world } = bundledScenarios["key-states"] as Scenario;
  const organizations: NonNullable<Scenario["organizations"]> = {};
  const scenario = { ...world, clock: { ...world.clock, frozen: true }, organizations };
  for (let copy = 1, made = 0; ; copy++) {
    const numbered = (ref: string) => (copy === 1 ? ref : `${ref}-${copy}`);
    for (const [ref, { keys: own = {}, ...organization }] of Object.entries(bundled)) {
      made += Object.keys(own).length;
      if (made > keys) return scenario;
      const copies = Object.entries(own).map(([key, { replaced_by: next, ...state }]) => {
        const replacement = next === undefined ? {} : { replaced_by: numbered(next) };
        return [numbered(key), { ...state, ...(lasting.includes(key) && { limits }), ...replacement }];
      });
      organizations[numbered(ref)] = { ...organization, keys: Object.fromEntries(copies) };
    }
  }
}

/** The exchanges in the order of a load: mixed, so that a short round uses early and late keys alike. */
export function mixed(exchanges: readonly Exchange[]): Exchange[] {
  const draw = randomStream(1, "bench.peers");
  const drawn = exchanges.map((exchange) => ({ exchange, order: draw() }));
  return drawn.sort((one, other) => one.order - other.order).map(({ exchange }) => exchange);
}

/** What is wrong with a response; `undefined` if nothing is. Only the sandbox counts usage. */
export function faultOf(
  { status, body }: Exchange,
  response: { readonly status: number; readonly type: string; readonly body: string },
): string | undefined {
  if (response.status !== status) return `status ${response.status} instead of ${status}`;
  if (!response.type.startsWith("application/json")) return `content type ${response.type || "missing"}`;
  if (withoutUsage(response.body) !== withoutUsage(body)) return `body ${response.body} instead of ${body}`;
  return undefined;
}

function withoutUsage(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body)).replace(/"usage":\{"today":\d+\}/, '"usage":{}');
  } catch {
    return body;
  }
}
