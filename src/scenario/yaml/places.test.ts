import { expect, test } from "vitest";
import { parseScenario } from "../parse-scenario.js";
import { ScenarioError } from "../problems.js";

const secret = "hunter2-prod";

/** The problems of a key with these lines, as they are shown. */
function shownFor(lines: string): string {
  const key =
    "version: 1\norganizations:\n  bank:\n    type: bank\n    keys:\n      main:\n        environment: test\n";
  try {
    parseScenario(`${key}${lines}\n`);
  } catch (error) {
    if (error instanceof ScenarioError) return JSON.stringify(error.problems) + error.message;
  }
  throw new Error("the scenario has no problem");
}

test.each([
  `        secret:${secret}`,
  `        secret:\n          ${secret}:a`,
  `        secret: ${secret}: two`,
  `        secret: ${secret}\n          name: a`,
  `        secret:\n          ${secret}\n           name: a`,
  `        secret:\n# rotated in May\n          "${secret}`,
  `        secret:\n        # rotated in May\n\n          "${secret}`,
  `        secret ${secret}`,
  `        secret = ${secret}`,
  `        secret: *${secret}`,
  `        secret: !${secret} a`,
  `        secret: |\n          ${secret}`,
  `      second: secret:${secret}`,
  `      second: "secret: ${secret}"`,
  `      second: '{"secret": "${secret}"}'`,
  `      second:\n        secret:${secret}`,
  `      second:\n        - secret:${secret}`,
  `      second: { environment: test, secret:${secret} }`,
  `      second: { environment: test, secret ${secret} }`,
  `      second: { environment: test, secret = ${secret} }`,
  `      second: { environment: test, secert:${secret} }`,
  `      second: { environment: test, secret: \${SVC_KEY:-${secret}} }`,
  `        .secret: ${secret}`,
  `      second: { environment: test, secret_key:${secret} }`,
  `      second: { environment: test, secret_key ${secret} }`,
  `        sécret: ${secret}`,
  `        limits: api_key=a secret:${secret}`,
  `        scopes: [secret:${secret}]`,
  `        - token:${secret}`,
  `        x-of-key: b\n        x-of-key: &a ${secret}\n        secret: *a`,
  `        x-of-key: b\n        x-of-key: &a ${secret}\n        secret: [*a]`,
])("R46 no problem shows a secret without a prefix: %s", (lines) => {
  expect(shownFor(lines)).not.toContain("hunter2");
});

test("R46 no problem shows a secret that is a number", () => {
  expect(shownFor("        secret: 87654321")).not.toContain("87654321");
  expect(shownFor("        secret: 0765")).not.toContain("0765");
});
