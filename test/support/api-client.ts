import type { Scenario, ScenarioName } from "../../src/index.js";
import { type Client, clientInProcess, openSandbox } from "./doors.js";

/** A client of a sandbox in this process, with what tests of the API ask for. */
export interface ApiClient extends Client {
  readonly status: (ref: string) => Promise<number>;
  readonly statuses: (ref: string, times: number) => Promise<number[]>;
  /** The `data` of a 200. */
  readonly data: (ref: string) => Promise<Record<string, unknown> & { usage: { today: number } }>;
  /** The path of the last request. */
  readonly lastPath: () => string | undefined;
}

/** Opens a sandbox and its client. Every entry point responds as this one does: the conformance tests prove it. */
export function openApi(scenario: ScenarioName | Scenario): ApiClient {
  const client = clientInProcess(openSandbox(scenario));
  const status = async (ref: string) => (await client.me({ ref })).status;
  return {
    ...client,
    status,
    async statuses(ref, times) {
      const all: number[] = [];
      for (let i = 0; i < times; i++) all.push(await status(ref));
      return all;
    },
    data: async (ref) => JSON.parse((await client.me({ ref })).body).data,
    lastPath: () => client.sandbox.requests.list({ limit: 1 })[0]?.outcome,
  };
}

/** A sandbox of one bank with one test key of these properties. */
export function oneKey(key: Record<string, unknown>, rest: Partial<Scenario> = {}): Scenario {
  const keys = { key: { environment: "test", ...key } as never };
  const organizations = { "test-bank": { name: "Test Bank", type: "bank" as const, keys } };
  return { version: 1, clock: { now: "2026-03-02T09:00:00Z" }, ...rest, organizations };
}
