import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commandLine, hasTerminal, onTerminal, startBin } from "../support/running-command.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { clientFolder, execHere, startExec } from "./exec-client.js";

/** A program that sends a request, says "ready", and does this when a signal comes. */
const waits = (onSignal: string, ...names: string[]) => [
  process.execPath,
  "-e",
  `for (const name of ${JSON.stringify(names)}) process.on(name, () => { console.log(name); ${onSignal} });
setInterval(() => {}, 1000);
fetch(process.env.SVC_BASE_URL + "/v1/relying-party/me").then(() => console.log("ready", process.pid));`,
];

describe("a signal", () => {
  it.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ])("%s that ends the command is its code, and the report is still printed", async (signal, expected) => {
    const { code, stderr } = await execHere(["--", "sh", "-c", `kill -s ${signal.slice(3)} $$`]);
    expect([code, stderr]).toEqual([expected, expect.stringContaining("0 requests to key-states")]);
  });

  it.each(["SIGHUP", "SIGQUIT"] as const)("%s is passed on, and the command may clean up", async (signal) => {
    const clean = "setTimeout(() => { console.log('clean'); process.exit(0); }, 300);";
    const { child, ended, until } = startExec(["--", ...waits(clean, signal)]);
    await until(/ready/);
    child.kill(signal);
    const { code, stdout, stderr } = await ended;
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^ready \d+\nSIG\w+\nclean\n$/)]);
    expect(stderr).toContain("1 request to key-states");
  });
});

/** Makes a process send itself SIGTERM right after the first call of this function. */
const signalsItself = (call: string) => `
const { promises } = require("node:fs");
const original = promises.${call};
promises.${call} = async (...words) => {
  promises.${call} = original;
  const result = await original(...words);
  process.kill(process.pid, "SIGTERM");
  return result;
};`;

describe.each(["exec", "certify"])("a signal while %s starts its command", (command) => {
  it.each(["mkdtemp", "writeFile"])(
    "(after %s) leaves no folder with keys, and the command does not start",
    async (call) => {
      const cwd = temporaryFolder({ "hook.cjs": signalsItself(call), "runs/.keep": "" });
      const env = { TMPDIR: join(cwd, "runs"), NODE_OPTIONS: `--require "${join(cwd, "hook.cjs")}"` };
      const argv = [command, "--tls", "--", process.execPath, "-e", "fs.writeFileSync('started', '')"];
      const { code, signal, stdout, stderr } = await startBin(argv, { cwd, env }).ended;
      expect([code, signal, stdout]).toEqual([143, null, ""]);
      expect(stderr).toMatch(/^(?:Running .*\n)?Stopped before the .*\n$/);
      expect(existsSync(join(cwd, "started"))).toBe(false);
      const left = readdirSync(env.TMPDIR, { recursive: true, encoding: "utf8" });
      expect(left.filter((name) => name.includes("-run-"))).toEqual([]);
    },
  );
});

describe.skipIf(!hasTerminal)("on a terminal", () => {
  const folder = (onSignal: string) => clientFolder({ "waits.cjs": waits(onSignal, "SIGINT")[2] as string });
  const exec = `${commandLine} exec -- "${process.execPath}" waits.cjs`;

  it("Ctrl-C reaches the command once, and the report is colored", async () => {
    const cwd = folder("setTimeout(() => process.exit(5), 500);");
    const { press, ended } = onTerminal(`${exec}; echo code $?`, cwd);
    await press(/ready/, "\u0003");
    const { stdout } = await ended;
    expect(stdout.match(/SIGINT/g)).toHaveLength(1);
    expect(stdout).toContain("\u001b[1mOutcomes\u001b[22m");
    expect(stdout).toMatch(/code 5\r\n$/);
  });
});
