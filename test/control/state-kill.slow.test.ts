import { createHash } from "node:crypto";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { control } from "../support/call-control.js";
import { isNightly } from "../support/property-seed.js";
import { type SavedServer, startSaved } from "../support/running-command.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const kills = isNightly ? 12 : 3;
const writes = 300;
const organizations = ["first", "second", "third", "fourth"];
const scenario = {
  version: 1,
  clock: { now: "2026-03-02T09:00:00Z", frozen: true },
  organizations: Object.fromEntries(organizations.map((ref) => [ref, { type: "bank" }])),
};

/** The latest acknowledged state of each key, and the fingerprints of the keys that were made. */
interface Acknowledged {
  readonly states: Map<string, string>;
  readonly fingerprints: Map<string, string>;
  clock: string;
  count: number;
}

/** Creates, rotates and revokes keys of an organization, and advances the clock, until the server is gone. */
async function writeUntilGone(url: string, organization: string, known: Acknowledged): Promise<void> {
  const write = async (call: string, body: object = {}) => {
    const response = await control(url, call, body);
    expect(response.status).toBeLessThan(300);
    known.count += 1;
    return response.body.data;
  };
  const made = ({ key, secret }: { key: { ref: string }; secret: string }) => {
    const sha256 = createHash("sha256").update(secret).digest("hex");
    known.fingerprints.set(key.ref, sha256.slice(0, 12));
    known.states.set(key.ref, "active");
  };
  for (let round = 0; known.count < writes; round++) {
    const [key, replacement] = [`${organization}-${round}`, `${organization}-${round}-b`];
    made(await write("POST /keys", { organization, environment: "test", name: "Kept", ref: key }));
    // Unknown until it is acknowledged.
    known.states.delete(key);
    made(await write(`POST /keys/${key}/rotate`, { overlap_minutes: 0, as: replacement }));
    known.states.set(key, "rotated").delete(replacement);
    await write(`POST /keys/${replacement}/revoke`);
    known.states.set(replacement, "revoked");
    const { now } = await write("POST /clock/advance", { by: "1s" });
    if (now > known.clock) known.clock = now;
  }
}

/** Kills the server in the middle of the writes, once so many of them are acknowledged. */
async function killAmongWrites({ child, controlUrl }: SavedServer, after: number): Promise<Acknowledged> {
  const known: Acknowledged = { states: new Map(), fingerprints: new Map(), clock: "", count: 0 };
  const gone = once(child, "exit");
  const writing = Promise.allSettled(organizations.map((one) => writeUntilGone(controlUrl, one, known)));
  const watching = setInterval(() => known.count >= after && child.kill("SIGKILL"), 1);
  await gone;
  clearInterval(watching);
  await writing;
  return known;
}

test(`after kill -9 in the middle of ${writes} writes no acknowledged one is lost, ${kills} times over`, async () => {
  const cwd = temporaryFolder({ "sandbox.json": JSON.stringify(scenario) });
  let running = await startSaved(cwd);
  for (let i = 0; i < kills; i++) {
    // From a kill among the first writes to one among the last.
    const at = (((i * 7) % kills) + 0.5) / kills;
    const known = await killAmongWrites(running, Math.round(at * writes));
    expect(known.count).toBeGreaterThan(0);
    running = await startSaved(cwd);
    const { keys, clock } = (await control(running.controlUrl, "GET /state")).body.data;
    const found = new Map<string, Record<string, string>>(keys.map((key: { ref: string }) => [key.ref, key]));
    const lost = [
      ...[...known.fingerprints].filter(([ref, one]) => found.get(ref)?.fingerprint !== one),
      ...[...known.states].filter(([ref, state]) => found.get(ref)?.state !== state),
    ];
    expect(lost).toEqual([]);
    expect(clock.now >= known.clock).toBe(true);
    // An acknowledged write as well: the next round begins with a small sandbox.
    expect((await control(running.controlUrl, "POST /reset", {})).status).toBe(200);
  }
  running.child.kill("SIGTERM");
  await running.ended;
  // No draft of a process that was killed either.
  expect(readdirSync(cwd).sort()).toEqual(["sandbox.json", "state.json"]);
});
