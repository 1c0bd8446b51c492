import { createHash } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { control } from "../support/call-control.js";
import { type RunningCommand, startBin } from "../support/running-command.js";
import { mePath } from "../support/send.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// What `--state` keeps when the process is killed: fifty kills after a change, and ten in the middle of changes.

const organizations = ["first", "second", "third", "fourth"];
const scenario = {
  version: 1,
  clock: { now: "2026-03-02T09:00:00Z", frozen: true },
  organizations: Object.fromEntries(
    organizations.map((ref) => {
      const limits = { per_minute: 10_000, per_day: 10_000 };
      return [ref, { type: "bank", keys: { [`${ref}-main`]: { environment: "test", limits } } }];
    }),
  ),
};
const folder = () => temporaryFolder({ "sandbox.json": JSON.stringify(scenario) });

/** A server that keeps the sandbox of a folder's `sandbox.json`. */
interface SavedServer extends RunningCommand {
  readonly url: string;
  readonly controlUrl: string;
  readonly keys: Readonly<Record<string, string>>;
  readonly kill: () => Promise<void>;
}

/** Starts the built command on the state of a folder; fails when it does not come up. */
async function startSaved(cwd: string): Promise<SavedServer> {
  const argv = ["start", "sandbox.json", "--state", "state.json", "--port", "0", "--json", "--log", "off"];
  const running = startBin(argv, { cwd });
  const { base_url: url, control_url: controlUrl, keys } = JSON.parse(await running.until(/\n/));
  const kill = async () => {
    running.child.kill("SIGKILL");
    await running.ended;
  };
  return { ...running, url, controlUrl, keys, kill };
}

/** The latest acknowledged state of each key, the fingerprints of the keys that were made, and the clock. */
interface Acknowledged {
  readonly states: Map<string, string>;
  readonly fingerprints: Map<string, string>;
  clock: string;
  count: number;
}
const nothing = (): Acknowledged => ({ states: new Map(), fingerprints: new Map(), clock: "", count: 0 });

/** The changes of a round in turn; each notes what its response acknowledges. */
function changesOf(url: string, organization: string, round: number, known: Acknowledged) {
  const [key, replacement] = [`${organization}-${round}`, `${organization}-${round}-b`];
  const write = async (call: string, body: object = {}) => {
    // Unknown until it is acknowledged.
    for (const ref of [key, replacement]) if (call.includes(`/${ref}/`)) known.states.delete(ref);
    const response = await control(url, call, body);
    expect(response.status).toBeLessThan(300);
    known.count += 1;
    return response.body.data;
  };
  const made = ({ key: { ref }, secret }: { key: { ref: string }; secret: string }) => {
    known.fingerprints.set(ref, createHash("sha256").update(secret).digest("hex").slice(0, 12));
    known.states.set(ref, "active");
  };
  return [
    async () =>
      made(await write("POST /keys", { organization, environment: "test", name: "Kept", ref: key })),
    async () => {
      made(await write(`POST /keys/${key}/rotate`, { overlap: "0s", as: replacement }));
      known.states.set(key, "rotated");
    },
    async () => {
      await write(`POST /keys/${replacement}/revoke`);
      known.states.set(replacement, "revoked");
    },
    async () => {
      const { now } = await write("POST /clock/advance", { by: "1s" });
      if (now > known.clock) known.clock = now;
    },
  ];
}

/** Expects every acknowledged change on a server. */
async function expectKept({ controlUrl }: SavedServer, known: Acknowledged): Promise<void> {
  const { keys, clock } = (await control(controlUrl, "GET /state")).body.data;
  const found = new Map<string, Record<string, string>>(keys.map((key: { ref: string }) => [key.ref, key]));
  const lost = [
    ...[...known.fingerprints].filter(([ref, one]) => found.get(ref)?.fingerprint !== one),
    ...[...known.states].filter(([ref, state]) => found.get(ref)?.state !== state),
  ];
  expect(lost).toEqual([]);
  expect(clock.now >= known.clock).toBe(true);
}

async function requestId({ url, keys }: SavedServer): Promise<string> {
  const { headers } = await fetch(url + mePath, { headers: { "x-api-key": keys["first-main"] as string } });
  return headers.get("x-request-id") as string;
}

