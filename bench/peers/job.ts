import { randomStream } from "../../src/domain/seed.js";
import { createSandbox } from "../../src/index.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import type { Scenario } from "../../src/scenario/scenario.generated.js";

/** A key of the job, and the answer that a server has to give it. */
export interface Exchange {
  readonly ref: string;
  readonly key: string;
  readonly status: number;
  /** As the sandbox sends it: JSON without spaces. */
  readonly body: string;
}

/** What every server is asked to do: one endpoint that answers by the key. */
export interface Job {
  readonly scenario: Scenario;
  readonly exchanges: readonly Exchange[];
}

/** The path that every request of the job asks for. */
export const path = "/v1/relying-party/me";

/** The job with that many keys: the organizations and keys of `key-states` over and over, each with its answer. */
export async function makeJob(keys: number): Promise<Job> {
  const scenario = jobScenario(keys);
  const sandbox = createSandbox({ scenario });
  const exchanges: Exchange[] = [];
  for (const { keys: ofOne = {} } of Object.values(scenario.organizations ?? {})) {
    for (const ref of Object.keys(ofOne)) {
      const key = sandbox.secret(ref);
      const response = await sandbox.fetch(`http://sandbox.example${path}`, {
        headers: { "x-api-key": key },
      });
      exchanges.push({ ref, key, status: response.status, body: await response.text() });
    }
  }
  return { scenario, exchanges };
}

// Keys that answer 200 have to do so for a whole load, and a key of 429 may not recover in the middle of it.
const limits = { per_minute: 1e9, per_day: 1e9 };
// One rotation has the same limits throughout.
const lasting = ["active", "live", "legacy", "legacy-live", "rotated", "retiring", "replacement"];

function jobScenario(keys: number): Scenario {
  const { organizations: bundled = {}, ...world } = bundledScenarios["key-states"] as Scenario;
  const organizations: NonNullable<Scenario["organizations"]> = {};
  const scenario = { ...world, clock: { ...world.clock, frozen: true }, organizations };
  let made = 0;
  for (let copy = 1; ; copy++) {
    for (const [ref, organization] of Object.entries(bundled)) {
      const own = Object.entries(organization.keys ?? {});
      if (made + own.length > keys) return scenario;
      made += own.length;
      organizations[numbered(ref, copy)] = {
        ...organization,
        keys: Object.fromEntries(
          own.map(([key, { replaced_by, ...state }]) => [
            numbered(key, copy),
            {
              ...state,
              ...(lasting.includes(key) && { limits }),
              ...(replaced_by !== undefined && { replaced_by: numbered(replaced_by, copy) }),
            },
          ]),
        ),
      };
    }
  }
}

function numbered(ref: string, copy: number): string {
  return copy === 1 ? ref : `${ref}-${copy}`;
}

/** The exchanges in the order in which a load asks for them: mixed, so that a short round meets early and late keys alike. */
export function mixed(exchanges: readonly Exchange[]): Exchange[] {
  const draw = randomStream(1, "bench.peers");
  return exchanges
    .map((exchange) => ({ exchange, at: draw() }))
    .sort((a, b) => a.at - b.at)
    .map(({ exchange }) => exchange);
}

/** What is wrong with an answer, in words; `undefined` when it is right. Usage is counted by the sandbox alone. */
export function faultOf({ status, body }: Exchange, answer: { status: number; type: string; body: string }) {
  if (answer.status !== status) return `status ${answer.status} instead of ${status}`;
  if (!answer.type.startsWith("application/json")) return `content type ${answer.type || "missing"}`;
  if (withoutUsage(answer.body) !== withoutUsage(body)) return `body ${answer.body} instead of ${body}`;
  return undefined;
}

function withoutUsage(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body)).replace(/"usage":\{"today":\d+\}/, '"usage":{}');
  } catch {
    return body;
  }
}
