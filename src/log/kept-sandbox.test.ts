import { appendFileSync, existsSync, promises, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { asked } from "../../test/support/send.js";
import { temporaryFolder } from "../../test/support/temporary-folder.js";
import { handle } from "../api/handle.js";
import { openWorld } from "../node/platform.js";
import { settled } from "../sandbox/operations/operations.js";
import { describeSandbox } from "../sandbox/start.js";
import { bundledScenarios } from "../scenario/bundled.js";
import { keepSandbox } from "./kept-sandbox.js";
import { brokenState, parseState } from "./state-format.js";

afterEach(() => void vi.restoreAllMocks());

const opened = (check?: () => void) => {
  const place = { file: join(temporaryFolder(), "state"), given: "state" };
  const world = openWorld(bundledScenarios.active, { name: "active" });
  const describe = () => ({ own: describeSandbox(world) });
  const request = (path = "/v1/relying-party/me") => handle(settled(world), asked({ path }));
  const read = () => parseState(readFileSync(place.file, "utf8"), "state").own;
  const open = () => keepSandbox(place, world, { describe, ...(check && { check }) });
  return { ...place, open, kept: open(), request, read };
};

test("requests are appended to the state, and another program's write is noticed", async () => {
  const { file, open, kept, request, read } = opened();
  expect([kept.sizes(), kept.isForeign(), kept.isSaved()]).toEqual([{ all: 0, rest: 0 }, false, true]);
  // Without a file, requests are saved with the state.
  kept.mark("behind");
  await kept.save();
  const { all: first } = kept.sizes();
  expect([kept.sizes().rest, statSync(file).size, statSync(file).mode & 0o777]).toEqual([0, first, 0o600]);
  kept.addRequest(request());
  await kept.save();
  const { all, rest } = kept.sizes();
  expect([all - rest, statSync(file).size, read()?.since?.exchanges.length]).toEqual([first, all, 1]);
  expect([rest > 0, kept.isForeign()]).toEqual([true, false]);
  // The last line of an earlier process may be cut.
  appendFileSync(file, '{"usedAt":');
  expect([kept.isForeign(), read()?.since?.exchanges.length]).toEqual([true, 1]);
  kept.mark("behind");
  await expect(kept.save()).rejects.toThrow("another program has written it");
  const next = open();
  next.mark("behind");
  await next.save();
  expect([next.sizes().rest, readFileSync(file, "utf8").split("\n").length]).toEqual([0, 2]);
  next.mark("gone");
  await next.save();
  expect(existsSync(file)).toBe(false);
});

test("a rejected write leaves the file unchanged, and what it had is written later", async () => {
  let rejected = false;
  const { file, kept, request, read } = opened(() => {
    if (rejected) throw new Error("not now");
  });
  kept.mark("changed");
  await kept.save();
  const before = readFileSync(file, "utf8");
  rejected = true;
  for (let n = 0; n < 2; n += 1) {
    kept.addRequest(request());
    await expect(kept.save()).rejects.toThrow("not now");
  }
  expect([readFileSync(file, "utf8"), readdirSync(dirname(file))]).toEqual([before, ["state"]]);
  expect([kept.isSaved(), kept.failure()]).toEqual([false, new Error("not now")]);
  rejected = false;
  await kept.save();
  expect([read()?.since?.exchanges.length, kept.isSaved(), kept.failure()]).toEqual([2, true, undefined]);
});

test("a save waits for what happened before it, also while another write is under way, and many share one write", async () => {
  const { kept, request, read } = opened();
  const rename = promises.rename;
  let letGo = () => {};
  const renamed = vi.spyOn(promises, "rename").mockImplementation(async (...given) => {
    await new Promise<void>((resolve) => {
      letGo = resolve;
    });
    return rename(...given);
  });
  kept.mark("changed");
  const first = kept.save();
  await vi.waitFor(() => expect(renamed).toHaveBeenCalledOnce());
  kept.addRequest(request());
  const others = [kept.save(), kept.save()];
  expect(kept.isForeign()).toBe(false);
  letGo();
  await Promise.all([first, ...others]);
  expect([read()?.since?.exchanges.length, renamed.mock.calls.length]).toEqual([1, 1]);
});

test("a sandbox's requests are lines until these are 256 kB and four times its state, then everything is written again", async () => {
  const { kept, request, read } = opened();
  kept.mark("changed");
  await kept.save();
  let most = 0;
  let count = 0;
  for (; count < 1000 && kept.sizes().rest >= most; count += 1) {
    most = kept.sizes().rest;
    for (let n = 0; n < 20; n += 1) kept.addRequest(request(`/v1/${"words/".repeat(80)}`));
    await kept.save();
  }
  expect(most).toBeGreaterThan(256_000);
  expect([kept.sizes().rest, count < 1000]).toEqual([0, true]);
  kept.addRequest(request());
  kept.mark("changed");
  await kept.save();
  expect(kept.sizes().rest).toBe(0);
  expect(read()?.exchanges.length).toBe(Math.min(1000, count * 20 + 1));
});

test("what is no state, or a broken one, is told from one of another format, with what to do", () => {
  for (const text of ["{}", "null", '"x"']) expect(() => parseState(text, "a")).toThrow("or only a part");
  expect(() => parseState('{"svc_sandbox_state":9}', "a")).toThrow("it has format 9");
  expect(brokenState("a").message).toMatch(/remove this one/);
});
