import { readFileSync } from "node:fs";
import { join } from "node:path";
import { blockWith, type Part } from "../support/pages.js";
import { probeKeys, serveProbed } from "../support/probed-server.js";
import { runCli } from "../support/run-cli.js";
import { mePath } from "../support/send.js";
import { served } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// The samples of output on the pages, made by the commands that the pages show.

/** Sends a request with each variable, ends with 1 unless it gets the status after it, and runs `more` on the response. */
const client = (words: string, more = "") => `
get() { curl -s -o /dev/null -w '%{http_code} %{content_type}' -H "x-api-key: $key" "$SVC_BASE_URL/v1/relying-party/me"; }
for word in ${words}; do
  eval key=\\$SVC_KEY_\${word%:*}
  response=$(get)
  ${more}
  [ "\${response%% *}" = "\${word#*:}" ] || { echo "Error: unexpected status \${response%% *}" >&2; exit 1; }
done`;

const five = "REVOKED:401 EXPIRED:401 WRONG_SCOPE:403 LIVE:200 ACTIVE:200";

/** Does not expect a parameter of the media type of a 401, and reads no body: two mistakes that `certify` finds. */
const naive = client(
  five,
  `case "$word \${response#* }" in
    REVOKED*"; charset=utf-8") echo "Error: unexpected Content-Type: \${response#* }" >&2; exit 1 ;;
  esac`,
);

/** Sends a rejected key three times more, and pauses after a failure. */
const failingStory = `version: 1
clock: { now: 2026-03-02T09:00:00Z }
organizations:
  a-bank:
    type: bank
    keys: { active: { environment: test } }
story:
  - say: A bank calls the API for the first time.
  - request: { key: active }
    expect: { status: 200, outcome: 200.test }
  - rotate: { key: active, as: active-2, overlap: 60m }
  - advance: 61m
  - request: { key: active }
    expect: { status: 200 }
  - request: { key: active-2 }
    expect: { status: 200 }
  - revoke: { key: active-2 }
`;

type Range = readonly [from: RegExp, to?: RegExp];

/** The lines of each range, from a line that matches to the next one that matches; `…` stands for what is left out. */
function excerpt(text: string, ranges: readonly Range[]): string {
  const lines = text.trimEnd().split("\n");
  let end = 0;
  const parts = ranges.flatMap(([from, to]) => {
    const start = lines.findIndex((line, index) => index >= end && from.test(line));
    const last = to === undefined ? start : lines.findIndex((line, index) => index > start && to.test(line));
    if (start === -1 || last === -1) throw new Error(`no ${start === -1 ? from : to} in:\n${text}`);
    const gap = start > end && end > 0 ? ["  …"] : [];
    end = last + 1;
    return [...gap, ...lines.slice(start, end)];
  });
  return parts.join("\n").trimEnd();
}

interface Sample {
  readonly files?: Readonly<Record<string, string>>;
  /** The client that `npm test` stands for. */
  readonly client?: string;
  readonly ranges?: readonly Range[];
  readonly stream?: "stdout" | "stderr";
}

