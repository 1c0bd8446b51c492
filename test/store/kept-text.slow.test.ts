import { expect, test, vi } from "vitest";
import { nodePlatform } from "../../src/node/platform.js";
import { KeptText } from "../../src/store/kept-sandboxes.js";

/** A text of what has happened, whose writes wait until `letGo`. */
function opened(makes = () => {}) {
  let [happened, letGo] = [0, (_error?: Error) => {}];
  const written: string[] = [];
  const onFailure = vi.fn();
  const text = new KeptText({
    describe() {
      makes();
      return `${happened}`;
    },
    write: (content) =>
      new Promise((resolve, reject) => {
        letGo = (error) => {
          if (error !== undefined) return reject(error);
          written.push(String(content));
          resolve();
        };
      }),
    onFailure,
  });
  const happen = (isChanged: boolean) => {
    happened += 1;
    text.mark(isChanged);
  };
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const end = async (error?: Error) => {
    await turn();
    letGo(error);
    await turn();
  };
  return { text, happen, written, end, turn, onFailure };
}

test("a save waits for what happened before it, also while another write is under way, and many share one write", async () => {
  const { text, happen, written, end, turn } = opened();
  happen(true);
  const first = text.save();
  await turn();
  happen(false);
  const others = [text.save(), text.save()];
  await end();
  await first;
  expect([written, text.isSaved()]).toEqual([["1"], false]);
  await end();
  await Promise.all(others);
  expect([written, text.isSaved(), text.bytes]).toEqual([["1", "2"], true, 1]);
});

test("what depends on a change waits for it, whether its write has begun or not, and nothing waits for requests", async () => {
  const { text, happen, written, end, turn } = opened();
  happen(false);
  expect(text.settled()).toBeUndefined();
  happen(true);
  const before = text.settled();
  await turn();
  happen(false);
  const during = text.settled();
  await end();
  await Promise.all([before, during]);
  expect([written, text.settled()]).toEqual([["2"], undefined]);
});

test("a write that fails is reported once, and the next one has everything", async () => {
  const { text, happen, written, end, onFailure } = opened();
  for (let round = 0; round < 2; round += 1) {
    happen(true);
    const failed = expect(text.save()).rejects.toThrow("full");
    await end(new Error("full"));
    await failed;
  }
  expect([onFailure.mock.calls.length, text.isSaved(), text.unsavedFor() > 0]).toEqual([1, false, true]);
  const saved = text.settled();
  await end();
  await saved;
  expect([written, text.failure, text.unsavedFor()]).toEqual([["2"], undefined, 0]);
});

test("a text that takes long to make waits for the next write, at most two seconds, and not when the server stops", async () => {
  let time = 0;
  const clock = vi.spyOn(nodePlatform, "stopwatch").mockImplementation(() => time);
  const { text, happen, written, end, turn } = opened(() => {
    time += 100_000;
  });
  happen(true);
  const first = text.save();
  await end();
  await first;
  happen(true);
  const second = text.save();
  await turn();
  expect(written).toEqual(["1"]);
  text.hurry();
  await end();
  await second;
  expect(written).toEqual(["1", "2"]);
  clock.mockRestore();
});
