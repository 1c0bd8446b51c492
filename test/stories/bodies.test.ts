import { expect, test } from "vitest";
import { storySender } from "../../src/api/story-sender.js";
import { createSandbox } from "../../src/index.js";
import { runtimeOf } from "../../src/library/current-sandbox.js";
import { runNextStep } from "../../src/sandbox/story/run-step.js";
import type { StoryStep } from "../../src/sandbox/story/story.js";
import { parseScenario } from "../../src/scenario/parse-scenario.js";

const post = { method: "POST", path: "/v1/relying-party/consent-requests" };

/** The status of the request when it is told, and the headers that it was sent with. */
async function told(request: NonNullable<StoryStep["request"]>) {
  const scenario = parseScenario(
    JSON.stringify({
      version: 1,
      preview: true,
      population: { farmers: 1 },
      organizations: {
        "a-bank": { type: "bank", keys: { main: { environment: "test", scopes: ["consents:write"] } } },
      },
      story: [{ request }],
    }),
  );
  const world = runtimeOf(createSandbox({ scenario })).world();
  const step = runNextStep(world, storySender(world));
  return [step?.answer?.status, step?.request?.headers];
}

test("a text is sent as a text, and anything else as JSON", async () => {
  expect(await told({ ...post, body: "{}" })).toEqual([400, { "content-type": "text/plain" }]);
  expect(await told({ ...post, body: {} })).toEqual([422, { "content-type": "application/json" }]);
});

test("a text is sent as what the headers of the request say", async () => {
  const headers = { "Content-Type": "application/json" };
  expect(await told({ ...post, headers, body: "{}" })).toEqual([422, { "content-type": "application/json" }]);
});
