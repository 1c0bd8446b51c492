import { expect, test } from "vitest";
import { probeKeys, serveProbed } from "./support/probed-server.js";
import { runCli } from "./support/run-cli.js";
import { error } from "./support/wrong-servers.js";

test("a server that is right is told nothing", async () => {
  const { url } = await serveProbed();
  const { code, stdout } = await runCli(["check", url], { env: probeKeys });
  expect(stdout).toMatch(/\nNothing differs from the contract: 8 of 17 paths agree, 9 were not tried\.\n$/);
  expect(stdout).not.toMatch(/^ .* differs /m);
  expect(code).toBe(0);
});

test("R14 a trace id that is another one each time tells nothing", async () => {
  const { url } = await serveProbed((reply, { number }) => {
    reply.headers["X-Trace"] = `trace-${number}`;
    if (reply.status === 401) error(reply).details = { trace: number };
  });
  const { code, stdout } = await runCli(["check", url], { env: probeKeys });
  expect(stdout).toMatch(/^ {2}R14 +agrees/m);
  expect(code).toBe(0);
});
