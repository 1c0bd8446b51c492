import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { startBin } from "../support/running-command.js";
import { mePath } from "../support/send.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const yaml = "version: 1\npopulation: { organizations: 20000, keys_per_organization: 5 }\n";

test.skipIf(process.platform !== "linux")(
  "a server keeps 100,000 keys in a state file within 256 MB, while it starts and while it saves",
  async () => {
    const cwd = temporaryFolder({ "big.yaml": yaml });
    // The heap that Node gives itself in a container of 256 MB.
    const env = { NODE_OPTIONS: "--max-old-space-size=128" };
    const argv = ["start", "big.yaml", "--state", "state.json", "--port", "0", "--json", "--log", "off"];
    const { child, until, ended } = startBin(argv, { cwd, env });
    const { base_url } = JSON.parse(await until(/^\{.*\}$/m));

    expect((await fetch(base_url + mePath)).status).toBe(401);
    const headers = { "content-type": "application/json" };
    for (let saved = 0; saved < 3; saved += 1) {
      const call = { method: "POST", headers, body: '{"by":"1m"}' };
      expect((await fetch(`${base_url}/__sandbox/clock/advance`, call)).status).toBe(200);
    }

    const [, peak] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8")) ?? [];
    child.kill("SIGTERM");
    await ended;
    expect(JSON.parse(readFileSync(`${cwd}/state.json`, "utf8")).sandbox.keys).toHaveLength(100_000);
    expect(Number(peak)).toBeGreaterThan(0);
    expect(Number(peak)).toBeLessThan(256 * 1024);
  },
  120_000,
);
