import { setupServer } from "msw/node";
import { describe } from "vitest";
import { runtimeOf } from "../../src/library/current-sandbox.js";
import type { Sandbox } from "../../src/library/sandbox.js";
import { sandboxOn } from "../../src/library/sandbox-on.js";
import { createHandlers } from "../../src/msw/create-handlers.js";
import { loadFarmers } from "../../src/node/load-farmers.js";
import { type OpenWorldOptions, openWorld } from "../../src/node/open-world.js";
import { serveRuntime } from "../../src/node/serve-host.js";
import { createRuntime } from "../../src/sandbox/runtime.js";
import { scenarioSecret } from "../../src/sandbox/secrets.js";
import type { World } from "../../src/sandbox/world.js";
import { bundledScenarios, type ScenarioName } from "../../src/scenario/bundled.js";
import type { Scenario } from "../../src/scenario/scenario.generated.js";
import type { Seen, Send } from "./seen.js";
import { sendOnSocket } from "./send-on-socket.js";
import { sendWithFetch } from "./send-with-fetch.js";

export { headerOf, mePath, type Seen, type Sent } from "./seen.js";

// As every way to a running server does that shows farmers.
await loadFarmers();

/** A way to a sandbox that stands open. */
export interface Knock {
  readonly send: Send;
  readonly close: () => Promise<void>;
}

/** A door: a way in which a client of this process reaches a sandbox. */
export interface Door {
  readonly name: string;
  /** Whether its client can send a GET with a body, which Fetch forbids. */
  readonly takesGetBody: boolean;
  readonly open: (sandbox: Sandbox) => Promise<Knock>;
}

/** A world behind a door, and how to knock. */
export interface OpenDoor extends Knock {
  readonly takesGetBody: boolean;
  readonly world: World;
  /** `GET /v1/relying-party/me` with the key of a ref, or with what is given as the header itself. */
  readonly me: (key: { ref: string } | { header: string } | undefined) => Promise<Seen>;
}

const core: Door = {
  name: "core",
  takesGetBody: false,
  open: async (sandbox) => ({
    send: sendWithFetch(sandbox.fetch, "https://any.example"),
    async close() {},
  }),
};

const msw: Door = {
  name: "msw",
  // The fetch that msw puts in the place of the other one lets it pass.
  takesGetBody: true,
  async open(sandbox) {
    const baseUrl = "https://api.example";
    const server = setupServer(...createHandlers(sandbox, { baseUrl }));
    server.listen({ onUnhandledRequest: "error" });
    return { send: sendWithFetch(fetch, baseUrl), close: async () => server.close() };
  },
};

const socket: Door = {
  name: "socket",
  takesGetBody: true,
  async open(sandbox) {
    const server = await serveRuntime(runtimeOf(sandbox), { port: 0 });
    return { send: sendOnSocket(Number(new URL(server.url).port)), close: () => server.close() };
  },
};

/** The doors that every test of the API goes through. */
export const doors: readonly Door[] = [core, msw, socket];

/** Opens a world of a scenario, frozen at its start unless told otherwise. */
export function openTestWorld(scenario: ScenarioName | Scenario, options: OpenWorldOptions = {}): World {
  return openWorld(typeof scenario === "string" ? bundledScenarios[scenario] : scenario, {
    frozen: true,
    ...options,
  });
}

/** Runs the same tests through every door. `open` gives a fresh world behind the door. */
export function describeDoors(
  title: string,
  tests: (open: (scenario: ScenarioName | Scenario, options?: OpenWorldOptions) => Promise<OpenDoor>) => void,
): void {
  describe.each(doors)(`${title} ($name)`, (door) => {
    tests(async (scenario, options) => {
      const world = openTestWorld(scenario, options);
      const knock = await door.open(sandboxOn(createRuntime(() => world)));
      return {
        ...knock,
        takesGetBody: door.takesGetBody,
        world,
        me: (key) => {
          if (key === undefined) return knock.send({});
          const header = "ref" in key ? scenarioSecret(world, key.ref) : key.header;
          return knock.send({ headers: { "x-api-key": header } });
        },
      };
    });
  });
}
