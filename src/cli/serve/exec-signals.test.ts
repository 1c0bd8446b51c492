import { expect, onTestFinished, test, vi } from "vitest";
import { handOver } from "./exec-signals.js";

/** Signals as a process gets them; what they do is written down. */
function signalled() {
  const done: string[] = [];
  let listener: ((signal: NodeJS.Signals) => void) | undefined;
  const signals = handOver(
    (next) => {
      listener = next;
      return () => {
        listener = undefined;
        done.push("released");
      };
    },
    (signal) => void done.push(`ended by ${signal}`),
  );
  signals.take((signal) => void done.push(`command gets ${signal}`));
  return { signals, done, send: (signal: NodeJS.Signals) => listener?.(signal) };
}

test("while the command runs, signals are its own", () => {
  const { done, send } = signalled();
  for (let i = 0; i < 3; i++) send("SIGINT");
  expect(done).toEqual(Array(3).fill("command gets SIGINT"));
});

test("after it the second one ends the process, whatever is being written", () => {
  const { signals, done, send } = signalled();
  signals.commandEnded();
  send("SIGINT");
  expect(done).toEqual([]);
  send("SIGTERM");
  expect(done).toEqual(["released", "ended by SIGTERM"]);
  signals.release();
});

test("the first one does so after some seconds, unless there is nothing left to do", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const [slow, quick] = [signalled(), signalled()];
  for (const { signals, send } of [slow, quick]) {
    signals.commandEnded();
    send("SIGTERM");
  }
  quick.signals.release();
  vi.advanceTimersByTime(5000);
  expect([slow.done, quick.done]).toEqual([["released", "ended by SIGTERM"], ["released"]]);
});
