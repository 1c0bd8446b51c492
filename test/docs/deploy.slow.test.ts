import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { Agent } from "node:http";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { parseEnv } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { startCommand as start } from "../../src/cli/commands/start.js";
import type { FlagSet } from "../../src/cli/flags.js";
import { version } from "../../src/node/package-files.js";
import { failures } from "../../src/rules/fault-effects.js";
import { controlPath } from "../../src/rules/paths.js";
import { routes } from "../../src/server/control/routes/routes.js";
import { noBrowser, takePage } from "../support/chromium-page.js";
import { compile } from "../support/compile.js";
import { exchange } from "../support/exchange.js";
import { freePort } from "../support/free-port.js";
import { blockWith, pageOf } from "../support/pages.js";
import { missing } from "../support/programs.js";
import { type RunningCommand, runCommand, startBin, words } from "../support/running-command.js";
import { runProxy } from "../support/running-proxy.js";
import { mePath } from "../support/send.js";
import { temporaryFolder, userFolder } from "../support/temporary-folder.js";

// The files that people deploy hold what the program takes: flags, variables, paths and ports that there are.

const page = "docs/host.md";
const { variables: ofFlags = {} } = start;
const flags: FlagSet = start.flags;
const variables = [...Object.keys(ofFlags), "SVC_SANDBOX_SCENARIO", "SVC_SANDBOX_CONTROL_TOKEN"];
const image = Object.fromEntries(
  [...pageOf("Dockerfile").matchAll(/^(WORKDIR|USER|EXPOSE) (.+)$/gm)].map(([, ...both]) => both),
);
const deployed = (name: string) => pageOf(`examples/deploy/${name}`);

/** Reads command-line words as `start` does; throws on a flag that there is not, or a value that cannot be used. */
function readWords([name, ...words]: readonly string[]): void {
  expect(name).toBe("start");
  for (let i = 0; i < words.length; i += 1) {
    const flag = Object.values(start.flags).find(({ spec }) =>
      spec.split(/[ ,]+/).includes(words[i] as string),
    );
    expect([words[i], flag === undefined]).toEqual([words[i], false]);
    if (flag?.spec.includes("<") !== true) continue;
    i += 1;
    flag.read(words[i] as string, words[i - 1] as string);
  }
}

/** Reads a variable as `start` does. */
function readVariable(name: string, value: string): void {
  expect(variables).toContain(name);
  const member = ofFlags[name];
  if (member !== undefined) flags[member]?.read(value, name);
}

/** What keeps a sandbox of its own, with its own keys, in a volume that is mounted at `folder`. */
function expectOwnSandbox(argv: readonly string[], folder: string): void {
  readWords(argv.filter((word) => word !== "key-states"));
  expect(argv.join(" ")).toContain(
    `--seed random --state ${folder}/sandbox.json --write-env ${folder}/partner.env`,
  );
}

const pathsOfGet = routes.filter(({ method }) => method === "GET").map(({ path }) => controlPath + path);

const typeOfKind: Readonly<Record<string, string>> = {
  PersistentVolumeClaim: "core/v1",
  Deployment: "apps/v1",
  Service: "core/v1",
  Ingress: "networking/v1",
};

/** What the compiler says of objects that are written down as the types of Kubernetes. */
function complaints(given: readonly { readonly kind: string }[]): Promise<string[]> {
  const lines = given.map(
    (one, index) =>
      `const object${index}: import("kubernetes-types/${typeOfKind[one.kind]}").${one.kind} = ${JSON.stringify(one)};`,
  );
  const folder = userFolder({ "objects.ts": `${lines.join("\n")}\nexport {};\n` }, ["kubernetes-types"]);
  return compile(folder, {
    strict: true,
    types: [],
    lib: ["es2022"],
    module: "esnext",
    moduleResolution: "bundler",
  });
}

