import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { runProgram } from "../../scripts/run-program.js";
import { freePort } from "../support/free-port.js";
import { root } from "../support/pages.js";
import { baseUrl, runCli, serve, startCli } from "../support/run-cli.js";
import { execHere } from "./exec-client.js";

/** What Kubernetes sets in the pods of a namespace for a Service. */
function linksOf(service: string, protocol = "TCP"): Record<string, string> {
  const name = service.toUpperCase().replaceAll("-", "_");
  const url = `${protocol.toLowerCase()}://192.0.2.12:4747`;
  return {
    [`${name}_SERVICE_HOST`]: "192.0.2.12",
    [`${name}_SERVICE_PORT`]: "4747",
    [`${name}_SERVICE_PORT_HTTP_2`]: "4747",
    [`${name}_PORT`]: url,
    [`${name}_PORT_4747_${protocol}`]: url,
    [`${name}_PORT_4747_${protocol}_PROTO`]: protocol.toLowerCase(),
    [`${name}_PORT_4747_${protocol}_PORT`]: "4747",
    [`${name}_PORT_4747_${protocol}_ADDR`]: "192.0.2.12",
  };
}

describe("the variables of a Kubernetes Service that is named like this program", () => {
  it.each([
    ["svc-sandbox", "TCP"],
    ["svc-sandbox", "UDP"],
    ["svc-sandbox", "SCTP"],
    ["svc-sandbox-harvest-bank", "TCP"],
    ["svc-sandbox-state", "TCP"],
  ])("%s, %s, are neither read nor warned of", async (service, protocol) => {
    const env = linksOf(service, protocol);
    expect(await runCli(["list"], { env })).toMatchObject({ code: 0, stderr: "" });
    expect(await execHere(["active", "--quiet", "--min-coverage", "0", "--", "true"], { env })).toMatchObject(
      { code: 0, stderr: "" },
    );
    const running = serve(["active"], { env: { ...env } });
    expect(await baseUrl(running)).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(running.stderr.text()).toBe("");
  });

  it("leave the port to PORT", async () => {
    const port = await freePort();
    const running = startCli(["active"], { env: { ...linksOf("svc-sandbox"), PORT: String(port) } });
    expect(await baseUrl(running)).toBe(`http://127.0.0.1:${port}`);
    const { stderr, code } = await runCli(["active"], {
      env: { ...linksOf("svc-sandbox"), PORT: "no-port" },
    });
    expect([code, stderr]).toEqual([2, expect.stringContaining("Invalid PORT")]);
  });

  it("are told from our own variables with a wrong value, and from misspelled ones", async () => {
    const { code, stderr } = await runCli(["active"], { env: { SVC_SANDBOX_PORT: "http" } });
    expect([code, stderr]).toEqual([2, expect.stringContaining("Invalid SVC_SANDBOX_PORT")]);
    const others = { SVC_SANDBOX_SERVICE: "x", SVC_SANDBOX_PORTS: "4747", SVC_SANDBOX_HOST_PORT: "4747" };
    const listed = await runCli(["list"], { env: others });
    expect(listed.stderr.match(/has no effect/g)).toHaveLength(3);
  });
});

test.each([
  ["a link", (port: number) => ({ SVC_SANDBOX_PORT: "tcp://192.0.2.12:4747", PORT: String(port) })],
  ["an empty variable", (port: number) => ({ SVC_SANDBOX_PORT: "", PORT: String(port) })],
  ["its own variable", (port: number) => ({ SVC_SANDBOX_PORT: String(port), PORT: "1" })],
])("the health check of the image asks the server's port with %s", async (_, env) => {
  const url = await baseUrl(serve(["active"]));
  const [, words = ""] =
    /^HEALTHCHECK .* CMD (\[.*\])$/m.exec(readFileSync(join(root, "Dockerfile"), "utf8")) ?? [];
  const [program, ...args] = JSON.parse(words) as [string, ...string[]];
  const { PATH = "" } = process.env;
  const probe = async (port: number) =>
    (await runProgram(program, args, { cwd: root, env: { PATH, ...env(port) } })).code;
  expect(await probe(Number(new URL(url).port))).toBe(0);
  expect(await probe(await freePort())).toBe(1);
});
