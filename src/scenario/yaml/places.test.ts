import { expect, test } from "vitest";
import { parseScenario } from "../parse-scenario.js";
import { ScenarioError } from "../problems.js";

const secret = "hunter2-prod";

/** The problems of a key with these lines, as they are shown. */
function shownFor(lines: string): string {
  const key =
    "version: 1\norganizations:\n  bank:\n    type: bank\n    keys:\n      main:\n        environment: test\n";
  return problemsOf(`${key}${lines}\n`);
}

function problemsOf(text: string): string {
  try {
    parseScenario(text);
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
  `        x-a: b\n        x-a: &a ${secret}\n        x-b: &b [*a]\n        secret: *b`,
  `        x-a: b\n        x-a: &a ${secret}\n        x-b: &b { c: *a }\n        x-c: &c [*b]\n        secret: *c`,
  `        x-a: &a ${secret}\n        secret: &b *a`,
  `        x-a: &a !env ${secret}\n        secret: *a`,
  `        x-a: &a !${secret} a\n        secret: *a`,
  `        x-a: &a "${secret}\n        secret: *a`,
  `        x-a: &a ${secret}: two\n        secret: *a`,
  `        x-a: &a\n          ${secret}: two: three\n        secret: *a`,
  `        x-a: [&a ${secret}, {]\n        secret: *a`,
  `        x-a: &a { ${secret}: *a }\n        secret: *a`,
  `        x-a: &a { ${secret}: 1, ${secret}: 2 }\n        secret: *a`,
  `        secret: &a ${secret}\n        state: *a`,
  `        state: &a ${secret}\n        secret: *a`,
  `        "secret": &a ${secret}\n        "state": *a`,
  `        secret: &a ${secret}\n        scopes: [*a]`,
  `        secret: &a "${secret} ${secret}"\n        scopes: *a`,
  `        secret: &a ${secret}\n        expires: *a`,
  `        secret: &a ${secret}\n        usage: *a`,
  `        secret: &a ${secret}\n        replaced_by: *a\n        state: rotated`,
  `        x-n: &n secret\n        *n : ${secret}`,
  `        x-n: &n secret\n        *n : "${secret}`,
  `        ? &a ${secret}\n        : 1\n        secret: *a`,
  `        ? secret\n        : &a ${secret}\n        state: *a`,
  `        ? secret\n        : "${secret}`,
  `        ? [secret]\n        : ${secret}`,
  `        secret: { ${secret}: 1, ${secret}: 2 }`,
  `        secret: { ${secret}: { __proto__: 1 } }`,
  `        secret: { ${secret}:b, c: d }`,
  `        secret: { scopes: ${secret}:read, x:write }`,
  `        secret:\n        - ${secret}\n        - a: [`,
  `        secret:\n        -\n          a: b\n          ${secret}: c: d`,
])("R46 no problem shows a secret without a prefix: %s", (lines) => {
  expect(shownFor(lines)).not.toContain("hunter2");
});

test("R46 no problem shows a secret that is a number", () => {
  expect(shownFor("        secret: 87654321")).not.toContain("87654321");
  expect(shownFor("        secret: 0765")).not.toContain("0765");
});

test.each([
  "body: { secret: 12345678901234567890 }",
  "body: { secret: [12345678901234567890] }",
  "body: { api_key: 012345678901234567890 }",
])("R46 no problem shows a number of a body that is a secret: %s", (body) => {
  const text = `version: 1\norganizations: { bank: { type: bank } }\nendpoints: { getLoans: { path: /loans, ${body} } }\n`;
  expect(problemsOf(text)).not.toContain("234567890");
});

test("R46 a scenario without problems may name an anchor twice, but not that of a secret", () => {
  const name = "version: 1\nname: &name Bank\ndescription: *name\norganizations: { bank: { type: bank } }\n";
  expect(parseScenario(name).description).toBe("Bank");
  expect(shownFor("        secret: &a SVC_test_sbx4eC39HqLyjWDarjtT1zdp7dc\n        name: *a")).toContain(
    "bad_alias",
  );
});