describe("partner.yaml", () => {
  // biome-ignore lint/suspicious/noExplicitAny: the compiler checks it below
  const objects: any[] = parseAllDocuments(deployed("partner.yaml")).map((one) => {
    expect(one.errors).toEqual([]);
    return one.toJS();
  });
  const named = (kind: string) =>
    objects.find((one) => one.kind === kind && one.metadata.name === "harvest-bank");
  const { spec: deployment } = named("Deployment");
  const pod = deployment.template;
  const [container] = pod.spec.containers;

  test("has the shape that Kubernetes accepts, and the test would find an unknown field", async () => {
    expect(await complaints(objects)).toEqual([]);
    const wrong = structuredClone(named("Deployment"));
    wrong.spec.template.spec.containers[0].readyProbe = {};
    expect((await complaints([wrong])).join()).toContain("readyProbe");
  });

  test("starts one process, which ends before another one opens its volume, with flags and variables that start reads", () => {
    expect([deployment.replicas, deployment.strategy]).toEqual([1, { type: "Recreate" }]);
    for (const { name, value } of container.env) readVariable(name, value);
    expect(container.image).toBe(`registry.example/svc-sandbox:${version}`);
    const [{ name, mountPath }] = container.volumeMounts;
    expectOwnSandbox(container.args, mountPath);
    const [volume] = pod.spec.volumes;
    expect([volume.name, named("PersistentVolumeClaim").metadata.name]).toEqual([
      name,
      volume.persistentVolumeClaim.claimName,
    ]);
    expect(image.USER).toBe(`1000:${pod.spec.securityContext.fsGroup}`);
  });

  test("probes existing paths on the port of the image, and needs no root", () => {
    const { startupProbe, livenessProbe, readinessProbe } = container;
    const probed = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet);
    expect(probed).toEqual(
      ["health", "health", "ready"].map((path) => ({ path: `${controlPath}/${path}`, port: "http" })),
    );
    for (const { path } of probed) expect(pathsOfGet).toContain(path);
    expect(container.ports).toEqual([{ name: "http", containerPort: Number(image.EXPOSE) }]);
    expect(pod.spec.securityContext.runAsNonRoot).toBe(true);
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
  });

  test("has objects that find each other", () => {
    const service = named("Service").spec;
    expect([deployment.selector.matchLabels, service.selector]).toEqual([
      pod.metadata.labels,
      pod.metadata.labels,
    ]);
    expect(service.ports[0].targetPort).toBe(container.ports[0].name);
    const [{ host, http: route }] = named("Ingress").spec.rules;
    expect(route.paths[0].backend.service).toEqual({ name: "harvest-bank", port: { name: "http" } });
    expect(container.env).toContainEqual({ name: "SVC_SANDBOX_PUBLIC_URL", value: `https://${host}` });
  });

  test("is applied by the page's lines for another name, with a secret that start reads", async () => {
    const calls = await callsOf("kubectl", "kubectl apply", { "partner.yaml": deployed("partner.yaml") });
    const [secret = ""] = calls.split("\n");
    readVariable(/--from-literal=(\w+)=/.exec(secret)?.[1] ?? "", "12345678");
    expect(pod.spec.containers[0].envFrom).toEqual([{ secretRef: { name: secret.split(" ")[3] } }]);
    expect(calls).toContain("rollout status deployment/harvest-bank");
    expect(container.args).toContain(/ -- cat (\S+)/.exec(calls)?.[1]);
  });
});

/** The calls of a program by a block of the page, a line each. */
async function callsOf(program: string, words: string, files = {}): Promise<string> {
  const stub = `#!/bin/sh\necho "$*" >> calls.txt\ncase "$*" in *"-f -"*) cat > applied.yaml;; esac\n`;
  const cwd = temporaryFolder({ [program]: stub, ...files });
  chmodSync(join(cwd, program), 0o755);
  const env = { PATH: [cwd, process.env.PATH].join(delimiter) };
  const { code, stderr } = await runCommand(blockWith(page, "sh", words), { cwd, env }).ended;
  expect([code, stderr]).toEqual([0, ""]);
  return readFileSync(join(cwd, "calls.txt"), "utf8");
}

test("compose.yaml starts one server with flags and variables that start reads, and its state in a volume", async () => {
  const { services, volumes } = parse(deployed("compose.yaml"));
  const { command, environment, volumes: mounts, ports, ...sandbox } = services.sandbox;
  expect(Object.keys(services)).toEqual(["sandbox"]);
  const [volume, folder] = mounts[0].split(":");
  expect(Object.keys(volumes)).toEqual([volume]);
  expectOwnSandbox(command, folder);
  for (const [name, value] of Object.entries<string>(environment)) {
    const [, given, text = ""] = /^\$\{(\w+):[-?](.*)\}$/.exec(value) ?? [];
    expect(given).toBe(name);
    readVariable(name, text.replaceAll(/[ ,]/g, "-"));
  }
  expect(ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:\$\{SVC_SANDBOX_PORT:-\d+\}:/)]);
  expect(ports[0].endsWith(`:${image.EXPOSE}`)).toBe(true);
  expect([sandbox.read_only, sandbox.cap_drop]).toEqual([true, ["ALL"]]);
  // Docker gives a new volume the owner of the image's folder.
  expect(pageOf("Dockerfile")).toMatch(
    new RegExp(`chownSync\\('${folder}', 1000, 1000\\).*\n(?:#.*\n)*USER 1000:1000`),
  );
  const calls = await callsOf("docker", "docker compose");
  expect(calls).toContain("-f examples/deploy/compose.yaml up -d\n");
  expect(command).toContain(/ cat (\S+)/.exec(calls)?.[1]);
});

