import { writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { stringify } from "yaml";
import { randomStream } from "../src/domain/seed.js";
import type { Scenario } from "../src/scenario/scenario.generated.js";
import type { BenchArguments } from "./arguments.js";
import type { Bundle } from "./bundle.js";
import { startCommand } from "./command.js";
import { type Figure, figureOf } from "./figure.js";
import { median } from "./median.js";

/** The causes of a 401, and the key that meets each for the nth time; all keys are of the same length. */
const keyOf = {
  missing: () => undefined,
  malformed: (n: number) => `SVC_test_sbx?malformed${digits(n)}`,
  unknown: (n: number) => `SVC_test_sbxUnknownKey${digits(n)}`,
  revoked: (n: number) => `SVC_test_sbxRevokedKey${digits(n)}`,
  expired: (n: number) => `SVC_test_sbxExpiredKey${digits(n)}`,
  rotated: (n: number) => `SVC_test_sbxRotatedKey${digits(n)}`,
} as const;
type Cause = keyof typeof keyOf;
const causes = Object.keys(keyOf) as Cause[];
// A missing key is never new.
const causesOfNewKeys = causes.filter((cause) => cause !== "missing");

const digits = (n: number) => String(n).padStart(6, "0");

/** Microseconds that the answers to a cause took; each cause is asked twice a round, and its halves are compared. */
type Samples = Readonly<Record<Cause, readonly [first: number[], second: number[]]>>;

/**
 * Compares how long the answers to a missing, malformed, unknown, revoked, expired and rotated key take (R14): two causes
 * with each other, and each cause with itself.
 */
export async function measureRejections({ node, quick }: BenchArguments, bundle: Bundle): Promise<Figure[]> {
  const rounds = quick ? 60 : 600;
  const file = join(bundle.folder, "rejections.yaml");
  await writeFile(file, stringify(rejectedKeys(2 * rounds)));
  const server = await startCommand(node, file);
  // A connection on which nothing is asked for a while is closed by the server.
  const onKept = async <Result>(work: (ask: Ask) => Promise<Result>): Promise<Result> => {
    const kept = await open(server.port);
    const result = await work((text) => timeOf(kept, text));
    kept.destroy();
    return result;
  };
  const onFresh: Ask = async (text) => {
    const socket = await open(server.port);
    const time = await timeOf(socket, text);
    socket.destroy();
    return time;
  };
  // The server has to be warm, and its memory of rejected keys full.
  await onKept((ask) => askOthers(ask, 0, quick ? 1001 : 5000));
  const later = () => 0;
  const each = (n: number) => n;
  const figures = [
    figureOfSamples(
      "kept connection, new keys",
      await onKept((ask) => sample(ask, rounds, each)),
      causesOfNewKeys,
    ),
    figureOfSamples("kept connection, the same keys", await onKept((ask) => sample(ask, rounds, later))),
    figureOfSamples("fresh connections, the same keys", await sample(onFresh, rounds, later)),
  ];
  await onKept((ask) => askOthers(ask, 100_000, 1001));
  figures.push(
    figureOfSamples(
      "after 1,001 other wrong keys",
      await onKept((ask) => sample(ask, rounds, each)),
      causesOfNewKeys,
    ),
  );
  await server.stop();
  return figures;
}

/** Sends a request and returns the microseconds until its answer. */
type Ask = (text: string) => Promise<number>;

function rejectedKeys(count: number): Scenario {
  const organizations: NonNullable<Scenario["organizations"]> = {};
  for (let n = 0; n < count; n++) {
    const key = (cause: Cause) => ({ environment: "test" as const, secret: keyOf[cause](n) as string });
    organizations[`bank-${n}`] = {
      type: "bank",
      keys: {
        [`revoked-${n}`]: { ...key("revoked"), state: "revoked" },
        [`expired-${n}`]: { ...key("expired"), state: "expired" },
        [`rotated-${n}`]: { ...key("rotated"), state: "rotated", replaced_by: `next-${n}` },
        [`next-${n}`]: { environment: "test" },
      },
    };
  }
  return { version: 1, name: "Rejected keys", organizations };
}

/** Asks each cause twice a round, in random order, with the keys that `keyNumber` chooses. */
async function sample(ask: Ask, rounds: number, keyNumber: (n: number) => number): Promise<Samples> {
  const samples = Object.fromEntries(causes.map((cause) => [cause, [[], []]])) as unknown as Samples;
  const draw = randomStream(1, "bench.rejections");
  for (let round = 0; round < rounds; round++) {
    const lanes = causes.flatMap((cause) => [0, 1].map((half) => ({ cause, half, order: draw() })));
    lanes.sort((one, other) => one.order - other.order);
    for (const { cause, half } of lanes) {
      const took = await ask(requestWith(keyOf[cause](keyNumber(2 * round + half))));
      samples[cause][half as 0 | 1].push(took);
    }
  }
  return samples;
}

async function askOthers(ask: Ask, from: number, count: number): Promise<void> {
  for (let n = from; n < from + count; n++) await ask(requestWith(`SVC_test_sbxAnotherKey${digits(n)}`));
}

function requestWith(key: string | undefined): string {
  // Requests of the same length: a server takes longer to read a longer one.
  const line = key === undefined ? `X-Not-Key: ${keyOf.unknown(0)}\r\n` : `X-Api-Key: ${key}\r\n`;
  return `GET /v1/relying-party/me HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: keep-alive\r\n${line}\r\n`;
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => resolve(socket));
    socket.setNoDelay(true);
    socket.once("error", reject);
  });
}

