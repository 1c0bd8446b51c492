import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CertifyResult } from "../src/certify/result.js";
import { install } from "./install.js";
import { runProgram } from "./run-program.js";
import { createTally } from "./tally.js";

// Certifies clients of the usual kinds. Each good one must pass. For each with a planted mistake, the report must name this
// mistake and nothing else. Words choose the clients whose names contain one of them.

const packages = ["got", "ky", "axios", "axios-retry", "undici"];

/** By client, the row of the variation table that it expects to be as in `minimal` when it makes its mistake. */
const clients: Readonly<Record<"mjs" | "py" | "java" | "sh", Readonly<Record<string, string>>>> = {
  mjs: {
    fetch: "content_type",
    got: "data_members",
    ky: "whitespace",
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
  sh: {
    "curl-retry": "unknown_headers",
    "curl-loop": "security_headers",
    wget: "request_id_on_errors",
  },
};

const root = fileURLToPath(new URL("..", import.meta.url));
const words = process.argv.slice(2);
const all = Object.entries(clients).flatMap(([language, ones]) =>
  Object.entries(ones).map(([library, mistake]) => ({ language, library, mistake })),
);
const asked = all.filter(
  ({ language, library }) =>
    words.length === 0 || words.some((word) => `${language} ${library}`.includes(word)),
);

const tally = createTally("clients");
const folder = await mkdtemp(join(tmpdir(), "svc-sandbox-clients-"));
const env = { TRAITS: join(root, "test/support/traits.js"), PYTHONPATH: join(folder, "python") };

/** Runs a program that has to succeed. */
async function run(program: string, ...argv: string[]): Promise<void> {
  const { code, output } = await runProgram(program, argv, { cwd: folder });
  if (code !== 0) throw new Error(`Failed to run ${program} ${argv.join(" ")}:\n${output}`);
}

/** Makes ready what the clients of each language need. */
const prepare: Readonly<Record<string, () => Promise<void>>> = {
  mjs: () => install(folder, packages),
  py: () => run("python3", "-m", "pip", "install", "-q", "--target", env.PYTHONPATH, "requests"),
  java: () => run("javac", "Client.java"),
  sh: () => run("curl", "--version"),
};

const commands: Readonly<Record<string, readonly string[]>> = {
  mjs: [process.execPath, "client.mjs"],
  py: ["python3", "client.py"],
  java: ["java", "-XX:TieredStopAtLevel=1", "-cp", ".", "Client"],
  sh: ["sh", "client.sh"],
};

/** Certifies a client; why that is wrong, or `undefined`. */
async function certify(command: readonly string[], mistake: string): Promise<string | undefined> {
  const argv = ["certify", "--json", "--seeds", "6", "--faults", "--timeout", "60s", "--", ...command];
  const { stdout, stderr } = await runProgram(
    process.execPath,
    [join(root, "bin/svc-sandbox.js"), ...argv, mistake],
    { cwd: folder, env, timeout: 900_000 },
  );
  if (stdout === "") return stderr;
  const { verdict, runs } = JSON.parse(stdout) as Pick<CertifyResult, "verdict" | "runs">;
  const named = runs
    .filter(({ outcome }) => outcome !== "passed")
    .map(
      ({ outcome, cause }) => cause?.points.map(({ row }) => row).join(" and ") || cause?.fault || outcome,
    );
  const expected = mistake === "none" ? "passed" : `failed ${mistake}`;
  const found = [verdict, ...new Set(named)].join(" ");
  return found === expected ? undefined : `${found}, and not ${expected}\n${stderr}`;
}

try {
  for (const file of ["client.mjs", "client.py", "Client.java", "client.sh"]) {
    await copyFile(join(root, "scripts/clients", file), join(folder, file));
  }
  for (const language of new Set(asked.map((one) => one.language))) await prepare[language]?.();
  for (const { language, library, mistake } of asked) {
    const command = [...(commands[language] as string[]), library];
    tally.count(`${library}, a good client`, await certify(command, "none"));
    tally.count(`${library}, which trusts in ${mistake}`, await certify(command, mistake));
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
tally.close();
