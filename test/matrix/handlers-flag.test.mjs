import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const handlers = `[
  http.get("*/v1/relying-party/attestations", ({ request }) => guard(request).rejection ?? HttpResponse.json({ data: [] })),
  http.get("*/broken-line", () => HttpResponse.error()),
  http.get("*/broken-code", () => { throw new Error("a defect of the handler"); }),
]`;
const modules = {
  "handlers.mjs": [
    'import { http, HttpResponse } from "msw";',
    'import { guard } from "svc-sandbox";',
    `export default ${handlers};`,
  ],
  "handlers.cjs": [
    'const { http, HttpResponse } = require("msw");',
    'const { guard } = require("svc-sandbox");',
    `exports.handlers = ${handlers};`,
  ],
};

for (const [name, lines] of Object.entries(modules)) {
  test(`--handlers ${name} stands beside the API`, async () => {
    // Inside the project, where msw is found from.
    const folder = mkdtempSync(join(process.cwd(), "own-handlers-"));
    writeFileSync(join(folder, name), lines.join("\n"));
    const argv = ["svc-sandbox", "--port", "0", "--json", "--log", "off", "--handlers", join(folder, name)];
    const running = spawn("npx", argv, { detached: true });
    try {
      const [line] = await once(running.stdout, "data");
      const { base_url, keys } = JSON.parse(String(line));
      const status = async (path, headers) => (await fetch(base_url + path, { headers })).status;
      assert.equal(await status("/v1/relying-party/attestations", {}), 401);
      assert.equal(await status("/v1/relying-party/attestations", { "x-api-key": keys.active }), 200);
      await assert.rejects(status("/broken-line"));
      assert.equal(await status("/broken-code"), 500);
      assert.equal(await status("/v1/relying-party/me", { "x-api-key": keys.active }), 200);
    } finally {
      const ended = once(running, "close");
      process.kill(-running.pid, "SIGTERM");
      await ended;
      rmSync(folder, { recursive: true });
    }
  });
}
