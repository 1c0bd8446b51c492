import { spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdir, mkdtemp, readdir, readFile, realpath, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { freePort } from "../test/support/free-port.js";
import { firstLine, root, runProgram } from "./run-program.js";
import { createTally } from "./tally.js";

// Builds the image without a registry or a daemon, on this machine's Node and Debian, and runs it read-only as its user.

const names = { base: "localhost/node-of-this-machine", image: "localhost/svc-sandbox" };
const token = "token-of-the-test";

// Run in the image.
const writeEverywhere = `
const written = ["/app/package.json", "/app/new", "/sandbox/new", "/tmp/new", "/etc/passwd"].filter((file) => {
  try {
    require("node:fs").appendFileSync(file, "x");
    return true;
  } catch ({ code }) {
    return !["EROFS", "EACCES"].includes(code);
  }
});
console.log(written.join(" "));
process.exitCode = written.length === 0 ? 0 : 1;
`;

const tally = createTally("image");
const why = await obstacle();
if (why === undefined) await buildAndRun(tally.folder);
else tally.lack("the image", why);

/** Why no image can be built here; `undefined` if one can. */
async function obstacle(): Promise<string | undefined> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "it needs Linux and root";
  for (const program of ["buildah", "dpkg", "unshare"]) {
    const end = await runProgram(program, ["--version"]).catch(() => undefined);
    if (end?.code !== 0) return `${program} is not installed`;
  }
  return undefined;
}

async function buildAndRun(folder: string): Promise<void> {
  const place = ["--root", join(folder, "storage"), "--runroot", join(folder, "run")];
  const buildah = (...argv: readonly string[]) =>
    runProgram("buildah", [...place, "--storage-driver", "vfs", ...argv], {
      env: { BUILDAH_ISOLATION: "chroot" },
      // A minute on idle cores.
      timeout: 600_000,
    });
  await makeBase(join(folder, "base"));
  const base = await buildah("build", "--tag", names.base, join(folder, "base"));
  if (base.code !== 0) return tally.count("a base of this machine's Node", base.output);
  // npm uses its packages from earlier installations.
  const downloads = join(homedir(), ".npm/_cacache");
  await mkdir(downloads, { recursive: true });
  const cache = `${await realpath(downloads)}:/root/.npm/_cacache`;
  const options = ["--tag", names.image, "--build-arg", `NODE_IMAGE=${names.base}`, "--volume", cache];
  // npm opens more files than this isolation allows by default; only Docker's format has health checks.
  options.push("--ulimit", "nofile=20000:20000", "--format", "docker");
  const built = await buildah("build", ...options, root);
  tally.count("the Dockerfile builds", built.code === 0 ? undefined : built.output);
  if (built.code !== 0) return;

  const { config } = JSON.parse((await buildah("inspect", "--type", "image", names.image)).stdout).Docker;
  const container = (await buildah("from", names.image)).stdout.trim();
  const mounted = (await buildah("mount", container)).stdout.trim();
  try {
    const failed = (error: Error) => ({ "the image starts": error.message });
    const problems: Record<string, string | undefined> = await problemsOf(config, mounted).catch(failed);
    for (const [name, problem] of Object.entries(problems)) tally.count(name, problem);
    for (const [file, deployed] of await deployedFiles(folder)) {
      const problem = await problemOf(deployed, config, mounted).catch((error: Error) => error.message);
      tally.count(`${file} starts it, it is ready until it is stopped, and its volume keeps it`, problem);
    }
  } finally {
    await buildah("umount", container);
  }
}

