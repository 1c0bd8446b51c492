import { request as httpRequest } from "node:http";
import { describe } from "vitest";
import { handle } from "../../src/api/handle.js";
import { type OpenWorldOptions, openWorld } from "../../src/node/open-world.js";
import { serveHost } from "../../src/node/serve-host.js";
import { createHost } from "../../src/sandbox/host.js";
import { scenarioSecret, type World } from "../../src/sandbox/world.js";
import { bundledScenarios, type ScenarioName } from "../../src/scenario/bundled.js";
import type { Scenario } from "../../src/scenario/scenario.generated.js";

/** An answer as a client sees it, whichever door it came through. */
export interface Seen {
  readonly status: number;
  /** Names as they were sent; without those that belong to the connection (Date, Connection, Keep-Alive). */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** What a test sends. */
export interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A world behind a door, and how to knock. */
export interface OpenDoor {
  readonly world: World;
  readonly send: (sent: Sent) => Promise<Seen>;
  /** `GET /v1/relying-party/me` with the key of a ref, or with what is given as the header itself. */
  readonly me: (key: { ref: string } | { header: string } | undefined) => Promise<Seen>;
  readonly close: () => Promise<void>;
}

type Knock = Omit<OpenDoor, "world" | "me">;

/** A door: a way in which a client reaches the sandbox. */
interface Door {
  readonly name: string;
  readonly open: (world: World) => Promise<Knock>;
}

export const mePath = "/v1/relying-party/me";

const core: Door = {
  name: "core",
  async open(world) {
    return {
      async send({ method = "GET", path = mePath, headers = {} }) {
        const apiKey = Object.entries(headers).find(([name]) => name.toLowerCase() === "x-api-key")?.[1];
        const [plainPath = ""] = path.split("?");
        const { answer } = handle(world, { method, path: plainPath, apiKey });
        const pairs: [string, string][] = [];
        for (let i = 0; i < answer.headers.length; i += 2) {
          pairs.push([answer.headers[i] as string, answer.headers[i + 1] as string]);
        }
        return { status: answer.status, headers: pairs, body: answer.body };
      },
      async close() {},
    };
  },
};

const ofTheConnection = new Set(["date", "connection", "keep-alive", "transfer-encoding"]);

const socket: Door = {
  name: "socket",
  async open(world) {
    const server = await serveHost(
      createHost(() => world),
      { port: 0 },
    );
    return {
      send: ({ method = "GET", path = mePath, headers = {}, body }) =>
        new Promise((resolve, reject) => {
          const url = new URL(server.url);
          const framed =
            body === undefined ? headers : { ...headers, "content-length": Buffer.byteLength(body) };
          const sending = httpRequest(
            { host: url.hostname, port: url.port, method, path, headers: framed, agent: false },
            (response) => {
              const chunks: Buffer[] = [];
              response.on("data", (chunk) => chunks.push(chunk));
              response.on("end", () =>
                resolve({
                  status: response.statusCode ?? 0,
                  headers: pairsOf(response.rawHeaders),
                  body: Buffer.concat(chunks).toString("utf8"),
                }),
              );
            },
          );
          sending.on("error", reject);
          sending.end(body);
        }),
      close: () => server.close(),
    };
  },
};

function pairsOf(raw: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let i = 0; i < raw.length; i += 2) {
    if (!ofTheConnection.has((raw[i] as string).toLowerCase()))
      pairs.push([raw[i] as string, raw[i + 1] as string]);
  }
  return pairs;
}

export const doors: readonly Door[] = [core, socket];

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
      const knock = await door.open(world);
      return {
        ...knock,
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

/** The value of a header, whatever its case; `undefined` when it is not there. */
export function headerOf(seen: Seen, name: string): string | undefined {
  return seen.headers.find(([one]) => one.toLowerCase() === name.toLowerCase())?.[1];
}
