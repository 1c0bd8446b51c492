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
