import { get } from "node:https";
import { expect, test } from "vitest";
import type { Fault } from "../../src/index.js";
import { mePath } from "../support/doors.js";
import { scenarioWith } from "../support/faulty.js";
import { requested } from "../support/requested.js";
import { served } from "../support/servers.js";

test.each<Fault["then"]>([{ hang: true }, { latency: "1m" }, { slow: 1 }])(
  "a server with requests that meet %j stops within the grace",
  async (then) => {
    const server = await served({ scenario: scenarioWith([{ then }]) });
    const headers = { "x-api-key": server.sandbox.secret("main") };
    const open = Array.from({ length: 20 }, () =>
      fetch(server.url + mePath, { headers }).then((response) => response.text()),
    );
    const ends = Promise.allSettled(open);
    await requested(server.sandbox, 20);
    await server.close(300);
    expect((await ends).map(({ status }) => status)).toEqual(new Array(20).fill("rejected"));
  },
);

const server = () =>
  served({
    tls: true,
    // Written out here, so that its types are checked as a user's are.
    scenario: {
      version: 1,
      organizations: {
        bank: { type: "bank", keys: { main: { environment: "test" }, other: { environment: "test" } } },
      },
      faults: [
        { when: { key: "main", requests: [1] }, then: { reset: true } },
        {
          when: { key: "main", requests: [2] },
          then: { truncate: true, latency: { min: "1ms", max: "9ms" } },
        },
        { when: { key: "main", requests: [3] }, then: { status: 502, body: "html" } },
        { when: { key: "main", requests: [4] }, then: { slow: 2000 } },
        { when: { key: "main" }, then: { hang: true } },
      ],
    },
  });

test("faults under TLS: a connection that ends, a body that breaks off, and the rest as without", async () => {
  const { url, certificate, sandbox } = await server();
  const call = (ref: "main" | "other", number: number) =>
    new Promise<string>((resolve) => {
      const headers = { "x-api-key": sandbox.secret(ref) };
      const sent = get(url + mePath, { headers, ca: certificate, agent: false }, (response) => {
        let bytes = 0;
        response.on("data", (chunk) => {
          bytes += chunk.length;
        });
        response.on("end", () => resolve(`${response.statusCode}`));
        response.on("error", () =>
          resolve(`${response.statusCode} cut after ${bytes ? "some" : "no"} bytes`),
        );
      });
      // The last one hangs; a busy server may take its time for the others.
      if (number === 5) requested(sandbox, 5).then(() => sent.setTimeout(300));
      sent.on("timeout", () => sent.destroy(new Error("silence")));
      sent.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    });
  const seen: string[] = [];
  while (seen.length < 5) seen.push(await call("main", seen.length + 1));
  expect(seen).toEqual(["ECONNRESET", "200 cut after some bytes", "502", "200", "silence"]);
  expect(await call("other", 6)).toBe("200");
});
