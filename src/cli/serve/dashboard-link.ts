import { spawn } from "node:child_process";
import { controlPath } from "../../node/addresses.js";
import type { Logger } from "../../node/logger.js";
import type { RunningServer } from "../../server/serve.js";
import type { Io } from "../io.js";

/** The view, and whether the control token is new: the user's own token is not shown again. */
interface LinkOptions {
  /** The view, as written after `#`. Default: the overview. */
  readonly view?: string;
  readonly tokenIsNew?: boolean;
}

/** Returns the dashboard's address; `undefined` without a control plane. A new token follows `#`, which no log contains. */
export function dashboardLink(
  { controlUrl, controlToken }: Pick<RunningServer, "controlUrl" | "controlToken">,
  { view = "", tokenIsNew = false }: LinkOptions = {},
): string | undefined {
  const token = tokenIsNew && controlToken !== undefined ? `token=${controlToken}` : "";
  const fragment = [token, view].filter(Boolean).join("&");
  return controlUrl && `${controlUrl}/${fragment && `#${fragment}`}`;
}

/** Opens the dashboard in this machine's browser. Reports a missing browser, and continues. */
export function openDashboard(server: RunningServer, options: LinkOptions, { env }: Io, log: Logger): void {
  if (server.controlUrl === undefined) return;
  const local = { ...server, controlUrl: server.localUrl + controlPath };
  const link = dashboardLink(local, { ...options, tokenIsNew: false });
  openBrowser(dashboardLink(local, options) as string, env, (reason) =>
    log.problem(`No browser was opened: ${reason}. Open the dashboard yourself: ${link}`),
  );
}

type BrowserEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Opens an address in this machine's browser, or in the program of the variable `BROWSER`, and does not wait for it. Calls
 * `failed` with the reason if that fails. Never throws.
 */
function openBrowser(address: string, env: BrowserEnvironment, failed: (reason: string) => void): void {
  if (env.BROWSER === "none") return;
  const [program, ...words] = openerOf(env);
  // Without a shell, which would interpret the address. Detached, so that Ctrl-C does not end it.
  const child = spawn(program, [...words, address], { env, stdio: "ignore", detached: true });
  child.on("error", ({ code, message }: NodeJS.ErrnoException) =>
    failed(code === "ENOENT" ? `there is no ${program}` : message),
  );
  child.on("exit", (code) => {
    if (code !== 0 && code !== null) failed(`${program} ended with ${code}`);
  });
  // The browser may stay open longer than this process.
  child.unref();
}

function openerOf({ BROWSER, SystemRoot = "C:\\Windows" }: BrowserEnvironment): [string, ...string[]] {
  // xdg-open handles lists of browsers.
  if (BROWSER && !/%s|:[^\\]/.test(BROWSER)) return [BROWSER];
  if (process.platform === "darwin") return ["open"];
  // Like `start`, but without cmd.exe.
  if (process.platform === "win32") {
    return [`${SystemRoot}\\System32\\rundll32.exe`, "url.dll,FileProtocolHandler"];
  }
  return ["xdg-open"];
}
