import { X509Certificate } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli } from "../support/run-cli.js";
import { startBin } from "../support/running-command.js";
import { listening } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/**
 * Requests each URL through the proxy, as clients with its support do, and writes the status to `out`; `raw+` as old versions of
 * axios. `pinned+https:` trusts no certificate. `page` asks the proxy as a server, `files` writes what is in the
 * folder of SVC_CA_FILE.
 */
const clientCode = `
import http from "node:http";
import https from "node:https";
import tls from "node:tls";
import { once } from "node:events";
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
const { HTTPS_PROXY, HTTP_PROXY, SVC_CA_FILE, SVC_API_KEY } = process.env;
const headers = { "x-api-key": SVC_API_KEY };
const { hostname: host, port } = new URL(HTTPS_PROXY);
async function tunnelTo({ hostname, port: to }, options) {
  const asked = http.request({ host, port, method: "CONNECT", path: hostname + ":" + (to || 443) }).end();
  const [{ statusCode, statusMessage }, socket] = await once(asked, "connect");
  if (statusCode !== 200) throw new Error(statusCode + " " + statusMessage);
  const secure = tls.connect({ socket, servername: hostname, ca: readFileSync(SVC_CA_FILE), ...options });
  await once(secure, "secureConnect");
  return secure;
}
async function get(word) {
  if (word === "files") {
    const folder = dirname(SVC_CA_FILE);
    return JSON.stringify({ folder, ...Object.fromEntries(readdirSync(folder).map((name) =>
      [name, readFileSync(join(folder, name), "latin1")])) });
  }
  if (word === "page") {
    const { status, text } = await fetch(HTTP_PROXY + "/v1/relying-party/me").then(async (response) =>
      ({ status: response.status, text: await response.text() }));
    return status + " " + text;
  }
  if (word.startsWith("env:")) return process.env[word.slice(4)];
  const [, how = "", text] = /^(?:(\\w+)\\+)?(.*)$/.exec(word);
  const url = new URL(text);
  if (how === "sni") {
    await tunnelTo(url, { servername: "other.example" });
    return "secure";
  }
  const isPlain = how === "raw" || url.protocol === "http:";
  const socket = isPlain ? undefined : await tunnelTo(url, how === "pinned" ? { ca: [] } : {});
  const sent = isPlain
    ? http.get(HTTP_PROXY, { agent: false, path: text, headers: { ...headers, host: url.host } })
    : http.get({ createConnection: () => socket, host: url.host, path: url.pathname, headers });
  const [response] = await once(sent, "response");
  const body = await response.setEncoding("utf8").toArray();
  return response.statusCode + (response.statusCode === 403 ? " " + body : "");
}
for (const word of process.argv.slice(2)) appendFileSync("out", await get(word).catch(({ message }) => message.split("\\n")[0]) + "\\n");
`;

const me = "/v1/relying-party/me";
const client = (...words: string[]) => [process.execPath, "client.mjs", ...words];
const runHere = (argv: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}) =>
  runCli(argv, { cwd, env: { PATH: process.env.PATH ?? "", ...env } });

async function intercept(
  argv: readonly string[],
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  const cwd = temporaryFolder({ "client.mjs": clientCode });
  const { code, stderr } = await runHere([...argv, "--", ...client(...words)], cwd, env);
  return { code, lines: readFileSync(join(cwd, "out"), "utf8").trimEnd().split("\n"), stderr };
}

/** A server on this machine that is not the sandbox, and what was sent to it. */
async function otherServer() {
  const paths: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    paths.push(url);
    response.end();
  });
  server.on("connection", () => paths.push("connected"));
  return { paths, host: `localhost:${await listening(server)}` };
}

