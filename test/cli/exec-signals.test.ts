import { describe, expect, it } from "vitest";
import { commandLine, hasTerminal, onTerminal } from "../support/running-command.js";
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
