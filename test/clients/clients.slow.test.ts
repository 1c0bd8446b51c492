import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../support/pages.js";
import { missing, programPath } from "../support/programs.js";
import { isNightly } from "../support/property-seed.js";
import { runCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// Correct clients of the announced endpoints, which certify must not accuse, and some of them with a flaw, which it must name. At night, all runs are made; otherwise the ones that show the most about writes.

const files = ["ask.mjs", "create.mjs", "idempotent.mjs", "poll.mjs", "cancel.mjs", "list.mjs"];
const node = (...words: string[]) => [process.execPath, ...words];
const python = (...words: string[]) => [programPath("python3"), "client.py", ...words];

const clients: Readonly<Record<string, () => string[]>> = {
  "create with fetch": () => node("create.mjs"),
  "idempotent create with fetch": () => node("idempotent.mjs"),
  "poll with fetch": () => node("poll.mjs"),
  "cancel with fetch": () => node("cancel.mjs"),
  "list with fetch": () => node("list.mjs"),
  "poll with urllib3": () => python(),
  "cancel with urllib3": () => python("cancel"),
  "idempotent create and list with net/http": () => ["./client"],
};
const needsOf = (name: string) =>
  name.endsWith("urllib3") ? missing("urllib3") : name.endsWith("net/http") ? missing("go") : undefined;

type Flaw = readonly [file: string, from: string, to: string];

/** Certifies a client, perhaps with flaws, and returns what each run, experiment and hint shows. */
async function certified(name: string, flaws: readonly Flaw[], ...flags: readonly string[]) {
  const cwd = temporaryFolder();
  for (const file of [...files, "client.py", "client.go"])
    cpSync(join(root, "test/clients", file), join(cwd, file));
  symlinkSync(join(root, "node_modules"), join(cwd, "node_modules"));
  for (const [file, from, to] of flaws) {
    const text = readFileSync(join(cwd, file), "utf8");
    expect(text).toContain(from);
    writeFileSync(join(cwd, file), text.replace(from, to));
  }
  if (name.endsWith("net/http")) {
    const env = { ...process.env, GOCACHE: join(cwd, "cache"), GO111MODULE: "off" };
    execFileSync(programPath("go"), ["build", "-o", "client", "client.go"], { cwd, env });
  }
  const argv = ["certify", "announced-endpoints", "--json", ...flags, "--", ...(clients[name]?.() ?? [])];
  const { code, stdout } = await runCli(argv, { cwd });
  const { verdict, runs, retries = [], not_tried: open, conclusion, hint } = JSON.parse(stdout);
  const rows: [string, string][] = [...runs, ...retries].map((row) => {
    return [row.name ?? row.after, row.cause?.sentence ?? row.outcome];
  });
  return { code, verdict, found: Object.fromEntries(rows), open, conclusion, hint };
}

const short = ["fault.truncate", "fault.status", "retries"];
const shownBy = isNightly ? ["--faults", "--promises", "all"] : short.flatMap((one) => ["--only", one]);

/** The second ways of a client in one language are shown at night. */
const tried = Object.keys(clients).filter((name) => isNightly || name !== "cancel with urllib3");

describe.each(tried)("%s", (name) => {
  test.skipIf(needsOf(name))("has no flaw", async () => {
    const { code, verdict, found } = await certified(name, [], ...shownBy);
    expect(Object.entries(found).filter(([, outcome]) => outcome !== "passed")).toEqual([]);
    expect([code, verdict]).toEqual([0, "passed"]);
  });
});

test("R14 a client that gives up a creation is not judged by it, and the certificate says so", async () => {
  const { open } = await certified("create with fetch", [], "--only", "fault.truncate");
  expect(open).toEqual([
    expect.objectContaining({
      kind: "unrepeatable_writes",
      what: "fault.truncate on 201.createConsentRequest",
    }),
  ]);
});

const repeats: Flaw = [
  "ask.mjs",
  'const isRepeatable = method !== "POST" || idempotencyKey !== undefined;',
  "const isRepeatable = true;",
];
const newKeys: Flaw = [
  "ask.mjs",
  '"idempotency-key": idempotencyKey',
  '"idempotency-key": crypto.randomUUID()',
];
const freshKeys: Flaw = ["ask.mjs", "  const headers = {", "  const headersOf = () => ({"];
const closed: Flaw = ["ask.mjs", "  };\n  const isRepeatable", "  });\n  const isRepeatable"];
const used: Flaw = ["ask.mjs", "base + path, headers, body)", "base + path, headersOf(), body)"];
const only = (run: string) => ["--only", run];
const twice = /^creates a record twice when the first request that would end on 201\.createConsentRequest /;

test.each<
  readonly [flaw: string, name: string, flaws: readonly Flaw[], flags: readonly string[], found: object]
>([
  [
    "repeats a creation without a key",
    "create with fetch",
    [repeats],
    only("fault.truncate"),
    { "fault.truncate": expect.stringMatching(twice) },
  ],
  [
    "sends another Idempotency-Key with each try",
    "poll with fetch",
    [newKeys, freshKeys, closed, used],
    only("fault.truncate"),
    { "fault.truncate": expect.stringMatching(twice) },
  ],
  [
    "gives up when an error page is HTML",
    "poll with fetch",
    [
      [
        "ask.mjs",
        "if (status < 500)",
        "if (status >= 500 && !text.startsWith('{')) process.exit(1);\n      if (status < 500)",
      ],
    ],
    only("fault.status"),
    { "fault.status": expect.stringMatching(/gets a 503 with an HTML page$/) },
  ],
  [
    "needs a Content-Length",
    "idempotent create with fetch",
    [
      [
        "ask.mjs",
        "  return {\n    status:",
        "  if (!response.headers.has('content-length')) process.exit(1);\n  return {\n    status:",
      ],
    ],
    only("varied 1"),
    { "varied 1": expect.stringMatching(/has no `Content-Length`/) },
  ],
])("a client that %s is found (%s)", async (_flaw, name, flaws, flags, found) => {
  const { code, ...result } = await certified(name, flaws, ...flags);
  expect(result.found).toMatchObject(found);
  expect(code).not.toBe(0);
});

describe.skipIf(missing("urllib3"))("with urllib3", () => {
  test("a client that does not repeat a request after broken JSON is found", async () => {
    const flaw: Flaw = [
      "client.py",
      "except (urllib3.exceptions.HTTPError, ValueError) as",
      "except urllib3.exceptions.HTTPError as",
    ];
    const { found } = await certified("poll with urllib3", [flaw], ...only("fault.malformed"));
    expect(found["fault.malformed"]).toMatch(/gets a 200 with broken JSON$/);
  });

  test("a client that resends a rejected key forever is named, although it does not end", async () => {
    const forever =
      "while response.status == 401 and key:\n                response = pool.request(method, BASE + path, headers=headers)\n            if response.status < 500:";
    const flaw: Flaw = ["client.py", "if response.status < 500:", forever];
    const { verdict, conclusion, hint } = await certified("cancel with urllib3", [flaw], "--timeout", "5s");
    expect([verdict, conclusion, hint]).toEqual([
      "unusable",
      expect.stringMatching(/does not end in time: it still resends `\w+` after 401 \(\d+ times\)/),
      expect.stringMatching(/still resends `\w+` after 401/),
    ]);
  });
});
