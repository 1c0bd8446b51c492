import { closeSync, openSync, promises, readdirSync, readSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { claimPlace, linesOf, type RunFile, type RunLine, runFile } from "../../library/run-folder.js";
import { version } from "../../node/package-files.js";
import { parsedJson } from "../../rules/schema/json.js";
import { listed, quote } from "../../rules/schema/words.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import { unwritable } from "../exit-codes.js";

export type RunFolder = Awaited<ReturnType<typeof openRunFolder>>;

/** Makes the folder of a run, for the sandboxes in processes of its command. Only its owner can read it. */
export async function openRunFolder(run: Omit<RunFile, "version">) {
  const folder = await promises
    .mkdtemp(join(tmpdir(), "svc-sandbox-run-"))
    .catch(unwritable(`a folder for the command into ${quote(tmpdir())}`, "Name another folder in TMPDIR."));
  const remove = () => {
    process.removeListener("exit", remove);
    rmSync(folder, { recursive: true, force: true });
  };
  // Also after a crash.
  process.once("exit", remove);
  const { name, scenario } = run.scenario;
  const text = JSON.stringify({ ...run, version, scenario: { name, scenario } } satisfies RunFile);
  writeFileSync(join(folder, runFile), text, { mode: 0o600 });
  const files = new Map<string, () => RunLine[]>();
  const others = new Set<string>();
  const isLines = new RegExp(`^${linesOf(".+")}$`);
  return {
    folder,
    remove,
    claim: (key: string): number => claimPlace(folder, key, process.getBuiltinModule("node:fs")),
    /** Adds the requests since the last call to the server's own sandbox, as if it had got them. */
    read(server: SandboxState): void {
      for (const name of unlessRemoved(() => readdirSync(folder)).filter((one) => isLines.test(one))) {
        const next = files.get(name) ?? followFile(join(folder, name));
        files.set(name, next);
        for (const line of unlessRemoved(next)) {
          if (line.version !== undefined && line.version !== version) others.add(line.version);
          addLine(server, line);
        }
      }
    },
    /** What could not be counted, as sentences. */
    notes(): string[] {
      if (others.size === 0) return [];
      const found = listed([...others].map(quote), "and");
      return [
        `The command has sandboxes of svc-sandbox ${found}, whose requests could not be counted. This is ${quote(version)}: use the same version.`,
      ];
    },
  };
}

// The command may remove the folder: its sandboxes then name what they could not count.
function unlessRemoved<Found>(read: () => readonly Found[]): readonly Found[] {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

function addLine({ counters, history }: SandboxState, { exchange, keys, seen, isUnread }: RunLine): void {
  if (isUnread) counters.countUnread(true);
  if (exchange === undefined) return;
  counters.count(exchange, keys, seen, true);
  history.record(exchange);
}

/** Reads the complete lines that were added since the last call. */
function followFile(file: string): () => RunLine[] {
  let position = 0;
  let rest: Buffer = Buffer.alloc(0);
  const part = Buffer.alloc(64 * 1024);
  return () => {
    const all = [rest];
    const descriptor = openSync(file, "r");
    for (;;) {
      const length = readSync(descriptor, part, 0, part.length, position);
      if (length === 0) break;
      position += length;
      all.push(Buffer.from(part.subarray(0, length)));
    }
    closeSync(descriptor);
    const text = Buffer.concat(all);
    const end = text.lastIndexOf("\n") + 1;
    rest = text.subarray(end);
    const lines = text.toString("utf8", 0, end).split("\n").slice(0, -1);
    return lines.flatMap((line) => (parsedJson(line) as RunLine | undefined) ?? []);
  };
}