/** A build context for an image with this machine's Node and npm, a shell, and a user. */
async function makeBase(folder: string): Promise<void> {
  const run = async (program: string, ...argv: readonly string[]) =>
    (await runProgram(program, argv)).stdout.split("\n").filter((line) => line !== "");
  const pack = (name: string, ...argv: readonly string[]) =>
    run("tar", "--create", "--dereference", "--file", join(folder, name), "--directory", ...argv);
  await mkdir(folder, { recursive: true });
  const node = await realpath(process.execPath);
  const [npm = ""] = await run("npm", "root", "--global");
  const listed = await run("dpkg", "--listfiles", "dash", "coreutils", "tar", "gzip", "libc6");
  const programs = [node, "/bin/sh", "/bin/mkdir", "/bin/tar", "/bin/gzip"];
  const libraries = (await run("ldd", ...programs)).flatMap((line) => /\/\S+(?= \()/.exec(line)?.[0] ?? []);
  const certificates = "/etc/ssl/certs/ca-certificates.crt";
  const files = [...listed, ...libraries, certificates].filter((one) => !/^\/usr\/share\/|^\/\.?$/.test(one));
  await writeFile(join(folder, "files"), [...new Set(files)].map((file) => `${file.slice(1)}\n`).join(""));
  await pack("system.tar", "/", "--no-recursion", "--files-from", join(folder, "files"));
  await pack("node.tar", dirname(node), "node");
  await pack("npm.tar", npm, "npm");
  const users = "root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n";
  await writeFile(join(folder, "passwd"), users);
  await writeFile(join(folder, "npmrc"), `cafile=${certificates}\n`);
  const dockerfile = `FROM scratch
ADD system.tar /
ADD node.tar /usr/local/bin/
ADD npm.tar /usr/local/lib/node_modules/
COPY passwd /etc/passwd
COPY npmrc /usr/local/etc/npmrc
ENV PATH=/usr/local/bin:/usr/bin:/bin
RUN mkdir -p /tmp /root && chmod 1777 /tmp && ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
`;
  await writeFile(join(folder, "Dockerfile"), dockerfile);
}

/** How a file of examples/deploy runs the image. */
interface Deployed {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The paths of its probes. */
  readonly probes: readonly string[];
  /** A folder outside, by the folder of the image where it is mounted. */
  readonly volume: { readonly from: string; readonly to: string };
}

async function deployedFiles(folder: string): Promise<[string, Deployed][]> {
  const read = (name: string) => readFile(join(root, "examples/deploy", name), "utf8");
  const { command, environment, volumes } = parse(await read("compose.yaml")).services.sandbox;
  const objects = parseAllDocuments(await read("partner.yaml")).map((object) => object.toJS());
  const { spec } = objects.find(({ kind }) => kind === "Deployment").spec.template;
  const [{ args, env, volumeMounts, startupProbe, livenessProbe, readinessProbe }] = spec.containers;
  const url = environment.SVC_SANDBOX_PUBLIC_URL.replace(/^.*:-(.*)\}$/, "$1");
  const volumeAt = async (to: string, owner: number): Promise<Deployed["volume"]> => {
    const from = await mkdtemp(join(folder, "volume-"));
    await chown(from, owner, owner);
    return { from, to };
  };
  return [
    [
      "compose.yaml",
      {
        argv: command,
        env: { SVC_SANDBOX_PUBLIC_URL: url },
        probes: ["/__sandbox/ready"],
        volume: await volumeAt(volumes[0].split(":")[1], 1000),
      },
    ],
    [
      "partner.yaml",
      {
        argv: args,
        env: Object.fromEntries(env.map(({ name, value }: Record<string, string>) => [name, value])),
        probes: [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path),
        volume: await volumeAt(volumeMounts[0].mountPath, spec.securityContext.fsGroup),
      },
    ],
  ];
}

async function problemOf(
  { argv, env, probes, volume }: Deployed,
  config: ImageConfig,
  mounted: string,
): Promise<string | undefined> {
  const port = await freePort();
  const words = inside(mounted, config, [...config.Entrypoint, ...argv], volume);
  return withServer(words, { ...environmentOf(config, port), ...env }, async ({ stop }) => {
    const statuses = await Promise.all(
      probes.map(async (path) => (await fetch(`http://127.0.0.1:${port}${path}`)).status),
    );
    const code = await stop();
    const files = (await readdir(volume.from)).sort().join();
    const isRight =
      code === 0 && statuses.every((status) => status === 200) && files === "partner.env,sandbox.json";
    return isRight ? undefined : JSON.stringify({ statuses, code, files });
  });
}

interface ImageServer {
  readonly pid: number | undefined;
  readonly firstLine: string;
  /** Asks it to stop, and returns its exit code. */
  readonly stop: () => Promise<number | null>;
}

/** Runs a server until it has been looked at. */
async function withServer<Result>(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  look: (server: ImageServer) => Promise<Result>,
): Promise<Result> {
  const server = spawn("unshare", words, { cwd: "/", env });
  const ended = once(server, "exit");
  const stop = async () => {
    server.kill("SIGTERM");
    return (await ended)[0] as number | null;
  };
  try {
    return await look({ pid: server.pid, firstLine: await firstLine(server), stop });
  } finally {
    server.kill("SIGKILL");
  }
}

function environmentOf({ Env }: ImageConfig, port: number): Record<string, string> {
  const own = { SVC_SANDBOX_PORT: String(port), SVC_SANDBOX_CONTROL_TOKEN: token };
  return { ...Object.fromEntries(Env.map((one) => one.split(/=(.*)/s) as [string, string])), ...own };
}

interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly Labels: Readonly<Record<string, string>>;
  readonly ExposedPorts: Readonly<Record<string, unknown>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

