import { storyScenario } from "./story-scenario.js";

/** What the story below begins with. */
export const narration =
  "A bank calls the API for the first time, and its engineers watch what comes back from it with some care.";

/** A scenario whose story has every kind of step. */
export const longStory = storyScenario([
  `- say: ${narration}`,
  "- request: { key: active }",
  "  expect: { status: 200 }",
  "- rotate: { key: active, as: active-2, overlap: 60m }",
  "- create_key: { organization: a-bank, environment: test, name: CI, ref: ci, actor: member }",
  "  expect: { error: not_an_administrator }",
  "- advance: 61m",
  "- request: { key: active, method: POST, path: /v1/nothing, body: { a: 1 } }",
  "- request: { key: none }",
  "- request: { key: malformed }",
  "- request: { key: unknown }",
  "- organization: { ref: a-bank, status: inactive }",
  "- faults: [{ then: { reset: true } }]",
  "- request: { key: active-2, repeat: 2 }",
  "- faults: [{ then: { hang: true } }]",
  "- request: { key: active-2 }",
  "- faults: []",
  "- revoke: { key: active-2 }",
]);
