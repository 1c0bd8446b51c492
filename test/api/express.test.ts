import { randomBytes } from "node:crypto";
import express from "express";
import { expect, test } from "vitest";
import { createSandbox } from "../../src/index.js";
import { mountInExpress } from "../support/express-door.js";
import { mePath } from "../support/send.js";

test("an Express app has the bodies of its own routes, JSON and an upload, if the sandbox is mounted last", async () => {
  const sandbox = createSandbox();
  const port = await mountInExpress(sandbox, (app) => {
    app.post("/orders", express.json(), (request, response) => void response.send(request.body));
    app.post("/uploads", async (request, response) => {
      const body = Buffer.concat(await request.toArray());
      const headers = { "content-type": String(request.headers["content-type"]) };
      const file = (await new Response(body, { headers }).formData()).get("file") as File;
      response.type("bin").send(Buffer.from(await file.arrayBuffer()));
    });
  });
  const base = `http://127.0.0.1:${port}`;
  const order = { method: "POST", headers: { "content-type": "application/json" }, body: '{"seed":"maize"}' };
  expect(await (await fetch(`${base}/orders`, order)).text()).toBe(order.body);
  const bytes = randomBytes(300_000);
  const form = new FormData();
  form.set("file", new File([bytes], "fields.bin"));
  const uploaded = await fetch(`${base}/uploads`, { method: "POST", body: form });
  expect(Buffer.from(await uploaded.arrayBuffer()).equals(bytes)).toBe(true);
  const headers = { "x-api-key": sandbox.secret("active") };
  // No parser of the app reads a body before the sandbox.
  const malformed = {
    method: "POST",
    body: "{",
    headers: { ...headers, "content-type": "application/json" },
  };
  expect((await fetch(base + mePath, { headers })).status).toBe(200);
  expect((await fetch(base + mePath, malformed)).status).toBe(405);
});
