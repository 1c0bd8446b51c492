import { execFileSync } from "node:child_process";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSandbox, type Scenario } from "../src/index.js";
import { type Ask, serveControl } from "./control/client.js";
import { anyScenario, type Command, command, refs } from "./model/commands.js";
import { controlDashboard } from "./support/control-dashboard.js";
import { type Dashboard, libraryDashboard } from "./support/dashboard.js";
import { propertySeed } from "./support/property-seed.js";
import { mePath } from "./support/send.js";

async function create(ask: Ask, json: object = {}) {
  const { status, body } = await ask("/instances", { method: "POST", json });
  expect(status).toBe(201);
  return body.data as {
    readonly id: string;
    readonly base_url: string;
    readonly control_url: string;
    readonly scenario: string;
    readonly seed: number;
    readonly keys: Readonly<Record<string, string>>;
  };
}

/** Carries commands out through a dashboard; answers all that is to be seen, without what is random. */
async function tell(
  dashboard: Dashboard,
  keys: Record<string, string>,
  steps: readonly Command[],
): Promise<unknown[]> {
  const secrets = { ...keys };
  const told: unknown[] = [];
  for (const step of steps) {
    told.push(
      await carryOut(dashboard, secrets, step).catch(({ code, details }) => ({
        code,
        fields: details?.fields,
      })),
    );
    told.push(await dashboard.now());
  }
  const requests = await dashboard.requests();
  return [
    ...told,
    (await dashboard.keys()).map(({ fingerprint, ...key }) => key),
    await dashboard.organization("bank"),
    await dashboard.organization("insurer"),
    requests.map(({ durationMs, fingerprint, ...request }) => request),
  ];
}

async function carryOut(
  dashboard: Dashboard,
  secrets: Record<string, string>,
  step: Command,
): Promise<unknown> {
  switch (step.do) {
    case "request":
      return dashboard.callMe(secrets[step.key] ?? `SVC_test_nobody-holds-${step.key}`);
    case "advance":
      return dashboard.advance(step.by);
    case "revoke":
      return (await dashboard.revoke(step.key)).state;
    case "rotate": {
      const { key, secret } = await dashboard.rotate(step.key, {
        overlap: step.overlap,
        as: step.as,
      });
      secrets[step.as] = secret;
      return [key.ref, key.state];
    }
    case "create": {
      const { do: _, ...key } = step;
      secrets[step.ref] = (await dashboard.create({ ...key, name: "later" })).secret;
      return step.ref;
    }
    case "organization":
      return dashboard.updateOrganization(step.ref, {
        status: step.active ? "active" : "inactive",
        liveAccess: step.live,
        sandboxAccess: step.sandboxAccess,
      });
  }
}

test("two hundred instances at once, each with a life of its own, go each as it would alone", async () => {
  const control = await serveControl();
  const [games] = fc.sample(
    fc.array(fc.tuple(anyScenario, fc.nat(1000), fc.array(command, { minLength: 5, maxLength: 15 })), {
      minLength: 200,
      maxLength: 200,
    }),
    { numRuns: 1, ...propertySeed },
  ) as [[Scenario, number, Command[]][]];
  const together = await Promise.all(
    games.map(async ([scenario, seed, steps]) => {
      const { id, keys } = await create(control.ask, { scenario, seed });
      return tell(controlDashboard(control, `/i/${id}`), keys, steps);
    }),
  );
  expect((await control.ask("/instances")).body.data).toHaveLength(200);
  for (const [index, [scenario, seed, steps]] of games.entries()) {
    const alone = createSandbox({ scenario, seed });
    const keys = Object.fromEntries(
      [...refs, "g", "h", "i"]
        .filter((ref) => alone.keys.list().some((key) => key.ref === ref))
        .map((ref) => [ref, alone.secret(ref)]),
    );
    expect(together[index]).toEqual(await tell(libraryDashboard(alone), keys, steps));
  }
  // Nothing of it has reached the server's own world.
  expect((await control.ask("/requests")).body.data).toEqual([]);
});

