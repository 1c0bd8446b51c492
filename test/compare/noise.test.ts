import fc from "fast-check";
import { expect, test } from "vitest";
import { compareWithContract } from "../../src/compare/compare.js";
import { randomStream } from "../../src/rules/seed.js";
import { unknownSecret } from "../../src/scenario/keys.js";
import { type Presented, probed, probeKeys, type Reply, setIn } from "../support/probed-server.js";
import { runs } from "../support/property-seed.js";

/** How a service chooses its node for a request: in turn, by chance, or in runs. Nodes by the key look like causes. */
const balancers = ["turn", "chance", "runs"] as const;
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

const names = ["alpha", "beta", "gamma delta", "delta", "epsilon, zeta", "eta"];

function createNoise({ seed, nodes, balancer, places, form, hasIds }: Noise) {
  const draw = randomStream(seed, "noise");
  const offset = draw() % nodes;
  let node = offset;
  const nodeOf = ({ number }: Presented): number => {
    if (balancer === "turn") return (number + offset) % nodes;
    if (balancer === "chance") return draw() % nodes;
    if (draw() % 5 === 0) node = draw() % nodes;
    return node;
  };
  return (reply: Reply, presented: Presented): void => {
    if (reply.status !== 401) return;
    const index = nodeOf(presented);
    const name = names[index] as string;
    const isMissing = form === "missing" && index === 0;
    for (const place of isMissing ? [] : places) setIn(reply, place, textOf(form, name, draw()));
    if (hasIds) addIds(reply, presented.number, draw());
    arrange(reply, form, index);
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
      const { seed } = chosen;
      const { send } = probed(createNoise(chosen));
      const { differences } = await compareWithContract(send, {
        ...{ url: "https://api.example/v1/relying-party/me", env: probeKeys },
        ...{ probeLimits: false, unknownKey: unknownSecret, random: randomStream(seed, "order") },
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
        ...{ url: "https://api.example/v1/relying-party/me", env: probeKeys },
        ...{ probeLimits: false, unknownKey: unknownSecret, random: randomStream(seed, "order") },
      });
      expect(differences).toEqual([]);
    }),
    runs(300),
  );
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
        ...{ url: "https://api.example/v1/relying-party/me", env: probeKeys },
        ...{ probeLimits: false, unknownKey: unknownSecret, random: randomStream(seed, "order") },
      });
      expect(differences).toEqual([]);
    }),
    runs(300),
  );
});
