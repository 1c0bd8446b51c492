import { describe, expect, test } from "vitest";
import { compareWithContract } from "../../src/compare/compare.js";
import { createSandbox, parseScenario, ScenarioError } from "../../src/index.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import type { ControlBodyName } from "../../src/scenario/format/inputs.js";
import { controlBodySchema } from "../../src/scenario/format/scenario-json-schema.js";
import { unknownSecret } from "../../src/scenario/keys.js";
import { starterScenario } from "../../src/scenario/starter.generated.js";
import { routes } from "../../src/server/control/routes/routes.js";
import { realPath } from "../control/calls.js";
import { serveControl } from "../control/client.js";
import { expectLinear } from "../support/expect-linear.js";
import { allProbeKeys, probed, setIn } from "../support/probed-server.js";
import { mePath } from "../support/send.js";

// Every text that a client, a file or a service can send is read in linear time, whatever it consists of: at each place, texts of one
// repeated piece are sent. What repeats has no end that a pattern waits for, and many places where one may begin.

const pieces = [
  "a",
  "1",
  "T",
  "-",
  " ",
  '"',
  "{ ",
  "[",
  "= ",
  ", ",
  ": ",
  "://",
  "%25",
  "\\u00",
  "SVC_test_",
  "U1ZD",
];
/** In a text that is no YAML, and in names, these are other signs. */
const yamlPieces = [
  ...pieces,
  "x:\n",
  "  - a: b: c\n",
  "\u3000a:\n",
  "&a ",
  "*a ",
  "${",
  "# ",
  "\t",
  "'",
  "|",
];

describe("a request to the API", () => {
  const sandbox = createSandbox({ scenario: "key-states", profile: "varied" });
  const length = 16_000; // as a socket accepts
  const headers = ["user-agent", "accept", "content-type", "x-api-key", "origin", "referer", "authorization"];
  const kept = [...headers, "cookie", "sec-fetch-site", "x-forwarded-for"];

  test.each(kept)("R46 the header %s", async (name) => {
    for (const piece of pieces) {
      await expectLinear(piece, length, (text) =>
        sandbox.fetch(new Request(`http://sandbox.test${mePath}`, { headers: { [name]: text } })),
      );
    }
  });

  test.each(["/", `${mePath}/`, `${mePath}?`, `${mePath}?key=`])(
    "R46 a path that begins with %s",
    async (start) => {
      for (const piece of pieces) {
        await expectLinear(piece, length, (text) =>
          sandbox.fetch(new Request(`http://sandbox.test${start}${encodeURI(text)}`)),
        );
      }
    },
  );
});

type Described = Readonly<{
  properties?: Readonly<Record<string, Described>>;
  items?: Described;
  additionalProperties?: Described | boolean;
  anyOf?: readonly Described[];
}>;

/** Values of a schema, each with this text at one of its leaves. */
function valuesWith(
  text: string,
  { properties = {}, items, additionalProperties, anyOf = [] }: Described,
): unknown[] {
  const values: unknown[] = [text];
  for (const [name, field] of Object.entries(properties)) {
    for (const value of valuesWith(text, field)) values.push({ [name]: value });
  }
  if (items !== undefined) for (const value of valuesWith(text, items)) values.push([value]);
  if (typeof additionalProperties === "object") {
    for (const value of valuesWith(text, additionalProperties)) values.push({ ref: value });
    values.push({ [text]: {} });
  }
  for (const one of anyOf) values.push(...valuesWith(text, one));
  return values;
}

/** The JSON Schema of a body; `undefined` for a call without one. */
const schemaOf = (name: ControlBodyName | undefined) => name && (controlBodySchema(name) as Described);

