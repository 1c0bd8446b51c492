import assert from "node:assert/strict";
import { test } from "node:test";
import { HttpResponse, http } from "msw";
import { guard } from "svc-sandbox";
import { startServer } from "svc-sandbox/node";

const own = [
  http.get("*/v1/relying-party/attestations", ({ request }) => {
    const { rejection, caller } = guard(request, { scope: "attestations:read" });
    return rejection ?? HttpResponse.json({ data: [], organization: caller.organization.ref });
  }),
  http.post("*/echo", async ({ request }) => HttpResponse.json(await request.json(), { status: 201 })),
];

test("handlers of one's own stand beside the API, and read bodies", async () => {
  const server = await startServer({ handlers: own });
  const { sandbox } = server;
  const get = (path, ref) =>
    fetch(server.url + path, { headers: ref === undefined ? {} : { "x-api-key": sandbox.secret(ref) } });
  try {
    const path = "/v1/relying-party/attestations";
    assert.equal(await (await get(path, "active")).text(), '{"data":[],"organization":"harvest-bank"}');
    assert.equal((await get(path)).status, 401);
    assert.equal((await get(path, "wrong-scope")).status, 403);
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ said: "ä" });
    const echo = await fetch(`${server.url}/echo`, { method: "POST", headers, body });
    assert.deepEqual([echo.status, await echo.text()], [201, body]);
    assert.equal((await get("/v1/relying-party/me", "active")).status, 200);
  } finally {
    await server.close();
  }
});
