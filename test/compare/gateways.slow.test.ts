import { expect, test } from "vitest";
import { exchange } from "../support/exchange.js";
import { freePort } from "../support/free-port.js";
import { allProbeKeys, probeKeys, serveProbed, setIn } from "../support/probed-server.js";
import { missing } from "../support/programs.js";
import { runCli } from "../support/run-cli.js";
import { runProxy } from "../support/running-proxy.js";
import { served } from "../support/servers.js";

// Gateways that limit an address, in front of a sandbox: what they send is not the key's limit.

interface Gateway {
  readonly program: "nginx" | "haproxy";
  /** Its settings; they let the first `allowed` requests of an address through. */
  readonly settings: (gateway: { port: number; upstream: string; allowed: number; status: number }) => string;
}

const nginx: Gateway = {
  program: "nginx",
  settings: ({ port, upstream, allowed, status }) => `
events {}
http {
  access_log off;
  limit_req_zone $binary_remote_addr zone=address:1m rate=1r/m;
  server {
    listen 127.0.0.1:${port};
    location /up { return 204; }
    location / {
      limit_req zone=address burst=${allowed - 1} nodelay;
      limit_req_status ${status};
      proxy_pass http://${upstream};
    }
  }
}
`,
};

const haproxy: Gateway = {
  program: "haproxy",
  settings: ({ port, upstream, allowed, status }) => `
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend gateway
  bind 127.0.0.1:${port}
  http-request return status 204 if { path /up }
  stick-table type ip size 1k expire 10m store http_req_cnt
  http-request track-sc0 src
  http-request deny deny_status ${status} if { sc_http_req_cnt(0) gt ${allowed} }
  default_backend sandbox
backend sandbox
  server sandbox ${upstream}
`,
};

async function startGateway({ program, settings }: Gateway, allowed: number, status: number) {
  const sandbox = await served({ profile: "typical", now: "2026-03-02T09:00:00Z", frozen: true });
  const port = await freePort();
  runProxy(program, settings({ port, upstream: new URL(sandbox.url).host, allowed, status }));
  const url = `http://127.0.0.1:${port}`;
  const isUp = () =>
    exchange(url, { path: "/up" }).then(
      (response) => response.status,
      () => undefined,
    );
  await expect.poll(isUp).toBe(204);
  return { url, env: { SVC_API_KEY: sandbox.sandbox.secret("active") } };
}

const of429 = ["rate_limit_code", "retry_after", "error_details", "request_id_on_errors"];

test.each<[gateway: Gateway, allowed: number, status: number, endedBy: RegExp]>(
  [nginx, haproxy]
    .filter(({ program }) => missing(program) === undefined)
    .flatMap((gateway): [Gateway, number, number, RegExp][] => [
      // The requests come in a random order. Each wrong response but a 429 is followed by the key that works.
      [gateway, 3, 429, /^401\.(?:malformed|unknown)$/],
      [gateway, 6, 429, /^(?:401\.\w+|200\.test)$/],
      [gateway, 20, 429, /^200\.test$/],
      [gateway, 6, 503, /^200\.test$/],
      [gateway, 6, 403, /^200\.test$/],
    ]),
)(
  "$0.program that lets $1 requests of an address through, then sends $2, ends the comparison",
  async (gateway, allowed, status, endedBy) => {
    const { url, env } = await startGateway(gateway, allowed, status);
    const { code, stdout } = await runCli(["compare", url, "--json", "--probe-limits"], { env });
    const comparison = JSON.parse(stdout);
    expect([code, comparison.verdict]).toEqual([1, "stopped"]);
    expect(comparison.ended_by).toMatch(endedBy);
    for (const name of of429) expect(comparison.assumptions).not.toHaveProperty(name);
  },
);

test.each([nginx, haproxy].filter(({ program }) => missing(program) === undefined))(
  "$program with room for the minute of the key changes nothing",
  async (gateway) => {
    const { url, env } = await startGateway(gateway, 200, 429);
    const { code, stdout } = await runCli(["compare", url, "--json", "--probe-limits"], { env });
    const { verdict, assumptions } = JSON.parse(stdout);
    expect([code, verdict, Object.keys(assumptions).length]).toEqual([0, "agrees", 6]);
  },
);

/** Serves four nodes in turn, one of which has another text for every 401. */
async function startNodesInTurn() {
  let sent = 0;
  const nodes: string[] = [];
  for (const name of ["alpha", "beta", "gamma", "delta"]) {
    const node = await serveProbed((reply) => {
      sent += 1;
      if (reply.status === 200) {
        setIn(reply, "headers.X-Request-Id", `req-${sent}`);
        setIn(reply, "body.data.usage.today", sent);
      }
      if (name === "delta" && reply.status === 401) {
        setIn(reply, "body.error.message", "A valid key is required.");
      }
    });
    nodes.push(`  server ${name} ${new URL(node.url).host}`);
  }

  const port = await freePort();
  const settings = `
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend gateway
  bind 127.0.0.1:${port}
  http-request return status 204 if { path /up }
  default_backend nodes
backend nodes
  balance roundrobin
${nodes.join("\n")}
`;
  runProxy("haproxy", settings);
  const url = `http://127.0.0.1:${port}`;
  const isUp = () =>
    exchange(url, { path: "/up" }).then(
      (response) => response.status,
      () => undefined,
    );
  await expect.poll(isUp).toBe(204);
  return url;
}

test.skipIf(missing("haproxy") !== undefined)(
  "R14 HAProxy with four nodes in turn, one of them with another text for every 401, causes no alarm",
  async () => {
    const url = await startNodesInTurn();
    const { SVC_KEY_LIVE: _, SVC_KEY_ACTIVE: __, ...rejected } = probeKeys;
    for (let run = 1; run <= 10; run++) {
      const { stdout } = await runCli(["compare", url, "--json"], { env: rejected });
      const { differences, verdict } = JSON.parse(stdout);
      expect([run, differences, verdict]).toEqual([run, [], "agrees_in_part"]);
    }
  },
);

test.skipIf(missing("haproxy") !== undefined)(
  "HAProxy that marks a node down after five wrong responses keeps it, and the fault is found",
  async () => {
    const node = await serveProbed((reply, { ref }) => {
      const wrong = { status: 500, body: { error: { code: "x", message: "No." } } };
      if (ref === "revoked") Object.assign(reply, wrong);
    });
    const port = await freePort();
    runProxy(
      "haproxy",
      `
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend gateway
  bind 127.0.0.1:${port}
  http-request return status 204 if { path /up }
  default_backend nodes
backend nodes
  server one ${new URL(node.url).host} check inter 60s observe layer7 error-limit 5 on-error mark-down
`,
    );
    const url = `http://127.0.0.1:${port}`;
    await expect
      .poll(() =>
        exchange(url, { path: "/up" }).then(
          ({ status }) => status,
          () => undefined,
        ),
      )
      .toBe(204);
    const { stdout } = await runCli(["compare", url, "--json"], { env: allProbeKeys });
    const { differences, ended_by } = JSON.parse(stdout);
    expect(differences).toMatchObject([{ outcome: "401.revoked", at: "status", seen: "3 of 3 times" }]);
    expect(ended_by).toBeUndefined();
  },
);
