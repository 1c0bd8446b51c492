import { expect, test } from "vitest";
import { type Misbehave, probeKeys, serveProbed } from "./support/probed-server.js";
import { runCli } from "./support/run-cli.js";
import { elementsOf } from "./support/xml-elements.js";

const formats = ["text", "json", "markdown", "junit"];

/** Answers with everything that could break out of a format, and with the key in every place there is. */
const hostile: Misbehave = (reply, { apiKey = "none" }) => {
  const nasty = `]]></failure> & "q" <b>|x|</b> \`c\` _e_ @you \u0000\u0007\u001b[31m\u202e\ud800 ${apiKey}`;
  const encoded = encodeURIComponent(encodeURIComponent(apiKey));
  const escaped = [...apiKey]
    .map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
  reply.headers["X-Request-Id"] = `id-${apiKey}`;
  reply.headers["X-Echo"] = [`${apiKey}`, encoded];
  reply.headers[`X-${apiKey.replaceAll("_", "-")}`] = "name";
  reply.headers["WWW-Authenticate"] = `ApiKey realm="${apiKey}"`;
  reply.bytes = JSON.stringify({
    error: { code: nasty, message: nasty, details: { [apiKey]: apiKey, rest: apiKey.slice(9) } },
    data: { organization: nasty, environment: nasty, scopes: [nasty], limits: { [nasty]: 1 } },
    [nasty]: nasty,
  }).replace('"code":"', `"code":"${escaped}`);
};

test.each(formats)("R46 no key is in the format %s, however it is repeated", async (format) => {
  for (const misbehave of [
    hostile,
    (reply, presented) => {
      hostile(reply, presented);
      if (presented.number > 1)
        Object.assign(reply, { status: 302, headers: { Location: `https://x.example/${presented.apiKey}` } });
    },
    (reply, { apiKey }) => {
      reply.bytes = `{"oops: ${apiKey}`;
    },
  ] satisfies Misbehave[]) {
    const { url } = await serveProbed(misbehave);
    const { code, stdout, stderr } = await runCli(["check", url, "--format", format, "--verbose"], {
      env: probeKeys,
    });
    expect([code, stderr]).toEqual([1, ""]);
    for (const key of Object.values(probeKeys)) {
      expect(stdout).not.toContain(key);
      expect(stdout).not.toContain(key.slice("SVC_test_".length));
    }
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    expect(stdout).not.toMatch(/[\u0000\u0007\u001b\u202e]/);
  }
});

test("JSON spells its members as the API does, and says everything", async () => {
  const { url } = await serveProbed((reply, { ref }) => {
    if (ref === "unknown") reply.status = 200;
  });
  const { stdout } = await runCli(["check", url, "--json"], { env: probeKeys });
  const report = JSON.parse(stdout);
  expect(report).toMatchObject({
    url: `${url}/v1/relying-party/me`,
    requests: 9,
    max_requests: 10,
    verdict: "differs",
  });
  expect(report.paths[2]).toEqual({ path_id: "401.unknown", got: "200 unauthorized", verdict: "differs" });
  expect(report.paths[3]).toEqual({
    path_id: "200.test",
    variable: "SVC_KEY_ACTIVE",
    got: "200",
    verdict: "agrees",
  });
  expect(report.rules[10]).toEqual({ rule: "R11", title: "an unknown key: 401", verdict: "differs" });
  expect(report.differences).toEqual([
    { rules: ["R11"], path_id: "401.unknown", at: "status", expected: "401", found: "200 unauthorized" },
  ]);
  expect(report.learned).toMatchObject({ request_id_on_errors: false });
  expect(report.not_learned).toHaveProperty("rate_limit_code");
});

test("JUnit is well-formed XML with a case for each path and rule", async () => {
  const right = await serveProbed();
  const { stdout } = await runCli(["check", right.url, "--format", "junit"], { env: probeKeys });
  const elements = elementsOf(stdout);
  const suites = elements.filter(({ name }) => name === "testsuite");
  expect(suites.map(({ attributes }) => [attributes.name, attributes.tests, attributes.failures])).toEqual([
    ["paths", "17", "0"],
    ["rules", "31", "0"],
  ]);
  expect(elements.filter(({ name }) => name === "testcase")).toHaveLength(48);

  const wrong = await serveProbed(hostile);
  const told = elementsOf(
    (await runCli(["check", wrong.url, "--format", "junit"], { env: probeKeys })).stdout,
  );
  const failures = told.filter(({ name }) => name === "failure");
  expect(failures.length).toBeGreaterThan(5);
  expect(told[0]?.attributes.failures).toBe(String(failures.length));
  expect(told.map(({ name }) => name)).not.toContain("b");
});

test("Markdown is tables whose rows have as many cells as their heads", async () => {
  const { url } = await serveProbed(hostile);
  const { stdout } = await runCli(["check", url, "--format", "markdown"], { env: probeKeys });
  const tables = stdout.split("\n\n").filter((block) => block.startsWith("|"));
  expect(tables).toHaveLength(3);
  for (const table of tables) {
    const widths = table.split("\n").map((row) => row.split("|").length);
    expect(new Set(widths).size).toBe(1);
    expect(table.split("\n")[1]).toMatch(/^\|(?:---\|)+$/);
  }
  expect(tables.join()).not.toMatch(/<b>|`c`|@you|\]\]>/);
  expect(stdout).toMatch(/\n```yaml\nassumptions:\n[\s\S]*\n```\n/);
});

test("colour is for terminals only", async () => {
  const { url } = await serveProbed();
  const plain = await runCli(["check", url]);
  const coloured = await runCli(["check", url], { terminal: true });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colour begins with it
  const colour = /\u001b\[\d+m/g;
  expect(plain.stdout).not.toMatch(colour);
  expect(coloured.stdout).toMatch(colour);
  expect(coloured.stdout.replace(colour, "")).toBe(plain.stdout);
});
