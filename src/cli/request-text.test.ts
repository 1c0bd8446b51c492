import { expect, test } from "vitest";
import { handle } from "../api/handle.js";
import { openWorld } from "../node/platform.js";
import { scenarioSecret } from "../sandbox/secrets.js";
import { bundledScenarios } from "../scenario/bundled.js";
import { paletteFor } from "./palette.js";
import { requestText } from "./request-text.js";

const palette = paletteFor({ isTTY: false } as never, {});

test.each([
  ["untouched", / {2}200 .* {2}200\.test .* {2}untouched$/],
  ["delayed", / {2}200 .* {2}200\.test .*2000\.\d ms {2}delayed {2}fault\.latency$/],
  ["unavailable", / {2}503 service_unavailable {2,}fault\.status .* {2}unavailable$/],
  ["hanging", / {2}no answer {2,}fault\.hang .* {2}hanging$/],
])("a request with the key %s of bad-day is one line that says what became of it", (ref, line) => {
  const world = openWorld(bundledScenarios["bad-day"]);
  handle(world, { method: "GET", path: "/v1/relying-party/me", apiKey: scenarioSecret(world, ref) });
  const [entry] = world.journal.list();
  expect(entry && requestText(entry, palette)).toMatch(line);
});

test("the advice that a request earned stands at the end of its line", () => {
  const world = openWorld(bundledScenarios["key-states"]);
  const apiKey = scenarioSecret(world, "revoked");
  for (let i = 0; i < 2; i++) handle(world, { method: "GET", path: "/v1/relying-party/me", apiKey });
  const lines = world.journal.list().map((entry) => requestText(entry, palette));
  expect(lines).toEqual([
    expect.stringMatching(/ revoked$/),
    expect.stringMatching(/ revoked {2}same-key-after-401$/),
  ]);
});
