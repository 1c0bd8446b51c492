import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CertifyResult } from "../src/certify/result.js";
import { alignColumns } from "../src/report/plain-text.js";
import { runProgram } from "./run-program.js";
import { createTally } from "./tally.js";

// Certifies clients of the usual kinds. Each good one must pass. For each with a planted mistake, the certificate must name this
// mistake and nothing else. Words choose the clients whose names contain one of them.

type Language = "mjs" | "py" | "java" | "go" | "sh";

interface Client {
  readonly language: Language;
  readonly library: string;
  /** What the client does wrong; `none`, and a few others, are right. */
  readonly mistake: string;
  readonly expected: string;
  readonly flags: readonly string[];
}

/** By client, the row of the variation table that it expects to be as in `minimal` when it makes its mistake. */
const trusting: Readonly<Record<Language, Readonly<Record<string, string>>>> = {
  mjs: {
    fetch: "content_type",
    got: "data_members",
    ky: "whitespace",
    axios: "request_id_form",
    "axios-retry": "retry_after",
    "undici-retry": "member_order",
    "node-http": "usage_members",
  },
  py: {
    urllib: "vary",
    urllib3: "error_details",
    "urllib3-retry": "limits_members",
    requests: "www_authenticate",
    "requests-retry": "rate_limit_code",
  },
  java: { sync: "via", async: "details_without_reason" },
  go: { "net-http": "security_headers" },
  sh: {
    "curl-retry": "unknown_headers",
    "curl-loop": "security_headers",
    wget: "request_id_on_errors",
  },
};

const tooSoon = "too-soon-after-429";

/** Other mistakes, and behavior that only looks like one, with what the certificate shows. */
const behaviors: readonly (readonly [Language, library: string, mistake: string, expected: string])[] = [
  ["mjs", "fetch", "hollow", "failed: swaps not noticed"],
  ["sh", "curl-loop", "key-in-url", "failed: key-in-query"],
  ["mjs", "fetch", "no-timeout", "failed: fault.hang"],
  ["py", "requests", "key-logged", "failed: key-in-output"],
  ["mjs", "fetch", "retry-401", "failed: same-key-after-401"],
  ["mjs", "got", "retry-403", "failed: same-key-after-403"],
  ["mjs", "axios", "retry-429", `failed: ${tooSoon}`],
  ["mjs", "undici-retry", "retry-all", `failed: same-key-after-401, same-key-after-403, ${tooSoon}`],
  ["py", "urllib3-retry", "retry-403", "failed: same-key-after-403"],
  ["py", "requests-retry", "retry-429", `failed: ${tooSoon}`],
  ["go", "net-http", "retry-401", "failed: same-key-after-401"],
  ["go", "net-http", "retry-429", `failed: ${tooSoon}`],
  ["sh", "curl-retry", "retry-429", `failed: ${tooSoon}`],
  // It waits for hours if Retry-After says so.
  ["py", "urllib3-retry", "as-it-comes", "failed: retry_after"],
  ["mjs", "axios-retry", "as-it-comes", `failed: ${tooSoon}`],
  ["mjs", "got", "as-it-comes", `failed: ${tooSoon}`],
  ["mjs", "ky", "as-it-comes", `failed: ${tooSoon}`],
  ["mjs", "undici-retry", "as-it-comes", `failed: ${tooSoon}`],
  ["mjs", "fetch", "burst", "passed"],
  ["mjs", "got", "burst", "passed"],
  ["mjs", "axios", "tests", "passed"],
  ["py", "urllib", "tests", "passed"],
];

const seeded = ["--seeds", "6"];
const all = [
  ...Object.entries(trusting).flatMap(([name, ones]) =>
    Object.entries(ones).flatMap(([library, mistake]): Client[] => {
      const client = { language: name as Language, library };
      return [
        { ...client, mistake: "none", expected: "passed", flags: [...seeded, "--faults"] },
        { ...client, mistake, expected: `failed: ${mistake}`, flags: seeded },
      ];
    }),
  ),
  ...behaviors.map(([language, library, mistake, expected]): Client => {
    const faults = mistake === "no-timeout" ? ["--faults"] : [];
    const timeout = mistake === "as-it-comes" ? ["--timeout", "6s"] : [];
    return { language, library, mistake, expected, flags: ["--seeds", "1", ...faults, ...timeout] };
  }),
];

