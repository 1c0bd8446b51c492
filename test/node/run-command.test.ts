import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import tty from "node:tty";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type CommandOptions, runCommand, TakenSignals } from "../../src/cli/run-command.js";
import { bundle } from "../support/bundle.js";
import { root } from "../support/pages.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// Without Windows: cross-spawn reads another platform, and cmd.exe is a script that prints its words and ends with 1.
const program = `
Object.defineProperty(process, "platform", { value: "win32" });
const { runCommand } = await import("./run-command.mjs");
const signals = { first: undefined, passTo: () => () => {} };
const [cwd, commands] = process.argv.slice(2);
const env = { PATH: '"' + cwd + '/quoted folder";' + cwd + '/other', PATHEXT: ".COM;.EXE;.BAT;.CMD" };
for (const command of JSON.parse(commands)) {
  const end = await runCommand(command, { cwd, env, terminal: "shared", signals });
  console.log(end.failure?.code ?? end.code);
}
`;

/** Runs commands in one process; each prints its words and its end. */
async function runOnWindows(commands: readonly (readonly string[])[]): Promise<string[]> {
  const cwd = temporaryFolder({
    "cmd.sh": '#!/bin/sh\necho "$@"\nexit 1\n',
    gradlew: "#!/bin/sh\n",
    "gradlew.BAT": "",
    "program.mjs": program,
    "run-command.mjs": await bundle(join(root, "src/cli/run-command.ts"), "node"),
  });
  mkdirSync(join(cwd, "quoted folder"));
  for (const name of ["my.tool", "my.tool.CMD"]) writeFileSync(join(cwd, "quoted folder", name), "");
  chmodSync(join(cwd, "cmd.sh"), 0o755);
  const argv = [join(cwd, "program.mjs"), cwd, JSON.stringify(commands)];
  const env = { ...process.env, comspec: join(cwd, "cmd.sh"), PATHEXT: ".COM;.EXE;.BAT;.CMD" };
  const { stdout } = await promisify(execFile)(process.execPath, argv, { cwd: root, env, timeout: 60_000 });
  return stdout.trimEnd().split("\n");
}

describe("on Windows a command", () => {
  const commands = [
    ["of the working folder", ["gradlew", "test"], '/d /s /c "gradlew ^"test^""', "1"],
    ["by its path", ["./gradlew", "test"], '/d /s /c "gradlew ^"test^""', "1"],
    [
      "with a dotted name, in a quoted folder of PATH",
      ["my.tool", "a b"],
      '/d /s /c "my.tool ^"a^ b^""',
      "1",
    ],
    ["that does not exist", ["nope"], '/d /s /c "nope"', "ENOENT"],
  ] as const;
  let lines: Promise<string[]> | undefined;

  test.each(commands.map((command, index) => [...command, index] as const))(
    "%s",
    async (_title, _command, words, end, index) => {
      lines ??= runOnWindows(commands.map(([, command]) => command));
      expect((await lines).slice(2 * index, 2 * index + 2)).toEqual([words, end]);
    },
  );
});

const noSignals = () => new TakenSignals({ takeSignals: () => () => {} });

test("a command that cannot start leaves no listeners on the output", async () => {
  const count = () => ["error", "close", "finish", "unpipe"].map((one) => process.stdout.listenerCount(one));
  const before = count();
  expect(
    await runCommand(["no-such-command"], {
      cwd: root,
      env: process.env,
      terminal: "shared",
      signals: noSignals(),
      onOutput() {},
    }),
  ).toMatchObject({ kind: "not_run", failure: { code: "ENOENT" } });
  expect(count()).toEqual(before);
});

const run = (code: string, options: Partial<CommandOptions> = {}) =>
  runCommand(["sh", "-c", code], {
    cwd: root,
    env: process.env,
    terminal: "shared",
    signals: noSignals(),
    ...options,
  });

test("commands in parallel share their listeners on this process and its outputs", async () => {
  const count = () => [
    process.listenerCount("exit"),
    process.stdout.listenerCount("error"),
    process.stderr.listenerCount("error"),
  ];
  const first = run("exit 0", { terminal: "none" });
  const ofOne = count();
  const others = Array.from({ length: 11 }, () => run("exit 0", { terminal: "none" }));
  expect(count()).toEqual(ofOne);
  await Promise.all([first, ...others]);
});

describe.each([
  ["the terminal's group", "shared"],
  ["its own group", "none"],
] as const)("a command in %s", (_group, terminal) => {
  const outcome = async (code: string, signals: readonly (readonly NodeJS.Signals[])[]) => {
    let send: (signal: NodeJS.Signals) => void = () => {};
    const sent = new TakenSignals({
      takeSignals(listener) {
        send = listener;
        return () => {};
      },
    });
    let output = "";
    const onOutput: CommandOptions["onOutput"] = (_stream, chunk) => {
      output += chunk;
      // Each signal when the command has heard the one before it.
      for (const signal of signals[output.length - 1] ?? []) send(signal);
    };
    const end = await run(code, { terminal, signals: sent, onOutput });
    const kill = vi.spyOn(process, "kill");
    onTestFinished(() => kill.mockRestore());
    for (const signal of ["SIGTERM", "SIGTERM", "SIGTERM"] as const) send(signal);
    expect(kill).not.toHaveBeenCalled();
    return [end, output];
  };
  const onSignals = "trap 'exit 5' INT; trap 'exit 6' TERM";
  const loop = "printf .; while :; do :; done";

  test.each([
    ["one signal", loop, [["SIGTERM"]], 143, "."],
    [
      "a third signal",
      `trap 'printf .' TERM HUP; ${loop}`,
      [["SIGTERM"], ["SIGHUP"], ["SIGTERM"]],
      137,
      "...",
    ],
    // A terminal has sent the first one to its group itself.
    [
      "what a terminal sends",
      `${onSignals}; ${loop}`,
      [["SIGINT", "SIGTERM"]],
      terminal === "none" ? 5 : 6,
      ".",
    ],
    ["its own end", "printf .; exit 3", [], 3, "."],
  ] as const)("ends by %s, and gets none later", async (_what, code, signals, expected, output) => {
    const written = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    const isTerminal = vi.spyOn(tty, "isatty").mockReturnValue(true);
    syncBuiltinESMExports();
    onTestFinished(() => {
      for (const spy of [written, isTerminal]) spy.mockRestore();
      syncBuiltinESMExports();
    });
    const found = await outcome(code, signals);
    expect(found).toEqual([{ kind: "ended", code: expected, isTimedOut: false }, output]);
    // Other code in this process may write, too.
    const isShown = written.mock.calls.some(([chunk]) => String(chunk) === ".");
    expect(isShown).toBe(terminal === "shared");
  });
});

test("a command ends although something that it started keeps its output open, once ours has taken it", async () => {
  const pids: number[] = [];
  const needsDrain = vi.fn().mockReturnValueOnce(true).mockReturnValue(false);
  const written = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  onTestFinished(() => {
    written.mockRestore();
    Reflect.deleteProperty(process.stdout, "writableNeedDrain");
  });
  const end = await run("sleep 1000 & echo $!", {
    onOutput(_stream, chunk) {
      pids.push(Number(chunk));
      Object.defineProperty(process.stdout, "writableNeedDrain", { get: needsDrain, configurable: true });
    },
  });
  process.kill(pids[0] as number);
  expect(end).toMatchObject({ code: 0 });
  expect(needsDrain).toHaveBeenCalledTimes(2);
});
