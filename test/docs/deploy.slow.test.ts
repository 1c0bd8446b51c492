import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { startCommand as start } from "../../src/cli/commands/start.js";
import { controlPath } from "../../src/node/addresses.js";
import { version } from "../../src/node/package-files.js";
import { failures } from "../../src/rules/fault-effects.js";
import { routes } from "../../src/server/control/routes/routes.js";
import { startServer } from "../../src/server/index.js";
import { serveControl } from "../control/client.js";
import { noBalancer } from "../support/balancer.js";
import { compile } from "../support/compile.js";
import { exchange } from "../support/exchange.js";
import { blockWith, pageOf } from "../support/pages.js";
import { programPath } from "../support/programs.js";
import { readMetrics } from "../support/prometheus.js";
import { freePort } from "../support/redis-server.js";
import { mePath } from "../support/send.js";
import { temporaryFolder, userFolder } from "../support/temporary-folder.js";

// The files that people deploy hold what the program takes: flags, variables, paths and ports that there are.

const page = "docs/deploy.md";
const variables = Object.values(start.flags).flatMap((flag) => flag.variables);
const image = Object.fromEntries(
  [...pageOf("Dockerfile").matchAll(/^(WORKDIR|USER|EXPOSE) (.+)$/gm)].map(([, ...both]) => both),
);

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

/** haproxy.cfg for replicas on this machine. */
const localProxy = (port: number, lines: string) =>
  pageOf("examples/deploy/haproxy.cfg")
    .replace(/^ {2}server-template .*$/gm, lines)
    .replace(" resolvers docker init-addr libc,none", "")
    .replace(/^resolvers docker\n(?: .*\n)+/m, "")
    .replace(/bind :\d+/, `bind 127.0.0.1:${port}`);

/** Starts HAProxy with these settings until the test is over. */
function startBalancer(settings: string): void {
  const file = join(temporaryFolder({ "haproxy.cfg": settings }), "haproxy.cfg");
  const child = spawn(programPath("haproxy"), ["-f", file, "-db", "-q"], { stdio: "ignore" });
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await once(child, "exit");
  });
}

/** The lines of haproxy.cfg for these servers. */
const serverLines = (servers: readonly { readonly url: string }[]) =>
  servers.map(({ url }, index) => `  server replica${index} ${new URL(url).host}`).join("\n");

/** Reads a variable of a Compose file, with its default, or the words about it as its value. */
const readComposed = (name: string, value: string) =>
  readVariable(
    name,
    value.replace(/\$\{\w+:[-?](.*)\}/, (_, given) => given.replaceAll(" ", "-").replaceAll(",", "")),
  );

/** Reads a variable as `start` does. */
function readVariable(name: string, value: string): void {
  expect(variables).toContain(name);
  Object.values(start.flags)
    .find((flag) => flag.variables.includes(name))
    ?.read(value, name);
}

const pathsOfGet = routes.filter(({ method }) => method === "GET").map(({ path }) => controlPath + path);

