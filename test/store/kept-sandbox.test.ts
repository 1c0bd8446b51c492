import { promises, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { handle } from "../../src/api/handle.js";
import { startInNode } from "../../src/node/platform.js";
import { describeLine, type Line } from "../../src/sandbox/line.js";
import { runDue } from "../../src/sandbox/operations/operations.js";
import { describeSandbox } from "../../src/sandbox/start.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import {
  addRequest,
  bytesOfLines,
  isForeign,
  markChanged,
  openKept,
  saveKept,
} from "../../src/store/file/kept-sandbox.js";
import { parseState } from "../../src/store/state-format.js";
import { asked } from "../support/send.js";
import { temporaryFolder } from "../support/temporary-folder.js";

afterEach(() => void vi.restoreAllMocks());

const opened = () => {
  const place = { file: join(temporaryFolder(), "state"), given: "state" };
  const sandbox = startInNode(bundledScenarios.active, { name: "active" });
  const options = {
    describe: () => ({ own: describeSandbox(sandbox) }),
    describeLine: (happened: Line["happened"]) => ({ line: describeLine(sandbox, happened) }),
  };
  const request = (path = "/v1/relying-party/me") => handle(runDue(sandbox), asked({ path }));
  const read = () => parseState(readFileSync(place.file, "utf8"), "state").own;
  return { kept: openKept(place, options), request, read };
};

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
  markChanged(kept);
  const first = saveKept(kept);
  await vi.waitFor(() => expect(renamed).toHaveBeenCalledOnce());
  addRequest(kept, request());
  const others = [saveKept(kept), saveKept(kept)];
  expect(isForeign(kept)).toBe(false);
  letGo();
  await Promise.all([first, ...others]);
  expect([read()?.lines?.flatMap(({ happened }) => happened).length, renamed.mock.calls.length]).toEqual([
    1, 1,
  ]);
});

test("a sandbox's requests are lines until these are 256 kB and four times its state, then everything is written again", async () => {
  const { kept, request, read } = opened();
  markChanged(kept);
  await saveKept(kept);
  let max = 0;
  let count = 0;
  for (; count < 1000 && bytesOfLines(kept) >= max; count += 1) {
    max = bytesOfLines(kept);
    for (let n = 0; n < 20; n += 1) addRequest(kept, request(`/v1/${"words/".repeat(80)}`));
    await saveKept(kept);
  }
  expect(max).toBeGreaterThan(256_000);
  expect([bytesOfLines(kept), count < 1000]).toEqual([0, true]);
  addRequest(kept, request());
  markChanged(kept);
  await saveKept(kept);
  expect(bytesOfLines(kept)).toBe(0);
  expect(read()?.exchanges.length).toBe(Math.min(1000, count * 20 + 1));
});
