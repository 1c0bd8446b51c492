import { changeAssumptions } from "../../src/sandbox/operations/change-assumptions.js";
import { advanceClock } from "../../src/sandbox/operations/change-world.js";
import { revokeKey, rotateKey } from "../../src/sandbox/operations/rotate-key.js";
import {
  type ConductCase,
  realKey,
  sendMore,
  slidingMinute,
  stranger,
  untilTheTurn,
  withFaults,
} from "./conduct-cases.js";
import { mePath } from "./doors.js";

/** Clients that look like those of `bad-clients.ts` and have done nothing wrong. */
export const goodClients: readonly ConductCase[] = [
  {
    does: "tries again after 503, and hears only then that the key is revoked",
    scenario: withFaults([{ when: { key: "revoked", requests: [1] }, then: { status: 503 } }]),
    run: async (door) => {
      await door.me({ ref: "revoked" });
      await door.me({ ref: "revoked" });
    },
    earns: {},
  },
  {
    does: "tries again after half an answer and after a broken one",
    scenario: withFaults([
      { when: { key: "revoked", requests: [1] }, then: { malformed: true } },
      { when: { key: "rate-limited-minute", requests: [1] }, then: { malformed: true } },
    ]),
    run: async (door) => {
      for (const ref of ["revoked", "revoked", "rate-limited-minute", "rate-limited-minute"]) {
        await door.me({ ref });
      }
    },
    earns: {},
  },
  {
    does: "waits until the minute is over after 429",
    run: async (door) => {
      await door.me({ ref: "rate-limited-minute" });
      advanceClock(door.world, 60_000);
      await door.me({ ref: "rate-limited-minute" });
    },
    earns: {},
  },
  {
    does: "waits until the day is over after 429",
    run: async (door) => {
      await door.me({ ref: "rate-limited" });
      advanceClock(door.world, 24 * 60 * 60_000);
      await door.me({ ref: "rate-limited" });
    },
    earns: {},
  },
  {
    does: "waits for the turn of the minute, and longer each time, when nothing is said of the day",
    run: async (door) => {
      await door.me({ ref: "rate-limited" });
      advanceClock(door.world, untilTheTurn(door.world));
      for (const wait of [0, 120_000, 240_000]) {
        advanceClock(door.world, wait);
        await door.me({ ref: "rate-limited" });
      }
    },
    earns: {},
  },
  {
    does: "waits a minute each time when nothing is said of the day",
    run: async (door) => {
      for (let i = 0; i < 3; i++) {
        await door.me({ ref: "rate-limited" });
        advanceClock(door.world, 60_000);
      }
    },
    earns: {},
  },
  {
    does: "waits a whole sliding minute, or for the turn of the minute",
    scenario: slidingMinute(),
    run: async (door) => {
      await door.me({ ref: "key" });
      advanceClock(door.world, 10_000);
      await door.me({ ref: "key" });
      advanceClock(door.world, 60_000);
      await door.me({ ref: "key" });
      advanceClock(door.world, 5_000);
      await door.me({ ref: "key" });
      advanceClock(door.world, untilTheTurn(door.world));
      await door.me({ ref: "key" });
    },
    earns: {},
  },
  {
    does: "is told of the day first and then of nothing, and goes by the latest",
    run: async (door) => {
      changeAssumptions(door.world, { retry_after: "seconds" });
      await door.me({ ref: "rate-limited" });
      changeAssumptions(door.world, { retry_after: "none" });
      advanceClock(door.world, 24 * 3_600_000);
      for (let i = 0; i < 2; i++) {
        await door.me({ ref: "rate-limited" });
        advanceClock(door.world, 60_000);
      }
    },
    earns: {},
  },
  {
    does: "uses another key while one is at its limit",
    run: async (door) => {
      await door.me({ ref: "rate-limited" });
      await door.me({ ref: "active" });
      await door.me({ ref: "rate-limited-minute" });
    },
    earns: {},
  },
  {
    does: "sends another key after a rejected one",
    run: async (door) => {
      await door.me({ ref: "revoked" });
      await door.me({ ref: "expired" });
      await door.me({ header: stranger });
      await door.me({ header: `${stranger}2` });
    },
    earns: {},
  },
  {
    does: "forgets the header twice",
    run: async (door) => {
      await door.me(undefined);
      await door.me(undefined);
    },
    earns: {},
  },
  {
    does: "changes over to the replacement, and stays there",
    run: async (door) => {
      for (let i = 0; i < 3; i++) await door.me({ ref: "replacement" });
    },
    earns: {},
  },
  {
    does: "goes back to the old key when the new one has been revoked",
    run: async (door) => {
      const { replacement, secret: next } = rotateKey(door.world, { key: "active" });
      await door.me({ header: next });
      revokeKey(door.world, { key: replacement.ref });
      await door.me({ ref: "active" });
    },
    earns: { "retiring-key-in-use": 1 },
  },
  {
    does: "uses the old key once more before it has the new one",
    run: async (door) => {
      const { secret: next } = rotateKey(door.world, { key: "active" });
      await door.me({ ref: "active" });
      await door.me({ header: next });
    },
    earns: { "retiring-key-in-use": 1 },
  },
  {
    does: "gets 403 again and again, which may change any time",
    run: async (door) => {
      for (let i = 0; i < 3; i++) await door.me({ ref: "organization-inactive" });
    },
    earns: {},
  },
  {
    does: "has a pinned key that no sandbox made",
    scenario: {
      version: 1,
      organizations: {
        bank: {
          type: "bank",
          keys: { pinned: { environment: "live", secret: realKey } },
          live_access: "approved",
        },
      },
    },
    run: async (door) => void (await door.me({ ref: "pinned" })),
    earns: {},
  },
  {
    does: "has something like a key in a path that is wrong anyway",
    run: (door) => sendMore(door, { path: `${mePath}/SVC_test_sbx123` }),
    earns: { "wrong-method-or-path": 1 },
  },
  {
    does: "sends a token of somebody else's, and parameters that are empty",
    run: (door) =>
      sendMore(door, {
        path: `${mePath}?`,
        headers: { authorization: "Bearer eyJhbGciOiJIUzI1NiJ9.e30.c2ln" },
      }),
    earns: {},
  },
  {
    does: "is Node's fetch, which sends Sec-Fetch-Mode",
    run: (door) => sendMore(door, { headers: { "sec-fetch-mode": "cors" } }),
    earns: {},
  },
  {
    does: "is a tool of the sandbox with a wrong base URL",
    run: (door) => sendMore(door, { path: "/v1/__sandbox/report" }),
    earns: {},
  },
  {
    does: "asks by HEAD",
    run: (door) => sendMore(door, { method: "HEAD" }),
    earns: {},
  },
  {
    does: "is somebody with a browser who looks at what is there",
    run: async (door) =>
      void (await door.send({ path: "/favicon.ico", headers: { "sec-fetch-dest": "image" } })),
    earns: {},
  },
];
