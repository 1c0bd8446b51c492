import type { AddressInfo } from "node:net";
import { createSandbox, runtimeOf, type SandboxOptions } from "../library/create-sandbox.js";
import type { KeyRef, OrganizationRef, Sandbox, ScenarioSource } from "../library/sandbox.js";
import { loadScenario } from "../node/files/load-scenario.js";
import { instantOf, isoOf } from "../sandbox/clock.js";
import { isScenarioName } from "../scenario/bundled.js";
import { type RunningServer, serveRuntime } from "../server/serve.js";
import { requireKnownOptions } from "../spec/schema/check.js";
import { type JoinedSandbox, joinSandbox } from "./joined-sandbox.js";

/** A scenario file: a misspelled bundled name is not one. */
type ScenarioFile = `${string}.${string}` | `${string}/${string}`;

/** A bundled name, a scenario file, or a scenario as a value. */
export type FixtureSource = ScenarioSource | ScenarioFile;

/** The options of the sandbox of a test runner's fixtures. */
export interface FixtureOptions<Source = FixtureSource> extends Omit<SandboxOptions, "scenario"> {
  /** Default: the scenario of `svc-sandbox exec`, or `key-states`. */
  readonly scenario?: Source;
  /** Whether the clock is frozen. Default: true. */
  readonly frozen?: boolean;
}

/** The fixtures of a test. */
export interface SandboxFixtures<Key extends string = string, Organization extends string = string> {
  /** The sandbox in its initial state: reset before each test. */
  readonly sandbox: Sandbox<Key, Organization>;
  /** Returns the full key of a ref, as `sandbox.secret` does; throws `unknown_ref`, with the known refs. */
  readonly secret: Sandbox<Key, Organization>["secret"];
}

/** The fixtures of a scenario, with its refs if the type contains them. */
export type FixturesOf<Source> = SandboxFixtures<KeyRef<Source>, OrganizationRef<Source>>;

/** The shared fixtures, each created at first use. */
export interface SharedFixtures {
  /** The sandbox that `sandbox` resets, for hooks that run once. */
  readonly sharedSandbox: Sandbox;
  /** A server of the sandbox, on a free port, or the instance of `svc-sandbox exec`. */
  readonly server: Omit<RunningServer, "close">;
}

type Use<Value> = (value: Value) => Promise<void>;

const joined = new WeakMap<Sandbox, JoinedSandbox>();

/**
 * Uses the sandbox of fixtures: under `svc-sandbox exec` an instance there, which counts the requests.
 *
 * Throws the errors of `createSandbox` and `loadScenario`.
 */
export async function useSandbox(options: FixtureOptions, use: Use<Sandbox>): Promise<void> {
  const { SVC_CONTROL_URL: controlUrl, SVC_SANDBOX_CONTROL_TOKEN: token } = process.env;
  const standard = controlUrl === undefined ? "key-states" : undefined;
  const { scenario = standard, frozen = true, now, ...others } = options;
  const isLoaded = typeof scenario === "string" && (controlUrl === undefined || !isScenarioName(scenario));
  const source = isLoaded ? (await loadScenario(scenario)).scenario : scenario;
  if (controlUrl === undefined) {
    return use(createSandbox({ ...options, frozen, scenario: source } as SandboxOptions));
  }
  requireKnownOptions("create the sandbox", options, ["scenario", "seed", "now", "frozen", "profile"]);
  const at = now === undefined ? undefined : isoOf(instantOf(now));
  const instance = joinSandbox(controlUrl, token, { ...others, scenario: source, frozen, now: at });
  joined.set(instance.sandbox, instance);
  await use(instance.sandbox);
  await instance.leave();
}

/** Serves the sandbox while it is used; a sandbox in another process is served there. */
export async function serveWhile(sandbox: Sandbox, use: Use<SharedFixtures["server"]>): Promise<void> {
  const instance = joined.get(sandbox);
  if (instance !== undefined) {
    const { url, close } = await forwardTo(instance.url);
    const { SVC_SANDBOX_CONTROL_TOKEN: controlToken } = process.env;
    await use({ url, localUrl: url, controlUrl: instance.controlUrl, controlToken, certificate: undefined });
    return close();
  }
  const { close, ...server } = await serveRuntime(runtimeOf(sandbox), { port: 0 });
  await use(server);
  await close(0);
}

const http = process.getBuiltinModule("node:http");
const https = process.getBuiltinModule("node:https");

/**
 * Serves a base URL's paths at their own origin: a path with a leading slash, such as `/v1/…`, would leave an instance's
 * base URL. Each request has its own connection, which faults reset, hold and cut.
 */
async function forwardTo(baseUrl: string) {
  const { protocol, hostname, port, pathname } = new URL(baseUrl);
  const { request } = protocol === "https:" ? https : http;
  const server = http.createServer((incoming, outgoing) => {
    const { socket, method, url: path = "/", rawHeaders: headers } = incoming;
    const to = { protocol, hostname, port, path: pathname + path, method, agent: false };
    const sent = request({ ...to, headers: headers as never, setHost: false }, (response) => {
      outgoing.sendDate = false;
      outgoing.writeHead(response.statusCode as number, response.statusMessage, response.rawHeaders);
      // The client gets the head and the received part of the body.
      response.once("error", () => socket.destroySoon()).pipe(outgoing);
    });
    sent.once("error", () => (outgoing.headersSent ? socket.destroySoon() : socket.resetAndDestroy()));
    outgoing.once("close", () => outgoing.writableFinished || sent.destroy());
    incoming.pipe(sent);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
