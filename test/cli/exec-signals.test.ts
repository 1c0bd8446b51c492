import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { bin } from "../support/running-command.js";
import { clientFolder, runExec, startExec } from "./exec-client.js";

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
    ["SIGKILL", 137],
    ["SIGINT", 130],
  ])("%s that ends the command is its code, and the report is still printed", async (signal, expected) => {
    const { code, stderr } = await runExec(["--", "sh", "-c", `kill -s ${signal.slice(3)} $$`]);
    expect([code, stderr]).toEqual([expected, expect.stringContaining("0 requests to key-states")]);
  });

  it.each([
    "SIGINT",
    "SIGTERM",
    "SIGHUP",
    "SIGQUIT",
  ] as const)("%s is passed on, and the command may clean up first", async (signal) => {
    const clean = "setTimeout(() => { console.log('clean'); process.exit(0); }, 300);";
    const { child, ended, until } = startExec(["--", ...waits(clean, signal)]);
    await until(/ready/);
    child.kill(signal);
    const { code, stdout, stderr } = await ended;
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^ready \d+\nSIG\w+\nclean\n$/)]);
    expect(stderr).toContain("1 request to key-states");
  });

  it("is passed on a second time, and the third ends a command that does not listen", async () => {
    const { child, ended, until } = startExec(["--", ...waits("", "SIGINT", "SIGTERM")]);
    await until(/ready/);
    child.kill("SIGINT");
    await until(/SIGINT/);
    child.kill("SIGTERM");
    await until(/SIGTERM/);
    child.kill("SIGINT");
    const { code, stdout, stderr } = await ended;
    expect([code, stdout]).toEqual([137, expect.stringMatching(/^ready \d+\nSIGINT\nSIGTERM\n$/)]);
    expect(stderr).toContain("1 request to key-states");
  });

  it("that came twice ends it after some seconds", async () => {
    const { child, ended, until } = startExec(["--", ...waits("", "SIGTERM")]);
    await until(/ready/);
    child.kill("SIGTERM");
    await until(/SIGTERM/);
    child.kill("SIGTERM");
    expect((await ended).code).toBe(137);
  });
});

// Types Ctrl-C once the command is ready, and prints what the terminal showed.
const typist = `
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
seen = b""
typed = False
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    if not piece:
        break
    seen += piece
    if not typed and b"ready" in seen:
        typed = True
        os.write(terminal, b"\\x03")
_, status = os.waitpid(pid, 0)
print(seen.decode(), "code", os.waitstatus_to_exitcode(status))
`;

const hasPython = (() => {
  try {
    return execFileSync("python3", ["-c", "import pty; print(True)"], { stdio: "pipe" }).length > 0;
  } catch {
    return false;
  }
})();

describe.skipIf(!hasPython)("on a terminal", () => {
  const exec = (...words: string[]) => [process.execPath, bin, "exec", "--", ...words];
  const typed = (...line: string[]) =>
    execFileSync("python3", ["-c", typist, ...line], {
      cwd: clientFolder(),
      env: { PATH: process.env.PATH, HOME: process.env.HOME, TERM: "xterm" },
      encoding: "utf8",
    });

  it("Ctrl-C reaches the command once, and the report is coloured", () => {
    const shown = typed(...exec(...waits("setTimeout(() => process.exit(5), 500);", "SIGINT")));
    expect(shown.match(/SIGINT/g)).toHaveLength(1);
    expect(shown).toContain("\u001b[1mPaths\u001b[22m");
    expect(shown).toMatch(/code 5\n$/);
  });

  it.skipIf(process.platform !== "linux")("SIGINT to exec alone reaches a command in the background", () => {
    // With job control, as in a shell that somebody sits at: what is behind & is a group of its own.
    const script =
      'set -m\n"$@" > out 2> err & p=$!\nuntil grep -q ready out; do sleep 0.1; done\nkill -INT $p\nwait $p\necho ready code $?';
    const shown = typed("sh", "-c", script, "sh", ...exec(...waits("process.exit(5)", "SIGINT")));
    expect(shown).toContain("ready code 5");
  });
});