describe("a call of the control plane", () => {
  const length = 60_000;
  const called = routes.filter(({ path }) => path !== "/stop");

  test.each(called.map((route) => [route.method, route.path, route] as const))(
    "%s %s",
    async (method, path, { body, query, acceptsYaml }) => {
      const { ask } = await serveControl();
      const schema = schemaOf(body);
      const writes = schema === undefined ? [] : valuesWith("?", schema);
      for (const piece of pieces) {
        for (const index of writes.keys()) {
          await expectLinear(piece, length, (text) =>
            ask(realPath(path), { method, json: valuesWith(text, schema as Described)[index] }),
          );
        }
        // Node accepts an address of 16 kB.
        const sendIn = (address: (text: string) => string) =>
          expectLinear(piece, 3_000, (text) => ask(address(encodeURIComponent(text)), { method }));
        for (const name of Object.keys(query?.fields ?? {})) {
          await sendIn((text) => `${realPath(path)}?${name}=${text}`);
        }
        if (path.includes("{")) await sendIn((text) => path.replace(/\{\w+\}/, text));
      }
      if (!acceptsYaml) return;
      const headers = { "content-type": "application/yaml" };
      for (const piece of yamlPieces) {
        await expectLinear(piece, length, (bytes) => ask(path, { method, headers, bytes }));
      }
    },
  );
});

/** For each text and each name in a value: makes a copy with another text in its place. */
function placesIn(value: unknown): ((text: string) => unknown)[] {
  if (typeof value === "string") return [(text) => text];
  if (typeof value !== "object" || value === null) return [];
  const places: ((text: string) => unknown)[] = [];
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      for (const place of placesIn(item)) places.push((text) => value.with(index, place(text)));
    }
    return places;
  }
  for (const [name, member] of Object.entries(value)) {
    for (const place of placesIn(member)) places.push((text) => ({ ...value, [name]: place(text) }));
  }
  const [first] = Object.values(value);
  places.push((text) => ({ ...value, [text]: first }));
  return places;
}

function problemsOf(text: string): number {
  try {
    parseScenario(text);
    return 0;
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    return error.problems.length;
  }
}

describe("a scenario", () => {
  const length = 30_000;

  test.each(yamlPieces)("a text of %j", async (piece) => {
    for (const start of [
      "",
      "name: ",
      'name: "',
      "name: '",
      "name: |\n  ",
      "x:\n",
      "x: {",
      "- ",
      `${starterScenario}\n`,
    ]) {
      await expectLinear(piece, length, (text) => problemsOf(start + text));
    }
  });

  test.each(["announced-endpoints", "bad-day", "key-states", "rotation"] as const)(
    "a text in each field of %s",
    async (name) => {
      const places = placesIn({ ...bundledScenarios[name], extends: undefined });
      expect(places.length).toBeGreaterThan(20);
      for (const place of places) {
        for (const piece of ["T", "-", "1", "SVC_test_", "%25", "a/{"]) {
          await expectLinear(piece, length, (text) => problemsOf(JSON.stringify(place(text))));
        }
      }
    },
  );
});

describe("a response to compare", () => {
  const url = `https://api.bank.example${mePath}`;
  const length = 14_000; // as a client of Node accepts in headers
  const headers = [
    ...["WWW-Authenticate", "Retry-After", "X-Request-Id", "Content-Type", "RateLimit", "RateLimit-Policy"],
    ...[
      "X-RateLimit-Limit",
      "X-RateLimit-Remaining",
      "X-RateLimit-Reset",
      "Date",
      "Server",
      "Location",
      "X-Node",
    ],
  ];
  const places = [
    ...headers.map((name) => `headers.${name}`),
    ...["body", "body.error", "body.error.code", "body.error.message", "body.error.details", "body.data"],
    ...["body.data.organization", "body.data.scopes", "body.data.environment", "body.note", "reason"],
  ];

  test.each(places)("a text in %s", async (place) => {
    for (const piece of ["a", "SVC_test_", "-", '"', "= ", ", ", "1", "a-1_", "%25"]) {
      await expectLinear(piece, length, (text) => {
        const { send } = probed((reply) => {
          try {
            setIn(reply, place, text);
          } catch {
            // Only some responses have this member.
          }
        });
        return compareWithContract(send, {
          url,
          env: allProbeKeys,
          unknownKey: unknownSecret,
          probeLimits: false,
        });
      });
    }
  });
});
