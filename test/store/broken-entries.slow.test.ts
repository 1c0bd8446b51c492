import { describe, expect, onTestFinished, test } from "vitest";
import { control } from "../support/call-control.js";
import { noRedis, startRedis } from "../support/redis-server.js";
import { startReplica } from "../support/replicas.js";
import { mePath } from "../support/send.js";

describe.skipIf(noRedis !== undefined)("a stored entry that cannot be applied", () => {
  test("gives its sandbox 500 with the reason on each server, stays stored, and affects no other sandbox", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.close());
    const onProblem = () => {};
    const [one, other] = [
      await startReplica(redis.url, "key-states", { onProblem }),
      await startReplica(redis.url, "key-states", { onProblem }),
    ];
    for (const each of [one, other]) onTestFinished(() => each.close(0));
    const { body } = await control(`${one.url}/__sandbox`, "POST /instances");
    const { id, keys } = body.data;
    const made = async (url: string) => (await control(`${url}/i/${id}/__sandbox`, "GET /keys")).status;
    expect([await made(one.url), await made(other.url)]).toEqual([200, 200]);

    const key = (part: string) => `{svc-sandbox:}:${id}:${part}`;
    const entry = '{"kind":"of another version"}';
    const position = String(await redis.command("XADD", key("log"), "*", "e", entry));
    await redis.command("HSET", key("state"), "head", position);
    for (const { url } of [one, other]) {
      const response = await fetch(`${url}/i/${id}${mePath}`, { headers: { "x-api-key": keys.active } });
      expect(response.status).toBe(500);
      const { error } = (await response.json()) as { error: { code: string; message: string } };
      expect(error.code).toBe("internal_error");
      expect(error.message).toContain(`${position} of the instance ${id}`);
      const call = await control(`${url}/i/${id}/__sandbox`, "POST /keys/active/revoke");
      expect([call.status, call.body.error.code]).toEqual([500, "state_unreadable"]);
      expect(
        (await control(`${url}/__sandbox`, "POST /keys/active/expire", { expires: "1h" })).status,
      ).toBeLessThan(500);
    }
    // Nothing of it is deleted, also by a server that starts with it.
    const third = await startReplica(redis.url, "key-states", { onProblem });
    onTestFinished(() => third.close(0));
    expect(await made(third.url)).toBe(500);
    expect(String(await redis.command("XRANGE", key("log"), position, position))).toContain(entry);
    const exported = (await control(`${third.url}/__sandbox`, "GET /export")).body;
    expect([exported.without, exported.instances]).toEqual([[id], []]);
    expect((await control(`${third.url}/__sandbox`, `DELETE /instances/${id}`)).status).toBe(204);
  });

  test.each(["state", "log"])(
    "a %s of a wrong type breaks one instance: it can be removed, and the others are served",
    async (part) => {
      const redis = await startRedis();
      onTestFinished(() => redis.close());
      const server = await startReplica(redis.url, "key-states", { onProblem() {} });
      onTestFinished(() => server.close(0));
      const path = (id: string) => `${server.url}/i/${id}${mePath}`;
      const [broken, whole] = await Promise.all(
        [0, 1].map(async () => (await control(`${server.url}/__sandbox`, "POST /instances")).body.data),
      );
      const send = async ({ id, keys }: typeof whole) =>
        (await fetch(path(id), { headers: { "x-api-key": keys.active } })).status;
      expect([await send(broken), await send(whole)]).toEqual([200, 200]);
      const key = `{svc-sandbox:}:${broken.id}:${part}`;
      // At once: a housekeeping that sees no state removes the instance from the list.
      await redis.command("SET", key, "text");
      expect(await send(broken)).toBe(500);
      expect([await send(whole), (await fetch(server.url + mePath)).status]).toEqual([200, 401]);
      const listed = await control(`${server.url}/__sandbox`, "GET /instances");
      expect(listed.body.data).toHaveLength(2);
      expect((await control(`${server.url}/__sandbox`, `DELETE /instances/${broken.id}`)).status).toBe(204);
      expect((await control(`${server.url}/__sandbox`, "GET /instances")).body.data).toHaveLength(1);
    },
  );
});
