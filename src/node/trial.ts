import { spawn } from "node:child_process";
import { parse } from "node:path";
import { fileURLToPath } from "node:url";
import { isExecutable, nodePlatform } from "./platform.js";

export type TrialFailure = "too_large" | "too_slow";

/** What a trial may use, and the most of one sandbox that wait: a partner's must not keep the others waiting. */
export const trialLimits = { megabytes: 64, milliseconds: 10_000, waiting: 4 };
const mostRemembered = 200;

/** The hashes of scenarios that passed; tests start the same one again and again. */
const passed = new Set<string>();
const waiting = new Map<string, number>();
let last: Promise<unknown> = Promise.resolve();

/** In another process with its own heap and time. `undefined` if that ends, also with problems. One trial runs at a time. */
export async function tryScenario(
  text: string,
  sender: string,
  limits = trialLimits,
): Promise<TrialFailure | "too_many" | undefined> {
  const hash = nodePlatform.sha256(text);
  if (passed.has(hash)) return undefined;
  const before = waiting.get(sender) ?? 0;
  if (before >= limits.waiting) return "too_many";
  waiting.set(sender, before + 1);
  const trial = last.catch(() => {}).then(() => validateApart(text, limits));
  last = trial;
  try {
    const failure = await trial;
    if (failure !== undefined) return failure;
    const [oldest] = passed;
    if (passed.size === mostRemembered && oldest !== undefined) passed.delete(oldest);
    passed.add(hash);
    return undefined;
  } finally {
    const others = (waiting.get(sender) ?? 1) - 1;
    if (others === 0) waiting.delete(sender);
    else waiting.set(sender, others);
  }
}

function validateApart(
  text: string,
  { megabytes, milliseconds }: typeof trialLimits,
): Promise<TrialFailure | undefined> {
  const script = isExecutable() ? [] : [fileURLToPath(new URL("../../bin/svc-sandbox.js", import.meta.url))];
  // Windows cannot start a program without this variable.
  const { SystemRoot } = process.env;
  const env = {
    NODE_OPTIONS: `--max-old-space-size=${megabytes}`,
    ...(SystemRoot !== undefined && { SystemRoot }),
  };
  const limits = { timeout: milliseconds, killSignal: "SIGKILL" } as const;
  const place = { env, cwd: parse(process.execPath).root, windowsHide: true };
  const child = spawn(process.execPath, [...script, "validate", "-", "--quiet"], {
    ...{ ...place, ...limits, stdio: ["pipe", "ignore", "ignore"] },
  });
  // It may end before it has read everything.
  child.stdin?.on("error", () => {}).end(text);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, by) => {
      if (by === "SIGKILL") resolve("too_slow");
      // Exit codes of `validate`: 0 for a valid scenario, 1 and 2 for problems, which the caller finds itself.
      else resolve(code === 0 || code === 1 || code === 2 ? undefined : "too_large");
    });
  });
}
