import fc from "fast-check";
import { expect, test } from "vitest";
import { createSandbox, type RequestView, type Sandbox } from "../../src/index.js";
import { anyScenario, command, modelScenario } from "../model/commands.js";
import { played, roundOfRequests, transcript, visible } from "../model/transcript.js";
import { continued, snapshot } from "../support/continued.js";
import { runs } from "../support/property-seed.js";

const commands = fc.array(command, { minLength: 1, maxLength: 25 });

test("a saved sandbox keeps a key that expired before its overlap was over, and what replaced it", () => {
  const sandbox: Sandbox = createSandbox({ scenario: modelScenario() });
  sandbox.keys.rotate("b", { overlap: "1h" });
  sandbox.clock.advance("90s");
  for (const one of [sandbox, continued(sandbox)]) {
    expect(one.keys.get("b")).toMatchObject({ state: "expired", replacedBy: "b-2" });
    expect(one.keys.get("b-2")).toMatchObject({ state: "active", replaces: "b", expiresAt: null });
  }
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
  const { counts: _, requestIds: __, ...state } = snapshot(sandbox);
  return state;
}

// How long a response took is measured, and the fingerprint of a key made at run time is random.
function withoutDuration({ durationMs, fingerprint, ...request }: RequestView) {
  return request;
}
type Seen = ReturnType<typeof withoutDuration>[];

const withoutIds = (seen: unknown) => JSON.stringify(seen).replaceAll(/\["x-request-id","[^"]+"\],?/g, "");
