import { createServer } from "node:http";
import { expect, test } from "vitest";
import { ControlClient } from "../../src/node/clients/control-client.js";
import { listening } from "../support/servers.js";

test("a server that ignores the offset ends the list of its keys", async () => {
  const next_request = { outcome: "200.test", code: null, why: null, until: null, fault_outcomes: [] };
  const data = [
    { ref: "one", fingerprint: null, next_request },
    { ref: "two", fingerprint: null, next_request },
  ];
  let calls = 0;
  const server = createServer((_request, response) => {
    calls += 1;
    response.setHeader("content-type", "application/json").end(JSON.stringify({ status: "ok", data }));
  });
  const url = `http://127.0.0.1:${await listening(server)}`;
  const { keys } = await new ControlClient({ url, tokenFrom: "a test", timeout: 5000 }).keys();
  expect(keys.map(({ ref }) => ref)).toEqual(["one", "two"]);
  expect(calls).toBe(3);
});
