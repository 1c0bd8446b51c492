import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clientFolder, runExec, startExec } from "./exec-process.js";

const bin = join(import.meta.dirname, "../../bin/svc-sandbox.js");

/** A program that sends a request, says "ready", and does this when a signal comes. */
const waits = (onSignal: string, ...names: string[]) => [
  process.execPath,
  "-e",
  `let count = 0;
for (const name of ${JSON.stringify(names)}) process.on(name, () => { count += 1; console.log(name); ${onSignal} });
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
    const { child, ended, says } = startExec(["--", ...waits(clean, signal)]);
    await says("ready");
    child.kill(signal);
    const { code, stdout, stderr } = await ended;
    expect([code, stdout.toString()]).toEqual([0, expect.stringMatching(/^ready \d+\nSIG\w+\nclean\n$/)]);
    expect(stderr).toContain("1 request to key-states");
  });

  it("is passed on a second time, and the third ends a command that does not listen", async () => {
    const { child, ended, says } = startExec(["--", ...waits("", "SIGINT", "SIGTERM")]);
    await says("ready");
    child.kill("SIGINT");
    await says("SIGINT");
    child.kill("SIGTERM");
    await says("SIGTERM");
    child.kill("SIGINT");
    const { code, stdout, stderr } = await ended;
    expect([code, stdout.toString()]).toEqual([137, expect.stringMatching(/^ready \d+\nSIGINT\nSIGTERM\n$/)]);
    expect(stderr).toContain("1 request to key-states");
  });

  it("that came twice ends it after some seconds", async () => {
    const { child, ended, says } = startExec(["--", ...waits("", "SIGTERM")]);
    await says("ready");
    child.kill("SIGTERM");
    await says("SIGTERM");
    child.kill("SIGTERM");
    expect((await ended).code).toBe(137);
  });
});

const hasPython = (() => {
  try {
    execFileSync("python3", ["-c", "import pty"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

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

describe.skipIf(!hasPython)("on a terminal", () => {
  it("Ctrl-C reaches the command once, and the report is coloured", () => {
    const line = [
      process.execPath,
      bin,
      "exec",
      "--",
      ...waits("setTimeout(() => process.exit(5), 500);", "SIGINT"),
    ];
    const shown = execFileSync("python3", ["-c", typist, ...line], {
      cwd: clientFolder(),
      env: { PATH: process.env.PATH, HOME: process.env.HOME, TERM: "xterm" },
      encoding: "utf8",
    });
    expect(shown.match(/SIGINT/g)).toHaveLength(1);
    expect(shown).toContain("\u001b[1mPaths\u001b[22m");
    expect(shown).toMatch(/code 5\n$/);
  });

  it.skipIf(process.platform !== "linux")("SIGINT to exec alone reaches a command in the background", () => {
    const cwd = clientFolder();
    // With job control, as in a shell that somebody sits at: what is behind & is a group of its own.
    const script = `set -m
"$@" > out 2> err & p=$!
until grep -q ready out; do sleep 0.1; done
kill -INT $p
wait $p
echo ready code $?`;
    const line = [process.execPath, bin, "exec", "--", ...waits("process.exit(5)", "SIGINT")];
    const shown = execFileSync("python3", ["-c", typist, "sh", "-c", script, "sh", ...line], {
      cwd,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, TERM: "xterm" },
      encoding: "utf8",
    });
    expect(shown).toContain("ready code 5");
  });
});
