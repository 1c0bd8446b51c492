import type { Sandbox, Scenario, ScenarioName } from "../../src/index.js";
import { sandboxOn } from "../../src/library/create-sandbox.js";
import { readRedisAddress } from "../../src/node/addresses.js";
import { loadScenario } from "../../src/node/files/load-scenario.js";
import { instantOf } from "../../src/sandbox/clock.js";
import { givenOptions } from "../../src/sandbox/start.js";
import { parseDuration } from "../../src/scenario/format/fields.js";
import { resolveSource } from "../../src/scenario/parse-scenario.js";
import { type RunningServer, serve } from "../../src/server/serve.js";
import { openRedisStore, type RedisOptions } from "../../src/store/redis/redis-store.js";
import type { Store } from "../../src/store/store.js";
import { control } from "./call-control.js";
import type { Operated } from "./conformance-script.js";
import type { OpenOptions } from "./doors.js";

/** A server on a socket that is one replica. */
export interface ReplicaServer extends RunningServer {
  readonly store: Store;
  /** Looks at this replica's own copy; what is changed by it, the others do not know. */
  readonly copy: Sandbox;
  readonly port: number;
  /** Its warnings, notes and audit lines. */
  readonly lines: readonly string[];
}

export interface ReplicaTestOptions extends OpenOptions, Partial<RedisOptions> {
  readonly controlToken?: string;
  /** Default: a free one. */
  readonly port?: number;
}

/** Starts a server that is a replica over a Redis, its clock frozen at the start unless told otherwise. */
export async function startReplica(
  url: string,
  source: ScenarioName | Scenario,
  { controlToken, port = 0, now, frozen = true, seed, profile, ...options }: ReplicaTestOptions = {},
): Promise<ReplicaServer> {
  const address = readRedisAddress(url);
  if (address === undefined) throw new Error("no address");
  const lines: string[] = [];
  const add = (line: string) => void lines.push(line);
  const store = await openRedisStore({
    ...{ address, onProblem: fail, onNote: add, onWarning: add },
    // Only the tests of deadlines wait as short as the product does: a busy machine can stop for seconds.
    timeout: 20_000,
    named: typeof source === "string" ? await loadScenario(source) : resolveSource(source),
    given: givenOptions({ frozen, seed, profile, now: now === undefined ? undefined : instantOf(now) }),
    ...options,
  });
  const server = await serve(store, {
    port,
    onDefect: fail,
    onAudit: ({ action, result }) => add(`${result} ${action}`),
    ...(controlToken && { controlToken }),
  });
  return {
    ...{ ...server, store, lines },
    copy: sandboxOn(store.sandbox),
    port: Number(new URL(server.url).port),
    async close(...how) {
      await server.close(...how);
      await store.close();
    },
  };
}

function fail(error: unknown): void {
  // Vitest reports it as an unhandled error.
  Promise.reject(error);
}

/** Operates a sandbox over the control planes of its replicas, the next one of which `controlUrl` gives. */
export function operatedOver(controlUrl: () => string | undefined, copy: Sandbox): Operated {
  const call = async (method: string, path: string, body: object = {}) => {
    const { status, body: response } = await control(controlUrl(), `${method} ${path}`, body);
    if (status >= 400) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(response)}`);
    return response.data;
  };
  return {
    secret: copy.secret,
    clock: { advance: (by) => call("POST", "/clock/advance", { by }) },
    keys: {
      revoke: (key) => call("POST", `/keys/${key}/revoke`),
      rotate: (key, { as, overlap }) =>
        call("POST", `/keys/${key}/rotate`, {
          as,
          overlap_minutes: (parseDuration(String(overlap)) as number) / 60_000,
        }),
    },
    reset: () => call("POST", "/reset"),
  };
}
