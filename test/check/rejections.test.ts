import { expect, test } from "vitest";
import { type Misbehave, probeKeys, serveProbed, setIn } from "../support/probed-server.js";
import { runCli } from "../support/run-cli.js";

/** Checks a server, and returns the differences in its 401 responses, its notes and how often each cause was sent. */
async function check(misbehave: Misbehave, ...argv: string[]) {
  const server = await serveProbed(misbehave);
  const { stdout } = await runCli(["check", server.url, "--json", ...argv], { env: probeKeys });
  const { differences, notes } = JSON.parse(stdout);
  const sent = server.requests().map(({ ref }) => ref);
  return {
    found: differences.map(({ path_id, at }: { path_id: string; at: string }) => `${path_id} ${at}`),
    notes: notes.join("\n"),
    all: sent.length,
    times: (ref: string) => sent.filter((one) => one === ref).length,
  };
}

const causes = ["none", "malformed", "unknown", "revoked", "expired"];

/** Whole numbers from 0 to 999 that look random, the same ones each time. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * 1000);
  };
}

const places: Readonly<Record<string, string>> = {
  Via: "headers.Via",
  "X-Served-By": "headers.X-Served-By",
  "the message": "body.error.message",
};
test.each(Object.keys(places))("R14 identical nodes that differ in %s cause no alarm", async (place) => {
  for (let seed = 1; seed <= 12; seed++) {
    const random = randomFrom(seed);
    // Two to four nodes, chosen by chance or in turn; or a value that is new each time.
    const node = (number: number) =>
      seed % 3 === 0 ? number : (seed % 3 === 1 ? random() : number) % (2 + (seed % 4));
    const { found } = await check((reply, { number }) => {
      if (reply.status === 401) setIn(reply, places[place] as string, `node ${node(number)}`);
    });
    expect([seed, found]).toEqual([seed, []]);
  }
});

test("R14 equal responses are not repeated, and a difference that does not return is repeated once", async () => {
  expect((await check(() => {})).all).toBe(9);
  const { all, times } = await check((reply, { number }) => {
    if (number === 5) setIn(reply, "headers.Via", "another");
  });
  expect([all, times("none")]).toEqual([9, 1]);
  const once = await check((reply, { ref, count }) => {
    if (ref === "expired" && count === 1) setIn(reply, "headers.Via", "another");
  });
  expect([once.all, once.times("none"), once.times("expired"), once.found]).toEqual([11, 2, 2, []]);
});

test("R14 a difference is reported after both causes were repeated five times in turn, next to others that vary", async () => {
  const { found, times, all } = await check((reply, { ref, number }) => {
    if (reply.status !== 401) return;
    setIn(reply, "headers.X-Trace", `trace-${number}`);
    setIn(reply, "headers.X-Served-By", `node-${number % 2}`);
    if (ref === "expired") setIn(reply, "body.error.message", "Expired.");
  });
  expect(found).toEqual(["401.expired $.error.message"]);
  expect(times("none")).toBeGreaterThanOrEqual(6);
  expect(times("expired")).toBe(times("none"));
  expect(all).toBeLessThanOrEqual(40);
});

test("R14 a header that only one cause has is found, though its value varies", async () => {
  const { found } = await check((reply, { ref, number }) => {
    if (ref === "revoked") setIn(reply, "headers.X-Reason", `revoked ${number}`);
  });
  expect(found).toEqual(["401.revoked X-Reason"]);
});

test("R14 every cause that differs is found within 40 requests", async () => {
  const { found, all, times } = await check((reply, { ref }) => {
    if (reply.status === 401) setIn(reply, "body.error.message", ref);
  });
  expect(found).toEqual(
    ["malformed", "unknown", "revoked", "expired"].map((cause) => `401.${cause} $.error.message`),
  );
  expect(causes.map(times)).toEqual([6, 6, 6, 6, 6]);
  expect(all).toBeLessThanOrEqual(40);
});

test("R14 without requests for five repetitions, a note names the causes and the requests that it takes", async () => {
  const expired: Misbehave = (reply, { ref }) => {
    if (ref === "expired") setIn(reply, "body.error.message", "Expired.");
  };
  const few = await check(expired, "--max-requests", "12");
  expect([few.found, few.all]).toEqual([[], 9]);
  expect(few.notes).toContain("401.expired");
  const [, needed = ""] = /--max-requests (\d+)/.exec(few.notes) ?? [];
  expect((await check(expired, "--max-requests", needed)).found).toEqual(["401.expired $.error.message"]);
});
