import { spawn } from "node:child_process";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Opens an address in this machine's browser, and does not wait for it. The program that `BROWSER` names is asked where
 * it is set. Calls `failed` with the reason when no browser could be opened. Never throws.
 */
export function openBrowser(address: string, env: Environment, failed: (reason: string) => void): void {
  if (env.BROWSER === "none") return;
  const [program, ...words] = openerOf(env);
  // Without a shell, which would read the address; and apart from this process, so that Ctrl-C is not meant for it.
  const child = spawn(program, [...words, address], { env, stdio: "ignore", detached: true });
  child.on("error", ({ code, message }: NodeJS.ErrnoException) =>
    failed(code === "ENOENT" ? `there is no ${program}` : message),
  );
  child.on("exit", (code) => {
    if (code !== 0 && code !== null) failed(`${program} ended with ${code}`);
  });
  // A browser may stay open for longer than we run.
  child.unref();
}

function openerOf({ BROWSER, SystemRoot = "C:\\Windows" }: Environment): [string, ...string[]] {
  // A list of browsers is for xdg-open to read.
  if (BROWSER && !/%s|:[^\\]/.test(BROWSER)) return [BROWSER];
  if (process.platform === "darwin") return ["open"];
  // What `start` does, without cmd.exe.
  if (process.platform === "win32") {
    return [`${SystemRoot}\\System32\\rundll32.exe`, "url.dll,FileProtocolHandler"];
  }
  return ["xdg-open"];
}
