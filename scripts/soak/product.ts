import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Soak } from "./worker.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const measured = new URL("measured.js", import.meta.url).href;

/** Keys that every version of the scenario has; each limit differs, and is far above what is sent in a minute. */
export const steadyKeys = ["test", "live"]
  .flatMap((environment) => [1, 2, 3, 4, 5].map((n) => ({ ref: `${environment}-${n}`, environment })))
  .map((key, index) => ({ ...key, perMinute: 1_000_000 + index }));

/** The scenario, which is JSON and so YAML as well; its versions differ only in names. */
export function scenarioText(name: string): string {
  const keys = steadyKeys.map(({ ref, environment, perMinute }) => [
    ref,
    { environment, limits: { per_minute: perMinute, per_day: 1_000_000_000 } },
  ]);
  const organizations = {
    steady: { name, type: "bank", live_access: "approved", keys: Object.fromEntries(keys) },
    changing: { type: "bank", live_access: "approved" },
  };
  return JSON.stringify({ version: 1, name, organizations }, undefined, 2);
}

/** Handlers besides the API: they return what they get, at once or a little later. */
const handlersText = `import { delay, HttpResponse, http } from "msw";
const echo = async ({ request, params }) => HttpResponse.json({ echo: params.id, text: await request.text() });
export default [
  http.all("/echo/:id", echo),
  http.all("/late/:id", async (asked) => {
    await delay(15);
    return echo(asked);
  }),
  http.post("/careless/:id", ({ request, params }) => {
    request.text().then((text) => text.length);
    return HttpResponse.json({ echo: params.id, text: "" });
  }),
];
`;

/** Resources of a server: bytes, and descriptors (0 where the system does not show them). */
export interface Holding {
  readonly heap: number;
  readonly rss: number;
  readonly descriptors: number;
}

/** The built product in its own process. */
export interface Product {
  readonly name: string;
  readonly url: string;
  readonly port: number;
  /** The certificate to trust; `undefined` for plain HTTP. */
  readonly ca: string | undefined;
  /** The secrets of the scenario, by ref. */
  readonly keys: Readonly<Record<string, string>>;
  /** The watched scenario. */
  readonly file: string;
  readonly isRunning: () => boolean;
  /** Its resources after a collection. */
  readonly holding: () => Promise<Holding>;
  /** Does not read the log for so many milliseconds. */
  readonly stallLog: (milliseconds: number) => Promise<void>;
  /** Ends it with SIGTERM; resolves to its code or signal, and removes its folder. */
  readonly stop: () => Promise<number | string | null>;
}

/** Starts the product in its own folder; all of its output is searched for keys. */
export async function startProduct(
  name: string,
  flags: readonly string[],
  { figures, secrets }: Soak,
): Promise<Product> {
  const folder = await mkdtemp(join(tmpdir(), "svc-sandbox-soak-"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(join(root, "node_modules/msw"), join(folder, "node_modules/msw"));
  const file = join(folder, "world.yaml");
  writeFileSync(file, scenarioText("Soak"));
  writeFileSync(join(folder, "handlers.mjs"), handlersText);
  const { PATH, HOME } = process.env;
  const argv = [
    ...["--expose-gc", "--import", measured, join(root, "bin/svc-sandbox.js")],
    ...["start", "world.yaml", "--port", "0", "--json", "--watch", "--state", "state.json"],
    ...["--handlers", "handlers.mjs", ...flags],
  ];
  const child = spawn(process.execPath, argv, {
    cwd: folder,
    env: { PATH, HOME },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const [stdout, stderr] = [child.stdout as Readable, child.stderr as Readable];
  let isStopping = false;
  const ended = once(child, "exit").then(([code, signal]) => {
    if (!isStopping) figures.fail(`${name} ended by itself`, code ?? signal);
    return (code ?? signal) as number | string | null;
  });
  search(stderr, `log of ${name}`);
  const first = once(createInterface({ input: stdout }), "line");
  const [line] = await Promise.race([first, ended.then(() => [undefined])]);
  if (line === undefined) throw new Error(`${name} did not start:\n${figures.failures().join("\n")}`);
  const { base_url: url, certificate, keys } = JSON.parse(line);
  search(stdout, `standard output of ${name}`);

  function search(stream: Readable, where: string): void {
    // A key may be split across two pieces.
    let rest = "";
    stream.setEncoding("utf8").on("data", (text: string) => {
      figures.count("log bytes", text.length);
      const shown = rest + text;
      if (secrets.isIn(shown)) figures.fail(`a key is in the ${where}`);
      if (/defect|internal_error/.test(shown) && /"status":500|defect of svc-sandbox/.test(shown))
        figures.fail(`the ${where} shows a defect`, shown.slice(0, 2000));
      rest = shown.slice(-200);
    });
  }

  return {
    ...{ name, url, port: Number(new URL(url).port), ca: certificate, keys, file },
    isRunning: () => child.exitCode === null && child.signalCode === null,
    async holding() {
      child.send("measure");
      const [memory] = (await once(child, "message")) as [Omit<Holding, "descriptors">];
      const open = `/proc/${child.pid}/fd`;
      return { ...memory, descriptors: existsSync(open) ? readdirSync(open).length : 0 };
    },
    async stallLog(milliseconds) {
      stderr.pause();
      await sleep(milliseconds);
      stderr.resume();
    },
    async stop() {
      isStopping = true;
      child.kill("SIGTERM");
      const end = await Promise.race([ended, sleep(20_000, "it did not end", { ref: false })]);
      child.kill("SIGKILL");
      for (const left of readdirSync(folder).filter((one) => one !== "node_modules")) {
        if (/\.(?:tmp|lock)/.test(left)) figures.fail(`${name} left ${left} behind`);
        if (secrets.isIn(readFileSync(join(folder, left), "utf8"))) figures.fail(`a key is in ${left}`);
      }
      rmSync(folder, { recursive: true, force: true });
      return end;
    },
  };
}
