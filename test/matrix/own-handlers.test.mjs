import assert from "node:assert/strict";
import { test } from "node:test";
import { HttpResponse, http } from "msw";
import { guard } from "svc-sandbox";
import { startServer } from "svc-sandbox/node";

const own = [
  http.get("*/v1/relying-party/attestations", ({ request }) => {
    const { refusal, caller } = guard(request, { scope: "attestations:read" });
    return refusal ?? HttpResponse.json({ data: [], organization: caller.organization.ref });
  }),
  http.post("*/echo", async ({ request }) => HttpResponse.json(await request.json(), { status: 201 })),
  http.get("*/broken-line", () => HttpResponse.error()),
  http.get("*/broken-code", () => {
    throw new Error("a defect of the handler");
  }),
];

test("handlers of one's own stand beside the API, and no defect of theirs ends the server", async () => {
  const server = await startServer({ handlers: own });
  const get = (path, key) =>
    fetch(server.url + path, { headers: key === undefined ? {} : { "x-api-key": key } });
  const { sandbox } = server;
  try {
    const attestations = await get("/v1/relying-party/attestations", sandbox.secret("active"));
    assert.equal(await attestations.text(), '{"data":[],"organization":"harvest-bank"}');
    assert.equal((await get("/v1/relying-party/attestations")).status, 401);
    assert.equal((await get("/v1/relying-party/attestations", sandbox.secret("wrong-scope"))).status, 403);
    const body = JSON.stringify({ said: "ä" });
    const echo = await fetch(`${server.url}/echo`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    assert.deepEqual([echo.status, await echo.text()], [201, body]);
    await assert.rejects(get("/broken-line"));
    assert.equal((await get("/broken-code")).status, 500);
    assert.equal((await get("/v1/relying-party/me", sandbox.secret("active"))).status, 200);
  } finally {
    await server.close();
  }
});
