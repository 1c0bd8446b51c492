import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { storySender } from "../../src/api/handle.js";
import { createSandbox, parseScenario, type Scenario } from "../../src/index.js";
import { type CaptureOptions, captureText } from "../../src/library/capture.js";
import { runtimeOf } from "../../src/library/create-sandbox.js";
import { openWorld } from "../../src/node/platform.js";
import type { Exchange } from "../../src/sandbox/journal/exchange.js";
import { settled } from "../../src/sandbox/operations/operations.js";
import type { SandboxState } from "../../src/sandbox/sandbox.js";
import { runStory, stepProblems } from "../../src/sandbox/story/run-step.js";
import { yamlText } from "../../src/scenario/yaml.js";
import { type SandboxServer, startServer } from "../../src/server/index.js";
import { anyScenario, command } from "../model/commands.js";
import { played, transcript } from "../model/transcript.js";
import { runs } from "../support/property-seed.js";
import { type Action, actions, type Place, perform, sessionScenario } from "./capture-sessions.js";

/** Runs a captured file as `verify` does, and returns the world after it; all has to be as expected. */
function verified(text: string): SandboxState {
  const world = openWorld(parseScenario(text), { frozen: true });
  const results = runStory(world, storySender(world));
  expect(results.flatMap(stepProblems)).toEqual([]);
  expect(results.length).toBe(world.story.steps.length);
  return world;
}

/** The requests as the client saw them, byte for byte. */
function answersOf({ history }: SandboxState, exchanges: readonly Exchange[] = history.requests()) {
  return exchanges.map(({ id, at, status, pathId, fault, answer, delivery }) => ({
    ...{ id, at, status, pathId, fault, cutAfter: delivery?.cutAfter, body: answer.body },
    headers: answer.headers,
  }));
}

const captured = (world: SandboxState, options: CaptureOptions = {}) => {
  const text = captureText(world, options);
  expect(text).not.toMatch(/(?:SVC|svc)_(?:test|live)_[\w-]/);
  return text;
};

/** Captures a session, wholly and in part, and proves each file. */
function captures(
  world: SandboxState,
  keys: ReadonlySet<string>,
  [from, to]: readonly [number, number],
): void {
  const exchanges = world.history.recorded().entries.filter((one) => "pathId" in one);
  if (exchanges.length === 0) {
    expect(() => captureText(world)).toThrow(expect.objectContaining({ code: "capture_impossible" }));
    return;
  }
  const text = captured(world);
  for (const key of keys) expect(text).not.toContain(key);
  const seen = answersOf(world, exchanges);
  expect(answersOf(verified(text))).toEqual(seen);

  const [first, last] = [from % seen.length, to % seen.length].toSorted((one, other) => one - other) as [
    number,
    number,
  ];
  const part = captured(world, { from: seen[first]?.id, to: seen[last]?.id });
  expect(answersOf(verified(part))).toEqual(seen.slice(0, last + 1));

  const ref = exchanges[first]?.key;
  if (typeof ref === "string") expect(answersOf(verified(captured(world, { key: ref })))).toEqual(seen);
}

async function session(
  place: Place,
  steps: readonly Action[],
  part: readonly [number, number],
): Promise<void> {
  const made = new Map<string, string>();
  for (const step of steps) await perform(place, made, step);
  captures(settled(runtimeOf(place.sandbox)), new Set([...place.keys, ...made.values()]), part);
}

const part = fc.tuple(fc.nat(30), fc.nat(30));

test("a capture of the model's requests gives the same responses", async () => {
  const commands = fc.array(command, { minLength: 1, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(anyScenario, commands, part, async (scenario, steps, chosen) => {
      const sandbox = createSandbox({ scenario });
      await transcript(played(sandbox), steps);
      captures(settled(runtimeOf(sandbox)), new Set(), chosen);
    }),
    runs(10),
  );
});

let server: SandboxServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

test("a capture of requests over HTTP gives the same responses", async () => {
  const { sandbox, url } = server;
  await fc.assert(
    fc.asyncProperty(sessionScenario, actions, part, async (scenario, steps, chosen) => {
      await startOver(scenario);
      await session({ sandbox, url, keys: new Set() }, steps, chosen);
    }),
    runs(10),
  );
});

async function startOver(scenario: Scenario): Promise<void> {
  const response = await fetch(`${server.url}/__sandbox/scenario`, {
    method: "PUT",
    headers: { "content-type": "application/yaml" },
    body: yamlText(scenario),
  });
  expect(response.status).toBe(200);
}
