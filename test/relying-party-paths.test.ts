import { expect, test } from "vitest";
import { scenarioSecret } from "../src/sandbox/secrets.js";
import { describeDoors, headerOf } from "./support/doors.js";
import { expectError } from "./support/expect-error.js";

describeDoors("the relying-party API", (open) => {
  test("R47 the version is in the path: without it, or with another, there is nothing", async () => {
    const door = await open("key-states");
    const headers = { "x-api-key": scenarioSecret(door.world, "active") };
    for (const path of [
      "/relying-party/me",
      "/v2/relying-party/me",
      "/",
      "/v1/relying-party/me/",
      "/V1/relying-party/me",
      "//v1/relying-party/me",
    ]) {
      expectError(await door.send({ path, headers }), 404, "not_found");
    }
    await door.close();
  });

  test("R49 the announced endpoints answer as any unknown path", async () => {
    const door = await open("key-states");
    const headers = { "x-api-key": scenarioSecret(door.world, "active") };
    const unknown = await door.send({ path: "/v1/relying-party/nothing", headers });
    for (const path of [
      "/v1/relying-party/consent-requests",
      "/v1/relying-party/attestations",
      "/v1/relying-party/attestations/1",
    ]) {
      for (const method of ["GET", "POST"])
        expect(await door.send({ path, headers, method })).toEqual(unknown);
    }
    await door.close();
  });

  test("another method gets 405 with Allow, before the key is looked at", async () => {
    const door = await open("key-states");
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      const seen = await door.send({ method });
      expectError(seen, 405, "method_not_allowed");
      expect(headerOf(seen, "allow")).toBe("GET, HEAD");
    }
    await door.close();
  });

  test("HEAD answers as GET without the body, and counts", async () => {
    const door = await open("key-states");
    const headers = { "x-api-key": scenarioSecret(door.world, "active") };
    const get = await door.send({ headers });
    const head = await door.send({ headers, method: "HEAD" });
    expect(head.status).toBe(200);
    expect(head.body).toBe("");
    expect(headerOf(head, "content-length")).toBe(headerOf(get, "content-length"));
    expect(JSON.parse((await door.send({ headers })).body).data.usage.today).toBe(3);
    await door.close();
  });
});
