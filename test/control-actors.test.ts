import { describe, expect, test } from "vitest";
import { expectUnchanged, type ServedControl, serveControl } from "./support/control-client.js";
import { description } from "./support/control-description.js";
import { type Write, writeNames, writesFor } from "./support/control-writes.js";

async function openWithInstance(): Promise<{
  control: ServedControl;
  writes: readonly Write[];
  id: string;
}> {
  const control = await serveControl();
  const { id } = (await control.ask("/instances", { method: "POST" })).body.data;
  return { control, writes: writesFor(id), id };
}

describe.each(writeNames.map((name, index) => ({ name, index })))("$name", ({ index }) => {
  test("R33 is refused to a member, and changes nothing", async () => {
    const { control, writes } = await openWithInstance();
    const write = writes[index] as Write;
    const headers = { ...write.headers, "x-sandbox-actor": "member" };
    const { status, body } = await expectUnchanged(control, () =>
      control.ask(write.path, { ...write, headers }),
    );
    expect([status, body.error.code, body.error.details]).toEqual([
      403,
      "not_an_administrator",
      { actor: "member" },
    ]);
  });

  test("R33 is taken from an administrator, who acts when nobody is named", async () => {
    for (const actor of [{ "x-sandbox-actor": "administrator" }, {}]) {
      const { control, writes } = await openWithInstance();
      const write = writes[index] as Write;
      const { status } = await control.ask(write.path, {
        ...write,
        headers: { ...write.headers, ...actor },
      });
      expect(status).toBeLessThan(300);
    }
  });

  test("R33 is refused to anybody else", async () => {
    const { control, writes } = await openWithInstance();
    const write = writes[index] as Write;
    for (const actor of ["owner", "Administrator", "", ["administrator", "member"]]) {
      const headers = { ...write.headers, "x-sandbox-actor": actor };
      const { status, body } = await expectUnchanged(control, () =>
        control.ask(write.path, { ...write, headers }),
      );
      expect([status, body.error.code]).toEqual([422, "validation_failed"]);
      expect(Object.keys(body.error.details.fields)).toEqual(["X-Sandbox-Actor"]);
    }
  });
});

test("R33 a member who may not write does not learn what there is", async () => {
  const control = await serveControl();
  const member = { "x-sandbox-actor": "member" };
  for (const asking of [
    { path: "/keys/no-such-key/revoke", method: "POST" },
    {
      path: "/keys/revoked/rotate",
      method: "POST",
      json: { overlap_minutes: -1 },
    },
    { path: "/keys", method: "POST", json: { nonsense: true } },
    { path: "/instances/no-such-instance", method: "DELETE" },
    {
      path: "/scenario",
      method: "PUT",
      bytes: "[",
      headers: { "content-type": "application/yaml" },
    },
  ]) {
    const headers = { ...asking.headers, ...member };
    expect((await control.ask(asking.path, { ...asking, headers })).body.error.code).toBe(
      "not_an_administrator",
    );
  }
});

test("R33 a member may look at everything", async () => {
  const control = await serveControl();
  const reads = Object.entries(description.paths)
    // Of the preview there is nothing to look at here.
    .filter(([, verbs]) => !("x-preview" in (verbs.get ?? {})))
    .filter(([path, verbs]) => "get" in verbs && path !== "/__sandbox/events")
    .map(([path]) => path.replace("/__sandbox", ""));
  expect(reads).toContain("/keys/{ref}");
  for (const read of reads) {
    const path = read
      .replace("organizations/{ref}", "organizations/harvest-bank")
      .replace("{ref}", "active")
      .replace("{farmer_id}", control.server.sandbox.farmers.at(0).farmer_id);
    expect((await control.ask(path, { headers: { "x-sandbox-actor": "member" } })).status).toBe(200);
  }
});
