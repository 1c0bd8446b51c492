import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { expect, onTestFinished, test, vi } from "vitest";
import { processIo } from "./io.js";

/** A process with its own streams and listeners, which records how it ends. */
function fakeProcess(words: readonly string[] = []) {
  const argv = ["node", "svc-sandbox", ...words];
  const exits: unknown[] = [];
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: vi.fn() });
  const [stdout, stderr] = [new PassThrough(), new PassThrough({ highWaterMark: 1 })];
  const own = { stdin, stdout, stderr, argv, env: {}, cwd: () => "/", exitCode: 0 };
  const one = Object.assign(new EventEmitter(), own, { exit: (code?: number) => void exits.push(code) });
  const said = () => String(stderr.read() ?? "");
  return { one, io: processIo(one as unknown as NodeJS.Process), exits, said };
}

test.each([
  ["SIGTERM", "SIGINT", [130]],
  ["SIGINT", "SIGTERM", [143]],
  ["SIGHUP", "SIGHUP", []],
])("%s stops, and %s after it exits at once, unless a closed terminal sends both", (first, second, code) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { one, io, exits } = fakeProcess();
  const signal = io.stopSignal();
  expect(signal.aborted).toBe(false);
  one.emit(first, first);
  expect([signal.reason, exits]).toEqual([first, []]);
  vi.advanceTimersByTime(2499);
  expect(exits).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(exits).toEqual([undefined]);
  one.emit(second, second);
  expect(exits).toEqual([undefined, ...code]);
});

test("a stop by the program ends soon, as a signal does", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { io, exits } = fakeProcess();
  const signal = io.stopSignal();
  io.stopProcess();
  expect(signal.reason).toBe("SIGTERM");
  io.endSoon();
  vi.advanceTimersByTime(2500);
  expect(exits).toEqual([undefined, undefined]);
});

test.each([
  [[], /^svc-sandbox failed: a defect\nThis is/],
  [["--json"], /^\{"error":\{"code":"defect",/],
  [["report", "--format", "json"], /^\{"error":\{"code":"defect",/],
])("an error that nobody takes is a defect, with %j", (argv, says) => {
  const { one, exits, said } = fakeProcess(argv);
  one.emit("uncaughtException", new Error("a defect"));
  expect([exits, said()]).toEqual([[3], expect.stringMatching(says)]);
});

test.each([
  ["ENOSPC", 0, 2, "Failed to write to the standard output: failed.\n"],
  ["ENOSPC", 3, 3, "Failed to write to the standard output: failed.\n"],
  ["EPIPE", 0, 0, ""],
  ["ERR_STREAM_DESTROYED", 0, 0, ""],
])("an output that fails with %s, after the exit code %d, makes it %d", async (code, before, after, says) => {
  const { one, io, said } = fakeProcess();
  one.exitCode = before;
  for (let n = 0; n < 2; n += 1) one.stdout.emit("error", Object.assign(new Error("failed"), { code }));
  one.emit("exit");
  expect([one.exitCode, said()]).toEqual([after, says]);
  expect(await io.stdout.waitForReader?.(new AbortController().signal)).toBe(false);
});

test("an output has room once it is drained, or nobody waits any more", async () => {
  const { one, io } = fakeProcess();
  const until = new AbortController();
  const waitForReader = () => io.stderr.waitForReader?.(until.signal);
  expect(await waitForReader()).toBe(true);
  let hasRoom = false;
  io.stderr.write("more than fits");
  const waiting = waitForReader()?.then((still) => {
    hasRoom = true;
    return still;
  });
  await new Promise(setImmediate);
  expect(hasRoom).toBe(false);
  one.stderr.read();
  expect(await waiting).toBe(true);
  io.stderr.write("more than fits");
  const aborted = waitForReader();
  until.abort();
  expect([await aborted, await waitForReader()]).toEqual([true, true]);
  expect(io.stdout.columns).toBeUndefined();
  Object.assign(one.stdout, { columns: 0 });
  expect(io.stdout.columns).toBeUndefined();
  Object.assign(one.stdout, { columns: 80 });
  expect(io.stdout.columns).toBe(80);
});

test("keys of a terminal come in order, by their names", async () => {
  const { one, io } = fakeProcess();
  const keys = await io.keyPresses();
  one.stdin.write("q \r\u0003\u001B[D?");
  const pressed = [];
  for (let n = 0; n < 6; n += 1) pressed.push(await keys?.next());
  expect(pressed).toEqual(["q", "space", "return", "ctrl-c", "left", "?"]);
  keys?.close();
  expect(await keys?.next()).toBe("");
  expect([one.stdin.setRawMode.mock.calls, one.stdin.isPaused()]).toEqual([[[true], [false]], true]);
  one.stdin.isTTY = false;
  expect(await io.keyPresses()).toBeUndefined();
});

test("a wait that is longer than a timer does not end before a short one", async () => {
  const { io } = fakeProcess();
  const stop = new AbortController();
  let hasEnded = false;
  const wait = io.wait(2 ** 31, stop.signal).then(() => {
    hasEnded = true;
  });
  // Node fires a timer that is too long after 1 ms.
  await io.wait(5, stop.signal);
  expect(hasEnded).toBe(false);
  stop.abort();
  await wait;
});
