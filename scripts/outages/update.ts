import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startBalancer } from "../../test/support/balancer.js";
import { freePort, startRedis } from "../../test/support/redis-server.js";
import { root } from "../run-program.js";
import { dataOf, type Server, sendPatiently, startServer } from "./server.js";

const mePath = "/v1/relying-party/me";
const first = "first: { environment: test, limits: { per_minute: 1000000, per_day: 1000000 } }";
const scenario = (keys: string) => `version: 1\norganizations: { bank: { type: bank, keys: { ${keys} } } }\n`;

/** What clients know: a key that works, where, and how many requests with it got 200 or 503. */
type Known = Readonly<Record<"base" | "ref" | "secret", string>> & { accepted: number; unavailable: number };

/** Under traffic, three replicas behind HAProxy get the next version in turn. */
export async function update(failures: string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "svc-sandbox-update-"));
  const redis = await startRedis();
  const ports = [await freePort(), await freePort(), await freePort()];
  const balancer = await startBalancer(ports, { checks: true });
  try {
    const before = join(folder, "before.yaml");
    writeFileSync(before, scenario(first));
    const product = nextVersion(folder);
    const argv = ["--store", redis.url, "--drain", "1s"];
    const servers: Server[] = [];
    for (const port of ports) servers.push(await startServer([before, ...argv], { port }));
    const traffic = startTraffic(balancer.url, (servers[0] as Server).keys.first as string, failures);
    for (const [index, port] of ports.entries()) {
      await (servers[index] as Server).stop();
      servers[index] = await startServer([before, ...argv], { port, product });
    }
    const { known, requests } = await traffic.stop();
    // The old version still takes part: the update can be rolled back.
    const old = await startServer([before, ...argv]);
    const [{ url }] = servers as [Server];
    let away = 0;
    for (const { base, ref, secret, accepted, unavailable } of known) {
      let late = unavailable;
      for (const one of [url, old.url]) {
        const sent = await sendPatiently(one + base + mePath, { key: secret });
        late += sent.unavailable;
        if (sent.response?.status !== 200) failures.push(`a key gets ${sent.response?.status}`);
      }
      const { response } = await sendPatiently(`${url}${base}/__sandbox/keys/${ref}`);
      const counted = dataOf(response).usage.today - 2;
      if (counted < accepted || counted > accepted + late)
        failures.push(`${counted} of ${accepted} requests are counted`);
      away += late;
    }
    return `${requests} requests, ${known.length} keys, ${away} got 503`;
  } finally {
    await balancer.close();
    await redis.close();
    rmSync(folder, { recursive: true });
  }
}

/** A copy of the built product with the next patch version; returns its folder. */
function nextVersion(folder: string): string {
  const product = join(folder, "product");
  for (const part of ["bin", "dist/cjs", "dist/esm", "scenarios", "package.json"])
    cpSync(join(root, part), join(product, part), { recursive: true });
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const next = version.replace(/\d+$/, (patch: string) => String(Number(patch) + 1));
  const built = readdirSync(join(product, "dist"), { recursive: true }).map((name) => `dist/${name}`);
  for (const file of ["package.json", ...built.filter((name) => name.endsWith(".js"))]) {
    const text = readFileSync(join(product, file), "utf8");
    writeFileSync(join(product, file), text.replaceAll(version, next));
  }
  return product;
}

/** Eight clients that make a key and instances, and send requests with them, until they are stopped. */
function startTraffic(url: string, secret: string, failures: string[]) {
  const known: Known[] = [{ base: "", ref: "first", secret, accepted: 0, unavailable: 0 }];
  let requests = 0;
  let isStopped = false;
  const post = async (path: string, body: object) => {
    const { response } = await sendPatiently(`${url}/__sandbox${path}`, { body });
    if (response?.status === 201) return dataOf(response);
    failures.push(`POST ${path} got ${response?.status}`);
  };
  const work = async (client: number) => {
    for (let n = 0; !isStopped; n += 1) {
      const one = known[n % known.length] as Known;
      requests += 1;
      const { response, unavailable } = await sendPatiently(url + one.base + mePath, { key: one.secret });
      one.unavailable += unavailable;
      if (response?.status === 200) one.accepted += 1;
      else failures.push(`a request got ${response?.status}`);
      if (n % 200 !== client) continue;
      const made = await post("/instances", {});
      if (made !== undefined)
        known.push({
          base: `/i/${made.id}`,
          ref: "first",
          secret: made.keys.first,
          accepted: 0,
          unavailable: 0,
        });
      if (n > 0) continue;
      const rotated = await post("/keys/first/rotate", { as: "made", overlap_minutes: 60 });
      if (rotated !== undefined)
        known.push({ base: "", ref: "made", secret: rotated.secret, accepted: 0, unavailable: 0 });
    }
  };
  const working = Promise.all(Array.from({ length: 8 }, (_, client) => work(client)));
  return {
    async stop() {
      isStopped = true;
      await working;
      return { known, requests };
    },
  };
}
