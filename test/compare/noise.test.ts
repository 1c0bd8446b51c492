import fc from "fast-check";
import { expect, test } from "vitest";
import { compareWithContract } from "../../src/compare/compare.js";
import { randomStream } from "../../src/rules/seed.js";
import { unknownSecret } from "../../src/scenario/keys.js";
import { type Presented, probed, probeKeys, type Reply, setIn } from "../support/probed-server.js";
import { runs } from "../support/property-seed.js";

/** How a service chooses its node for a request: in turn, by chance, in runs, or by the key. */
const balancers = ["turn", "chance", "runs", "key"] as const;
const places = [
  "headers.Via",
  "headers.X-Served-By",
  "headers.Server",
  "headers.Content-Language",
  "body.error.message",
  "body.error.node",
  "reason",
] as const;

const noise = fc.record({
  seed: fc.nat(),
  nodes: fc.integer({ min: 2, max: 6 }),
  balancer: fc.constantFrom(...balancers),
  places: fc.uniqueArray(fc.constantFrom(...places), { minLength: 1, maxLength: 4 }),
  form: fc.constantFrom("name", "sentence", "missing", "members", "order", "id", "whitespace"),
  /** Whether each response has an id and the time, too. */
  hasIds: fc.boolean(),
});

type Noise = typeof noise extends fc.Arbitrary<infer Value> ? Value : never;

const hosts = ["a-1", "a-2", "b-1", "b-2", "c-1", "c-2"];
const names = ["alpha", "beta", "gamma delta", "delta", "epsilon, zeta", "eta"];

function createNoise({ seed, nodes, balancer, places, form, hasIds }: Noise) {
  const draw = randomStream(seed, "noise");
  const offset = draw() % nodes;
  let node = offset;
  const nodeOf = ({ number, apiKey = "" }: Presented): number => {
    if (balancer === "turn") return (number + offset) % nodes;
    if (balancer === "chance") return draw() % nodes;
    if (balancer === "key") return randomStream(seed, `key ${apiKey}`)() % nodes;
    if (draw() % 5 === 0) node = draw() % nodes;
    return node;
  };
  // If a key always gets the same node, what only some nodes send looks like a leak: unknown keys may miss them.
  const isPartial = balancer !== "key";
  return (reply: Reply, presented: Presented): void => {
    if (reply.status !== 401) return;
    const index = nodeOf(presented);
    const name = (isPartial ? names : hosts)[index] as string;
    const isMissing = form === "missing" && isPartial && index === 0;
    for (const place of isMissing ? [] : places) setIn(reply, place, textOf(form, name, draw()));
    if (hasIds) addIds(reply, presented.number, draw());
    arrange(reply, form, isPartial ? index : 1);
  };
}

/** Members, headers and whitespace that only some nodes send. */
function arrange(reply: Reply, form: Noise["form"], index: number): void {
  if (form === "members") setIn(reply, `body.error.n${index}`, true);
  if (form === "order") reply.headers = rotated(reply.headers, index);
  if (form === "whitespace") reply.bytes = JSON.stringify(reply.body, null, index);
}

function textOf(form: Noise["form"], name: string, id: number): string {
  if (form === "id") return `${name} ${id.toString(36)}`;
  return form === "sentence" ? `No valid key. Node ${name}.` : name;
}

function addIds(reply: Reply, number: number, id: number): void {
  setIn(reply, "headers.X-Trace", id.toString(16));
  setIn(reply, "headers.Date", new Date(1_772_442_000_000 + 1000 * number).toUTCString());
}

function rotated(headers: Reply["headers"], by: number): Reply["headers"] {
  const pairs = Object.entries(headers);
  return Object.fromEntries([...pairs.slice(by % pairs.length), ...pairs.slice(0, by % pairs.length)]);
}

test("R14 no service whose 401s differ by node, time or chance is accused of a cause", async () => {
  await fc.assert(
    fc.asyncProperty(noise, async (chosen) => {
      const { send } = probed(createNoise(chosen));
      const { differences } = await compareWithContract(send, {
        ...{ url: "https://api.example/v1/relying-party/me", env: probeKeys },
        ...{ probeLimits: false, unknownKey: unknownSecret },
      });
      expect(differences).toEqual([]);
    }),
    runs(300),
  );
});