const typeOfKind: Readonly<Record<string, string>> = {
  Deployment: "apps/v1",
  StatefulSet: "apps/v1",
  NetworkPolicy: "networking/v1",
  Ingress: "networking/v1",
  Service: "core/v1",
  PodDisruptionBudget: "policy/v1",
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

describe("the Kubernetes example", () => {
  // biome-ignore lint/suspicious/noExplicitAny: the compiler checks it below
  const objects: any[] = parseAllDocuments(pageOf("examples/deploy/kubernetes.yaml")).map((one) => {
    expect(one.errors).toEqual([]);
    return one.toJS();
  });
  const named = (kind: string, name = "svc-sandbox") =>
    objects.find((one) => one.kind === kind && one.metadata.name === name);
  const pod = named("Deployment").spec.template;
  const [container] = pod.spec.containers;

  test("has the shape that Kubernetes accepts, and the test would find an unknown field", async () => {
    expect(await complaints(objects)).toEqual([]);
    const wrong = structuredClone(named("Deployment"));
    wrong.spec.template.spec.containers[0].readyProbe = {};
    expect((await complaints([wrong])).join()).toContain("readyProbe");
  });

  test("gives flags and variables that start reads, and its own Redis", () => {
    readWords(container.args.filter((word: string) => word !== "key-states"));
    for (const { name, value } of container.env) readVariable(name, value);
    expect(container.image).toBe(`registry.example/svc-sandbox:${version}`);
    const [redis] = named("StatefulSet", "redis").spec.template.spec.containers;
    expect(redis.args.join(" ")).toMatch(/--appendonly yes .*--maxmemory-policy noeviction/);
    expect(pageOf(page)).toContain(`\`svc-sandbox.yaml\` at \`${image.WORKDIR}\``);
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
    expect(image.USER).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
  });

  test("has objects that find each other, and the monitor of the page scrapes them with their token", () => {
    for (const [kind, name] of [
      ["StatefulSet", "redis"],
      ["Deployment", "svc-sandbox"],
    ] as const) {
      const { selector, template } = named(kind, name).spec;
      const service = named("Service", name).spec;
      expect([selector.matchLabels, service.selector]).toEqual([
        template.metadata.labels,
        template.metadata.labels,
      ]);
      const ports = template.spec.containers[0].ports.map((port: { name: string }) => port.name);
      expect(ports).toEqual([service.ports[0].targetPort ?? service.ports[0].name]);
    }
    const [{ http: route }] = named("Ingress").spec.rules;
    expect(route.paths[0].backend.service).toEqual({ name: "svc-sandbox", port: { name: "http" } });
    const monitor = parse(blockWith(page, "yaml", "kind: ServiceMonitor"));
    const { metadata, spec } = named("Service");
    expect(monitor.spec.selector.matchLabels).toEqual(metadata.labels);
    const [{ port, path, authorization }] = monitor.spec.endpoints;
    expect(port).toBe(spec.ports[0].name);
    expect(pathsOfGet).toContain(path);
    expect(authorization.credentials).toEqual({
      name: container.envFrom[0].secretRef.name,
      key: "SVC_SANDBOX_CONTROL_TOKEN",
    });
  });
});

test("compose.yaml starts one server with flags and variables that start reads, and its state in a volume", () => {
  const { services, volumes } = parse(pageOf("examples/deploy/compose.yaml"));
  const { command, environment, volumes: mounts, ...sandbox } = services.sandbox;
  expect(Object.keys(services)).toEqual(["sandbox"]);
  readWords(command);
  for (const [name, value] of Object.entries<string>(environment)) readComposed(name, value);
  const [volume, folder] = mounts[0].split(":");
  expect([Object.keys(volumes), command.join(" ")]).toEqual([
    [volume],
    expect.stringContaining(`--state ${folder}/`),
  ]);
  expect([sandbox.read_only, sandbox.cap_drop]).toEqual([true, ["ALL"]]);
  // Docker gives a new volume the owner of the image's folder.
  expect(pageOf("Dockerfile")).toMatch(
    new RegExp(`chownSync\\('${folder}', 1000, 1000\\).*\n(?:#.*\n)*USER 1000:1000`),
  );
});

describe("haproxy.cfg", () => {
  test("asks the replicas of the image whether they are ready", () => {
    const proxy = pageOf("examples/deploy/haproxy.cfg");
    expect(pathsOfGet).toContain(/uri (\S+)/.exec(proxy)?.[1]);
    expect(/server-template \S+ \S+ (\S+)/.exec(proxy)?.[1]).toBe(`sandbox:${image.EXPOSE}`);
  });

  test.skipIf(noBalancer !== undefined)(
    "loses no request when one of two replicas stops, and takes it back when it is ready again",
    async () => {
      // As in a container: no address of this machine alone.
      const start = (port: number) => startServer({ host: "0.0.0.0", port });
      const servers = await Promise.all([start(0), start(0)]);
      onTestFinished(async () => void (await Promise.all(servers.map((server) => server.close(0)))));
      const [port, statesPort] = [await freePort(), await freePort()];
      const settings = localProxy(port, serverLines(servers));
      const states = `listen states\n  bind 127.0.0.1:${statesPort}\n  stats enable\n  stats uri /\n`;
      startBalancer(`${settings}\n${states}`);
      const statesSeen = async () => {
        const { bytes } = await exchange(`http://127.0.0.1:${statesPort}`, { path: "/;csv" });
        const rows = String(bytes)
          .split("\n")
          .filter((row) => row.startsWith("replicas,replica"));
        // The state, and what came of the last check.
        return rows.map((row) => [17, 36, 37].map((column) => row.split(",")[column]).join(" "));
      };
      const expectStates = (...expected: readonly RegExp[]) =>
        expect.poll(statesSeen).toEqual(expected.map((one) => expect.stringMatching(one)));
      const send = () => exchange(`http://127.0.0.1:${port}`, { path: mePath });
      const ask = async () => (await send()).status;
      const askAll = async (count: number) => {
        for (let i = 0; i < count; i++) expect(await ask()).toBe(401);
      };
      const counts = () => servers.map(({ sandbox: { requests } }) => requests.list().length);

      await expectStates(/^UP L7OK 200$/, /^UP L7OK 200$/);
      await askAll(10);
      expect(counts()).toEqual([5, 5]);
      await servers[0].close();
      // The balancer has not noticed yet.
      await askAll(20);
      expect(counts()[1]).toBe(25);
      await expectStates(/^DOWN L4CON/, /^UP L7OK 200$/);
      await askAll(10);
      const again = await start(Number(new URL(servers[0].url).port));
      onTestFinished(() => again.close(0));
      await expectStates(/^UP L7OK 200$/, /^UP L7OK 200$/);
      await askAll(10);
      expect(again.sandbox.requests.list()).toHaveLength(5);
      await Promise.all([again.close(0), servers[1].close(0)]);
      const rejected = await send();
      expect([rejected.status, rejected.headers["content-type"]]).toEqual([503, "application/json"]);
      const { code, message } = failures[503];
      expect(JSON.parse(String(rejected.bytes))).toEqual({ error: { code, message } });
    },
    120_000,
  );
});

test("Prometheus scrapes and alerts on metrics that exist", async () => {
  const { scrape_configs: jobs } = parse(blockWith(page, "yaml", "scrape_configs"));
  expect(pathsOfGet).toContain(jobs[0].metrics_path);
  const { groups } = parse(blockWith(page, "yaml", "alert: "));
  const expressions: string[] = groups.flatMap((group: { rules: { expr: string }[] }) =>
    group.rules.map(({ expr }) => expr),
  );
  const told = [...pageOf(page).matchAll(/\b(?:svc_sandbox|nodejs|process)_[a-z0-9_]+/g)].map(([one]) => one);
  const named = expressions.flatMap((one) => one.match(/svc_sandbox_\w+/g) ?? []);
  expect(told).toEqual(expect.arrayContaining(named));
  const { ask } = await serveControl();
  const scraped = readMetrics((await ask("/metrics")).text);
  const listed = [...pageOf("docs/control-plane.md").matchAll(/^\| `(svc_sandbox_\w+)`/gm)].map(
    ([, name]) => name,
  );
  const known = new Set([...scraped.keys(), ...listed]);
  const missing = told.filter((name) => !known.has(name.replace(/_bucket$/, "")));
  expect(missing).toEqual([]);
  expect(expressions.length).toBeGreaterThan(4);
  for (const expression of expressions)
    expect(expression).toMatch(
      /^(?:(?:increase|changes)\()?(?:up|svc_sandbox_|nodejs_|process_|kubelet_volume_)/,
    );
  expect(expressions.find((one) => one.startsWith("up"))).toContain(`job="${jobs[0].job_name}"`);
});

test.skipIf(noBalancer !== undefined)(
  "haproxy.cfg sends the requests to an instance to one replica, and others to all",
  async () => {
    const servers = await Promise.all([1, 2, 3].map(() => startServer()));
    onTestFinished(async () => void (await Promise.all(servers.map((server) => server.close(0)))));
    const port = await freePort();
    const settings = localProxy(port, serverLines(servers));
    startBalancer(settings.replaceAll("default-server check", "default-server"));
    const ask = (path: string) => exchange(`http://127.0.0.1:${port}`, { path });
    await expect
      .poll(() =>
        ask("/").then(
          ({ status }) => status,
          () => 0,
        ),
      )
      .toBe(404);
    const ids = Array.from({ length: 30 }, (_, n) => `instance-${n}`);
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(ids.map((id, n) => ask(n % 2 === 0 ? `/i/${id}${mePath}` : `/i/${id}/${round}`)));
      await Promise.all(ids.map(() => ask(mePath)));
    }
    const seen = servers.map(({ sandbox }) => sandbox.requests.list().map(({ path }) => path));
    for (const id of ids) {
      const counts = seen.map((paths) => paths.filter((path) => path.startsWith(`/i/${id}/`)).length);
      expect(counts.filter((count) => count > 0)).toEqual([3]);
    }
    for (const paths of seen) {
      expect(paths.filter((path) => path.startsWith("/i/")).length).toBeGreaterThan(0);
      expect(paths.filter((path) => path === mePath).length).toBeGreaterThan(0);
    }
  },
);

test("the page names only flags and variables of start", () => {
  const text = pageOf(page);
  const named = [...text.matchAll(/`(--[a-z-]+)/g)].map(([, name]) => name as string);
  const ofOthers = ["--build-arg", "--read-only", "--no-healthcheck"];
  const flags = Object.values(start.flags).map(({ spec }) => spec.split(/[ ,]+/));
  expect(named.filter((name) => !ofOthers.includes(name) && !flags.flat().includes(name))).toEqual([]);
  const told = [...text.matchAll(/\bSVC_SANDBOX_[A-Z_]+/g)].map(([name]) => name);
  expect([...new Set(told)].filter((one) => !variables.includes(one) && one !== "SVC_SANDBOX_")).toEqual([]);
});
