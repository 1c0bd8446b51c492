import { connect, type Socket } from "node:net";
import { randomStream } from "../src/domain/seed.js";
import type { Scenario } from "../src/scenario/scenario.generated.js";
import type { BenchArguments } from "./arguments.js";
import type { Bundle } from "./bundle.js";
import { startCommand } from "./children.js";
import { type Figure, figureOf, median } from "./figure.js";
import { scenarioFile } from "./scenario.js";

/** The causes of a 401 that only the sandbox can tell apart, and their nth key; all keys have the same length. */
const keyOf = {
  unknown: (n: number) => `SVC_test_sbxUnknownKey${digits(n)}`,
  revoked: (n: number) => `SVC_test_sbxRevokedKey${digits(n)}`,
  expired: (n: number) => `SVC_test_sbxExpiredKey${digits(n)}`,
  rotated: (n: number) => `SVC_test_sbxRotatedKey${digits(n)}`,
} as const;
type Cause = keyof typeof keyOf;
const causes = Object.keys(keyOf) as Cause[];
const pairs = causes.flatMap((one, i) => causes.slice(i).map((other) => [one, other] as const));

const digits = (n: number) => String(n).padStart(6, "0");

/** Microseconds of the responses to a cause; each round sends each cause twice, and its halves are compared. */
type Samples = Readonly<Record<Cause, readonly [first: number[], second: number[]]>>;

/**
 * Compares the times of 401 responses (R14): two causes with each other, and each cause with itself, for keys that are
 * new, for one key again and again, and after 1,001 other wrong keys, which fill the memory of rejected keys.
 */
export async function measureRejections({ node, quick }: BenchArguments, bundle: Bundle): Promise<Figure[]> {
  const rounds = quick ? 60 : 600;
  const server = await startCommand(node, await scenarioFile(bundle, rejectedKeys(2 * rounds)));
  const socket = await open(server.port);
  const figures: Figure[] = [];
  const measure = async (title: string, keyNumber: (n: number) => number) => {
    figures.push(figureOfSamples(title, await sample(socket, rounds, keyNumber)));
  };
  await sendOthers(socket, 0, quick ? 1001 : 5000);
  await measure("new keys", (n) => n);
  await measure("the same keys", () => 0);
  await sendOthers(socket, 100_000, 1001);
  await measure("after 1,001 other wrong keys", (n) => n);
  socket.destroy();
  await server.stop();
  return figures;
}

function rejectedKeys(count: number): Scenario {
  const key = (cause: Cause, n: number) => ({ environment: "test" as const, secret: keyOf[cause](n) });
  const organizations = Array.from({ length: count }, (_, n) => {
    const keys = {
      [`revoked-${n}`]: { ...key("revoked", n), state: "revoked" as const },
      [`expired-${n}`]: { ...key("expired", n), state: "expired" as const },
      [`rotated-${n}`]: { ...key("rotated", n), state: "rotated" as const, replaced_by: `next-${n}` },
      [`next-${n}`]: { environment: "test" as const },
    };
    return [`bank-${n}`, { type: "bank" as const, keys }];
  });
  return { version: 1, name: "Rejected keys", organizations: Object.fromEntries(organizations) };
}

/** Sends each cause twice a round, in random order, with the keys that `keyNumber` chooses. */
async function sample(socket: Socket, rounds: number, keyNumber: (n: number) => number): Promise<Samples> {
  const samples = Object.fromEntries(causes.map((cause) => [cause, [[], []]])) as unknown as Samples;
  const draw = randomStream(1, "bench.rejections");
  for (let round = 0; round < rounds; round++) {
    const lanes = causes.flatMap((cause) =>
      ([0, 1] as const).map((half) => ({ cause, half, order: draw() })),
    );
    lanes.sort((one, other) => one.order - other.order);
    for (const { cause, half } of lanes) {
      samples[cause][half].push(await timeOf(socket, keyOf[cause](keyNumber(2 * round + half))));
    }
  }
  return samples;
}

async function sendOthers(socket: Socket, from: number, count: number): Promise<void> {
  for (let n = from; n < from + count; n++) await timeOf(socket, `SVC_test_sbxAnotherKey${digits(n)}`);
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => resolve(socket)).once("error", reject);
    socket.setNoDelay(true);
  });
}

/** Microseconds from a request to its response, which arrives in one piece because it is small. */
function timeOf(socket: Socket, key: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const closed = () => reject(new Error("the server closed the connection"));
    socket.once("close", closed).once("data", (chunk: Buffer) => {
      const took = (performance.now() - started) * 1000;
      socket.off("close", closed);
      if (chunk.includes("HTTP/1.1 401")) resolve(took);
      else reject(new Error(`expected a 401 and got ${chunk.toString("latin1").split("\r\n")[0]}`));
    });
    const started = performance.now();
    socket.write(`GET /v1/relying-party/me HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Api-Key: ${key}\r\n\r\n`);
  });
}

/** Prints the medians; the rounds of the figure are the distances of two causes over that of a cause and itself. */
function figureOfSamples(title: string, samples: Samples): Figure {
  const medians = causes.map((cause) => `${cause} ${median(samples[cause].flat()).toFixed(0)}`);
  console.log(`rejections, ${title}: medians in µs: ${medians.join(", ")}`);
  const distances = pairs.map(([one, other]) => {
    const [a, b] = [samples[one], samples[other]];
    return { isOwn: one === other, distance: (distanceOf(a[0], b[1]) + distanceOf(a[1], b[0])) / 2 };
  });
  const own = distances.filter(({ isOwn }) => isOwn).map(({ distance }) => distance);
  const self = own.reduce((sum, distance) => sum + distance, 0) / own.length;
  const others = distances.filter(({ isOwn }) => !isOwn).map(({ distance }) => distance / self);
  return figureOf(`rejections, ${title}: two causes / a cause and itself`, others, { atMost: 2 });
}

/** The largest difference between the shares of two samples that are at most as long (Kolmogorov–Smirnov). */
function distanceOf(one: readonly number[], other: readonly number[]): number {
  const a = [...one].sort((x, y) => x - y);
  const b = [...other].sort((x, y) => x - y);
  let largest = 0;
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const next = Math.min(a[i] as number, b[j] as number);
    while (i < a.length && (a[i] as number) <= next) i += 1;
    while (j < b.length && (b[j] as number) <= next) j += 1;
    largest = Math.max(largest, Math.abs(i / a.length - j / b.length));
  }
  return largest;
}