describe("exec --intercept", () => {
  it("leads clients of each named host into the sandbox, however they use the proxy, and its report counts", async () => {
    const flags = ["exec", "--intercept", "api.example", "--intercept", "*.bank.example,*.test"];
    const hosts = ["api.example", "a.bank.example", "a.b.bank.example", "bank.test"];
    const sent = hosts.map((host) => `https://${host}${me}`);
    const more = [`http://api.example${me}`, `raw+https://api.example${me}`, "https://api.example/"];
    const words = [...sent, ...more, `https://bank.example${me}`];
    const { code, lines, stderr } = await intercept(flags, words);
    const rejected = expect.stringMatching(/^403 .*bank\.example/);
    expect([code, lines]).toEqual([0, [...Array(6).fill("200"), "404", rejected]]);
    expect(stderr).toContain("7 requests to key-states");
    expect(stderr).toMatch(/^ {2}200\.test +6 {2}a/m);
    expect(stderr).toMatch(/\nCoverage .*\n/);
  });

  it("rejects other hosts without a connection to them, and names the way out twice", async () => {
    const { host, paths } = await otherServer();
    const words = [`https://${host}/`, `http://${host}/`, `https://api.example${me}`];
    const { lines, stderr } = await intercept(["exec", "--intercept", "api.example"], words);
    const why =
      "svc-sandbox rejects localhost: add --intercept localhost, or --pass-through to reach the real host";
    expect([lines, paths]).toEqual([[`403 ${why}`, `403 ${why}`, "200"], []]);
    expect(stderr).toMatch(/\nRejected connections to localhost\. .*--pass-through .*\n$/);
  });

  it("rejects a request that is not for a proxy, as a web page could send it", async () => {
    const flags = ["exec", "--intercept", "api.example", "--pass-through"];
    const { lines, stderr } = await intercept(flags, ["page"]);
    expect(lines).toEqual([expect.stringMatching(/^403 .* names no host$/)]);
    expect(stderr).toMatch(/\nNothing came through the proxy .*\n$/);
  });

  it("with --pass-through clients reach other hosts", async () => {
    const { host, paths } = await otherServer();
    const flags = ["exec", "--intercept", "api.example", "--pass-through"];
    const words = [`https://${host}/`, `http://${host}/path`, `https://api.example${me}`];
    words.push("https://localhost:1/");
    const { lines, stderr } = await intercept(flags, words);
    expect(lines.slice(1)).toEqual([
      "200",
      "200",
      expect.stringMatching(/^502 .* cannot pass this through to localhost:1: ECONNREFUSED$/),
    ]);
    expect(paths).toEqual(["connected", "connected", "/path"]);
    expect(stderr).toMatch(/No advice\.\n$/);
  });

  it("with --pass-through responds 502 to a message that cannot be passed through, and continues", async () => {
    const responses: Record<string, string> = {
      "/zeros": "HTTP/1.1 000 No\r\nContent-Length: 0\r\n\r\n",
      "/low": "HTTP/1.1 099 No\r\nContent-Length: 0\r\n\r\n",
      "/trailer": "HTTP/1.1 200 OK\r\nTrailer: X\r\nContent-Length: 0\r\n\r\n",
      "/upgrade": "HTTP/1.1 101 No\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
      "/cut": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut",
    };
    const server = createTcpServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", (text) => socket.end(responses[String(text).split(" ")[1] as string] ?? ""));
    });
    const host = `127.0.0.1:${await listening(server)}`;
    const messages = [
      ...["/zeros", "/low", "/trailer", "/upgrade"].map((path) => `GET http://${host}${path} HTTP/1.1`),
      `GET http://%:%@${host}/ HTTP/1.1`,
      `GET http://${host}/ HTTP/1.1\r\nTrailer: X`,
      `POST http://${host}/cut HTTP/1.1\r\nContent-Length: 0`,
      `GET http://api.example${me} HTTP/1.1`,
    ];
    const code = `
      import { appendFileSync } from "node:fs";
      import { connect } from "node:net";
      for (const message of ${JSON.stringify(messages)}) {
        const socket = connect(new URL(process.env.HTTP_PROXY).port, "127.0.0.1");
        socket.write(message + "\\r\\nHost: api.example\\r\\nConnection: close\\r\\n\\r\\n");
        appendFileSync("out", String(Buffer.concat(await socket.toArray())).slice(9, 12) + "\\n");
      }`;
    const cwd = temporaryFolder({ "odd.mjs": code });
    const argv = ["exec", "--intercept", "api.example", "--pass-through", "--", process.execPath, "odd.mjs"];
    const ended = await runHere(argv, cwd);
    const statuses = readFileSync(join(cwd, "out"), "utf8").trimEnd().split("\n");
    expect(statuses).toEqual([...Array(6).fill("502"), "200", "401"]);
    expect([ended.code, ended.stderr]).toEqual([0, expect.stringContaining("1 request to key-states")]);
  });

  it("makes no certificate for another name that a client sends in the TLS handshake", async () => {
    const words = ["sni+https://api.example/", `https://api.example${me}`];
    const { lines } = await intercept(["exec", "--intercept", "api.example"], words);
    expect(lines).toEqual([expect.stringMatching(/disconnected|ECONNRESET|hang up/), "200"]);
  });

  it.each([
    [["pinned+https://api.example/"], /connected to api\.example and sent no request: .* pins .*SVC_CA_FILE/],
    [["https://api.exampl/"], /Nothing called api\.example\. Did you mean "api\.exampl"\?/],
  ])("shows why %j did not get there", async (words, why) => {
    const { stderr } = await intercept(["exec", "--intercept", "api.example"], words);
    expect(stderr.trimEnd().split("\n").at(-1)).toMatch(why);
    expect(stderr).not.toContain("SVC_BASE_URL, and the key");
  });
});

