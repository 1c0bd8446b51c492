import { marked } from "marked";
import { expect, test } from "vitest";
import { certificateLayout, certificateText } from "../../src/certify/certificate/certificate-formats.js";
import { type ReportFormat, reportFormats } from "../../src/report/render/layout.js";
import { render } from "../../src/report/render/render.js";
import { membersToSnakeCase } from "../../src/schema/spelling.js";
import { failed } from "../certify/certified.js";
import { elementsOf } from "../report/xml-elements.js";
import { baseUrl, runCli, serve } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// What somebody else wrote must not write annotations, images or markup into a log, a summary or a page.

const marks = "![forged](x) **forged** <img src=forged> `` <b>forged</b> | </td> ]]> \" '";
const hostile = ["\n", "\r", "\u2028", "\u0085", "\u001B[2K\n", "\u202E", "\u0000\n", ""].map(
  (end) => `${end}::error::forged${end}  ::error::forged ${marks} ##[error]forged`,
);
const env = { GITHUB_ACTIONS: "true" };

/** Expects that a text has no command of a CI log, no control character and, in its format, no forged markup. */
function expectHonest(text: string, format: ReportFormat = "text") {
  expect(text).not.toMatch(/(?:^|[\r\n])\s*::(?!(?:error|warning|notice) title=svc-sandbox [\w -]+::)/);
  if (format !== "json") {
    expect(text).not.toMatch(/##\[|(?![\n\t])[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u);
  }
  const html = format === "markdown" ? String(marked.parse(text)) : "";
  expect(html).not.toMatch(/<img|<(?:b|strong)>forged/);
  if (format === "junit") expect(elementsOf(text).map(({ name }) => name)).not.toContain("b");
}

const scenario = (more: object) =>
  JSON.stringify({
    version: 1,
    ...more,
    organizations: { bank: { type: "bank", keys: { main: { environment: "test" } } } },
  });

test.each(hostile)("endpoints with %j forge no output", async (text) => {
  const safe = { path: "/a/{id}", body: { [text]: text } };
  const cwd = temporaryFolder({
    "own.yaml": scenario({ endpoints: { readA: safe } }),
    "name.yaml": scenario({ endpoints: { [text]: safe } }),
    "path.yaml": scenario({ endpoints: { readA: { ...safe, path: `/${text}` } } }),
  });
  const commands = ["validate own.yaml", "validate name.yaml", "validate path.yaml"];
  for (const words of [...commands, "validate --json path.yaml", "keys own.yaml"]) {
    const { stdout, stderr } = await runCli(words.split(" "), { cwd, env });
    expect(stdout + stderr).not.toBe("");
    expectHonest(stdout + stderr, /json/.test(words) ? "json" : "text");
  }
  const running = serve(["own.yaml"], { cwd, env });
  const url = await baseUrl(running);
  await fetch(`${url}/a/${encodeURIComponent(text)}`);
  for (const format of reportFormats) {
    const { stdout, stderr, code } = await runCli(["report", url, "--format", format], { cwd, env });
    expect([code, stdout.includes("/")]).toEqual([0, true]);
    expectHonest(stdout, format);
    expectHonest(stderr);
  }
  const { stdout, stderr } = await running.stop();
  expectHonest(stdout + stderr);
});

test.each(hostile)("no format of a certificate is forged by %j", (text) => {
  const result = { ...failed, command: ["sh", "-c", text], scenario: text };
  for (const format of reportFormats) {
    expectHonest(
      format === "text" ? certificateText(result) : render(certificateLayout(result), format),
      format,
    );
  }
});

test.each(hostile)("a report to merge with %j forges no output", async (text) => {
  const free =
    /^(?:scenario|when|rule|meaning|what_to_do|text|curl|ref|path|method|key|fingerprint|did_you_mean|operation_id|id)$/;
  const forge = (value: unknown, name = ""): unknown => {
    if (typeof value === "string") return free.test(name) ? text : value;
    if (Array.isArray(value)) return value.map((one) => forge(one, name));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([inner, member]) => [inner, forge(member, inner)]));
  };
  const [, , uncovered] = failed.report.outcomes;
  const report = { ...failed.report, outcomes: [uncovered], [text]: text };
  const cwd = temporaryFolder({ "a.json": JSON.stringify(forge(membersToSnakeCase(report))) });
  for (const format of reportFormats) {
    const { code, stdout, stderr } = await runCli(["report", "--merge", "a.json", "--format", format], {
      cwd,
      env,
    });
    expect([code, stdout]).toEqual([0, expect.stringContaining("forged")]);
    expectHonest(stdout, format);
    expectHonest(stderr);
  }
});

test.each(hostile)("words of a command line, and a story, with %j forge no output", async (text) => {
  const key = { environment: "test" };
  const organizations = { bank: { type: "bank", keys: { only: key } } };
  const expected = {
    request: { key: "only", path: `/${text}` },
    expect: { status: 500, body: { [text]: 1 } },
  };
  const story = { version: 1, name: text, organizations, story: [{ say: text }, expected] };
  const cwd = temporaryFolder({ "story.yaml": JSON.stringify(story) });
  const commands = [
    ["play", "story.yaml"],
    ["verify", "story.yaml"],
    ["verify", text],
    ["explain", text],
    [text],
    ["start", `--${text}`],
    ["start", "--port", text],
    ["report", `http://127.0.0.1:1/${text}`],
    ["exec", "--report", text, "--", "true"],
  ];
  for (const argv of commands) {
    for (const terminal of [false, true]) {
      const { code, stdout, stderr } = await runCli(argv, { cwd, env, terminal });
      expect([argv, code]).toEqual([argv, expect.toBeOneOf([0, 1, 2, 4])]);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours of a terminal are ours
      const plain = (stdout + stderr).replace(terminal ? /\u001B\[\d+m/g : "", "");
      expect(plain).not.toBe("");
      expectHonest(plain);
    }
  }
});

test.each(hostile)("names of files and any field with %j forge no output", async (text) => {
  const files = {
    "fields.yaml": `version: 1\n${text.replace(/\n/g, "\n\n")}\n${JSON.stringify(text)}: 1`,
  };
  const cwd = temporaryFolder(files);
  for (const file of [...Object.keys(files), text.replaceAll("/", "").replaceAll("\u0000", "")]) {
    for (const command of ["validate", "keys"]) {
      const { code, stdout, stderr } = await runCli([command, file], { cwd, env });
      expect([file, code]).toEqual([file, expect.toBeOneOf([1, 2])]);
      expectHonest(stdout + stderr);
    }
  }
});