const root = fileURLToPath(new URL("..", import.meta.url));
const words = process.argv.slice(2);
const chosen = all.filter(
  ({ language, library, mistake }) =>
    words.length === 0 || words.some((word) => `${language} ${library} ${mistake}`.includes(word)),
);

const tally = createTally("clients");
const folder = await mkdtemp(join(tmpdir(), "svc-sandbox-clients-"));
const env = { TRAITS: join(root, "test/support/traits.js"), PYTHONPATH: join(folder, "python") };

/** Runs a program that has to succeed. */
async function run(program: string, ...argv: string[]): Promise<void> {
  const { code, output } = await runProgram(program, argv, { cwd: folder, env: { GO111MODULE: "off" } });
  if (code !== 0) throw new Error(`Failed to run ${program} ${argv.join(" ")}:\n${output}`);
}

/** Makes ready what the clients of each language need. */
const prepare: Readonly<Record<Language, () => Promise<void>>> = {
  mjs: () => run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"),
  py: () =>
    run("python3", "-c", "import requests").catch(() =>
      run("python3", "-m", "pip", "install", "-q", "--target", env.PYTHONPATH, "requests"),
    ),
  java: () => run("javac", "Client.java"),
  go: () => run("go", "build", "-o", "client", "client.go"),
  sh: () => run("curl", "--version"),
};

const commands: Readonly<Record<Language, readonly string[]>> = {
  mjs: [process.execPath, "client.mjs"],
  py: ["python3", "client.py"],
  java: ["java", "-XX:TieredStopAtLevel=1", "-cp", ".", "Client"],
  go: ["./client"],
  sh: ["sh", "client.sh"],
};

// Some way into a minute, which no run turns.
const fixed = ["--json", "--now", "2026-03-02T09:00:05Z", "--fail-on", "warning", "--jobs", "3"];

/** What the certificate of a client names: its verdict, and why. */
async function certify({ language, library, mistake, flags }: Client): Promise<string> {
  const argv = ["certify", ...fixed, ...flags, "--", ...commands[language], library, mistake];
  const { stdout, stderr } = await runProgram(process.execPath, [join(root, "bin/svc-sandbox.js"), ...argv], {
    cwd: folder,
    env,
    timeout: 900_000,
  });
  if (stdout === "") return stderr;
  const { verdict, runs, unmet, report } = JSON.parse(stdout) as Omit<CertifyResult, "promises">;
  const causes = runs
    .filter(({ outcome }) => outcome !== "passed")
    .map(
      ({ outcome, cause }) => cause?.points.map(({ row }) => row).join(" and ") || cause?.fault || outcome,
    );
  const swaps = unmet.some(({ threshold }) => threshold === "--promises swaps") ? ["swaps not noticed"] : [];
  const advice = report.advice.map(({ id }) => id);
  const why = [...new Set(causes), ...swaps, ...advice].join(", ");
  return why === "" ? verdict : `${verdict}: ${why}`;
}

const rows = [["language", "library", "mistake", "expected", "found"]];

/** Six at a time: clients mostly wait. */
async function work(waiting: Client[]): Promise<void> {
  for (let client = waiting.shift(); client !== undefined; client = waiting.shift()) {
    const { language, library, mistake, expected } = client;
    const found = await certify(client);
    rows.push([language, library, mistake, expected, found]);
    tally.count(`${library}, ${mistake}: ${expected}`, found === expected ? undefined : found);
  }
}

try {
  await cp(join(root, "scripts/clients"), folder, { recursive: true });
  await Promise.all([...new Set(chosen.map(({ language }) => language))].map((one) => prepare[one]()));
  const waiting = [...chosen];
  await Promise.all(Array.from({ length: 6 }, () => work(waiting)));
} finally {
  await rm(folder, { recursive: true, force: true });
}
console.log(`\n${alignColumns(rows).join("\n")}\n`);
tally.close();
