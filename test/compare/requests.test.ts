import { describe, expect, onTestFinished, test } from "vitest";
import { compareWithContract } from "../../src/compare/compare.js";
import { createSandbox } from "../../src/index.js";
import { startInNode } from "../../src/node/platform.js";
import type { Profile } from "../../src/rules/assumptions.js";
import { keyVariable } from "../../src/rules/keys/key-text.js";
import { conditionedRun } from "../../src/runs/conditioned-run.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import { unknownSecret } from "../../src/scenario/keys.js";
import { resolveSource } from "../../src/scenario/scenario-source.js";
import { serve } from "../../src/server/serve.js";
import type { SandboxServer } from "../../src/server/start-server.js";
import { allProbeKeys, probed, probeKeys, serveProbed, setIn } from "../support/probed-server.js";
import { type Ran, runCli } from "../support/run-cli.js";
import { mePath } from "../support/send.js";
import { served } from "../support/servers.js";

type Assumed = Readonly<Record<string, unknown>>;

const serveSandbox = (seed: number, assumptions: Assumed): Promise<SandboxServer> =>
  served({ scenario: { ...bundledScenarios["key-states"], assumptions } as never, seed });

/** A service whose responses differ from each other. */
async function serveMixed(seed: number): Promise<Served> {
  const startOptions = { seed };
  const run = conditionedRun({ profile: "varied", mixed: true });
  const state = startInNode(resolveSource("key-states"), startOptions, run);
  const { url, close } = await serve(state, { port: 0 });
  onTestFinished(() => close(0));
  return { url, sandbox: createSandbox({ scenario: "key-states", ...startOptions }) };
}

type Served = Pick<SandboxServer, "url" | "sandbox">;

/** Every key of the sandbox, as `keys --format env` writes them. */
function keysOf({ sandbox }: Served, refs = sandbox.keys.list().map(({ ref }) => ref)) {
  return Object.fromEntries(
    refs.map((ref) => [`SVC_KEY_${ref.toUpperCase().replaceAll("-", "_")}`, sandbox.secret(ref)]),
  );
}

async function compare(server: Served, ...argv: string[]) {
  const ran = await runCli(["compare", server.url, "--json", ...argv], { env: keysOf(server) });
  expect(ran.stderr).toBe("");
  return { ...ran, report: JSON.parse(ran.stdout) };
}

describe("against the sandbox itself, a comparison", () => {
  test.each<Profile>(["minimal", "typical"])("finds nothing in profile %s with limits", async (profile) => {
    const server = await serveSandbox(1, { profile });
    const { code, report } = await compare(server, "--probe-limits");
    expect(report.differences).toEqual([]);
    const wrong = report.outcomes.filter(({ result }: { result: string }) => result !== "agrees");
    expect(wrong).toEqual([]);
    expect([code, report.verdict, report.notes]).toEqual([0, "agrees", []]);
  });

  test.each(Array.from({ length: 10 }, (_, index) => index + 1))(
    "finds nothing in the profile varied with all variants mixed, seed %i",
    async (seed) => {
      const server = await serveMixed(seed);
      for (const argv of [[], ["--probe-limits"]]) {
        const { code, report } = await compare(server, ...argv);
        expect(report.differences).toEqual([]);
        expect(code).toBe(0);
      }
    },
  );

  test("needs no key to try three outcomes, and shows what the others need", async () => {
    const server = await serveSandbox(1, {});
    const { code, stdout } = await runCli(["compare", server.url], { env: {} });
    expect(stdout).toMatch(/^ {2}401\.unknown +agrees +401 unauthorized$/m);
    expect(stdout).toMatch(/^ {2}200\.test +not tried +needs a test key in SVC_KEY_ACTIVE or SVC_API_KEY$/m);
    expect(stdout).toMatch(/^ {2}401\.revoked +not tried +needs SVC_KEY_REVOKED$/m);
    expect(stdout).toMatch(/^No key is set\. Set SVC_API_KEY /m);
    expect(code).toBe(0);
  });

  test("takes SVC_API_KEY for the active key, of whichever kind it is", async () => {
    const server = await serveSandbox(1, {});
    const path = async (ref: string) => {
      const env = { SVC_API_KEY: server.sandbox.secret(ref) };
      const { stdout } = await runCli(["compare", server.url], { env });
      return /^ {2}(\S+) +agrees +200, SVC_API_KEY$/m.exec(stdout)?.[1];
    };
    for (const [ref, outcome] of Object.entries({ active: "test", live: "live", "legacy-live": "live" })) {
      expect([ref, await path(ref)]).toEqual([ref, `200.${outcome}`]);
    }
  });

  test("works under a base URL with a path, with a slash at its end, and when it is the URL of the endpoint", async () => {
    const server = await serveProbed(undefined, "/gateway/v1/relying-party/me");
    for (const base of ["/gateway", "/gateway/", `/gateway${mePath}/`].map((path) => server.url + path)) {
      expect(await runCli(["compare", base], { env: probeKeys })).toMatchObject({ code: 0, stderr: "" });
    }
  });
});