const unit = Object.fromEntries(
  [...deployed("svc-sandbox@.service").matchAll(/^(\w+)=(.+)$/gm)].map(([, ...both]) => both),
);

/** Starts the unit of a partner as systemd does: its line, with its file of variables. */
function startUnit(name: string, folder: string): { child: ChildProcess; endedEarly: Promise<never> } {
  const filled = (text = "") => text.replaceAll("%S", join(folder, "state")).replaceAll("%i", name);
  const [program, ...argv] = filled(unit.ExecStart).split(" ");
  expect([program, unit.StateDirectory]).toEqual(["/usr/local/bin/svc-sandbox", "svc-sandbox/%i"]);
  mkdirSync(join(folder, "state", filled(unit.StateDirectory)), { recursive: true });
  const file = filled(unit.EnvironmentFile).replace("/etc/svc-sandbox", join(folder, "partners"));
  const [first = "", ...others] = [...words, ...argv];
  const { PATH } = process.env;
  const env = { PATH, ...(parseEnv(readFileSync(file, "utf8")) as Record<string, string>) };
  const child = spawn(first, others, { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  // Who waits for its file would wait long for a server that could not start.
  const said = text(child.stderr);
  const endedEarly = once(child, "exit").then(async () => {
    throw new Error(`${name} ended: ${await said}`);
  });
  return { child, endedEarly };
}

/** Bytes in memory that a process shares with no other. */
function ownBytes({ pid }: ChildProcess): number {
  const [, kilobytes] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}

test.skipIf(process.platform !== "linux")(
  "fifty partners of the page's lines and the unit get responses with keys of their own, in 1.5 GB of memory",
  async () => {
    const folder = temporaryFolder();
    const ports = new Set<number>();
    while (ports.size < 50) ports.add(await freePort());
    const partners = [...ports].map((port, index) => ({ port, name: `partner-${index}` }));
    const added = partners.map(({ name, port }) => `add ${name} ${port}\n`).join("");
    const line = blockWith(page, "sh", "add() {").replace(/^add \w.*\n/gm, "") + added;
    expect((await runCommand(line, { cwd: folder }).ended).code).toBe(0);
    const units = partners.map((partner) => ({ ...partner, ...startUnit(partner.name, folder) }));
    const seen = await Promise.all(
      units.map(async ({ port, name, endedEarly }) => {
        const url = `http://127.0.0.1:${port}`;
        const file = join(folder, "state/svc-sandbox", name, "partner.env");
        const written = () => (existsSync(file) ? readFileSync(file, "utf8") : "");
        // The last of its lines; it is written once the server listens.
        const isWritten = expect
          .poll(written, { timeout: 200_000 })
          .toMatch(/^SVC_SANDBOX_CONTROL_TOKEN=.*\n/m);
        await Promise.race([isWritten, endedEarly]);
        expect(statSync(file).mode & 0o777).toBe(0o600);
        const given = parseEnv(written()) as Record<string, string>;
        expect(given.SVC_BASE_URL).toBe(`https://sandbox.example/${name}`);
        const headers = { authorization: `Bearer ${given.SVC_SANDBOX_CONTROL_TOKEN}` };
        const responses = await Promise.all([
          exchange(url, { path: mePath, headers: { "x-api-key": given.SVC_API_KEY as string } }),
          exchange(url, { path: `${controlPath}/report`, headers }),
          exchange(url, { path: `${controlPath}/` }),
          exchange(url, { path: `${controlPath}/ready` }),
        ]);
        expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
        return [given.SVC_API_KEY, given.SVC_KEY_REVOKED, given.SVC_SANDBOX_CONTROL_TOKEN];
      }),
    );
    expect(new Set(seen.flat()).size).toBe(150);
    const own = units.reduce((sum, { child }) => sum + ownBytes(child), 0);
    expect(own).toBeGreaterThan(0);
    expect(own).toBeLessThanOrEqual(1.5e9);
    for (const { child } of units) child.kill("SIGTERM");
    await Promise.all(units.map(({ child }) => child.exitCode ?? once(child, "exit")));
    expect(new Set(units.map(({ child }) => child.exitCode))).toEqual(new Set([0]));
  },
  300_000,
);

test("the page's lines lead from a server to a partner's first response, and to the coverage of each", async () => {
  const cwd = userFolder();
  const PATH = [join(cwd, "node_modules/.bin"), process.env.PATH].join(delimiter);
  const env = { SVC_SANDBOX_PORT: "0", PATH };
  const serving = runCommand(blockWith(page, "sh", "--write-env partner.env"), { cwd, env });
  const [, url = ""] = /Base URL +(\S+)/.exec(await serving.until(/Try it/)) ?? [];
  const first = await runCommand(blockWith(page, "sh", "x-api-key"), { cwd }).ended;
  expect(first).toMatchObject({ stdout: "200\n", stderr: "" });
  const given = parseEnv(readFileSync(join(cwd, "partner.env"), "utf8"));
  const lines = `SVC_SANDBOX_CONTROL_TOKEN=${given.SVC_SANDBOX_CONTROL_TOKEN}\nSVC_SANDBOX_PUBLIC_URL=${url}\n`;
  const host = userFolder({ "partners/harvest-bank.env": lines });
  const report = await runCommand(blockWith(page, "sh", "for file in"), { cwd: host, env: { PATH } }).ended;
  expect(report.stdout).toMatch(/^Coverage.* \d+%/);
});

/** Starts the built server of a partner on a port, and waits until it listens. */
async function startPartner(port: number, cwd: string): Promise<RunningCommand> {
  const argv = ["start", "key-states", "--json", "--log", "off", "--port", String(port)];
  const more = ["--state", "sandbox.json", "--control-token", token, "--public-url", publicUrl];
  const running = startBin([...argv, ...more], { cwd });
  await running.until(/\n/);
  return running;
}

const token = "token-of-the-test";
const publicUrl = "https://sandbox.example/harvest-bank";
const host = "sandbox.example";

/** Starts a proxy with the settings of examples/deploy, without HTTPS, in front of a partner's port. */
async function startProxy(program: "haproxy" | "nginx", partner: number): Promise<string> {
  const listening = `127.0.0.1:${await freePort()}`;
  const settings = deployed(program === "nginx" ? "nginx.conf" : "haproxy.cfg")
    .replace(/bind :443 ssl .*/, `bind ${listening}`)
    .replaceAll("listen 443 ssl", `listen ${listening}`)
    .replace(/^ *ssl_certificate.*\n/gm, "")
    .replaceAll("4801", String(partner));
  runProxy(program, settings);
  const url = `http://${listening}`;
  const status = () =>
    exchange(url, { path: "/nobody/", headers: { host } }).then(
      (response) => response.status,
      () => undefined,
    );
  await expect.poll(status).toBe(404);
  return url;
}

const proxies = ["haproxy", "nginx"] as const;

describe.each(proxies.filter((program) => missing(program) === undefined))(
  "%s in front of partners",
  (program) => {
    test("leads a prefix and a name to the API, the control plane and the page of the partner", async () => {
      const port = await freePort();
      await startPartner(port, temporaryFolder());
      const url = await startProxy(program, port);
      const prefix = "/harvest-bank";
      const statusOf = async (path: string, headers: Record<string, string> = {}) =>
        (await exchange(url, { path, headers: { host, ...headers } })).status;
      expect(await statusOf(prefix + mePath)).toBe(401);
      expect(await statusOf(mePath, { host: `harvest-bank.${host}` })).toBe(401);
      expect(await statusOf(`${prefix + controlPath}/health`)).toBe(200);
      expect(await statusOf(`${prefix + controlPath}/state`)).toBe(401);
      const authorization = `Bearer ${token}`;
      expect(await statusOf(`${prefix + controlPath}/state`, { authorization })).toBe(200);
      const reset = await exchange(url, {
        method: "POST",
        path: `${prefix + controlPath}/reset`,
        headers: { host, authorization, "content-type": "application/json", origin: `https://${host}` },
        body: "{}",
      });
      expect(reset.status).toBe(200);
      const bare = await exchange(url, { path: prefix + controlPath, headers: { host } });
      const to = new URL(bare.headers.location ?? "", url + prefix + controlPath);
      expect([bare.status, to.pathname]).toEqual([308, `${prefix + controlPath}/`]);
    });

    test("has the API's error for a prefix and a name without a partner", async () => {
      const url = await startProxy(program, await freePort());
      const error = { code: "not_found", message: "There is no sandbox at this address." };
      const names = [host, `nobody.${host}`, "nobody.example"];
      const responses = await Promise.all(names.map((name) => errorAt(url, `/nobody${mePath}`, name)));
      expect(responses).toEqual(names.map(() => [404, "application/json", error]));
    });

    test.skipIf(noBrowser !== undefined)(
      "shows the page below a prefix, which sends its calls there",
      async () => {
        const port = await freePort();
        await startPartner(port, temporaryFolder());
        const url = await startProxy(program, port);
        const browser = await takePage();
        const seen: string[] = [];
        // The name leads to the proxy, which ends HTTPS.
        await browser.route(`https://${host}/**`, async (route) => {
          const request = route.request();
          const path = request.url().slice(`https://${host}`.length);
          const { "accept-encoding": _, ...sent } = await request.allHeaders();
          const headers = Object.fromEntries(Object.entries(sent).filter(([name]) => !name.startsWith(":")));
          const body = request.postDataBuffer();
          const outgoing = { method: request.method(), path, headers: { ...headers, host } };
          const {
            status,
            headers: received,
            bytes,
          } = await exchange(url, body ? { ...outgoing, body } : outgoing);
          seen.push(`${status} ${path.split("?")[0]}`);
          await route.fulfill({ status, headers: received as Record<string, string>, body: bytes });
        });
        const below = `/harvest-bank${controlPath}/`;
        await browser.goto(`https://${host}${below}#token=${token}`);
        await browser.getByText("Key states").first().waitFor();
        await expect.poll(() => seen).toContain(`200 ${below}revision`);
        expect(seen.filter((one) => !one.startsWith(`200 ${below}`))).toEqual([]);
        // The page asks again and again: no request is left when the test is over.
        await browser.unrouteAll({ behavior: "wait" });
      },
    );
  },
);

test.skipIf(missing("haproxy") !== undefined).each(["SIGTERM", "SIGKILL"] as const)(
  "haproxy.cfg loses no request while the server of a partner restarts after %s",
  async (signal) => {
    const [port, cwd] = [await freePort(), temporaryFolder()];
    const first = await startPartner(port, cwd);
    const url = await startProxy("haproxy", port);
    const statuses: number[] = [];
    const isRestarted = new AbortController();
    // Real clients keep their connections.
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const send = async () => {
      const { status } = await exchange(url, { path: `/harvest-bank${mePath}`, headers: { host }, agent });
      statuses.push(status);
    };
    const clients = Array.from({ length: 8 }, async () => {
      while (!isRestarted.signal.aborted) await send();
      await send();
    });
    await expect.poll(() => statuses.length).toBeGreaterThan(50);
    first.child.kill(signal);
    await first.ended;
    await startPartner(port, cwd);
    isRestarted.abort();
    await Promise.all(clients);
    expect(new Set(statuses)).toEqual(new Set([401]));
  },
  120_000,
);

/** The status, the type and the error of a response. */
async function errorAt(url: string, path: string, name = host) {
  const { status, headers, bytes } = await exchange(url, { path, headers: { host: name } });
  return [status, headers["content-type"], JSON.parse(String(bytes)).error];
}

test.skipIf(missing("haproxy") !== undefined)(
  "haproxy.cfg has the API's error for a server that stays away",
  async () => {
    const url = await startProxy("haproxy", await freePort());
    const { code, message } = failures[503];
    expect(await errorAt(url, `/harvest-bank${mePath}`)).toEqual([
      503,
      "application/json",
      { code, message },
    ]);
  },
  120_000,
);

test("the page names only flags and variables of start", () => {
  const text = pageOf(page);
  const named = [...text.matchAll(/`(--[a-z-]+)/g)].map(([, name]) => name as string);
  const flags = Object.values(start.flags).map(({ spec }) => spec.split(/[ ,]+/));
  expect(named.filter((name) => name !== "--build-arg" && !flags.flat().includes(name))).toEqual([]);
  const told = [...text.matchAll(/\bSVC_SANDBOX_[A-Z_]+/g)].map(([name]) => name);
  expect([...new Set(told)].filter((one) => !variables.includes(one) && one !== "SVC_SANDBOX_")).toEqual([]);
});
