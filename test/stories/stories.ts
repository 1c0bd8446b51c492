/** A scenario of one bank whose clock starts at a known time, with this story (the lines of a YAML list). */
export function storyScenario(story: readonly string[], more = ""): string {
  return [
    "version: 1",
    "clock: { now: 2026-03-02T09:00:00Z }",
    "organizations:",
    "  a-bank:",
    "    name: A Bank",
    "    type: bank",
    "    keys:",
    "      active: { environment: test, limits: { per_minute: 2 } }",
    "      revoked: { environment: test, state: revoked }",
    ...(more === "" ? [] : [more]),
    ...(story.length === 0 ? [] : ["story:"]),
    ...story.map((line) => `  ${line}`),
    "",
  ].join("\n");
}

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
  "  expect: { status: 401, code: unauthorized, outcome: 401.rotated }",
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