/** Ends the server as users do; nothing but the state remains, such as no draft. */
async function expectOnlyTheState(running: SavedServer, cwd: string): Promise<void> {
  running.child.kill("SIGTERM");
  await running.ended;
  expect(readdirSync(cwd).sort()).toEqual(["sandbox.json", "state.json"]);
}

test("R7 after kill -9 at each of fifty changes, no acknowledged one is lost and no request id is given out twice", async () => {
  const cwd = folder();
  const known = nothing();
  const ids: string[] = [];
  let running = await startSaved(cwd);
  for (let change = 0; change < 50; change++) {
    const changes = changesOf(running.controlUrl, "first", Math.floor(change / 4), known);
    for (let sent = 0; sent < 3; sent++) ids.push(await requestId(running));
    await changes[change % 4]?.();
    ids.push(await requestId(running));
    await running.kill();
    running = await startSaved(cwd);
    await expectKept(running, known);
  }
  expect([known.count, ids.length, new Set(ids).size]).toEqual([50, 200, 200]);
  await expectOnlyTheState(running, cwd);
}, 300_000);

test("after kill -9 in the middle of changes no acknowledged one is lost, ten times over", async () => {
  const cwd = folder();
  let running = await startSaved(cwd);
  for (let kill = 0; kill < 10; kill++) {
    const known = nothing();
    const { child, controlUrl } = running;
    const writeUntilGone = async (organization: string) => {
      for (let round = 0; ; round++) {
        for (const change of changesOf(controlUrl, organization, round, known)) await change();
      }
    };
    const gone = once(child, "exit");
    const writing = Promise.allSettled(organizations.map(writeUntilGone));
    // From a kill among the first changes to one among many.
    const watching = setInterval(() => known.count >= 1 + 12 * kill && child.kill("SIGKILL"), 1);
    await gone;
    clearInterval(watching);
    await writing;
    running = await startSaved(cwd);
    await expectKept(running, known);
    // An acknowledged change as well: the next round begins with a small sandbox.
    expect((await control(running.controlUrl, "POST /reset", {})).status).toBe(200);
  }
  await expectOnlyTheState(running, cwd);
}, 300_000);

test("after kill -9 among requests, journal, report and usage end with the same request, and R7 no lost id is given out again", async () => {
  const cwd = folder();
  const dataOf = async ({ controlUrl }: SavedServer, call: string) =>
    (await control(controlUrl, call)).body.data;
  const idsOf = async (one: SavedServer): Promise<string[]> =>
    (await dataOf(one, "GET /requests")).map(({ id }: { id: string }) => id);
  const recordedIn = () => JSON.parse(readFileSync(join(cwd, "state.json"), "utf8")).sandbox.total;
  for (let round = 0; round < 3; round++) {
    const server = await startSaved(cwd);
    const known = await idsOf(server);
    const before = known.length;
    const { requests: reported } = await dataOf(server, "GET /report");
    const began = recordedIn();
    // The journal has room for a thousand.
    const sending = (async () => {
      while (known.length < before + 300) known.push(await requestId(server));
    })().catch(() => {});
    // Until some of them are saved, and in the middle of the next ones.
    const reached = () => known.length > before + 20 * round && recordedIn() > began;
    await expect.poll(reached, { interval: 5, timeout: 60_000 }).toBe(true);
    await server.kill();
    await sending;

    const after = await startSaved(cwd);
    const kept = await idsOf(after);
    const { requests: last } = await dataOf(after, "GET /report");
    const { usage } = await dataOf(after, "GET /keys/first-main");
    const recorded = last - reported;
    expect([recorded > 0, usage.today]).toEqual([true, last]);
    // The response to the very last request may not have reached its client.
    const sent = known.slice(before);
    expect(recorded).toBeLessThanOrEqual(sent.length + 1);
    expect(kept.slice(-Math.min(100, recorded)).slice(0, sent.length)).toEqual(
      sent.slice(Math.max(0, recorded - 100), recorded),
    );
    for (let lost = recorded; lost <= sent.length; lost++) {
      expect(known).not.toContain(await requestId(after));
    }
    await after.kill();
  }
}, 120_000);
