import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { control } from "../support/call-control.js";
import { type SavedServer, startSaved } from "../support/running-command.js";
import { mePath } from "../support/send.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// What `--state` keeps when the process is killed.

const scenario = {
  version: 1,
  clock: { now: "2026-03-02T09:00:00Z", frozen: true },
  organizations: {
    bank: {
      type: "bank",
      keys: {
        main: { environment: "test", limits: { per_minute: 10_000, per_day: 10_000 } },
        other: { environment: "test" },
      },
    },
  },
  story: [{ request: { key: "main" }, expect: { status: 200 } }, { revoke: { key: "other" } }],
};

const begun = () => temporaryFolder({ "sandbox.json": JSON.stringify(scenario) });

const send = async (url: string, key: string, path = mePath) =>
  (await fetch(url + path, { headers: { "x-api-key": key } })).status;

const dataOf = async ({ url }: SavedServer, call: string, base = "", body?: object) =>
  (await control(`${url}${base}/__sandbox`, call, body)).body.data;

/** What a person sees of a sandbox, without the port of the server. */
async function seen(server: SavedServer, base = "") {
  const calls = ["state", "requests", "report", "story", "clock", "organizations", "keys", "assumptions"];
  const views = await Promise.all(calls.map((name) => dataOf(server, `GET /${name}`, base)));
  return JSON.parse(JSON.stringify(views).replaceAll(server.url, "<server>"));
}

test("no reset after a restart gives out an id of a request again", async () => {
  const cwd = begun();
  const ids: string[] = [];
  for (const resets of [3, 5]) {
    const server = await startSaved(cwd);
    for (let n = 0; n <= resets; n += 1) {
      await send(server.url, "SVC_test_sbx00000000000000000000000000000");
      const [{ id }] = await dataOf(server, "GET /requests?limit=1");
      ids.push(id);
      if (n < resets) await dataOf(server, "POST /reset", "", {});
    }
    await server.kill();
  }
  expect([ids.length, new Set(ids).size]).toEqual([10, 10]);
});

test("after kill -9 the journal, the report, the story and the instances are as they were", async () => {
  const cwd = begun();
  const before = await startSaved(cwd);
  await send(before.url, before.keys.main as string);
  await send(before.url, "SVC_test_sbx00000000000000000000000000000");
  await send(before.url, before.keys.main as string, `${mePath}?api_key=${before.keys.main}`);
  await dataOf(before, "POST /story/next", "", {});
  const { id, keys } = await dataOf(before, "POST /instances", "", { label: "a test", seed: 5 });
  const inside = `/i/${id}`;
  await send(before.url, keys.main, inside + mePath);
  await dataOf(before, "POST /keys/other/revoke", inside, {});
  const gone = await dataOf(before, "POST /instances", "", {});
  await control(before.controlUrl, `DELETE /instances/${gone.id}`);
  // A change of each sandbox, so that the requests before it are in its file.
  await dataOf(before, "PUT /clock", "", { frozen: true });
  const [own, other] = [await seen(before), await seen(before, inside)];
  const [listed] = await dataOf(before, "GET /instances");
  await before.kill();

  const after = await startSaved(cwd);
  expect(await seen(after)).toEqual(own);
  expect(await seen(after, inside)).toEqual(other);
  const url = (base: string) => ({ base_url: base + inside, control_url: `${base}${inside}/__sandbox` });
  expect(await dataOf(after, "GET /instances")).toEqual([
    // The minute of its account starts again.
    { ...listed, ...url(after.url), account: expect.anything() },
  ]);
  expect(own[2].requests).toBe(4);
  expect(own[1].map((line: { path_id: string }) => line.path_id)).toEqual([
    "200.test",
    "401.unknown",
    "200.test",
    "200.test",
  ]);
  // They continue: ids of requests are used once, and the instance counts for the server.
  await send(after.url, keys.main, inside + mePath);
  await send(after.url, after.keys.main as string);
  const ids = [
    ...(await dataOf(after, "GET /requests")),
    ...(await dataOf(after, "GET /requests", inside)),
  ].map((line) => line.id);
  expect(new Set(ids).size).toBe(ids.length);
  expect((await dataOf(after, "GET /report")).requests).toBe(6);
  await dataOf(after, "POST /reset", inside, {});
  expect((await dataOf(after, "GET /state", inside)).seed).toBe(5);
}, 120_000);

const recordedIn = (cwd: string): number =>
  JSON.parse(readFileSync(join(cwd, "state.json"), "utf8")).own.recorded;

test("after kill -9 among requests, journal, report and usage end with the same request, and R7 no lost id is given out again", async () => {
  const cwd = begun();
  for (let round = 0; round < 3; round++) {
    const server = await startSaved(cwd);
    const idsOf = async (one: SavedServer): Promise<string[]> =>
      (await dataOf(one, "GET /requests")).map(({ id }: { id: string }) => id);
    const known = await idsOf(server);
    const before = known.length;
    const { requests: reported } = await dataOf(server, "GET /report");
    const headers = { "x-api-key": server.keys.main as string };
    const began = recordedIn(cwd);
    const sending = (async () => {
      // The journal has room for a thousand.
      while (known.length < before + 300) {
        const response = await fetch(server.url + mePath, { headers });
        known.push(response.headers.get("x-request-id") as string);
        await response.text();
      }
    })().catch(() => {});
    // Until some of them are saved, and in the middle of the next ones.
    const reached = () => known.length > before + 20 * round && recordedIn(cwd) > began;
    await expect.poll(reached, { interval: 5 }).toBe(true);
    await server.kill();
    await sending;

    const after = await startSaved(cwd);
    const kept = await idsOf(after);
    const { requests: last } = await dataOf(after, "GET /report");
    const { usage } = await dataOf(after, "GET /keys/main");
    const recorded = last - reported;
    expect([recorded > 0, usage.today]).toEqual([true, last]);
    // The response to the very last request may not have reached its client.
    const sent = known.slice(before);
    expect(recorded).toBeLessThanOrEqual(sent.length + 1);
    expect(kept.slice(-Math.min(100, recorded)).slice(0, sent.length)).toEqual(
      sent.slice(Math.max(0, recorded - 100), recorded),
    );
    for (let lost = recorded; lost <= sent.length; lost++) {
      const { headers: given } = await fetch(after.url + mePath, { headers });
      expect(known).not.toContain(given.get("x-request-id"));
    }
    await after.kill();
  }
}, 120_000);