describe("a comparison", () => {
  const outcomes = (ran: Ran, result: string) =>
    [...ran.stdout.matchAll(/^ {2}([2-4]\d\d\.\S+) +(agrees|differs|not tried)/gm)]
      .filter((match) => match[2] === result)
      .map((match) => match[1]);

  test.each([3, 10])("sends no more than %i requests, one for each outcome", async (max) => {
    const server = await serveProbed();
    const ran = await runCli(["compare", server.url, "--max-requests", String(max)], { env: probeKeys });
    const sent = server.requests().map(({ ref }) => ref);
    expect(sent).toHaveLength(max);
    expect(new Set(sent).size).toBe(Math.min(max, 8));
    expect(outcomes(ran, "agrees")).toHaveLength(Math.min(max, 8));
    if (max < 8) expect(ran.stdout).toContain(`the requests ran out: --max-requests is ${max}`);
  });

  test("R22 uses a limit up if requested and possible, and reports if it is not possible", async () => {
    const limited = (perMinute: number) =>
      serveProbed((reply, { ref, count }) => {
        // biome-ignore lint/suspicious/noExplicitAny: the body is made another here
        if (reply.status === 200) (reply.body as any).data.limits.per_minute = perMinute;
        if (ref !== "active" || count <= perMinute) return;
        reply.status = 429;
        reply.headers = { "Content-Type": "application/json", "Retry-After": "7" };
        reply.body = { error: { code: "slow_down", message: "Slow down." } };
      });
    const env = { SVC_API_KEY: probeKeys.SVC_KEY_ACTIVE as string };
    const small = await limited(3);
    const ran = await runCli(["compare", small.url, "--probe-limits"], { env });
    expect(ran.stdout).toMatch(/^ {2}429\.per_minute +agrees +429 slow_down, SVC_API_KEY$/m);
    expect(small.requests()).toHaveLength(13);

    expect(ran.stderr).toBe(
      "Sends up to 7 requests with SVC_API_KEY, until one gets 429. They use up this key's minute.\n",
    );

    const usual = await limited(60);
    const whole = await runCli(["compare", usual.url, "--probe-limits"], { env });
    expect(whole.stdout).toMatch(
      /: 70 of at most 400 requests\n[\s\S]*429\.per_minute +agrees +429 slow_down/,
    );

    const stopped = await limited(60);
    const few = await runCli(["compare", stopped.url, "--probe-limits", "--max-requests", "44"], { env });
    expect(few.stdout).toContain(
      "needs 63 requests, three more than per_minute, and 33 are left; --max-requests 74 has room for them",
    );
    expect([stopped.requests().length, few.stderr]).toEqual([11, ""]);

    const large = await limited(400);
    const rejected = await runCli(["compare", large.url, "--probe-limits"], { env });
    expect(rejected.stdout).toContain("needs 403 requests, three more than per_minute, and 389 are left;");
    expect(large.requests()).toHaveLength(11);
  });

  test.each([
    [75, undefined],
    [76, 61],
    [113, 98],
    [500, 121],
  ])(
    "R22 with --max-requests %j, so many requests use up a per_minute of 60: %j",
    async (maxRequests, most) => {
      const { send } = probed(() => {});
      const sentences: string[] = [];
      const { outcomes } = await compareWithContract(send, {
        ...{
          url: "https://api.example",
          probeLimits: true,
          unknownKey: unknownSecret,
          random: () => 0,
          maxRequests,
        },
        env: { SVC_KEY_ACTIVE: probeKeys.SVC_KEY_ACTIVE, SVC_KEY_LIVE: probeKeys.SVC_KEY_LIVE },
        announce: (sentence) => void sentences.push(sentence),
      });
      // Thirteen requests came before, and two controls follow the 429.
      const sentence = `Sends up to ${most} requests with SVC_KEY_ACTIVE, until one gets 429. They use up this key's minute.`;
      expect(sentences).toEqual(most === undefined ? [] : [sentence]);
      if (most === undefined) expect(outcomes.at(-1)?.reason).toMatch(/^needs 63 requests, .* 62 are left/);
    },
  );

  test("R22 R23 a key that is not at its limit shows nothing about it", async () => {
    const server = await serveProbed((reply, { ref, number }) => {
      if (!ref.startsWith("rate-limited")) return;
      const { limits, usage } = { limits: { per_minute: 60, per_day: 1000 }, usage: { today: 1 } };
      const organization = { id: "5d1f7f0e-6c0b-4f57-9c53-0d2f3ce1a6b4", name: "A Bank", type: "bank" };
      const body = { data: { limits, usage, environment: "test", scopes: ["a"], organization } };
      Object.assign(reply.headers, { "X-Request-Id": `limited-${number}` });
      Object.assign(reply, { status: 200, body });
    });
    const argv = ["compare", server.url, "--probe-limits", "--max-requests", "44"];
    const { stdout } = await runCli(argv, { env: allProbeKeys });
    expect(stdout).toMatch(/429\.per_day +not tried .*the key was not at its limit/);
    expect(stdout).toMatch(/429\.per_minute +not tried .*needs 63 requests, three more than per_minute/);
  });

  test("a comparison over midnight reports no difference", async () => {
    const midnight = Date.parse("2026-03-03T00:00:00Z");
    for (const [index, profile] of (["minimal", "typical", "varied"] as const).entries()) {
      for (let before = index; before <= 20; before += 3) {
        const now = new Date(midnight - before * 1000).toISOString();
        const sandbox = createSandbox({ profile, now, frozen: true, seed: before });
        const refs = sandbox.keys.list().map(({ ref }) => ref);
        const keys = refs.map((ref) => [keyVariable(ref), sandbox.secret(ref as never)] as const);
        const { differences } = await compareWithContract(
          async (apiKey) => {
            const headers = { ...(apiKey !== undefined && { "x-api-key": apiKey }) };
            const response = await sandbox.fetch(`https://api.example${mePath}`, { headers });
            sandbox.clock.advance("1s");
            const body = new Uint8Array(await response.arrayBuffer());
            return {
              status: response.status,
              version: "1.1",
              reason: "",
              headers: [...response.headers],
              body,
            };
          },
          {
            ...{ url: "https://api.example", env: Object.fromEntries(keys), maxRequests: 44 },
            ...{ probeLimits: true, unknownKey: unknownSecret, random: () => 0 },
          },
        );
        expect([profile, before, differences]).toEqual([profile, before, []]);
      }
    }
  });

  test("R22 finds a missing limit, unless a minute may have ended in between", async () => {
    const serve = (date: (number: number) => string) =>
      serveProbed((reply, { number }) => {
        reply.headers.Date = date(number);
        // biome-ignore lint/suspicious/noExplicitAny: the body is made another here
        if (reply.status === 200) (reply.body as any).data.limits.per_minute = 2;
      });
    const env = { SVC_API_KEY: probeKeys.SVC_KEY_ACTIVE as string };
    const unlimited = await serve(() => "Mon, 02 Mar 2026 09:00:30 GMT");
    const ran = await runCli(["compare", unlimited.url, "--probe-limits"], { env });
    expect(ran.stdout).toMatch(
      /429\.per_minute {2}status {2}R22\n.*429\n.*200 for 5 requests in less than a minute; per_minute is 2/,
    );
    expect(ran.code).toBe(1);
    // By the comparison's own clock: the server's may be any.
    for (const [step, result] of [
      [11_000, "differs"],
      [13_000, "not_tried"],
    ] as const) {
      let time = 0;
      const { send } = probed((reply) => {
        time += step;
        if (reply.status === 200) setIn(reply, "body.data.limits.per_minute", 2);
      });
      const { outcomes } = await compareWithContract(send, {
        ...{ url: "https://api.example", env, probeLimits: true, unknownKey: unknownSecret, random: () => 0 },
        now: () => time,
      });
      expect([step, outcomes.at(-1)?.result]).toEqual([step, result]);
      if (result === "not_tried") {
        expect(outcomes.at(-1)?.reason).toMatch(/^none of 5 requests got 429, but a minute may have ended/);
      }
    }
  });

  test("R22 nodes whose clocks differ by more than a minute do not change what a limit is", async () => {
    const { send } = probed((reply, { ref, number, count }) => {
      const time = Date.parse("2026-03-02T09:00:00Z") + (number % 2) * 61_000;
      reply.headers.Date = new Date(time).toUTCString();
      if (reply.status === 200) setIn(reply, "body.data.limits.per_minute", 15);
      if (ref === "active" && count > 15) {
        Object.assign(reply, { status: 429, body: { error: { code: "slow_down", message: "Slow down." } } });
      }
    });
    const { outcomes, verdict } = await compareWithContract(send, {
      ...{ url: "https://api.example", env: { SVC_API_KEY: probeKeys.SVC_KEY_ACTIVE as string } },
      ...{ probeLimits: true, unknownKey: unknownSecret, random: () => 0 },
    });
    expect([verdict, outcomes.at(-1)?.result]).toEqual(["agrees", "agrees"]);
  });

  test.each([null, [], "15", -1, true, 1.5])(
    "R5 a per_minute of %j is a difference, and no limit to reach",
    async (perMinute) => {
      const server = await serveProbed((reply) => {
        if (reply.status === 200) setIn(reply, "body.data.limits", { per_minute: perMinute, per_day: 1000 });
      });
      const env = { SVC_API_KEY: probeKeys.SVC_KEY_ACTIVE as string };
      const { stdout, stderr } = await runCli(["compare", server.url, "--probe-limits"], { env });
      expect([stderr, server.requests().length]).toEqual(["", 13]);
      expect(stdout).toMatch(/^ {2}200\.test {2}\$\.data\.limits\.per_minute {2}R5 /m);
      expect(stdout).toMatch(/^ {2}429\.per_minute +not tried +per_minute is /m);
      expect(stdout).not.toContain("R22");
    },
  );

  test.each([5, 20, 35, 55])(
    "R22 a minute that starts at second %i of the clock is a minute",
    async (start) => {
      let time = Date.parse("2026-03-02T09:00:00Z");
      let window: number | undefined;
      let count = 0;
      const { send } = probed((reply, { ref }) => {
        time += 900;
        reply.headers.Date = new Date(time).toUTCString();
        if (ref !== "active") return;
        setIn(reply, "body.data.limits.per_minute", 15);
        const current = Math.floor((time - start * 1000) / 60_000);
        count = window === current ? count + 1 : 1;
        window = current;
        if (count > 15) {
          Object.assign(reply, {
            status: 429,
            body: { error: { code: "slow_down", message: "Slow down." } },
          });
        }
      });
      const { differences, outcomes } = await compareWithContract(send, {
        ...{ url: "https://api.example", env: { SVC_API_KEY: probeKeys.SVC_KEY_ACTIVE as string } },
        ...{ probeLimits: true, unknownKey: unknownSecret, random: () => 0 },
      });
      expect([differences, outcomes.at(-1)?.result]).toEqual([[], "agrees"]);
    },
  );

  test("sends no more if no key that should work gets a response", async () => {
    const server = await serveProbed((_reply, { number, response }) => {
      if (number === 1) return;
      response.destroy();
      return "handled";
    });
    const ran = await runCli(["compare", server.url], { env: probeKeys });
    expect(server.requests()).toHaveLength(3);
    expect(ran.stdout).toMatch(/200\.live got no response: .*, and nothing was sent after it/);
    expect(ran.code).toBe(1);
  });

  test("sends everything if a request between two without a response has one", async () => {
    const server = await serveProbed((_reply, { number, response }) => {
      if (number !== 2 && number !== 4) return;
      response.destroy();
      return "handled";
    });
    await runCli(["compare", server.url], { env: probeKeys });
    expect(new Set(server.requests().map(({ ref }) => ref)).size).toBe(8);
  });

  test.each([
    [16, "is not tried", "not tried", 11],
    [17, "is found", "agrees", 13],
  ])("R22 with --max-requests %i, a limit of three a minute %s", async (max, _what, result, sent) => {
    const server = await serveProbed((reply, { ref, number }) => {
      // biome-ignore lint/suspicious/noExplicitAny: the body is made another here
      if (reply.status === 200) (reply.body as any).data.limits.per_minute = 3;
      if (ref === "active" && number > 11) {
        Object.assign(reply, { status: 429, body: { error: { code: "slow_down", message: "Slow down." } } });
      }
    });
    const env = { SVC_API_KEY: probeKeys.SVC_KEY_ACTIVE as string };
    const argv = ["compare", server.url, "--probe-limits", "--max-requests", String(max)];
    expect(outcomes(await runCli(argv, { env }), result)).toContain("429.per_minute");
    expect(server.requests()).toHaveLength(sent);
  });

  test("sends no text that is not a key, and no key of another kind than its variable names", async () => {
    const server = await serveProbed();
    const env = {
      SVC_KEY_ACTIVE: "hunter2hunter2hunter2",
      SVC_KEY_REVOKED: "SVC_test_with space",
      SVC_KEY_LIVE: probeKeys.SVC_KEY_ACTIVE as string,
      SVC_KEY_MAIN: "SVC_test_main0123456789",
      // These stand beside the keys of `keys --format env`; the comparison has such keys of its own.
      SVC_KEY_UNKNOWN: "SVC_test_sbxnobody",
      SVC_KEY_MALFORMED: "not-an-api-key",
    };
    const { stdout, code } = await runCli(["compare", server.url], { env });
    const sent = new Set(server.requests().map(({ ref }) => ref));
    expect([...sent].sort()).toEqual(["malformed", "none", "unknown"]);
    expect(stdout).toMatch(/200\.test +not tried +SVC_KEY_ACTIVE is not a key: it does not start with/);
    expect(stdout).toMatch(/200\.live +not tried +SVC_KEY_LIVE is not a live key$/m);
    expect(stdout).toContain("SVC_KEY_MAIN is not used: no outcome has this name.");
    expect(stdout).not.toMatch(/hunter2|UNKNOWN|MALFORMED/);
    expect(code).toBe(0);
  });
});