describe("an instance", () => {
  test("is what was asked for: scenario, seed, clock and profile, and its keys work", async () => {
    const { ask } = await serveControl({ scenario: "rotation" });
    const asked = {
      scenario: "key-states",
      seed: 7,
      now: "2030-01-01T00:00:00Z",
      frozen: true,
      profile: "typical",
    };
    const { id, keys, ...made } = await create(ask, asked);
    const base = `/i/${id}`;
    expect(made).toEqual({
      base_url: expect.stringMatching(`${base}$`),
      control_url: `${made.base_url}/__sandbox`,
      scenario: "key-states",
      seed: 7,
    });
    expect(keys).toEqual(secretsOf(createSandbox({ scenario: "key-states", seed: 7 })));
    const { body } = await ask("/state", { base });
    expect(body.data).toMatchObject({
      scenario: "key-states",
      seed: 7,
      clock: { now: "2030-01-01T00:00:00.000Z", frozen: true },
      assumptions: { profile: "typical", retry_after: "seconds" },
    });
    const answer = await fetch(made.base_url + mePath, {
      headers: { "x-api-key": keys.active as string },
    });
    expect([answer.status, answer.headers.get("ratelimit-policy")]).toEqual([200, expect.any(String)]);
    expect((await ask("/instances")).body.data).toEqual([{ id, ...made }]);
  });

  test("is of the server's own scenario when nothing is asked for, as it was at its start", async () => {
    const control = await serveControl({ scenario: "rotation", seed: 5 });
    await control.ask("/keys/replacement/revoke", { method: "POST" });
    const { id, scenario, seed, keys } = await create(control.ask);
    expect([scenario, seed]).toEqual(["rotation", 5]);
    expect(keys).toEqual(secretsOf(createSandbox({ scenario: "rotation", seed: 5 })));
    const { body } = await control.ask("/keys/replacement", {
      base: `/i/${id}`,
    });
    expect(body.data.state).toBe("active");
  });

  test("can be of a scenario that is sent as an object, with keys that it pins", async () => {
    const { ask } = await serveControl();
    const secret = "SVC_test_pinned-by-a-partner";
    const scenario = {
      version: 1,
      name: "Mine",
      organizations: {
        bank: { type: "bank", keys: { main: { environment: "test", secret } } },
      },
    };
    const made = await create(ask, { scenario, seed: 3 });
    expect([made.scenario, made.seed, made.keys]).toEqual(["Mine", 3, { main: secret }]);
    const answer = await fetch(made.base_url + mePath, {
      headers: { "x-api-key": secret },
    });
    expect(answer.status).toBe(200);
    const { error } = (
      await ask("/instances", {
        method: "POST",
        json: { scenario: { ...scenario, organisations: {} } },
      })
    ).body;
    expect(error.details.fields).toEqual({
      "scenario.organisations": expect.stringContaining('did you mean "organizations"?'),
    });
  });

  test("shares nothing with its sisters: clock, keys, requests, scenario", async () => {
    const { ask } = await serveControl();
    const [one, other] = [await create(ask), await create(ask)];
    const inOne = { base: `/i/${one.id}`, method: "POST" };
    await ask("/clock/advance", { ...inOne, json: { by: "1h" } });
    await ask("/keys/active/revoke", inOne);
    await ask("/scenario", {
      ...inOne,
      method: "PUT",
      json: { name: "rotation" },
    });
    const state = async (base: string) => (await ask("/state", { base })).body.data;
    const untouched = createSandbox({ scenario: "key-states" });
    for (const base of ["", `/i/${other.id}`]) {
      const { scenario, keys } = await state(base);
      expect(scenario).toBe("key-states");
      expect(keys.map(({ ref, state: is }: { ref: string; state: string }) => [ref, is])).toEqual(
        untouched.keys.list().map(({ ref, state: is }) => [ref, is]),
      );
    }
    expect((await state(`/i/${one.id}`)).scenario).toBe("rotation");
  });

  test("has no instances of its own, and knows no other's", async () => {
    const { server, ask } = await serveControl();
    const [one, other] = [await create(ask), await create(ask)];
    const base = `/i/${one.id}`;
    for (const asking of [
      { path: "/instances" },
      { path: "/instances", method: "POST" },
      { path: `/instances/${other.id}`, method: "DELETE" },
    ]) {
      const { status, body } = await ask(asking.path, { ...asking, base });
      expect([status, body.error.code]).toEqual([404, "not_found"]);
    }
    const nested = await fetch(`${server.url}${base}/i/${other.id}${mePath}`);
    expect([nested.status, (await nested.json()).error.code]).toEqual([404, "not_found"]);
    expect((await ask("/instances")).body.data).toHaveLength(2);
  });

  test("is an unknown path after it is removed, and removing it twice is refused", async () => {
    const { server, ask } = await serveControl();
    const { id, base_url, keys } = await create(ask);
    const me = () =>
      fetch(base_url + mePath, {
        headers: { "x-api-key": keys.active as string },
      });
    expect((await me()).status).toBe(200);
    expect((await ask(`/instances/${id}`, { method: "DELETE" })).status).toBe(204);
    const gone = await me();
    expect([gone.status, await gone.json()]).toEqual([
      404,
      await (await fetch(`${server.url}/no/such/path`)).json(),
    ]);
    expect((await fetch(`${base_url}/__sandbox/health`)).status).toBe(404);
    expect((await ask(`/instances/${id}`, { method: "DELETE" })).status).toBe(404);
    expect((await ask("/instances")).body.data).toEqual([]);
  });

  test("goes after it has not been used for as long as it may, and stays as long as it is", async () => {
    const { ask } = await serveControl({ instanceTtl: 1000 });
    // Before the idle one is there: from its last use on it must stay for the whole time.
    const started = performance.now();
    const [idle, used] = [await create(ask), await create(ask)];
    const there = async () => {
      await ask("/health", { base: `/i/${used.id}` });
      // Listing them is no use of them.
      return ((await ask("/instances")).body.data as { id: string }[]).map(({ id }) => id);
    };
    expect(await there()).toEqual([idle.id, used.id]);
    while ((await there()).includes(idle.id)) {
      if (performance.now() - started > 10_000) throw new Error("the idle instance is still there");
    }
    expect(performance.now() - started).toBeGreaterThanOrEqual(1000);
    expect(await there()).toEqual([used.id]);
    expect((await fetch(`${idle.base_url}/__sandbox/health`)).status).toBe(404);
  });

  test("has an id that nobody guesses, whatever the seed", async () => {
    const ids = new Set<string>();
    for (let i = 0; i < 2; i++) {
      const { ask } = await serveControl({ seed: 1 });
      for (let j = 0; j < 100; j++) ids.add((await create(ask, { seed: 1 })).id);
    }
    expect(ids.size).toBe(200);
    for (const id of ids) expect(id).toMatch(/^[0-9A-Za-z]{12}$/);
    // Each place takes each kind of character: 71 bits, not a counter or a clock.
    for (let place = 0; place < 12; place++) {
      expect(new Set([...ids].map((id) => id[place])).size).toBeGreaterThan(30);
    }
  });

  test("takes less than 200 KB", () => {
    const script = join(import.meta.dirname, "support/control-instance-memory.ts");
    const measured = execFileSync(process.execPath, ["--expose-gc", "--import", "tsx", script], {
      encoding: "utf8",
      timeout: 60_000,
    });
    const bytes = JSON.parse(measured) as Record<string, number>;
    process.stdout.write(`bytes for each instance: ${measured}`);
    expect(Object.keys(bytes)).toEqual(["bundled", "sent", "used"]);
    for (const one of Object.values(bytes)) {
      expect(one).toBeGreaterThan(0);
      expect(one).toBeLessThan(200_000);
    }
  });
});

function secretsOf(sandbox: ReturnType<typeof createSandbox>): Record<string, string> {
  return Object.fromEntries(sandbox.keys.list().map(({ ref }) => [ref, sandbox.secret(ref as never)]));
}
