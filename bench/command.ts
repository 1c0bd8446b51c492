import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { childEnvironment, type ServerChild, stop } from "./children.js";

/** The command as it is installed. */
export const commandFile = fileURLToPath(new URL("../bin/svc-sandbox.js", import.meta.url));

/** Runs `svc-sandbox start` as it is installed, with its default settings but no log, and these flags; resolves once it accepts requests. */
export async function startCommand(
  node: string,
  scenario: string,
  flags: readonly string[] = [],
): Promise<ServerChild> {
  const child = spawn(
    node,
    [commandFile, "start", scenario, "--port", "0", "--json", "--log", "off", ...flags],
    {
      env: childEnvironment(),
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  // A bench that fails must not leave its servers behind.
  const orphaned = () => child.kill();
  process.once("exit", orphaned);
  child.once("exit", () => process.off("exit", orphaned));
  const lines = createInterface({ input: child.stdout });
  const notes = text(child.stderr);
  const ended = new AbortController();
  child.once("exit", () => ended.abort());
  try {
    const [line] = await once(lines, "line", { signal: ended.signal });
    const { base_url, keys } = JSON.parse(line) as { base_url: string; keys: Record<string, string> };
    const port = Number(new URL(base_url).port);
    return { port, pid: child.pid as number, keys: Object.values(keys), stop: () => stop(child) };
  } catch {
    throw new Error(`svc-sandbox did not start: ${await notes}`);
  }
}
