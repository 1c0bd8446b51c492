import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type ServedControl, serveControl } from "./control/client.js";
import { count, ids, names, oneTo, subscribe } from "./control/subscribe.js";
import { allHaveLeft } from "./support/heard-listeners.js";
import { mePath } from "./support/send.js";

vi.mock("../src/sandbox/event-log.js", async (importOriginal) => {
  const { countListeners } = await import("./support/heard-listeners.js");
  return countListeners(await importOriginal());
});
// Whoever has listened in one test has left before the next one.
beforeEach(allHaveLeft);
afterAll(allHaveLeft);

function callMe({ server }: ServedControl, secret: string, base = ""): Promise<Response> {
  return fetch(server.url + base + mePath, {
    headers: { "x-api-key": secret },
  });
}

describe("everything that happens", () => {
  test("R34 comes in the order in which it happened, without gaps, and with no key in it", async () => {
    const control = await serveControl();
    const { server, ask } = control;
    const subscriber = await subscribe(server.url);
    expect(subscriber.status).toBe(200);
    const { secret } = (
      await ask("/keys", {
        method: "POST",
        json: { organization: "harvest-bank", environment: "test", name: "CI" },
      })
    ).body.data;
    await callMe(control, secret);
    const rotated = (await ask("/keys/ci/rotate", { method: "POST" })).body.data.secret;
    await callMe(control, `${rotated}x`);
    await ask("/keys/ci-2/revoke", { method: "POST" });
    await ask("/organizations/harvest-bank", {
      method: "PATCH",
      json: { status: "inactive" },
    });
    await ask("/clock", { method: "PUT", json: { frozen: false } });
    await ask("/assumptions", {
      method: "PUT",
      json: { rate_limit_code: "slow_down" },
    });
    await ask("/requests", { method: "DELETE" });
    await ask("/scenario", { method: "PUT", json: { name: "rotation" } });
    await ask("/reset", { method: "POST" });
    await subscriber.until(count(11));
    expect(names(subscriber)).toEqual([
      "key.created",
      "request",
      "key.rotated",
      "request",
      "key.revoked",
      "organization.updated",
      "clock.moved",
      "assumptions.changed",
      "requests.cleared",
      "world.started",
      "world.started",
    ]);
    expect(ids(subscriber)).toEqual(oneTo(11));
    expect(subscriber.events[0]?.data.key).toMatchObject({
      ref: "ci",
      state: "active",
      usage: { today: 0 },
    });
    expect(subscriber.events[1]?.data).toMatchObject({
      key: "ci",
      status: 200,
      path_id: "200.test",
    });
    expect(subscriber.events[2]?.data).toMatchObject({
      key: { ref: "ci", state: "retiring", replaced_by: "ci-2" },
      replacement: { ref: "ci-2", replaces: "ci" },
    });
    expect(subscriber.events[3]?.data).toMatchObject({
      key: null,
      code: "unauthorized",
    });
    expect(subscriber.events[9]?.data).toEqual({
      scenario: "rotation",
      seed: 1,
    });
    for (const one of [secret, rotated]) expect(subscriber.text()).not.toContain(one.slice(12));
  });

  test("what is done through the library comes as well, and a request is what the journal says of it", async () => {
    const control = await serveControl();
    const subscriber = await subscribe(control.server.url);
    control.server.sandbox.keys.revoke("active");
    await callMe(control, control.server.sandbox.secret("active"));
    await subscriber.until(count(2));
    expect(names(subscriber)).toEqual(["key.revoked", "request"]);
    expect(subscriber.events[1]?.data).toEqual((await control.ask("/requests")).body.data[0]);
  });

  test("a thousand requests of fifty clients come once each, in the order of the journal", async () => {
    const control = await serveControl();
    const subscriber = await subscribe(control.server.url);
    const secret = control.server.sandbox.secret("active");
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        for (let i = 0; i < 20; i++) await (await callMe(control, secret)).arrayBuffer();
      }),
    );
    await subscriber.until(count(1000));
    expect(ids(subscriber)).toEqual(oneTo(1000));
    const journal = (await control.ask("/requests")).body.data as {
      id: string;
    }[];
    expect(subscriber.events.map(({ data }) => data.id)).toEqual(journal.map(({ id }) => id));
  });

  test("an instance tells of itself alone", async () => {
    const control = await serveControl();
    const { id, keys } = (await control.ask("/instances", { method: "POST" })).body.data;
    const base = `/i/${id}`;
    const [outer, inner] = [
      await subscribe(control.server.url),
      await subscribe(control.server.url, { base }),
    ];
    await callMe(control, keys.active, base);
    await control.ask("/keys/active/revoke", { method: "POST" });
    await Promise.all([outer.until(count(1)), inner.until(count(1))]);
    expect([names(outer), names(inner)]).toEqual([["key.revoked"], ["request"]]);
  });
});
