import { spawn } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CertifyResult } from "../src/certify/result.js";
import { alignColumns } from "../src/report/plain-text.js";
import { runProgram } from "./run-program.js";
import { createTally } from "./tally.js";

// Certifies clients of the usual kinds. Each good one must pass at each pace without a warning. For each with a planted mistake, the
// certificate must name this mistake and nothing else. Words choose the clients whose language, library, mistake and pace contain all
// words of one argument, as in `npm run clients -- "go slow" wget`.

type Language = "mjs" | "py" | "java" | "go" | "sh";

type Pace = "idle" | "slow" | "at once" | "busy";

interface Client {
  readonly pace: Pace;
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

/** Good clients that do more than send five keys. */
const habits: Readonly<Record<Language, readonly (readonly [library: string, ...habits: string[]])[]>> = {
  mjs: [
    ["fetch", "burst", "cache", "waits", "all", "tests"],
    ["got", "burst"],
    ["axios", "tests", "all"],
  ],
  py: [
    ["urllib", "tests", "all"],
    ["requests-retry", "all"],
  ],
  java: [["sync", "tests", "all"]],
  go: [["net-http", "tests", "all"]],
  sh: [["curl-loop", "tests", "all"]],
};

const tooSoon = "too-soon-after-429";
const limits = "failed: key.limits";
const outage = "failed: no-pause-after-failure";

/** Other mistakes, with what the certificate shows. */
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
  // It waits for the time in the response.
  ["sh", "curl-retry", "retry-429", "passed"],
  // It waits for hours if Retry-After says so.
  ["py", "urllib3-retry", "as-it-comes", "failed: retry_after"],
  // Three retries without a pause, and twice.
  ["mjs", "axios-retry", "as-it-comes", outage],
  // It waits for the time in the response.
  ["mjs", "got", "as-it-comes", "passed"],
  ["mjs", "ky", "as-it-comes", `failed: ${tooSoon}`],
  ["mjs", "undici-retry", "as-it-comes", `failed: ${tooSoon}`],
  ["java", "sync", "retry-401", "failed: same-key-after-401"],
  ["sh", "curl-loop", "retry-401", "failed: same-key-after-401"],
  ["py", "requests-retry", "retry-401", "failed: same-key-after-401"],
  ["mjs", "fetch", "forever", outage],
  ["py", "requests", "forever", outage],
  ["java", "sync", "forever", outage],
  ["go", "net-http", "forever", outage],
  ["mjs", "fetch", "limits", limits],
  ["py", "urllib", "limits", limits],
  ["java", "async", "limits", limits],
  ["go", "net-http", "limits", limits],
  ["mjs", "node-http", "first-part", "failed: fault.truncate, fault.malformed, fault.slow"],
];

const paces: readonly Pace[] = ["idle", "slow", "at once", "busy"];
const goods = Object.entries(trusting).flatMap(([name, ones]) => {
  const language = name as Language;
  const more = habits[language].flatMap(([library, ...some]) =>
    some.map((habit) => [library, habit] as const),
  );
  return [...Object.keys(ones).map((library) => [library, "none"] as const), ...more].flatMap(
    ([library, mistake]) =>
      paces.map((pace): Client => {
        const flags = pace === "idle" ? ["--seeds", "6", "--faults"] : ["--seeds", "1"];
        return { pace, language, library, mistake, expected: "passed", flags };
      }),
  );
});
const trustful = Object.entries(trusting).flatMap(([language, ones]) =>
  Object.entries(ones).map(([library, mistake]): Client => {
    const expected = `failed: ${mistake}`;
    return {
      pace: "idle",
      language: language as Language,
      library,
      mistake,
      expected,
      flags: ["--seeds", "6"],
    };
  }),
);
const bad = behaviors.map(([language, library, mistake, expected]): Client => {
  const faults = ["no-timeout", "first-part"].includes(mistake) ? ["--faults"] : [];
  const timeout = mistake === "as-it-comes" ? ["--timeout", "6s"] : [];
  const seeds = mistake === "limits" ? "3" : "1";
  return {
    pace: "idle",
    language,
    library,
    mistake,
    expected,
    flags: ["--seeds", seeds, ...faults, ...timeout],
  };
});
// The busy ones last, because they disturb the others.
const all = [...goods, ...trustful, ...bad].sort(
  (one, other) => Number(one.pace === "busy") - Number(other.pace === "busy"),
);

const root = fileURLToPath(new URL("..", import.meta.url));
const words = process.argv.slice(2);
const chosen = all.filter(({ language, library, mistake, pace }) => {
  const name = ` ${language} ${library} ${mistake} ${pace} `;
  return words.length === 0 || words.some((some) => some.split(" ").every((word) => name.includes(word)));
});

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
async function certify({ pace, language, library, mistake, flags }: Client): Promise<string> {
  const pause = language === "sh" ? "0.3" : "300";
  const paced = pace === "slow" ? { PAUSE: pause } : pace === "at once" ? { AT_ONCE: "1" } : {};
  const argv = ["certify", ...fixed, ...flags, "--", ...commands[language], library, mistake];
  const { stdout, stderr } = await runProgram(process.execPath, [join(root, "bin/svc-sandbox.js"), ...argv], {
    cwd: folder,
    env: { ...env, ...paced },
    timeout: 900_000,
  });
  if (stdout === "") return stderr;
  const { verdict, runs, unmet, report } = JSON.parse(stdout) as Omit<CertifyResult, "promises">;
  const causes = runs
    .filter(({ outcome }) => outcome !== "passed")
    .map(
      ({ outcome, cause }) =>
        [...new Set(cause?.points.map(({ row }) => row))].join(" and ") || cause?.fault || outcome,
    );
  const swaps = unmet.some(({ threshold }) => threshold === "--promises swaps") ? ["swaps not noticed"] : [];
  const advice = report.advice.flatMap(({ id, level }) => (level === "note" ? [] : id));
  const why = [...new Set(causes), ...swaps, ...advice].join(", ");
  return why === "" ? verdict : `${verdict}: ${why}`;
}

const rows = [["language", "library", "mistake", "pace", "expected", "found"]];

/** Several at a time: clients mostly wait. */
async function work(waiting: Client[]): Promise<void> {
  for (let client = waiting.shift(); client !== undefined; client = waiting.shift()) {
    const { language, library, mistake, pace, expected } = client;
    const found = await certify(client);
    rows.push([language, library, mistake, pace, expected, found]);
    tally.count(`${library}, ${mistake}, ${pace}: ${expected}`, found === expected ? undefined : found);
  }
}

try {
  await cp(join(root, "scripts/clients"), folder, { recursive: true });
  await Promise.all([...new Set(chosen.map(({ language }) => language))].map((one) => prepare[one]()));
  const workers = (waiting: Client[]) =>
    Promise.all(Array.from({ length: Math.min(6, 2 * availableParallelism()) }, () => work(waiting)));
  await workers(chosen.filter(({ pace }) => pace !== "busy"));
  const busy = chosen.filter(({ pace }) => pace === "busy");
  const loops = Array.from({ length: busy.length === 0 ? 0 : 8 }, () =>
    spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }),
  );
  await workers(busy).finally(() => {
    for (const loop of loops) loop.kill();
  });
} finally {
  await rm(folder, { recursive: true, force: true });
}
console.log(`\n${alignColumns(rows).join("\n")}\n`);
tally.close();
