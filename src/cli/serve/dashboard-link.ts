import { controlPath } from "../../node/addresses.js";
import type { Logger } from "../../node/logger.js";
import { openBrowser } from "../../node/process/open-browser.js";
import type { RunningServer } from "../../server/serve-log.js";
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
