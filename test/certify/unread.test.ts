import { once } from "node:events";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { SeenRequests } from "../../src/certify/seen-requests.js";
import { conditionedRun } from "../../src/runs/conditioned-run.js";
import { secretFor } from "../../src/sandbox/secrets.js";
import { serve } from "../../src/server/serve.js";
import { startFrozen } from "../support/doors.js";
import { mePath } from "../support/send.js";

test("a response that the client did not read whole is no resend: it closed the connection first", async () => {
  const sandbox = startFrozen("key-states", { run: conditionedRun({}) });
  const collected = new SeenRequests(() => 0);
  sandbox.counters.passOnTo(collected);
  const server = await serve(sandbox, { port: 0 });
  onTestFinished(() => server.close());
  const request = `GET ${mePath} HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${secretFor(sandbox, "revoked")}\r\n\r\n`;
  const isUnread = () =>
    collected.facts().sent.flatMap(({ requests }) => requests.map((one) => one.isUnread === true));
  const port = Number(new URL(server.url).port);
  const reading = connect(port, "127.0.0.1");
  reading.write(request);
  await once(reading, "data");
  reading.end();
  const givingUp = connect({
    port,
    host: "127.0.0.1",
    onread: { buffer: Buffer.alloc(1), callback: () => false },
  });
  givingUp.write(request);
  await expect.poll(isUnread).toEqual([false, false]);
  givingUp.destroy();
  await expect.poll(isUnread).toEqual([false, true]);
});
