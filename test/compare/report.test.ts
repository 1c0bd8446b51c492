import { expect, test } from "vitest";
import { compareWithContract } from "../../src/compare/compare.js";
import { renderComparison } from "../../src/compare/report.js";
import { randomStream } from "../../src/rules/seed.js";
import { unknownSecret } from "../../src/scenario/keys.js";
import {
  allProbeKeys,
  type Misbehave,
  probed,
  probeKeys,
  type Reply,
  setIn,
} from "../support/probed-server.js";

type Send = ReturnType<typeof probed>["send"];

const url = "https://api.example/v1/relying-party/me";
const startedAt = Date.parse("2026-03-02T09:00:00.000Z");

const compareWith = (send: Send, env: Readonly<Record<string, string>>, probeLimits = false) =>
  compareWithContract(send, {
    url,
    env,
    probeLimits,
    unknownKey: unknownSecret,
    random: () => 0,
    time: startedAt,
  });

async function render(misbehave: Misbehave, env: Readonly<Record<string, string>> = probeKeys) {
  const comparison = await compareWith(probed(misbehave).send, env);
  return {
    text: renderComparison(comparison, "text"),
    json: JSON.parse(renderComparison(comparison, "json")),
  };
}

test("the text and the JSON of a comparison have its time", async () => {
  const { text, json } = await render(() => {});
  expect(text).toMatch(
    /^Compared \S+ with the contract at 2026-03-02T09:00:00\.000Z: 19 of at most 90 requests\n/,
  );
  expect(json.compared_at).toBe("2026-03-02T09:00:00.000Z");
});

test("the same difference of many outcomes is one line with its outcomes, and each rule is explained once", async () => {
  const { text, json } = await render((reply) => {
    if (reply.status === 401) setIn(reply, "headers.Content-Type", "text/plain");
  });
  expect(text).toContain(
    `Differences
  401.missing, 401.malformed, 401.unknown, 401.revoked, 401.expired  Content-Type  R27  seen 4 of 4 times
    expected  application/json
    found     "text/plain"

Rules
  R15  A key does not work in the other environment
  R27  An error is JSON with code and message
`,
  );
  expect(json.differences).toHaveLength(5);
  expect(text).toContain("\n1 difference from the contract: ");
});

test("a rule that the text names is explained below it", async () => {
  const line = "\nRules\n  R14  A rejected key never shows which part was wrong\n";
  const leak = await render((reply, { ref }) => {
    if (ref === "expired") setIn(reply, "headers.X-Leak", "1");
  });
  expect(leak.text).toContain(line);
  const once = await render((reply, { ref, count }) => {
    if (ref === "expired" && count === 2) reply.status = 503;
  });
  expect(once.text).toContain(line);
  expect((await render(() => {})).text).not.toContain("\nRules\n");
});

test("a reason that many outcomes share stands once", async () => {
  const { text, json } = await render((reply, { number }) => {
    if (number > 5) reply.status = 503;
  });
  const reason = "the key that works no longer works: an outage, a lock or a limit";
  const [section = ""] = /^Outcomes$[\s\S]*?\n\n/m.exec(text) ?? [];
  expect(section.split(reason)).toHaveLength(4);
  expect(text).toMatch(/^ {2}401\.expired +not tried +as 403\.insufficient_scope$/m);
  expect(json.outcomes).toContainEqual({ outcome: "401.expired", result: "not_tried", reason });
});

