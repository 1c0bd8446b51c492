import { join } from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { command as start } from "../../src/cli/commands/start.js";
import { routes } from "../../src/node/control/routes.js";
import { controlPath } from "../../src/node/server/read-request.js";
import { parseScenario } from "../../src/scenario/parse-scenario.js";
import { serveControl } from "../control/client.js";
import { blockWith, pageOf, root } from "../support/pages.js";
import { readMetrics } from "../support/prometheus.js";

// The files that people deploy hold what the program takes: flags, variables, paths and ports that there are.

const page = "docs/deploy.md";
const variables = Object.values(start.flags).flatMap((flag) => flag.variables);
const image = Object.fromEntries(
  [...pageOf("Dockerfile").matchAll(/^(WORKDIR|USER|EXPOSE) (.+)$/gm)].map(([, name, value]) => [
    name,
    value,
  ]),
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

/** Reads a variable as `start` does. */
function readVariable(name: string, value: string): void {
  expect(variables).toContain(name);
  Object.values(start.flags)
    .find((flag) => flag.variables.includes(name))
    ?.read(value, name);
}

const pathsOfGet = routes.filter(({ method }) => method === "GET").map(({ path }) => controlPath + path);

describe("the Kubernetes example", () => {
  // biome-ignore lint/suspicious/noExplicitAny: the compiler checks it below
  const objects: any[] = parseAllDocuments(blockWith(page, "yaml", "kind: Deployment")).map((one) => {
    expect(one.errors).toEqual([]);
    return one.toJS();
  });
  const ofKind = (kind: string) => objects.find((one) => one.kind === kind);
  const pod = ofKind("Deployment").spec.template;
  const container = pod.spec.containers[0];

  const typeOfKind: Readonly<Record<string, string>> = {
    Secret: "core/v1",
    ConfigMap: "core/v1",
    Deployment: "apps/v1",
    Service: "core/v1",
    PodDisruptionBudget: "policy/v1",
  };

  /** What the compiler says of objects that are written down as the types of Kubernetes. */
  function complaints(given: readonly { readonly kind: string }[]): string[] {
    const file = join(root, "test/docs/kubernetes-example.ts");
    const lines = given.map(
      (one, index) =>
        `const object${index}: import("kubernetes-types/${typeOfKind[one.kind]}").${one.kind} = ${JSON.stringify(one)};`,
    );
    const options: ts.CompilerOptions = {
      strict: true,
      noEmit: true,
      types: [],
      lib: ["lib.es2022.d.ts"],
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
    };
    const host = ts.createCompilerHost(options);
    const { getSourceFile } = host;
    host.getSourceFile = (name, language, ...rest) =>
      name === file
        ? ts.createSourceFile(name, `${lines.join("\n")}\nexport {};\n`, language)
        : getSourceFile(name, language, ...rest);
    const program = ts.createProgram([file], options, host);
    return ts
      .getPreEmitDiagnostics(program)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
  }

  test("has the shape that Kubernetes takes, and a field that there is not would be found", () => {
    const known = objects.filter(({ kind }) => kind in typeOfKind);
    expect(known.length).toBe(objects.length - 1);
    expect(complaints(known)).toEqual([]);
    const wrong = structuredClone(ofKind("Deployment"));
    wrong.spec.template.spec.containers[0].readyProbe = {};
    expect(complaints([wrong]).join()).toContain("readyProbe");
  });

  test("gives flags and variables that start reads, and a scenario that it takes", () => {
    readWords(container.args);
    for (const { name, value } of container.env) readVariable(name, value);
    const secret = ofKind("Secret");
    expect(container.envFrom).toEqual([{ secretRef: { name: secret.metadata.name } }]);
    for (const [name, value] of Object.entries<string>(secret.stringData)) readVariable(name, value);
    const [[file, text]] = Object.entries<string>(ofKind("ConfigMap").data) as [[string, string]];
    expect(file).toBe("svc-sandbox.yaml");
    expect(Object.keys(parseScenario(text).organizations ?? {})).toHaveLength(1);
    expect(container.volumeMounts).toEqual([{ name: "scenario", mountPath: image.WORKDIR, readOnly: true }]);
    expect(pod.spec.volumes).toEqual([
      { name: "scenario", configMap: { name: ofKind("ConfigMap").metadata.name } },
    ]);
  });

  test("probes paths that there are, on the port of the image, and leaves nothing to root", () => {
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

  test("finds its own pods, and scrapes them with the token that they ask for", () => {
    const labels = ofKind("Deployment").spec.template.metadata.labels;
    const service = ofKind("Service");
    const monitor = ofKind("ServiceMonitor");
    expect(ofKind("Deployment").spec.selector.matchLabels).toEqual(labels);
    expect(service.spec.selector).toEqual(labels);
    expect(monitor.spec.selector.matchLabels).toEqual(service.metadata.labels);
    const [{ port, path, authorization }] = monitor.spec.endpoints;
    expect([service.spec.ports[0].name, service.spec.ports[0].targetPort]).toEqual([
      port,
      container.ports[0].name,
    ]);
    expect(pathsOfGet).toContain(path);
    const secret = ofKind("Secret");
    expect(authorization.credentials.name).toBe(secret.metadata.name);
    expect(secret.stringData[authorization.credentials.key]).toEqual(expect.any(String));
    expect(authorization.credentials.key).toBe("SVC_SANDBOX_CONTROL_TOKEN");
  });
});

test("what Prometheus is told to scrape and to alert on is there", async () => {
  const { scrape_configs: jobs } = parse(blockWith(page, "yaml", "scrape_configs"));
  expect(pathsOfGet).toContain(jobs[0].metrics_path);
  const { groups } = parse(blockWith(page, "yaml", "alert: "));
  const expressions: string[] = groups.flatMap((group: { rules: { expr: string }[] }) =>
    group.rules.map(({ expr }) => expr),
  );
  const told = [...pageOf(page).matchAll(/\b(?:svc_sandbox|nodejs|process)_[a-z0-9_]+/g)].map(
    ([name]) => name,
  );
  expect(told).toEqual(
    expect.arrayContaining(expressions.flatMap((one) => one.match(/svc_sandbox_\w+/g) ?? [])),
  );
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
    expect(expression).toMatch(/^(?:increase\()?(?:up|svc_sandbox_|nodejs_|process_)/);
  expect(expressions.find((one) => one.startsWith("up"))).toContain(`job="${jobs[0].job_name}"`);
});

test("the flags and variables that the page names are those of start", () => {
  const text = pageOf(page);
  const named = [...text.matchAll(/`(--[a-z-]+)/g)].map(([, name]) => name as string);
  const ofOthers = ["--build-arg", "--read-only", "--no-healthcheck", "--scale"];
  const flags = Object.values(start.flags).map(({ spec }) => spec.split(/[ ,]+/));
  expect(named.filter((name) => !ofOthers.includes(name) && !flags.flat().includes(name))).toEqual([]);
  const told = [...text.matchAll(/\bSVC_SANDBOX_[A-Z_]+/g)].map(([name]) => name);
  expect([...new Set(told)].filter((name) => !variables.includes(name) && name !== "SVC_SANDBOX_")).toEqual(
    [],
  );
});
