import { expect, test } from "vitest";
import { handle } from "../../api/handle.js";
import { openWorld } from "../../node/platform.js";
import { scenarioSecret } from "../../sandbox/secrets.js";
import { bundledScenarios } from "../../scenario/bundled.js";
import { paletteFor } from "../terminal.js";
import { requestLine } from "./log.js";

const palette = paletteFor({ isTTY: false } as never, {});

test.each([
  ["untouched", / {2}200 .* {2}200\.test .* {2}untouched$/],
  ["delayed", / {2}200 .* {2}200\.test .*\d\.\d ms {2}delayed {2}fault\.latency$/],
  ["unavailable", / {2}503 service_unavailable {2,}fault\.status .* {2}unavailable$/],
  ["hanging", / {2}no answer {2,}fault\.hang .* {2}hanging$/],
])("a request with the key %s of bad-day is one line that says what became of it", (ref, line) => {
  const world = openWorld(bundledScenarios["bad-day"]);
  handle(world, { method: "GET", path: "/v1/relying-party/me", apiKey: scenarioSecret(world, ref) });
  const [entry] = world.journal.list();
  expect(entry && requestLine(entry, palette)).toMatch(line);
});

test("the advice that a request earned stands at the end of its line", () => {
  const world = openWorld(bundledScenarios["key-states"]);
  handle(world, { method: "GET", path: "/v1/relying-party/me", apiKey: scenarioSecret(world, "legacy") });
  const [entry] = world.journal.list();
  expect(entry && requestLine(entry, palette)).toMatch(/ legacy {2}legacy-key-in-use$/);
});
