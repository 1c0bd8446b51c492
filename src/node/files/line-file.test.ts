import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { asked } from "../../../test/support/send.js";
import { temporaryFolder } from "../../../test/support/temporary-folder.js";
import { handle } from "../../api/handle.js";
import { settled } from "../../sandbox/operations/operations.js";
import { bundledScenarios } from "../../scenario/bundled.js";
import { openWorld } from "../platform.js";
import { createLineFile } from "./line-file.js";
import { createSandboxFile, parseSandboxFile } from "./sandbox-file.js";

test("lines are appended to a first text, and another program's write is noticed", () => {
  const file = join(temporaryFolder(), "lines");
  const lines = createLineFile(file);
  expect([lines.append("x"), lines.isForeign(), lines.sizes()]).toEqual([
    false,
    false,
    { first: 0, rest: 0 },
  ]);
  lines.replace("first\n");
  expect([lines.append("second\n"), lines.append("third\n"), lines.sizes()]).toEqual([
    true,
    true,
    { first: 6, rest: 13 },
  ]);
  expect([readFileSync(file, "utf8"), lines.isForeign()]).toEqual(["first\nsecond\nthird\n", false]);
  expect(createLineFile(file).sizes()).toEqual({ first: 19, rest: 0 });
  writeFileSync(file, "other");
  expect(lines.isForeign()).toBe(true);
  lines.replace("mine\n");
  expect([lines.isForeign(), lines.sizes(), statSync(file).mode & 0o777]).toEqual([
    false,
    { first: 5, rest: 0 },
    0o600,
  ]);
  const refuse = () => {
    throw new Error("not now");
  };
  expect(() => lines.replace("other\n", refuse)).toThrow("not now");
  expect(readFileSync(file, "utf8")).toBe("mine\n");
  lines.remove();
  expect([existsSync(file), lines.append("x"), lines.isForeign()]).toEqual([false, false, false]);
});

test("a sandbox's requests are lines until these are 256 kB and twice its state, then everything is written again", () => {
  const place = { file: join(temporaryFolder(), "state"), given: "state" };
  const world = openWorld(bundledScenarios.active, { name: "active" });
  const saved = createSandboxFile(place, world, { more: () => ({ mine: 1 }), check() {} });
  saved.save();
  expect([saved.isDue(), saved.sizes().rest]).toEqual([false, 0]);
  let most = 0;
  let count = 0;
  for (; count < 1000 && saved.sizes().rest >= most; count += 1) {
    most = saved.sizes().rest;
    for (let n = 0; n < 20; n += 1)
      saved.addRequest(handle(settled(world), asked({ path: `/v1/${"words/".repeat(80)}` })));
    saved.mark("requests");
    expect(saved.isDue()).toBe(true);
    saved.save();
  }
  expect(most).toBeGreaterThan(256_000);
  expect([saved.sizes().rest, count < 1000]).toEqual([0, true]);
  saved.addRequest(handle(settled(world), asked({})));
  saved.mark("everything");
  saved.mark("requests");
  saved.save();
  expect(saved.sizes().rest).toBe(0);
  const { own, isOpen, ...more } = parseSandboxFile<{ mine: number }>(
    readFileSync(place.file, "utf8"),
    "state",
  );
  expect([isOpen, more.mine, own.exchanges.length]).toEqual([true, 1, Math.min(1000, count * 20 + 1)]);
});
