import { advanceClock } from "../../src/sandbox/operations/change-world.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import {
  type ConductCase,
  encodedWhole,
  realKey,
  secret,
  sendMore,
  slidingMinute,
  stranger,
  untilTheTurn,
  withFaults,
} from "./conduct-cases.js";
import { mePath } from "./doors.js";

const browser = { origin: "https://shop.example", "sec-fetch-site": "cross-site" };

/** Clients that should hear of what they do; at least one for each advice. */
export const badClients: readonly ConductCase[] = [
  {
    does: "sends its key in the query",
    run: async (door) => void (await door.send({ path: `${mePath}?api_key=${secret(door)}` })),
    earns: { "key-in-query": 1 },
  },
  {
    does: "sends its key in the query too, percent-encoded",
    run: (door) => sendMore(door, { path: `${mePath}?key=${secret(door).replaceAll("_", "%5F")}` }),
    earns: { "key-in-query": 1 },
  },
  {
    does: "sends its key in the query too, percent-encoded character by character",
    run: (door) => sendMore(door, { path: `${mePath}?key=${encodedWhole(secret(door))}` }),
    earns: { "key-in-query": 1 },
  },
  {
    does: "sends its key as a bearer token",
    run: async (door) => void (await door.send({ headers: { authorization: `Bearer ${secret(door)}` } })),
    earns: { "key-in-authorization": 1 },
  },
  {
    does: "sends its key as the name of Basic",
    run: (door) => sendMore(door, { headers: { authorization: `Basic ${btoa(`${secret(door)}:`)}` } }),
    earns: { "key-in-authorization": 1 },
  },
  {
    does: "sends its bare key in Authorization",
    run: async (door) => void (await door.send({ headers: { authorization: secret(door) } })),
    earns: { "key-in-authorization": 1 },
  },
  {
    does: "calls from the page of a browser",
    run: (door) => sendMore(door, { headers: browser }),
    earns: { "key-from-browser": 1 },
  },
  {
    does: "is a browser that asks whether a page may send a key",
    run: async (door) =>
      void (await door.send({
        method: "OPTIONS",
        headers: {
          ...browser,
          "access-control-request-method": "GET",
          "access-control-request-headers": "x-api-key",
        },
      })),
    earns: { "key-from-browser": 1 },
  },
  {
    does: "sends what may be a real key",
    run: async (door) => void (await door.me({ header: realKey })),
    earns: { "real-key-suspected": 1 },
  },
  ...[`Bearer ${realKey}`, `"${realKey}"`].map(
    (header): ConductCase => ({
      does: `sends ${header.replace(realKey, "a real key")} as its key`,
      run: async (door) => void (await door.me({ header })),
      earns: { "real-key-suspected": 1 },
    }),
  ),
  {
    does: "has a real key in the query, beside one of the sandbox",
    run: (door) => sendMore(door, { path: `${mePath}?a=${secret(door)}&b=${realKey}` }),
    earns: { "key-in-query": 1, "real-key-suspected": 1 },
  },
  {
    does: "has a real key as a bearer token",
    run: async (door) => void (await door.send({ headers: { authorization: `Bearer ${realKey}` } })),
    earns: { "key-in-authorization": 1, "real-key-suspected": 1 },
  },
  {
    does: "has a real key as the password of Basic",
    run: (door) => sendMore(door, { headers: { authorization: `Basic ${btoa(`x:${realKey}`)}` } }),
    earns: { "key-in-authorization": 1, "real-key-suspected": 1 },
  },
  {
    does: "has a real key in the path, percent-encoded",
    run: (door) => sendMore(door, { path: `${mePath}/${encodedWhole(realKey)}` }),
    earns: { "wrong-method-or-path": 1, "real-key-suspected": 1 },
  },
  {
    does: "tries a revoked key three times",
    run: async (door) => {
      for (let i = 0; i < 3; i++) await door.me({ ref: "revoked" });
    },
    earns: { "same-key-after-401": 2 },
  },
  {
    does: "tries a key that nobody holds again, after another one",
    run: async (door) => {
      for (const header of [stranger, `${stranger}2`, stranger]) await door.me({ header });
    },
    earns: { "same-key-after-401": 1 },
  },
  {
    does: "tries what is no key again, by HEAD",
    run: async (door) => {
      await door.me({ header: "not-a-key" });
      await door.send({ method: "HEAD", headers: { "x-api-key": "not-a-key" } });
    },
    earns: { "same-key-after-401": 1 },
  },
  {
    does: "goes on as if nothing had been after 429",
    run: async (door) => {
      for (let i = 0; i < 3; i++) await door.me({ ref: "rate-limited-minute" });
    },
    earns: { "too-soon-after-429": 2 },
  },
  ...(
    [
      { retry_after: "seconds" },
      { retry_after: "date" },
      { rate_limit_headers: "draft" },
      { rate_limit_headers: "legacy" },
      { error_details: true },
    ] as const
  ).map(
    (assumptions): ConductCase => ({
      does: `comes back a minute later although ${Object.keys(assumptions)} told it that the day is used up`,
      scenario: { ...bundledScenarios["key-states"], assumptions },
      run: async (door) => {
        await door.me({ ref: "rate-limited" });
        advanceClock(door.world, 60_000);
        await door.me({ ref: "rate-limited" });
      },
      earns: { "too-soon-after-429": 1 },
    }),
  ),
  {
    does: "comes back before the turn of the minute, when nothing is said of the day",
    run: async (door) => {
      await door.me({ ref: "rate-limited" });
      advanceClock(door.world, untilTheTurn(door.world) - 1);
      await door.me({ ref: "rate-limited" });
    },
    earns: { "too-soon-after-429": 1 },
  },
  {
    does: "comes back before a sliding minute has more, and has been told",
    scenario: slidingMinute({ retry_after: "seconds" }),
    run: async (door) => {
      await door.me({ ref: "key" });
      advanceClock(door.world, 40_000);
      for (const wait of [0, 19_000]) {
        advanceClock(door.world, wait);
        await door.me({ ref: "key" });
      }
    },
    earns: { "too-soon-after-429": 1 },
  },
  {
    does: "uses a retiring key",
    run: async (door) => void (await door.me({ ref: "retiring" })),
    earns: { "retiring-key-in-use": 1 },
  },
  {
    does: "uses a legacy key",
    run: async (door) => void (await door.me({ ref: "legacy-live" })),
    earns: { "legacy-key-in-use": 1 },
  },
  {
    does: "goes back to the old key after the new one worked",
    run: async (door) => {
      await door.me({ ref: "replacement" });
      await door.me({ ref: "retiring" });
    },
    earns: { "old-key-after-replacement-seen": 1 },
  },
  {
    does: "has the key of two rotations ago somewhere",
    run: async (door) => {
      await door.me({ ref: "replacement" });
      await door.me({ ref: "rotated" });
    },
    earns: { "old-key-after-replacement-seen": 1 },
  },
  {
    does: "sends parameters",
    run: (door) => sendMore(door, { path: `${mePath}?fields=scopes` }),
    earns: { "query-or-body-sent": 1 },
  },
  {
    does: "puts a slash behind the path",
    run: (door) => sendMore(door, { path: `${mePath}/` }),
    earns: { "wrong-method-or-path": 1 },
  },
  {
    does: "sends JSON by POST",
    run: (door) =>
      sendMore(door, { method: "POST", body: "{}", headers: { "content-type": "application/json" } }),
    earns: { "wrong-method-or-path": 1 },
  },
  {
    does: "sends a revoked key again, which a fault then eats",
    scenario: withFaults([{ when: { key: "revoked", requests: [2] }, then: { status: 503 } }]),
    run: async (door) => {
      await door.me({ ref: "revoked" });
      await door.me({ ref: "revoked" });
    },
    earns: { "same-key-after-401": 1 },
  },
];
