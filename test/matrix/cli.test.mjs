import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";

/** Starts the command as its users do; in a process group of its own, because npx passes no signal on. */
const start = (...argv) => spawn("npx", ["svc-sandbox", ...argv], { detached: true });

test("npx svc-sandbox prints one line of JSON, and responses", async () => {
  const running = start("--port", "0", "--json", "--log", "off");
  try {
    const [line] = await once(running.stdout, "data");
    const { event, base_url, keys } = JSON.parse(String(line));
    assert.equal(event, "listening");
    const me = (key) => fetch(`${base_url}/v1/relying-party/me`, { headers: { "x-api-key": key } });
    assert.equal((await me(keys.active)).status, 200);
    assert.equal((await me(keys.expired)).status, 401);
  } finally {
    const ended = once(running, "close");
    process.kill(-running.pid, "SIGTERM");
    await ended;
  }
});

test("the commands find their scenarios in the package", async () => {
  const running = start("show", "rotation");
  let text = "";
  running.stdout.on("data", (chunk) => {
    text += chunk;
  });
  const [code] = await once(running, "close");
  assert.equal(code, 0);
  assert.match(text, /^version: 1$/m);
});
