import { spawn } from "node:child_process";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Opens an address in this machine's browser, or in the program of the variable `BROWSER`, and does not wait for it. Calls
 * `failed` with the reason if that fails. Never throws.
 */
export function openBrowser(address: string, env: Environment, failed: (reason: string) => void): void {
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

function openerOf({ BROWSER, SystemRoot = "C:\\Windows" }: Environment): [string, ...string[]] {
  // xdg-open handles lists of browsers.
  if (BROWSER && !/%s|:[^\\]/.test(BROWSER)) return [BROWSER];
  if (process.platform === "darwin") return ["open"];
  // Like `start`, but without cmd.exe.
  if (process.platform === "win32") {
    return [`${SystemRoot}\\System32\\rundll32.exe`, "url.dll,FileProtocolHandler"];
  }
  return ["xdg-open"];
}