const block = (text: string, language = "text") => `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;

const runs = new Map<string, ReturnType<typeof runCli>>();

/** What a command prints in a terminal of 100 columns. */
function printed(line: string, { files = {}, client = "", ranges = [], ...sample }: Sample = {}) {
  const { stream = "stdout" } = sample;
  return async () => {
    const cwd = temporaryFolder({ ...files, "client.sh": client });
    const words = line.split(" ").flatMap((word) => (word === "npm-test" ? ["sh", "client.sh"] : word));
    const env = { NO_COLOR: "1" };
    const run = runs.get(line + client) ?? runCli(words, { cwd, env, terminal: true, columns: 100 });
    runs.set(line + client, run);
    const shown = (await run)[stream]
      .replaceAll("sh client.sh", "npm test")
      // What differs from run to run.
      .replaceAll(/\(\d+ ms\)/g, "(4 ms)")
      .replaceAll(/, \d+ s$/gm, ", 41 s");
    return block(ranges.length === 0 ? shown : excerpt(shown, ranges));
  };
}

/** The Markdown report of a server that got five requests. */
async function reportOfServer(): Promise<string> {
  const server = await served({ frozen: true });
  for (const ref of ["active", "live", "revoked", "expired", "wrong-scope"] as const) {
    await fetch(server.url + mePath, { headers: { "x-api-key": server.sandbox.secret(ref) } });
  }
  const { stdout } = await runCli(["report", server.url, "--format", "markdown"]);
  const text = stdout.replaceAll(server.url, "http://127.0.0.1:4747");
  return block(
    excerpt(text, [
      [/^# /, /^\d+ requests/],
      [/^\| outcome/, /200\.legacy/],
    ]),
  );
}

/** The first farmers, without the last columns. */
async function farmers(): Promise<string> {
  const { stdout } = await runCli(["fixtures", "farmers", "--count", "10", "--format", "csv"]);
  const rows = stdout.split("\n").slice(0, 3);
  return block(rows.map((row) => `${row.split(",").slice(0, 7).join()},…`).join("\n"));
}

/** What a request with a limited key would get, as the control plane shows it. */
async function nextRequest(): Promise<string> {
  const { controlUrl } = await served({ frozen: true });
  const { data } = await (await fetch(`${controlUrl}/keys/rate-limited-minute`)).json();
  return block(JSON.stringify(data.next_request, null, 2), "json");
}

const report = { client: client("ACTIVE:200 REVOKED:401"), stream: "stderr" } as const;

/** The parts of the pages, by the names of their marks. */
export const samples: Readonly<Record<string, Readonly<Record<string, Part>>>> = {
  "README.md": {
    report: printed("exec -- npm-test", {
      ...report,
      ranges: [[/^Outcomes/], [/^ {2}200\.live/], [/^ {2}401\.revoked/], [/^Coverage/]],
    }),
  },
  "docs/coverage.md": {
    report: printed("exec -- npm-test", {
      ...report,
      ranges: [[/^\d+ requests/, /SVC_KEY_LIVE$/]],
    }),
  },
  "docs/certify.md": {
    causes: printed("certify --only varied --only answer -- npm-test", { client: naive }),
  },
  "docs/report.md": { report: reportOfServer },
  "docs/calls.md": { next: nextRequest },
  "docs/compare.md": {
    scenario: async () => block(await learnedScenario(), "yaml"),
    example: () => compareSample([[/^Differences/, /^$/], [/differences from/]]),
  },
  "docs/errors.md": {
    async explain() {
      const { url } = await served();
      const { stdout } = await runCli(["explain", "live-suspended", "--url", url]);
      return block(excerpt(stdout, [[/^Why/, /work\.$/]]));
    },
  },
  "docs/farmers.md": { farmers },
  "docs/stories.md": { verify: printed("verify my.yaml", { files: { "my.yaml": failingStory } }) },
  "docs/scenarios.md": {
    keys: () =>
      printed("keys", { files: { "svc-sandbox.yaml": blockWith("docs/scenarios.md", "yaml", "stolen:") } })(),
    problem: printed("validate svc-sandbox.yaml", {
      files: {
        "svc-sandbox.yaml":
          "version: 1\norganizations:\n  village-bank:\n    type: bank\n    keys:\n      main:\n        environment: test\n        limits: { perMinute: 60 }\n",
      },
      stream: "stderr",
      ranges: [[/^svc-sandbox/, /^hint/]],
    }),
  },
};

/** The file that a comparison with one key writes of a service like many. */
async function learnedScenario(): Promise<string> {
  const { url } = await serveProbed((reply, { ref, count }) => {
    if (reply.status !== 200) reply.headers["X-Request-Id"] = `req-${count}`;
    if (reply.status === 401) reply.headers["WWW-Authenticate"] = 'ApiKey realm="relying-party"';
    if (ref !== "active" || count <= 60) return;
    const headers = { ...reply.headers, "Retry-After": "17" };
    Object.assign(reply, { status: 429, headers, body: { error: { code: "too_many", message: "Slow." } } });
  });
  const cwd = temporaryFolder();
  const env = { SVC_API_KEY: probeKeys.SVC_KEY_ACTIVE as string };
  const argv = ["compare", url, "--probe-limits", "--write-scenario", "real.yaml"];
  await runCli(argv, { env, cwd });
  return readFileSync(join(cwd, "real.yaml"), "utf8")
    .replace(new URL(url).host, "api.example")
    .replace(/ at \S+Z/, " at 2026-03-02T09:00:00Z");
}

/** A comparison of an environment with two mistakes. */
async function compareSample(ranges: readonly Range[]): Promise<string> {
  const { url } = await serveProbed((reply, { ref }) => {
    // biome-ignore lint/suspicious/noExplicitAny: the bodies are made wrong here
    const { error, data } = reply.body as any;
    if (ref === "expired") error.message = "The key has expired.";
    if (ref === "active") data.limits.per_day = "1000";
  });
  const env = { SVC_API_KEY: probeKeys.SVC_KEY_ACTIVE, SVC_KEY_EXPIRED: probeKeys.SVC_KEY_EXPIRED };
  const { stdout } = await runCli(["compare", url], { env: env as Record<string, string> });
  const shown = stdout
    .replaceAll(url, "https://api.example")
    .replace(/ at \S+Z:/, " at 2026-03-02T09:00:00Z:");
  return block(excerpt(shown, ranges));
}
