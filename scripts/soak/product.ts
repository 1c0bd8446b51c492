import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Figures } from "./figures.js";
import type { Secrets } from "./secrets.js";
import { handlersText, worldText } from "./world.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const measured = new URL("measured.js", import.meta.url).href;

/** What a server holds, in bytes and descriptors; `descriptors` is 0 where a machine does not tell. */
export interface Holding {
  readonly heap: number;
  readonly rss: number;
  readonly descriptors: number;
  /** The longest time in which it did nothing else since it was last asked, in milliseconds. */
  readonly pause: number;
}

/** The built product as a process of its own. */
export interface Product {
  readonly name: string;
  readonly url: string;
  readonly port: number;
  /** The certificate to trust; `undefined` for plain HTTP. */
  readonly ca: string | undefined;
  /** The secrets of the world, by ref. */
  readonly keys: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly isRunning: () => boolean;
  /** What it holds after a collection, once its connections are gone. */
  readonly holding: () => Promise<Holding>;
  /** Does not read the log for so many milliseconds. */
  readonly stallLog: (milliseconds: number) => Promise<void>;
  /** Ends it as SIGTERM does; resolves to its code or signal, and removes its folder. */
  readonly stop: () => Promise<number | string | null>;
}

/** Starts the product on the world in a folder of its own; everything it writes is searched for keys. */
export async function startProduct(
  name: string,
  flags: readonly string[],
  { figures, secrets }: { figures: Figures; secrets: Secrets },
): Promise<Product> {
  const folder = mkdtempSync(join(tmpdir(), "svc-sandbox-soak-"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(join(root, "node_modules/msw"), join(folder, "node_modules/msw"));
  writeFileSync(join(folder, "world.yaml"), worldText("Soak"));
  writeFileSync(join(folder, "handlers.mjs"), handlersText);
  const { PATH, HOME } = process.env;
  const own = ["--expose-gc", "--import", measured, join(root, "bin/svc-sandbox.js")];
  const asked = ["start", "world.yaml", "--port", "0", "--json", "--watch", "--state", "state.json"];
  const child = spawn(process.execPath, [...own, ...asked, "--handlers", "handlers.mjs", ...flags], {
    cwd: folder,
    env: { PATH, HOME },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const ended = once(child, "exit") as Promise<[number | null, string | null]>;
  ended.then(([code, signal]) => isStopping || figures.fail(`${name} ended by itself`, code ?? signal));
  let isStopping = false;
  const listening = await firstLine(child, name);
  const { base_url: url, certificate, keys } = JSON.parse(listening);
  search(child.stdout, `standard output of ${name}`);
  search(child.stderr, `log of ${name}`);

  function search(stream: ChildProcess["stdout"], where: string): void {
    // A key may stand across two pieces.
    let rest = "";
    stream?.setEncoding("utf8").on("data", (text: string) => {
      figures.count("log bytes", text.length);
      const shown = rest + text;
      if (secrets.isIn(shown)) figures.fail(`a key stood in the ${where}`);
      if (/defect|internal_error/.test(shown) && /"status":500|defect of svc-sandbox/.test(shown))
        figures.fail(`the ${where} told of a defect`, shown.slice(0, 2000));
      rest = shown.slice(-200);
    });
  }

  const descriptors = () => {
    const open = `/proc/${child.pid}/fd`;
    return existsSync(open) ? readdirSync(open).length : 0;
  };
  return {
    name,
    url,
    port: Number(new URL(url).port),
    ca: certificate,
    keys,
    folder,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    async holding() {
      // Connections that were closed here are closed there a little later.
      let now = descriptors();
      for (let i = 0, same = 0; i < 50 && same < 5; i++) {
        await sleep(200);
        const next = descriptors();
        same = next === now ? same + 1 : 0;
        now = next;
      }
      child.send("measure");
      const [memory] = (await once(child, "message")) as [Omit<Holding, "descriptors">];
      return { ...memory, descriptors: now };
    },
    async stallLog(milliseconds) {
      child.stderr?.pause();
      await sleep(milliseconds);
      child.stderr?.resume();
    },
    async stop() {
      isStopping = true;
      child.kill("SIGTERM");
      const late = sleep(20_000, "it did not end", { ref: false });
      const end = await Promise.race([ended.then(([code, signal]) => code ?? signal), late]);
      child.kill("SIGKILL");
      for (const file of readdirSync(folder)) {
        if (file === "node_modules") continue;
        if (/\.(?:tmp|lock)/.test(file)) figures.fail(`${name} left ${file} behind`);
        // The world that clients were given, and not what they sent.
        if (secrets.isIn(readFileSync(join(folder, file), "utf8"))) figures.fail(`a key stood in ${file}`);
      }
      rmSync(folder, { recursive: true, force: true });
      return end;
    },
  };
}

function firstLine(child: ChildProcess, name: string): Promise<string> {
  let said = "";
  let text = "";
  return new Promise((resolve, reject) => {
    const onSaid = (chunk: Buffer) => {
      said += chunk;
    };
    const onText = (chunk: Buffer) => {
      text += chunk;
      const end = text.indexOf("\n");
      if (end === -1) return;
      child.stdout?.off("data", onText);
      child.stderr?.off("data", onSaid);
      resolve(text.slice(0, end));
    };
    child.stderr?.on("data", onSaid);
    child.stdout?.on("data", onText);
    child.once("exit", () => reject(new Error(`${name} did not start: ${said}`)));
  });
}
