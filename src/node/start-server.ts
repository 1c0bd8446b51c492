import type { Profile } from "../domain/assumptions.js";
import { starterOf, worldStarter } from "../library/create-sandbox.js";
import type { KeyRef, OrganizationRef, ScenarioSource } from "../library/refs.js";
import type { Instant, Sandbox } from "../library/sandbox.js";
import { sandboxOn } from "../library/sandbox-on.js";
import { createHost } from "../sandbox/host.js";
import type { World } from "../sandbox/world.js";
import { nodeEdge } from "./edge.js";
import { loadScenario } from "./load-scenario.js";
import { type RunningServer, type ServeOptions, serveHost } from "./serve-host.js";

/** How to start a server. */
export interface ServerOptions<Source = ScenarioSource | (string & {})> extends Partial<ServeOptions> {
  /** A bundled name, a scenario file, or a scenario as a value. Default: `key-states`. */
  readonly scenario?: Source;
  /** Default: the scenario's, else 1. */
  readonly seed?: number;
  /** When the clock starts. Default: the scenario's, else the real time. */
  readonly now?: Instant;
  /** Whether the clock stands still until it is moved. Default: the scenario's, else false. */
  readonly frozen?: boolean;
  /** Which set of assumptions is the base. Default: the scenario's, else `minimal`. */
  readonly profile?: Profile;
  /** Default: 0, any free port. */
  readonly port?: number;
}

/** A server and its sandbox. */
export interface SandboxServer<Key extends string = string, Organization extends string = string>
  extends RunningServer,
    AsyncDisposable {
  readonly sandbox: Sandbox<Key, Organization>;
}

/**
 * Starts a server of a sandbox of its own; resolves once requests are accepted.
 *
 * Throws what `createSandbox` and {@link loadScenario} throw, `address_in_use`, `address_unavailable`, or `usage` for
 * handlers that cannot be used.
 *
 * @example
 * await using server = await startServer({ scenario: "key-states" });
 * const response = await fetch(`${server.url}/v1/relying-party/me`, {
 *   headers: { "x-api-key": server.sandbox.secret("active") },
 * });
 * response.status; // 200
 */
export async function startServer<const Source extends ScenarioSource | (string & {}) = "key-states">(
  options: ServerOptions<Source> = {},
): Promise<SandboxServer<KeyRef<Source>, OrganizationRef<Source>>> {
  const host = createHost(await starter(options));
  const running = await serveHost(host, { ...options, port: options.port ?? 0 });
  const server: SandboxServer = {
    ...running,
    sandbox: sandboxOn(host),
    [Symbol.asyncDispose]: () => running.close(),
  };
  return server as SandboxServer<KeyRef<Source>, OrganizationRef<Source>>;
}

async function starter({ scenario = "key-states", ...rest }: ServerOptions): Promise<() => World> {
  if (typeof scenario !== "string") return worldStarter(nodeEdge, { ...rest, scenario });
  const loaded = await loadScenario(scenario);
  return starterOf(nodeEdge, loaded.scenario, { ...rest, name: loaded.name });
}
