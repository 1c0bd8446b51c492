import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { expectUnchanged, serveControl } from "./support/control-client.js";
import { validYaml, type Write, writeNames, writesFor } from "./support/control-writes.js";

const megabyte = 1024 * 1024;

describe.each(writeNames.map((name, index) => ({ name, index })))("$name", ({ index }) => {
  const open = async () => {
    const control = await serveControl();
    const { id } = (await control.ask("/instances", { method: "POST" })).body.data;
    return { control, write: writesFor(id)[index] as Write };
  };
  const takesBody = writesFor("")[index]?.method !== "DELETE";

  test.each([
    "text/plain",
    "text/plain;charset=UTF-8",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/octet-stream",
    "application/json, text/plain",
    "application/jsonx",
    "text/json",
  ])("a body of the type %s gets 415, and nothing changes", async (type) => {
    const { control, write } = await open();
    const bytes = JSON.stringify(write.json ?? {});
    const { status, body } = await expectUnchanged(control, () =>
      control.ask(write.path, {
        method: write.method,
        bytes,
        headers: { "content-type": type },
      }),
    );
    expect([status, body.error.code]).toEqual([415, "unsupported_media_type"]);
  });

  test("a body of no type gets 415, and so does one in another charset or compressed in a way nobody knows", async () => {
    const { control, write } = await open();
    const bytes = JSON.stringify(write.json ?? {});
    const json = { "content-type": "application/json" };
    for (const headers of [
      {},
      { "content-type": "" },
      { "content-type": "application/json; charset=latin1" },
      { ...json, "content-encoding": "zip" },
    ]) {
      const { status, body } = await expectUnchanged(control, () =>
        control.ask(write.path, { method: write.method, bytes, headers }),
      );
      expect([status, body.error.code]).toEqual([415, "unsupported_media_type"]);
    }
  });

  test("no JSON gets 400, and nothing changes", async () => {
    const { control, write } = await open();
    const headers = { "content-type": "application/json" };
    for (const bytes of ["{", "{]", '{"a":1}}', "undefined", "{'a':1}", '{"a":1,}', "\uFEFF{", "NaN"]) {
      const { status, body } = await expectUnchanged(control, () =>
        control.ask(write.path, { method: write.method, bytes, headers }),
      );
      expect([bytes, status, body.error.code]).toEqual([bytes, 400, "bad_request"]);
    }
  });

  test("JSON that is no object gets 422, and nothing changes", async () => {
    const { control, write } = await open();
    const headers = { "content-type": "application/json" };
    for (const bytes of ["null", "[]", "5", "true", '"text"', JSON.stringify(validYaml), "[{}]"]) {
      const { status, body } = await expectUnchanged(control, () =>
        control.ask(write.path, { method: write.method, bytes, headers }),
      );
      expect([bytes, status, body.error.code]).toEqual([bytes, 422, "validation_failed"]);
      expect(Object.keys(body.error.details.fields)).toEqual(["body"]);
    }
  });

  test("more than a megabyte gets 413, also when it comes compressed, and nothing changes", async () => {
    const { control, write } = await open();
    const headers = write.headers ?? { "content-type": "application/json" };
    const long = `{"name":"${"x".repeat(megabyte)}"}`;
    const compressed = { ...headers, "content-encoding": "gzip" };
    for (const sent of [
      { bytes: long, headers },
      { bytes: gzipSync(long.repeat(20)), headers: compressed },
    ]) {
      const { status, body } = await expectUnchanged(control, () =>
        control.ask(write.path, { method: write.method, ...sent }),
      );
      expect([status, body.error.code]).toEqual([413, "bad_request"]);
    }
  });

  test("a body of a megabyte is read", async () => {
    const { control, write } = await open();
    const bytes = `{"x":"${"x".repeat(megabyte - 8)}"}`;
    const headers = { "content-type": "application/json" };
    const { status } = await control.ask(write.path, {
      method: write.method,
      bytes,
      headers,
    });
    expect(status).toBe(422);
  });

  if (takesBody)
    test("nothing at all is an empty object", async () => {
      const { control, write } = await open();
      const { status } = await control.ask(write.path, { method: write.method });
      const asEmpty = await (await open()).control.ask(write.path, {
        method: write.method,
        json: {},
      });
      expect(status).toBe(asEmpty.status);
      expect([200, 201, 422]).toContain(status);
    });
});

test("a write without a body needs no type", async () => {
  const { ask } = await serveControl();
  for (const [method, path, status] of [
    ["POST", "/keys/active/rotate", 201],
    ["POST", "/keys/live/revoke", 200],
    ["DELETE", "/requests", 204],
    ["POST", "/reset", 200],
    ["POST", "/instances", 201],
  ] as const) {
    expect([path, (await ask(path, { method })).status]).toEqual([path, status]);
  }
});
