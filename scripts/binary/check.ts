import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startRedis } from "../../test/support/redis-server.js";
import { runProgram } from "../run-program.js";
import type { Tally } from "../tally.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Stands in for the programs that the examples run: a client of the sandbox. */
const client = `#!/bin/sh
[ "$1" = --no-install ] && { shift 2; exec svc-sandbox "$@"; }
for key in "$SVC_API_KEY" "$SVC_KEY_REVOKED" "$SVC_KEY_EXPIRED"; do
  curl --silent --max-time 1 -H "x-api-key: $key" "$SVC_BASE_URL/v1/relying-party/me"
done
`;

const handlers = `import { http, HttpResponse } from "msw";
export default [http.get("/own", () => HttpResponse.text("own"))];
`;

/** Run before the commands of the page: what they find, and what only a package with Node around it might do. */
const first = [
  "svc-sandbox show rotation > my.yaml; for i in 1 2; do svc-sandbox show revoked > scenarios/$i.yaml; done",
  "svc-sandbox exec --report unit.json -- npm test; svc-sandbox exec --report end-to-end.json -- npm test",
  "svc-sandbox check $SVC_BASE_URL --json > last.json",
  `for path in / /docs/ /docs/errors.html /docs/nothing.html /openapi.json; do
    curl --silent $SVC_CONTROL_URL$path | cksum; done`,
  "svc-sandbox exec --handlers handlers.mjs -- sh -c 'curl --silent $SVC_BASE_URL/own'",
  "echo 'export default (' > no.mjs; svc-sandbox --handlers no.mjs",
  "svc-sandbox exec --tls -- sh -c 'curl --silent --insecure $SVC_BASE_URL/v1/relying-party/me'",
];

/**
 * Runs each command of docs/cli.md with an executable and no Node on the PATH, and with the package and the same Node.
 * Both must print the same and end with the same code.
 */
export async function checkCommands(binary: string, node: string, tally: Tally): Promise<void> {
  const page = await readFile(join(root, "docs/cli.md"), "utf8");
  const shown = page.matchAll(/^(?: {2}|npx --no-install )(svc-sandbox(?:$| [^#\n]+)(?:&&\n.*)?)/gm);
  const helps = page.matchAll(/^## `svc-sandbox ([\w-]+)`$/gm);
  const commands = [
    ...first,
    ...[...helps].map(([, name]) => `svc-sandbox help ${name}`),
    ...[...shown].map(([, command = ""]) => command.trim()),
  ];
  const { output } = await runProgram(binary, ["lits"], { cwd: root, env: { npm_command: "exec" } });
  tally.count("a script of npm starts it without npx", output.includes("npx") ? output : undefined);
  const redis = await startRedis();
  try {
    const [found, expected] = await Promise.all([
      outputsOf(commands, binary, redis.url),
      outputsOf(commands, `${node} ${join(root, "bin/svc-sandbox.js")}`, redis.url),
    ]);
    for (const [index, command] of commands.entries()) {
      const isSame = found[index] === expected[index];
      tally.count(command, isSame ? undefined : `package: ${expected[index]}\nbinary:  ${found[index]}`);
    }
  } finally {
    await redis.close();
  }
}

/** What each command prints and its exit code, without what differs from run to run. */
async function outputsOf(commands: readonly string[], program: string, redis: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), "svc-sandbox-commands-"));
  const [bin, cwd] = [join(folder, "bin"), join(folder, "work")];
  for (const path of [bin, join(cwd, "scenarios"), join(cwd, "node_modules")])
    await mkdir(path, { recursive: true });
  await symlink(join(root, "node_modules/msw"), join(cwd, "node_modules/msw"));
  await writeFile(join(cwd, "handlers.mjs"), handlers);
  for (const name of ["sh", "bash", "curl", "cksum", "true"])
    await symlink(`/usr/bin/${name}`, join(bin, name));
  const programs = {
    "svc-sandbox": `#!/bin/sh\nexec ${program} "$@"\n`,
    npm: client,
    npx: client,
    python3: client,
  };
  for (const [name, text] of Object.entries(programs))
    await writeFile(join(bin, name), text, { mode: 0o755 });
  const env: Record<string, string> = {
    ...{ PATH: bin, HOME: folder, BROWSER: "true", TOKEN: "any-token" },
    ...{
      GITHUB_STEP_SUMMARY: join(folder, "summary"),
      SVC_SANDBOX_PORT: "0",
    },
  };
  const serve = () =>
    start("svc-sandbox start key-states --frozen --json --log off --write-env .env.served", cwd, env);
  const isServed = /^\{.*\}$/m;
  let server = serve();
  const outputs: string[] = [];
  try {
    for (const command of commands) {
      const [listening] = isServed.exec(await server.until(isServed)) as RegExpExecArray;
      const { control_url, base_url, keys } = JSON.parse(listening);
      const line = command
        .replace(/https?:\/\/(?:api\.example|[\d.]+:\d+)/, base_url)
        .replace("redis://localhost", `${redis} --store-prefix ${folder}:`)
        .replace("--port 4747", "--port 0")
        .replace(" | Out-String | Invoke-Expression", "");
      const served = { SVC_CONTROL_URL: control_url, SVC_BASE_URL: base_url, SVC_API_KEY: keys.active };
      const running = start(line, cwd, { ...env, ...served });
      // The others end without being asked.
      if (!/--detach|--until-stdin-ends/.test(line)) {
        await running.until(/is listening|^Waiting for|"event":"listening"/m);
        running.stop();
      }
      const { code, output } = await running.ended;
      const [, detached] = /--detach.*"control_url":"([^"]+)/s.exec(line + output) ?? [];
      if (detached !== undefined) await start(`svc-sandbox stop ${detached}`, cwd, env).ended;
      if (line.startsWith("svc-sandbox stop")) {
        await server.ended;
        server = serve();
      }
      outputs.push(masked(`${code} ${output}`.replaceAll(folder, "")));
    }
  } finally {
    server.stop();
    await server.ended;
    await rm(folder, { recursive: true, force: true });
  }
  return outputs;
}

/** Starts a shell line in a process group of its own. */
function start(line: string, cwd: string, env: Record<string, string>) {
  const child = spawn("bash", ["-c", `trap : TERM\n${line}`], {
    cwd,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
  }
  const ended = once(child, "close").then(([code]) => ({ code, output }));
  return {
    ended,
    /** Resolves with its output once that matches, or when it has ended. */
    until: (pattern: RegExp) =>
      new Promise<string>((resolve) => {
        const look = () => void (pattern.test(output) && resolve(output));
        for (const stream of [child.stdout, child.stderr]) stream.on("data", look);
        look();
        ended.then(() => resolve(output));
      }),
    stop: () => void (child.exitCode === null && process.kill(-(child.pid as number), "SIGTERM")),
  };
}

// Ids, times and ports, and with them the widths of tables.
function masked(text: string): string {
  return text
    .replace(/req_\w+/g, "req_0")
    .replace(/(?<=127\.0\.0\.1:)\d+/g, "0")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "0")
    .replace(/\d[\d.]* (?:ms|s|min)\b/g, "0 ms")
    .replace(/[\s-]+/g, " ");
}
