import fc from "fast-check";
import { expect, test } from "vitest";
import { createSandbox, type RequestView, type Sandbox } from "../../src/index.js";
import { stateOf } from "../../src/library/sandbox-api.js";
import { anyScenario, command, modelScenario } from "../model/commands.js";
import { movedTo, played, roundOfRequests, transcript, visible } from "../model/transcript.js";
import { savedOf } from "../support/continued.js";
import { runs } from "../support/property-seed.js";

const commands = fc.array(command, { minLength: 1, maxLength: 25 });
const throughJson = ({ snapshot }: Sandbox) => JSON.parse(JSON.stringify(snapshot()));

test("a snapshot starts a sandbox that continues exactly like the first one, also after JSON", async () => {
  await fc.assert(
    fc.asyncProperty(
      anyScenario,
      commands,
      commands,
      fc.boolean(),
      async (scenario, before, after, asJson) => {
        const game = played(createSandbox({ scenario }));
        await transcript(game, before);
        const snapshot = game.sandbox.snapshot();
        const saved = asJson ? throughJson(game.sandbox) : snapshot;
        const continued = movedTo(createSandbox({ scenario: saved }), game);
        expect(continued.sandbox.snapshot()).toEqual(snapshot);
        const following = [...after, ...roundOfRequests];
        expect(await transcript(continued, following)).toEqual(await transcript(game, following));
      },
    ),
    runs(60),
  );
});

test("a snapshot keeps a key that expired before its overlap was over, and what replaced it", () => {
  const sandbox = createSandbox({
    scenario: modelScenario({ sliding: false, resetHour: 0, countRejected: false }),
  });
  sandbox.keys.rotate("b", { overlap: "1h" });
  sandbox.clock.advance("90s");
  const continued = createSandbox({ scenario: throughJson(sandbox) });
  for (const one of [sandbox, continued]) {
    expect(one.keys.get("b")).toMatchObject({ state: "expired", replacedBy: "b-2" });
    expect(one.keys.get("b-2")).toMatchObject({ state: "active", replaces: "b", expiresAt: null });
  }
});

test("R43 no list and no snapshot names a year after 9999 as the end of a key", () => {
  const scenario = modelScenario({ sliding: false, resetHour: 0, countRejected: false });
  const assumptions = { ...scenario.assumptions, default_expiry: "400d" };
  const sandbox = createSandbox({ scenario: { ...scenario, assumptions }, now: "9999-06-01T00:00:00Z" });
  const { organization } = sandbox.keys.get("a");
  const { key } = sandbox.keys.create({ organization, environment: "test", name: "Late" });
  expect(key.expiresAt).toBe("9999-12-31T23:59:59.999Z");
  expect(createSandbox({ scenario: throughJson(sandbox) }).keys.get(key.ref)).toEqual(key);
});

test("a snapshot of many keys starts a sandbox", () => {
  const population = { organizations: 750, keys_per_organization: 10 };
  const sandbox = createSandbox({ scenario: { version: 1, population } });
  expect(createSandbox({ scenario: throughJson(sandbox) }).keys.list()).toEqual(sandbox.keys.list());
});

test("a reset sandbox continues exactly like a new one, with its own request ids", async () => {
  await fc.assert(
    fc.asyncProperty(anyScenario, commands, commands, async (scenario, before, after) => {
      const used = createSandbox({ scenario });
      await transcript(played(used), before);
      used.reset();
      const fresh = createSandbox({ scenario });
      expect(stateIn(used)).toEqual(stateIn(fresh));
      const following = [...after, ...roundOfRequests];
      const seen = await transcript(played(used), following);
      expect(withoutIds(seen)).toEqual(withoutIds(await transcript(played(fresh), following)));
      const [own, others] = [used, fresh].map(({ requests }) => requests.list().map(withoutDuration)) as [
        Seen,
        Seen,
      ];
      expect(own.map(({ id, ...rest }) => rest)).toEqual(others.map(({ id, ...rest }) => rest));
      expect(new Set([...own, ...others].map(({ id }) => id)).size).toBe(own.length + others.length);
      expect(used.keys.list().map(visible)).toEqual(fresh.keys.list().map(visible));
    }),
    runs(40),
  );
});

/** What a reset starts again: the report and the series of request ids go on. */
function stateIn(sandbox: Sandbox): object {
  const { counts: _, requestIds: __, ...state } = savedOf(stateOf(sandbox));
  return state;
}

// How long a response took is measured, and the fingerprint of a key made at run time is random.
function withoutDuration({ durationMs, fingerprint, ...request }: RequestView) {
  return request;
}
type Seen = ReturnType<typeof withoutDuration>[];

const withoutIds = (seen: unknown) => JSON.stringify(seen).replaceAll(/\["x-request-id","[^"]+"\],?/g, "");
