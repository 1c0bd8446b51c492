import { runCall } from "../../src/control/run-call.js";
import type { Sandbox, Scenario, ScenarioName } from "../../src/index.js";
import { sandboxOn } from "../../src/library/create-sandbox.js";
import type { Log } from "../../src/log/log.js";
import { startAt } from "../../src/log/replica/registry.js";
import { openReplica } from "../../src/log/replica/replica.js";
import { type FirstStates, firstStatesOf } from "../../src/log/replica/server-state.js";
import type { ServerLog } from "../../src/log/replica/shared-log.js";
import { loadScenario } from "../../src/node/files/load-scenario.js";
import { parseDuration } from "../../src/scenario/format/time.js";
import { type NamedScenario, resolveSource } from "../../src/scenario/parse-scenario.js";
import { serve } from "../../src/serve/serve.js";
import type { RunningServer } from "../../src/server/serve-log.js";
import { instantOf } from "../../src/world/clock.js";
import { givenOptions } from "../../src/world/runtime.js";
import { describeRuntime } from "../../src/world/state.js";
import { control } from "./call-control.js";
import type { Operated } from "./conformance-script.js";
import type { OpenOptions } from "./doors.js";
import { foundedAs } from "./memory-log.js";

/** A server on a socket that is one replica. */
export interface ReplicaServer extends RunningServer {
  readonly log: Log;
  /** Looks at this replica's own copy; what is changed by it, the others do not know. */
  readonly copy: Sandbox;
  readonly port: number;
}

/** Options of a replica in a test. */
export interface ReplicaTestOptions extends OpenOptions {
  readonly compactEvery?: number;
  readonly instanceTtl?: number;
  readonly maxMemory?: number;
  readonly controlToken?: string;
  readonly onProblem?: (error: unknown) => void;
  /** Default: a free one. */
  readonly port?: number;
}

/** The first states of a log that is founded before its scenario is known. */
export function foundedAt(now: number): FirstStates {
  return { server: { at: now, text: foundedAs(now) }, instances: [] };
}

/** Starts a server that is a replica of a log, its clock frozen at the start unless told otherwise. */
export async function startReplica(
  log: ServerLog,
  source: ScenarioName | Scenario,
  {
    compactEvery,
    instanceTtl,
    maxMemory,
    controlToken,
    onProblem = fail,
    port = 0,
    ...options
  }: ReplicaTestOptions = {},
): Promise<ReplicaServer> {
  const own = await named(source);
  const given = givenOptions({
    frozen: true,
    ...options,
    now: options.now === undefined ? undefined : instantOf(options.now),
  });
  const firstText = (now: number) => {
    const runtime = startAt(now, own, given);
    const state = { own: describeRuntime(runtime), idSeries: runtime.idSeries.last, instances: [] };
    return firstStatesOf(state, now).server.text;
  };
  const replica = await openReplica({
    ...{ given, runCall },
    log: {
      ...log,
      follow: ({ start, ...follower }) =>
        log.follow({
          ...follower,
          start({ position, text }) {
            const now = Number(text);
            start({ position, text: text === foundedAs(now) ? firstText(now) : text });
          },
        }),
    },
    onProblem,
    ...(compactEvery !== undefined && { compactEvery }),
    ...(instanceTtl !== undefined && { instanceTtl }),
    maxMemory,
  });
  const server = await serve(replica, { port, onDefect: fail, ...(controlToken && { controlToken }) });
  return {
    ...server,
    log: replica,
    copy: sandboxOn(replica.runtime),
    port: Number(new URL(server.url).port),
    async close(...how) {
      await server.close(...how);
      await replica.close();
    },
  };
}

// As startServer does it.
async function named(source: ScenarioName | Scenario): Promise<NamedScenario> {
  return typeof source === "string" ? loadScenario(source) : resolveSource(source);
}

function fail(error: unknown): void {
  // Vitest reports it as an unhandled error.
  Promise.reject(error);
}

/** Operates a sandbox over the control planes of its replicas, the next one of which `controlUrl` gives. */
export function operatedOver(controlUrl: () => string | undefined, copy: Sandbox): Operated {
  const call = async (method: string, path: string, body: object = {}) => {
    const { status, body: answer } = await control(controlUrl(), `${method} ${path}`, body);
    if (status >= 400) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`);
    return answer.data;
  };
  return {
    secret: copy.secret,
    unknownSecret: copy.unknownSecret,
    clock: { advance: (by) => call("POST", "/clock/advance", { by }) },
    keys: {
      revoke: (key) => call("POST", `/keys/${key}/revoke`),
      rotate: (key, { as, overlap }) =>
        call("POST", `/keys/${key}/rotate`, {
          as,
          overlap_minutes: (parseDuration(String(overlap)) as number) / 60_000,
        }),
    },
    organizations: { update: (ref, change) => call("PATCH", `/organizations/${ref}`, change) },
    reset: () => call("POST", "/reset"),
  };
}
