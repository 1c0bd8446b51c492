import { expect, test } from "vitest";
import { asked } from "../../test/support/send.js";
import { handle } from "../api/handle.js";
import { startInNode } from "../node/platform.js";
import { secretToSend } from "../sandbox/secrets.js";
import type { ScenarioName } from "../scenario/bundled.js";
import { resolveSource } from "../scenario/scenario-source.js";
import type { Io } from "./io.js";
import { createLog, logEvents } from "./log.js";
import type { ServeFlags } from "./shared-flags.js";
import { createPrinter, type Output } from "./terminal.js";

/** The log of a request of a bundled scenario. */
async function logOf(
  scenario: ScenarioName,
  ref: string,
  flags: ServeFlags = {},
  request = {},
): Promise<string> {
  const sandbox = startInNode(resolveSource(scenario));
  const parts: string[] = [];
  const stderr: Output = { write: (part) => void parts.push(part) };
  logEvents(sandbox, flags, await createLog(flags, { stderr: createPrinter(stderr, {}) } as unknown as Io));
  handle(sandbox, asked({ apiKey: secretToSend(sandbox, ref), ...request }));
  return parts.join("").trimEnd();
}

test.each([
  ["untouched", / {2}200 .* {2}200\.test .* {2}untouched$/],
  ["delayed", / {2}200 .* {2}200\.test .*\d\.\d ms {2}delayed {2}fault\.latency$/],
  ["unavailable", / {2}503 service_unavailable {2,}fault\.status .* {2}unavailable$/],
  ["hanging", / {2}no response {2,}fault\.hang .* {2}hanging$/],
])("a request with the key %s of bad-day is one line with its outcome", async (ref, line) => {
  expect(await logOf("bad-day", ref)).toMatch(line);
});

test("the advice that a request caused is at the end of its line, and notes only in a verbose log", async () => {
  const request = { traits: ["query"] };
  expect(await logOf("key-states", "legacy", {}, request)).toMatch(/ legacy {2}query-or-body-sent$/);
  const verbose = await logOf("key-states", "legacy", { verbose: true }, request);
  expect(verbose).toContain("query-or-body-sent  legacy-key-in-use");
});

test.each(["pretty", "json"] as const)("the %s log continues after a full disk", async (log) => {
  const lines: string[] = [];
  let isFull = true;
  const stderr: Output = {
    write(text, done) {
      if (isFull) done?.(new Error("ENOSPC"));
      else lines.push(text);
    },
  };
  const logger = await createLog({ log }, { stderr: createPrinter(stderr, {}) });
  logger.note("one");
  isFull = false;
  logger.note("two");
  expect(lines).toEqual([expect.stringContaining("two")]);
});

test.each(["pretty", "json"] as const)("the %s log of a reader that stalls has a bound", async (log) => {
  const lines: string[] = [];
  const unread: (() => void)[] = [];
  const stderr: Output = {
    write(text, done) {
      lines.push(text);
      unread.push(() => done?.());
    },
  };
  const logger = await createLog({ log }, { stderr: createPrinter(stderr, {}) });
  for (let count = 0; count < 3000; count++) logger.note("x".repeat(1000));
  const { length } = lines;
  expect(lines.join("").length).toBeLessThan(1.1 * 2 ** 20);

  for (const read of unread.splice(0)) read();
  logger.note("later");
  expect(lines.slice(length)).toEqual([expect.stringContaining("later")]);
});