/** Services whose texts are other ones in each response. */
const restless: Readonly<Record<string, (draw: () => number) => Misbehave>> = {
  "a redirect with a state":
    (draw) =>
    (reply, { ref }) => {
      const Location = `https://login.example/sign-in?state=${draw()}`;
      if (ref === "live") Object.assign(reply, { status: 302, headers: { Location }, bytes: "" });
    },
  "a redirect of the first request": (draw) => (reply) => {
    Object.assign(reply, { status: 307, headers: { Location: `/wait/${draw()}` }, bytes: "" });
  },
  "a page with an id":
    (draw) =>
    (reply, { ref }) => {
      const page = { headers: { "Content-Type": "text/html" }, bytes: `<html><i>${draw()}</i>` };
      if (ref === "live") Object.assign(reply, page);
    },
  "a text with an id":
    (draw) =>
    (reply, { ref }) => {
      if (ref === "expired") Object.assign(reply, { bytes: `${draw()}: no` });
    },
  "a text with an id at first": (draw) => (reply) =>
    void Object.assign(reply, { status: 500, bytes: `${draw()}` }),
  "an id of the organization": (draw) => (reply) => {
    if (reply.status === 200) setIn(reply, "body.data.organization.id", `org-${draw()}`);
  },
  "a UUID of the organization": (draw) => (reply) => {
    const end = String(draw()).padStart(12, "0");
    if (reply.status === 200) setIn(reply, "body.data.organization.id", `5d1f7f0e-6c0b-4f57-9c53-${end}`);
  },
  "a trace in members and headers": (draw) => (reply) => {
    const trace = { trace: draw() };
    setIn(reply, reply.status === 200 ? "body.trace" : "body.error.details", trace);
    setIn(reply, "headers.X-Trace", `${draw()}`);
  },
  "a challenge with a nonce": (draw) => (reply) => {
    if (reply.status === 401) setIn(reply, "headers.WWW-Authenticate", `ApiKey realm="a", nonce="${draw()}"`);
  },
  "one request id": () => (reply) => {
    if (reply.status === 200) setIn(reply, "headers.X-Request-Id", "id-0");
  },
  "requests that are counted twice":
    () =>
    (reply, { count }) => {
      if (reply.status === 200) setIn(reply, "body.data.usage.today", 2 * count);
    },
  "usage as text":
    () =>
    (reply, { count }) => {
      if (reply.status === 200) setIn(reply, "body.data.usage.today", `${count}`);
    },
  "usage above the limit":
    () =>
    (reply, { count }) => {
      if (reply.status === 200) setIn(reply, "body.data.usage.today", 1000 + count);
    },
  "a Retry-After as an epoch": (draw) => (reply) => {
    if (reply.status === 429) setIn(reply, "headers.Retry-After", `${1_772_442_000 + (draw() % 1000)}`);
  },
  "a Retry-After as a time": (draw) => (reply) => {
    const time = `2026-03-02T09:00:${10 + (draw() % 50)}Z`;
    if (reply.status === 429) setIn(reply, "headers.Retry-After", time);
  },
  "a leak next to an id":
    (draw) =>
    (reply, { ref }) => {
      const message = `${ref === "expired" ? "Expired" : "Rejected"} (${draw()})`;
      if (reply.status === 401) setIn(reply, "body.error.message", message);
    },
  "keys that are not at their limit":
    () =>
    (reply, { ref, count }) => {
      if (!ref.startsWith("rate-limited")) return;
      const data = {
        organization: { id: "5d1f7f0e-6c0b-4f57-9c53-0d2f3ce1a6b4", name: "A Bank", type: "bank" },
        ...{ environment: "test", scopes: ["attestations:read"] },
        ...{ limits: { per_minute: 60, per_day: 1000 }, usage: { today: count } },
      };
      const headers = { ...reply.headers, "X-Request-Id": `id-${ref}-${count}` };
      Object.assign(reply, { status: 200, headers, body: { data } });
    },
};

test.each(Object.keys(restless))(
  "two comparisons of a service with %s are equal but for ids",
  async (service) => {
    const misbehave = restless[service]?.(randomStream(1, service)) ?? (() => {});
    const { send } = probed((reply: Reply, presented) => {
      if (reply.status === 200) setIn(reply, "headers.X-Request-Id", `id-${presented.number}`);
      return misbehave(reply, presented);
    });
    const render = async () => {
      const comparison = await compareWith(send, allProbeKeys, service !== "usage above the limit");
      return renderComparison(comparison, "json")
        .replace(/"request_id": ".+"/g, "")
        .replace(/request id-[\w-]+/g, "");
    };
    const first = await render();
    expect(await render()).toBe(first);
  },
);