/** What is wrong with an image, by what it should be; `undefined` if nothing is. */
async function problemsOf(config: ImageConfig, mounted: string): Promise<Record<string, string | undefined>> {
  const port = await freePort();
  const env = { ...environmentOf(config, port), SVC_SANDBOX_SHOW_KEYS: "1" };
  const check = (command: readonly string[]) =>
    runProgram("unshare", inside(mounted, config, command), { cwd: "/", env });
  const expect = (isRight: boolean, found: unknown) => (isRight ? undefined : JSON.stringify(found));
  const [kind, ...probe] = config.Healthcheck.Test;
  const argv = inside(mounted, config, [...config.Entrypoint, ...config.Cmd, "--json"]);
  return withServer(argv, env, async ({ pid, firstLine: line, stop }) => {
    const statuses = await statusesAt(`http://127.0.0.1:${port}`, JSON.parse(line).keys);
    const processes = await readFile(`/proc/${pid}/status`, "utf8");
    const uids = /^Uid:\s+(.+)$/m.exec(processes)?.[1]?.split(/\s+/);
    const isUser = config.User === "1000:1000" && uids?.every((uid) => uid === "1000") === true;
    const healthy = await check(probe);
    const writes = await check(["node", "-e", writeEverywhere]);
    const code = await stop();
    const unhealthy = await check(probe);
    const isProbe = kind === "CMD" && healthy.code === 0 && unhealthy.code === 1;
    const labels = Object.keys(config.Labels).filter((name) => name.startsWith("org.opencontainers.image."));
    const isLabeled = labels.length >= 3 && "4747/tcp" in config.ExposedPorts;
    return {
      "health, readiness and API respond, the control plane with the token": expect(
        String(statuses) === "200,200,401,200,200,401",
        statuses,
      ),
      "it runs as a user that is not root": expect(isUser, { user: config.User, uids }),
      "nothing in it can be written": expect(writes.code === 0, writes.output),
      "its health check notices that a server has ended": expect(isProbe, [healthy, unhealthy]),
      "it ends with 0 after SIGTERM": expect(code === 0, code),
      "it has labels and its port": expect(isLabeled, config),
      "it contains the package and no source": await foreignFiles(mounted),
      "its files belong to root, and only root may write to them": await looseFiles(mounted),
    };
  });
}

/** The statuses of the probes, of the control plane without and with its token, and of a good and a revoked key. */
function statusesAt(url: string, keys: Readonly<Record<string, string>>): Promise<number[]> {
  const status = async (path: string, headers: Record<string, string> = {}) =>
    (await fetch(url + path, { headers })).status;
  return Promise.all([
    ...["/__sandbox/health", "/__sandbox/ready", "/__sandbox/state"].map((path) => status(path)),
    status("/__sandbox/state", { authorization: `Bearer ${token}` }),
    ...[keys.active, keys.revoked].map((key = "") => status("/v1/relying-party/me", { "x-api-key": key })),
  ]);
}

/** The arguments of `unshare` that run a command in the image as its user, while all of it but a volume is read-only. */
function inside(
  mounted: string,
  { User, WorkingDir }: ImageConfig,
  command: readonly string[],
  volume?: Deployed["volume"],
): string[] {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const line = quoted(`cd ${WorkingDir} && exec ${command.map(quoted).join(" ")}`);
  const script = [
    "set -e",
    `mount --bind ${mounted} ${mounted}`,
    `mount -o remount,bind,ro ${mounted}`,
    ...(volume === undefined ? [] : [`mount --bind ${volume.from} ${mounted}${volume.to}`]),
    `cd ${mounted}`,
    `exec /usr/sbin/chroot --userspec=${User} ${mounted} /bin/sh -c ${line}`,
  ];
  return ["--mount", "--propagation", "private", "sh", "-c", script.join("\n")];
}

// The image has the published files; a test of the tarball checks them.
async function foreignFiles(mounted: string): Promise<string | undefined> {
  const { stdout } = await runProgram("find", ["app", "build", "-maxdepth", "1"], { cwd: mounted });
  const found = stdout.trim().split("\n").sort().join(" ").replaceAll("app/", "");
  const expected =
    "AGENTS.md CHANGELOG.md LICENSE README.md SECURITY.md bin dist docs examples fixtures package.json packaging scenarios";
  return found === `app ${expected}` ? undefined : found;
}

async function looseFiles(mounted: string): Promise<string | undefined> {
  const isLoose = ["(", "-not", "-user", "0", "-o", "-perm", "/o+w", ")"];
  const argv = ["app", "sandbox", "-not", "-type", "l", ...isLoose];
  const { output } = await runProgram("find", argv, { cwd: mounted });
  return output === "" ? undefined : output;
}