/** Microseconds from a request to its answer, which is small enough to come as one piece. */
function timeOf(socket: Socket, text: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const closed = () => reject(new Error("the server closed the connection"));
    socket.once("close", closed).once("data", (chunk: Buffer) => {
      socket.off("close", closed);
      const took = (performance.now() - started) * 1000;
      if (chunk.includes("HTTP/1.1 401")) resolve(took);
      else reject(new Error(`expected a 401 and got ${chunk.toString("latin1").split("\r\n")[0]}`));
    });
    const started = performance.now();
    socket.write(text);
  });
}

/** Prints what was seen of each pair, and sums it up: how far two causes are apart, against a cause from itself. */
function figureOfSamples(title: string, samples: Samples, compared: readonly Cause[] = causes): Figure {
  const pairs = compared.flatMap((one, i) => compared.slice(i).map((other) => [one, other] as const));
  const seen = pairs.map(([one, other]) => {
    const halves = (
      one === other
        ? [[0, 1]]
        : [
            [0, 1],
            [1, 0],
          ]
    ) as [0 | 1, 0 | 1][];
    return {
      one,
      other,
      ratio: median(samples[one].flat()) / median(samples[other].flat()),
      distance: mean(halves.map(([a, b]) => distanceOf(samples[one][a], samples[other][b]))),
    };
  });
  console.log(
    `\n${title}: medians in µs, then ratio of medians and distance of distributions (0 the same, 1 apart)`,
  );
  console.log(compared.map((cause) => `${cause} ${median(samples[cause].flat()).toFixed(0)}`).join("   "));
  for (const { one, other, ratio, distance } of seen) {
    const name = one === other ? `${one} / itself` : `${one} / ${other}`;
    console.log(`${name.padEnd(22)} ${ratio.toFixed(3)}  ${distance.toFixed(3)}`);
  }
  const self = mean(seen.filter(({ one, other }) => one === other).map(({ distance }) => distance));
  // How long a missing or malformed key takes depends on the text alone, which the client knows.
  const secret = seen.filter(({ one, other }) => one !== other && isKeyLike(one) && isKeyLike(other));
  return figureOf(
    `rejections, ${title}: two causes / a cause and itself`,
    secret.map(({ distance }) => distance / self),
    { atMost: 2 },
  );
}

function isKeyLike(cause: Cause): boolean {
  return cause !== "missing" && cause !== "malformed";
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

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