describe("the environment under --intercept", () => {
  const filesOf = (line: string) => JSON.parse(line) as Record<string, string>;
  const certificatesIn = (text = "") => text.match(/-----BEGIN CERTIFICATE-----/g)?.length;

  it("trusts an authority of this run, whose key is in no file, and no real host", async () => {
    const { lines } = await intercept(["exec", "--intercept", "api.example"], ["files"]);
    const { folder, ...files } = filesOf(lines[0] as string);
    expect(existsSync(folder as string)).toBe(false);
    expect(Object.keys(files)).toEqual(["ca.pem", "java.p12", "node-extra-ca.pem", "php.ini"]);
    expect(certificatesIn(files["ca.pem"])).toBe(1);
    const { ca, raw } = new X509Certificate(files["ca.pem"] as string);
    const { validFrom, validTo } = new X509Certificate(files["ca.pem"] as string);
    expect(Date.parse(validTo) - Date.parse(validFrom)).toBeLessThanOrEqual(24 * 60 * 60_000);
    // Java trusts only what has the attribute trustedKeyUsage.
    const trusted = Buffer.from("6086480186f966adca7b0101", "hex").toString("latin1");
    const store = files["java.p12"] ?? "";
    expect([ca, store.includes(raw.toString("latin1")), store.includes(trusted)]).toEqual([true, true, true]);
    expect(JSON.stringify(files)).not.toContain("PRIVATE");
  });

  it.runIf(process.platform !== "win32")("is removed when svc-sandbox crashes", async () => {
    const crash = `process.once("SIGUSR2", () => { throw new Error("crash"); });`;
    const cwd = temporaryFolder({ "crash.cjs": crash, "tmp/.keep": "" });
    const env = { TMPDIR: join(cwd, "tmp"), NODE_OPTIONS: `--require ${join(cwd, "crash.cjs")}` };
    const argv = ["exec", "--intercept", "api.example", "--", "sh", "-c", "ls $TMPDIR; kill -USR2 $PPID"];
    const { code, stdout } = await startBin(argv, { cwd, env }).ended;
    expect([code, stdout]).toEqual([3, expect.stringMatching(/^svc-sandbox-/)]);
    expect(readdirSync(env.TMPDIR)).toEqual([".keep"]);
  });

  it("with --pass-through trusts real hosts, and what was trusted before, too", async () => {
    const cwd = temporaryFolder();
    const flags = ["exec", "--intercept", "api.example", "--tls"];
    const own = filesOf((await intercept(flags, ["files"])).lines[0] as string);
    writeFileSync(join(cwd, "own.pem"), own["ca.pem"] as string);
    const env = { SSL_CERT_FILE: join(cwd, "own.pem"), REQUESTS_CA_BUNDLE: join(cwd, "none.pem") };
    const { lines } = await intercept([...flags, "--pass-through"], ["files"], env);
    const files = filesOf(lines[0] as string);
    const trusted = files["ca.pem"] as string;
    // The authority and the certificate of --tls, of this run and of the other.
    expect(certificatesIn(own["ca.pem"])).toBe(2);
    expect(certificatesIn(trusted)).toBeGreaterThan(100);
    for (const one of (own["ca.pem"] as string).split(/(?<=END CERTIFICATE-----)\n/))
      expect(trusted).toContain(one);
  });

  it("names the proxy to each language, but not for the sandbox's own address", async () => {
    const names = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"];
    const others = ["NODE_USE_ENV_PROXY", "JAVA_TOOL_OPTIONS", "PHP_INI_SCAN_DIR"];
    const words = [...names, ...others, "SSL_CERT_FILE", "SSL_CERT_DIR"];
    const env = { JAVA_TOOL_OPTIONS: "-Xmx1g", NO_PROXY: "api.example", https_proxy: "http://proxy:1" };
    const asked = words.map((name) => `env:${name}`);
    const { lines } = await intercept(["exec", "--intercept", "api.example"], asked, env);
    const [proxy = "", , , , direct, , node, java, php, file, folder] = lines;
    expect(proxy).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(lines.slice(0, 6)).toEqual([...Array(4).fill(proxy), direct, direct]);
    expect(direct).toBe("localhost,127.0.0.1,::1");
    const port = new URL(proxy).port;
    expect(java).toMatch(
      /^-Xmx1g .*"-Dhttps\.proxyPort=(\d+)" .*"-Djavax\.net\.ssl\.trustStore=\/.*java\.p12"/,
    );
    expect(java).toContain(`"-Dhttp.proxyPort=${port}"`);
    // Without it, OpenSSL and Go trust the system's authorities as well.
    expect([node, php, file]).toEqual(["1", `:${folder}`, `${folder}/ca.pem`]);
  });
});

describe("certify --intercept", () => {
  it("certifies a client with a hard-coded address; the certificate names the host", async () => {
    const cwd = temporaryFolder({ "client.mjs": clientCode });
    const argv = ["certify", "--intercept", "*.bank.example", "--seeds", "1", "--certificate", "client.json"];
    const command = ["--", ...client(`https://api.bank.example${me}`)];
    const { code, stdout } = await runHere([...argv, ...command], cwd);
    // It covers one path.
    expect([code, stdout]).toEqual([1, expect.stringMatching(/covers 1 of \d+ promised paths/)]);
    const certificate = JSON.parse(readFileSync(join(cwd, "client.json"), "utf8"));
    expect([certificate.intercept, certificate.report.requests]).toEqual([["*.bank.example"], 1]);
  });
});
