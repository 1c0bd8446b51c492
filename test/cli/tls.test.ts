import { execFile, execFileSync } from "node:child_process";
import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it, onTestFinished, test, vi } from "vitest";
import type { CertificatePair } from "../../src/server/index.js";
import { makeSelfSigned } from "../../src/server/sockets/tls.js";
import { exchange } from "../support/exchange.js";
import { runCli, serve } from "../support/run-cli.js";
import { served } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const run = promisify(execFile);
const me = "/v1/relying-party/me";

let pair: CertificatePair;
beforeAll(async () => {
  pair = await makeSelfSigned("localhost");
});

describe("--tls", () => {
  it("prints https addresses, the fingerprint, and a curl line that works when it is pasted", async () => {
    const running = serve(["--tls"]);
    const [, line] = await running.stdout.shows(/\n {2}(curl -i -k .*)\n/);
    expect(running.stdout.text()).toMatch(/^svc-sandbox is listening on https:\/\/127\.0\.0\.1:\d+\n/);
    expect(running.stdout.text()).toMatch(/\n {2}TLS +self-signed, SHA-256\s+(?:[0-9A-F]{2}:){31}\w\w\n/);
    const { stdout } = await run("bash", ["-c", `${line} -s`]);
    expect(stdout).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("gives the certificate to scripts, for clients that check it", async () => {
    const cwd = temporaryFolder();
    const argv = ["--json", "--write-env", "sandbox.env"];
    const running = serve(argv, { cwd, env: { SVC_SANDBOX_TLS: "1" } });
    const [line] = await running.stdout.shows(/.*\n/);
    const { base_url, certificate } = JSON.parse(line as string);
    expect((await exchange(base_url + me, { ca: certificate })).status).toBe(401);
    const file = join(temporaryFolder({ "ca.pem": certificate }), "ca.pem");
    const { stdout } = await run("curl", ["-s", "--cacert", file, base_url + me]);
    expect(JSON.parse(stdout).error.code).toBe("unauthorized");
    expect(readFileSync(join(cwd, "sandbox.env"), "utf8")).toMatch(/^SVC_BASE_URL=https:\/\//m);
  });
});

describe("--cert and --key", () => {
  it("serve the certificate that they name", async () => {
    const cwd = temporaryFolder({ "cert.pem": pair.cert, "key.pem": pair.key });
    const running = serve(["--cert", "cert.pem", "--key", "key.pem"], { cwd });
    const [, url] = await running.stdout.shows(/listening on (\S+)[\s\S]*Try it/);
    expect((await exchange(url + me, { ca: pair.cert })).status).toBe(401);
    expect(running.stdout.text()).toContain(new X509Certificate(pair.cert).fingerprint256);
  });

  const both = ["--cert", "cert.pem", "--key", "key.pem"];
  const unusable =
    /--cert "cert\.pem" and --key "key\.pem" must be a certificate and its key in PEM, without a/;
  it.each<[string, Record<string, () => string | Promise<string>>, readonly string[], RegExp]>([
    ["an absent file", {}, ["--cert", "no", ...both.slice(2)], /Failed to read --cert "no": ENOENT/],
    ["no PEM", { cert: () => "certificate" }, both, unusable],
    ["another's key", { key: async () => (await makeSelfSigned("localhost")).key }, both, unusable],
    ["a passphrase", { key: () => keyOf({ cipher: "aes-256-cbc", passphrase: "secret" }) }, both, unusable],
  ])("with %s end with 2, and show nothing of a key", async (_name, files, argv, says) => {
    const key = (await files.key?.()) ?? pair.key;
    const cwd = temporaryFolder({ "cert.pem": (await files.cert?.()) ?? pair.cert, "key.pem": key });
    const { code, stdout, stderr } = await runCli([...argv, "--port", "0"], { cwd });
    expect(stderr).toMatch(says);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).not.toContain(key.split("\n")[1]);
  });

  it.runIf(process.platform !== "win32").each([
    ["--key", ["start", "--port", "0", "--cert", "cert.pem", "--key", "pipe"]],
    ["--ca", ["report", "https://127.0.0.1:1", "--ca", "pipe"]],
  ])("%s never waits for the writer of a pipe", async (flag, argv) => {
    const cwd = temporaryFolder({ "cert.pem": pair.cert });
    execFileSync("mkfifo", [join(cwd, "pipe")]);
    const { code, stderr } = await runCli(argv, { cwd });
    expect(code).toBe(2);
    expect(stderr).toMatch(new RegExp(`${flag} "\\S*pipe": it is (?:a pipe|not a regular file)`));
  });
});

function keyOf(encryption: object): string {
  return generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem", ...encryption },
  }).privateKey;
}

test("--ca adds an authority to those of NODE_EXTRA_CA_CERTS: with none of the server's, a command reads nothing", async () => {
  const { url, certificate = "" } = await served({ tls: true });
  const cwd = temporaryFolder({ "own.pem": certificate, "other.pem": pair.cert });
  const report = (file: string) => runCli(["report", url, "--json", "--ca", file], { cwd });
  expect((await report("own.pem")).code).toBe(0);
  expect(await report("other.pem")).toMatchObject({
    ...{ code: 2, stdout: "" },
    stderr: expect.stringContaining("NODE_EXTRA_CA_CERTS"),
  });

  vi.stubEnv("NODE_EXTRA_CA_CERTS", join(cwd, "own.pem"));
  onTestFinished(() => void vi.unstubAllEnvs());
  expect((await report("other.pem")).code).toBe(0);
});