const service = fc.record({
  seed: fc.nat(),
  nodes: fc.integer({ min: 2, max: 8 }),
  isInTurn: fc.boolean(),
  /** Whether each node has its own text, or only one of them. */
  hasOwnTexts: fc.boolean(),
  places: fc.uniqueArray(fc.constantFrom(...places), { minLength: 1, maxLength: 3 }),
});

test("R14 no service with two to eight nodes, in turn or by chance, is accused, whatever the order of the requests is", async () => {
  await fc.assert(
    fc.asyncProperty(service, async ({ seed, nodes, isInTurn, hasOwnTexts, places }) => {
      const draw = randomStream(seed, "nodes");
      const { send } = probed((reply, { number }) => {
        if (reply.status !== 401) return;
        for (const place of places) {
          const node = (isInTurn ? number : draw()) % nodes;
          setIn(reply, place, hasOwnTexts ? `node ${node}` : `node ${node === 0}`);
        }
      });
      const { differences } = await compareWithContract(send, {
        ...{ url: "https://api.example/v1/relying-party/me", env: probeKeys, seed },
        ...{ probeLimits: false, unknownKey: unknownSecret },
      });
      expect(differences).toEqual([]);
    }),
    runs(300),
  );
});

/** The number of ways to choose some of all. */
const ways = (all: number, some: number): number => {
  if (some < 0 || some > all) return 0;
  let product = 1;
  for (let index = 0; index < some; index++) product *= (all - index) / (some - index);
  return product;
};

test("R14 the chance that a node's own text looks like a cause is below 1 of 10,000", async () => {
  const { send, refs } = probed((reply, { ref }) => {
    if (reply.status === 401) setIn(reply, "headers.X-Leak", String(ref === "expired"));
  });
  await compareWithContract(send, {
    ...{ url: "https://api.example/v1/relying-party/me", env: probeKeys },
    ...{ probeLimits: false, unknownKey: unknownSecret },
  });
  // Two requests of each have shown the suspect.
  const times = (wanted: string) => refs.filter((ref) => ref === wanted).length - 2;
  const [ofSuspect, ofBaseline] = [times("expired"), times("unknown")];
  for (let suspects = 1; suspects <= 5; suspects++) {
    const all = suspects * ofSuspect + ofBaseline;
    let worst = 0;
    // Before, each cause had one text in two requests, the second ones in a random order: this many causes and the baseline.
    const before = 1 / (suspects + 1);
    // Nodes in any fixed order: so many of all requests meet the node. All of one suspect must, and none of its baseline.
    for (let met = ofSuspect; met <= all - ofBaseline; met++) {
      worst = Math.max(worst, ways(all - ofSuspect - ofBaseline, met - ofSuspect) / ways(all, met));
    }
    // Nodes by chance: each request meets the node with a chance of `share`.
    for (let share = 0.01; share < 1; share += 0.01) {
      worst = Math.max(worst, share ** ofSuspect * (1 - share) ** ofBaseline);
    }
    expect([suspects, before * suspects * worst < 1 / 10_000]).toEqual([suspects, true]);
  }
});

test("R14 no service whose ids have their node's name, or begin alike by chance, is accused", async () => {
  await fc.assert(
    fc.asyncProperty(service, async ({ seed, nodes, isInTurn, hasOwnTexts, places }) => {
      const draw = randomStream(seed, "nodes with ids");
      const nodeOf = (number: number, apiKey: string | undefined) => {
        if (isInTurn) return number;
        // If only few nodes name themselves and a key always gets the same one, nothing tells the node from the cause.
        const isByKey = hasOwnTexts && seed % 3 === 0;
        return isByKey ? randomStream(seed, `node of ${apiKey}`)() : draw();
      };
      const { send } = probed((reply, { number, apiKey }) => {
        if (reply.status !== 401) return;
        for (const place of places) {
          const node = nodeOf(number, apiKey) % nodes;
          const name = hasOwnTexts ? `n${node}-` : (["", "err-", "REV"][node] ?? "");
          setIn(reply, place, `${name}${draw().toString(seed % 2 === 0 ? 16 : 10)}`);
        }
      });
      const { differences } = await compareWithContract(send, {
        ...{ url: "https://api.example/v1/relying-party/me", env: probeKeys, seed },
        ...{ probeLimits: false, unknownKey: unknownSecret },
      });
      expect(differences).toEqual([]);
    }),
    runs(300),
  );
});
