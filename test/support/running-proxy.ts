import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { programPath } from "./programs.js";
import { temporaryFolder } from "./temporary-folder.js";

/** Runs a proxy with these settings to the end of the test. */
export function runProxy(program: "haproxy" | "nginx", settings: string): void {
  const folder = temporaryFolder({ settings });
  const file = join(folder, "settings");
  const own = `daemon off; pid ${folder}/pid; error_log ${folder}/errors;`;
  const argv =
    program === "haproxy" ? ["-f", file, "-db", "-q"] : ["-p", folder, "-c", file, "-e", "errors", "-g", own];
  const child = spawn(programPath(program), argv, { stdio: "ignore" });
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await once(child, "exit");
  });
}
