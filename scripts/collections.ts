import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { install } from "./install.js";
import { packProject } from "./pack.js";
import { runProgram } from "./run-program.js";
import { createTally } from "./tally.js";

// Runs what `svc-sandbox collection` prints in the programs that it is for, with the packed tarball: each request has to get
// what it expects, and each path has to be met.

interface Client {
  readonly packages: readonly string[];
  /** Ends with 0 when every request with an answer has got the one that it expects. */
  readonly script: string;
}

const groups = ["key-states", "bad-day", "announced-endpoints", "end"];

const clients: Readonly<Record<string, Client>> = {
  postman: {
    packages: ["newman@6.2.2"],
    // A request without an answer fails in a runner.
    script: `svc-sandbox collection --format postman -o c.json --environment e.json &&
      newman run c.json -e e.json ${groups.map((name) => `--folder ${name}`).join(" ")} &&
      ! newman run c.json -e e.json --folder 'bad-day, no answer' --timeout-request 2000`,
  },
  bruno: {
    packages: ["@usebruno/cli@4.1.0"],
    script: `svc-sandbox collection --format bruno -o c --environment c/.env && cd c && bru run -r ${groups.join(" ")} &&
      ! bru run -r bad-day-no-answer`,
  },
  http: {
    packages: ["httpyac@6.16.7"],
    // It fails for the requests without an answer.
    script: `svc-sandbox collection -o c.http --environment .env && ! httpyac send c.http --all --json --timeout 15000 > answers.json`,
  },
};

const tally = createTally("collections");
const folder = await mkdtemp(join(tmpdir(), "svc-sandbox-collections-"));
try {
  const { tarball } = await packProject(folder);
  for (const [format, client] of Object.entries(clients)) {
    const failure = await outcome(format, client, tarball).catch((error: Error) => error.message);
    tally.count(`collection --format ${format}: ${client.packages.join(" ")}`, failure);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
tally.close();

async function outcome(
  format: string,
  { packages, script }: Client,
  tarball: string,
): Promise<string | undefined> {
  const cwd = join(folder, format);
  await install(cwd, [tarball, ...packages]);
  const argv = ["svc-sandbox", "exec", "--report", "report.json", "--", "sh", "-c", script];
  const { code, output } = await runProgram("npx", argv, { cwd });
  if (code !== 0) return output;
  if (format === "http") await compareAnswers(cwd);
  const { paths } = JSON.parse(await readFile(join(cwd, "report.json"), "utf8")) as {
    paths: readonly { path_id: string; met: boolean; preview_count: number }[];
  };
  const missed = paths.filter((row) => !row.met && row.preview_count === 0).map((row) => row.path_id);
  return missed.length === 0 ? undefined : `Not met: ${missed.join(", ")}\n${output}`;
}

// The file can only say in a comment what to expect.
async function compareAnswers(cwd: string): Promise<void> {
  const text = await readFile(join(cwd, "c.http"), "utf8");
  const expected = [...text.matchAll(/^# Expect: (\d+|no answer)/gm)].map(([, what]) => what);
  const { requests } = JSON.parse(await readFile(join(cwd, "answers.json"), "utf8")) as {
    requests: readonly { response?: { statusCode?: number } }[];
  };
  const got = requests.map(({ response }) => String(response?.statusCode ?? "no answer"));
  if (got.join() !== expected.join()) throw new Error(`Expected ${expected.join()}\nGot      ${got.join()}`);
}
