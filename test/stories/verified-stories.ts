import { storyScenario } from "./story-scenario.js";

/** A scenario whose story holds. */
export const good = storyScenario([
  "- say: A bank calls the API for the first time.",
  "- request: { key: active }",
  "  expect: { status: 200, body: { data: { usage: { today: 1 } } } }",
  "- rotate: { key: active, as: active-2, overlap: 60m }",
  "- revoke: { key: active-2, actor: member }",
  "  expect: { error: not_an_administrator }",
  "- request: { key: active-2, repeat: 3 }",
  "- advance: 61m",
  "- request: { key: active }",
  "  expect: { status: 401, code: unauthorized, path: 401.rotated }",
]);

/** One whose second step fails, in two ways. */
export const failing = storyScenario([
  "- request: { key: active }",
  "- request: { key: revoked }",
  "  expect:",
  "    status: 401",
  "    headers: { content-type: text/plain }",
  "    body: { error: { message: Nothing. } }",
  "- say: Nobody gets here.",
]);
