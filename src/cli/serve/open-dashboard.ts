import type { Logger } from "../../node/logger.js";
import { controlPath } from "../../rules/known-paths.js";
import type { RunningServer } from "../../server/serve.js";
import type { Io } from "../io.js";

/** The address of the dashboard. A generated token follows `#`, which no log contains. */
export function dashboardLink(controlUrl: string, generatedToken: string | undefined): string {
  if (generatedToken === undefined) return `${controlUrl}/`;
  return `${controlUrl}/#token=${generatedToken}`;
}

/** Opens the dashboard of a server in the browser. */
export function openDashboard(
  server: RunningServer,
  generatedToken: string | undefined,
  { env }: Io,
  log: Logger,
): void {
  if (env.BROWSER === "none") return;
  const controlUrl = server.localUrl + controlPath;
  const reportFailure = (reason: string) => {
    log.problem(`No browser was opened: ${reason}. Open the dashboard yourself: ${controlUrl}/`);
  };

  // A shell would interpret the address, and Ctrl-C would end a process that is not detached.
  const { spawn } = process.getBuiltinModule("node:child_process");
  const [program, ...words] = findOpener(env);
  const link = dashboardLink(controlUrl, generatedToken);
  const child = spawn(program, [...words, link], { env, stdio: "ignore", detached: true });
  child.on("error", (error: NodeJS.ErrnoException) => {
    reportFailure(error.code === "ENOENT" ? `there is no ${program}` : error.message);
  });
  child.on("exit", (code) => {
    if (code !== 0 && code !== null) reportFailure(`${program} ended with ${code}`);
  });
  // The browser may stay open longer than this process.
  child.unref();
}

/** The program that opens an address in the browser, and its arguments before the address. */
function findOpener(env: Io["env"]): [string, ...string[]] {
  // A list of browsers, or a command with a place for the address, is for xdg-open.
  if (env.BROWSER && !/%s|:[^\\]/.test(env.BROWSER)) return [env.BROWSER];
  if (process.platform === "darwin") return ["open"];
  if (process.platform !== "win32") return ["xdg-open"];
  // Like `start`, but without cmd.exe.
  const windows = env.SystemRoot ?? "C:\\Windows";
  return [`${windows}\\System32\\rundll32.exe`, "url.dll,FileProtocolHandler"];
}
