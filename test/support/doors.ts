import { setupServer } from "msw/node";
import { onTestFinished } from "vitest";
import {
  createSandbox,
  type Sandbox,
  type SandboxOptions,
  type Scenario,
  type ScenarioName,
} from "../../src/index.js";
import { createHandlers } from "../../src/integrations/msw.js";
import { startInNode } from "../../src/node/platform.js";
import type { ConditionedRun, SandboxState, StartOptions } from "../../src/sandbox/sandbox-state.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import { sendOnSocket } from "./exchange.js";
import { type Seen, type Send, sendWithFetch } from "./send.js";
import { served } from "./servers.js";

export { headerOf, mePath, type Seen, type Sent } from "./send.js";

export type OpenOptions = Omit<SandboxOptions, "scenario">;

export interface Client {
  readonly sandbox: Sandbox;
  readonly send: Send;
  /** `GET /v1/relying-party/me` with the key of a ref, with a header as given, or without a key. */
  readonly me: (key?: { ref: string } | { header: string }) => Promise<Seen>;
  readonly port?: number;
}

/** An entry point through which a client of this process reaches a sandbox until the test is over. */
export interface Door {
  readonly name: string;
  readonly open: (scenario: ScenarioName | Scenario, options?: OpenOptions) => Promise<Client>;
}

/** Creates a sandbox in this process, frozen at its start unless told otherwise. */
export function openSandbox(scenario: ScenarioName | Scenario, options: OpenOptions = {}): Sandbox {
  return createSandbox({ scenario, frozen: true, ...options });
}

export function clientOf(sandbox: Sandbox, send: Send): Client {
  return {
    sandbox,
    send,
    me(key) {
      if (key === undefined) return send({});
      return send({ headers: { "x-api-key": "ref" in key ? sandbox.secret(key.ref) : key.header } });
    },
  };
}

/** A client of a sandbox in this process, through `sandbox.fetch`. */
export function clientInProcess(sandbox: Sandbox): Client {
  return clientOf(sandbox, sendWithFetch(sandbox.fetch, "https://any.example"));
}

const core: Door = { name: "core", open: async (...of) => clientInProcess(openSandbox(...of)) };

const msw: Door = {
  name: "msw",
  async open(scenario, options) {
    const sandbox = openSandbox(scenario, options);
    const baseUrl = "https://api.example";
    const server = setupServer(...createHandlers(sandbox, { baseUrl }));
    server.listen({ onUnhandledRequest: "error" });
    onTestFinished(() => server.close());
    return clientOf(sandbox, sendWithFetch(fetch, baseUrl));
  },
};

const socket: Door = {
  name: "socket",
  async open(scenario, options) {
    const { sandbox, url } = await served({ scenario, frozen: true, ...options });
    const port = Number(new URL(url).port);
    return { ...clientOf(sandbox, sendOnSocket(port)), port };
  },
};

/** The entry points that every test of the API goes through. */
export const doors: readonly Door[] = [core, msw, socket];

/** Opens a sandbox of a scenario, frozen at its start unless told otherwise. */
export function startFrozen(
  from: ScenarioName | Scenario,
  { run, ...options }: StartOptions & { readonly run?: ConditionedRun | undefined } = {},
): SandboxState {
  const scenario = typeof from === "string" ? bundledScenarios[from] : from;
  const name = scenario.name ?? "unnamed";
  return startInNode({ scenario, name }, { frozen: true, ...options }, run);
}
