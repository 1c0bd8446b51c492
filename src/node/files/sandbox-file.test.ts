import { appendFileSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { asked } from "../../../test/support/send.js";
import { temporaryFolder } from "../../../test/support/temporary-folder.js";
import { handle } from "../../api/handle.js";
import { settled } from "../../sandbox/operations/operations.js";
import { bundledScenarios } from "../../scenario/bundled.js";
import { openWorld } from "../platform.js";
import { brokenState, createSandboxFile, parseSandboxFile, requireFormat } from "./sandbox-file.js";

const opened = (check?: () => void) => {
  const place = { file: join(temporaryFolder(), "state"), given: "state" };
  const world = openWorld(bundledScenarios.active, { name: "active" });
  const more = () => ({ mine: 1 });
  const request = (path = "/v1/relying-party/me") => handle(settled(world), asked({ path }));
  const read = () => parseSandboxFile<{ mine: number }>(readFileSync(place.file, "utf8"), "state");
  const open = () => createSandboxFile(place, world, { more, ...(check && { check }) });
  return { ...place, open, saved: open(), request, read };
};

test("requests are appended to the state, and another program's write is noticed", () => {
  const { file, open, saved, request, read } = opened();
  expect([saved.sizes(), saved.isForeign()]).toEqual([{ all: 0, rest: 0 }, false]);
  // Without a file, requests are saved with the state.
  saved.save("requests");
  const { all: first } = saved.sizes();
  expect([saved.sizes().rest, statSync(file).size, statSync(file).mode & 0o777]).toEqual([0, first, 0o600]);
  saved.addRequest(request());
  saved.save("requests");
  const { all, rest } = saved.sizes();
  expect([all - rest, statSync(file).size, read().own.since?.exchanges.length]).toEqual([first, all, 1]);
  expect([rest > 0, saved.isForeign()]).toEqual([true, false]);
  // The last line of an earlier process may be cut.
  appendFileSync(file, '{"usedAt":');
  expect([saved.isForeign(), read().own.since?.exchanges.length]).toEqual([true, 1]);
  expect(() => saved.save("requests")).toThrow("another program has written it");
  const next = open();
  next.save("requests");
  expect([next.sizes().rest, readFileSync(file, "utf8").split("\n").length]).toEqual([0, 2]);
  next.save("removal");
  expect(existsSync(file)).toBe(false);
});

test("a rejected write leaves the file unchanged", () => {
  let rejected = false;
  const { file, saved } = opened(() => {
    if (rejected) throw new Error("not now");
  });
  saved.save("everything");
  const before = readFileSync(file, "utf8");
  rejected = true;
  expect(() => saved.save("everything")).toThrow("not now");
  expect([readFileSync(file, "utf8"), readdirSync(dirname(file))]).toEqual([before, ["state"]]);
  expect(JSON.parse(before).usedAt).toBeGreaterThan(0);
});

test("a sandbox's requests are lines until these are 256 kB and four times its state, then everything is written again", () => {
  const { saved, request, read } = opened();
  saved.save("everything");
  let most = 0;
  let count = 0;
  for (; count < 1000 && saved.sizes().rest >= most; count += 1) {
    most = saved.sizes().rest;
    for (let n = 0; n < 20; n += 1) saved.addRequest(request(`/v1/${"words/".repeat(80)}`));
    saved.save("requests");
  }
  expect(most).toBeGreaterThan(256_000);
  expect([saved.sizes().rest, count < 1000]).toEqual([0, true]);
  saved.addRequest(request());
  saved.save("everything");
  expect(saved.sizes().rest).toBe(0);
  const { own, mine } = read();
  expect([mine, own.exchanges.length]).toEqual([1, Math.min(1000, count * 20 + 1)]);
});

test("what is no state, or a broken one, is told from one of another format, with what to do", () => {
  for (const text of [{}, null, "x"]) expect(() => requireFormat(text, 4, "a")).toThrow("or only a part");
  expect(() => requireFormat({ svc_sandbox_state: 9 }, 4, "a")).toThrow("it has format 9");
  expect(brokenState("a").message).toMatch(/remove this one/);
});
