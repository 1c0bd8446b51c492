import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { endpointsIn, outcomesOf } from "../../src/api/routes.js";
import { outcomeOf } from "../../src/spec/outcomes.js";
import { ofOthers, others, withoutScope } from "../support/coverage.js";
import { reachable } from "../support/own-endpoints.js";
import { runCli } from "../support/run-cli.js";
import { served } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// Small readers of the formats; scripts/examples.ts runs the real ones.

interface Sent {
  readonly name: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** `undefined` when no response is expected. */
  readonly status: number | undefined;
  readonly code: string | null;
}

const readers: Readonly<Record<string, (folder: string) => Sent[]>> = {
  http: (folder) => readHttp(readFileSync(join(folder, "out"), "utf8")),
  postman: (folder) => readPostman(JSON.parse(readFileSync(join(folder, "out"), "utf8"))),
};

function readHttp(text: string): Sent[] {
  const [head = "", ...requests] = text.split(/^### /m);
  expect(head).toContain("\n@SVC_BASE_URL = {{$dotenv SVC_BASE_URL}}\n");
  return requests.map((request) => {
    const [top = "", body] = request.trimEnd().split("\n\n");
    const [title = "", ...lines] = top.split("\n");
    const [first = "", ...headers] = lines.filter((line) => !line.startsWith("# "));
    const [method = "", url = ""] = first.split(" ");
    const expected = lines.find((line) => line.startsWith("# Expect: "))?.slice("# Expect: ".length) ?? "";
    expect(expected).toMatch(/^(?:no response|\d{3}(?: \w+)?)$/);
    const [status = "", code = null] = expected === "no response" ? [] : expected.split(" ");
    return {
      name: title.split(": ")[1] as string,
      method,
      url,
      headers: Object.fromEntries(headers.map((line) => line.split(": "))),
      body,
      status: status === "" ? undefined : Number(status),
      code,
    };
  });
}

interface PostmanItem {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly header: readonly { readonly key: string; readonly value: string }[];
    readonly body?: { readonly raw: string };
  };
  readonly event?: readonly { readonly script: { readonly exec: readonly string[] } }[];
}

function readPostman({ item }: { item: readonly { readonly item: readonly PostmanItem[] }[] }): Sent[] {
  return item
    .flatMap((group) => group.item)
    .map(({ name, request, event }) => {
      const script = event?.[0]?.script.exec.join("\n") ?? "";
      return {
        name,
        method: request.method,
        url: request.url,
        headers: Object.fromEntries(request.header.map(({ key, value }) => [key, value])),
        body: request.body?.raw,
        status: script === "" ? undefined : Number(/have\.status\((\d+)\)/.exec(script)?.[1]),
        code: /error\.code\)\.to\.equal\("(\w+)"\)/.exec(script)?.[1] ?? null,
      };
    });
}

/** The values of the file that --environment has written. */
function environmentOf(format: string, file: string): Record<string, string> {
  const text = readFileSync(file, "utf8");
  if (format !== "postman") return Object.fromEntries(text.split("\n").map((line) => line.split("=")));
  const { values } = JSON.parse(text) as { values: { key: string; value: string; enabled: boolean }[] };
  expect(values.filter(({ enabled }) => !enabled)).toEqual([]);
  return Object.fromEntries(values.map(({ key, value }) => [key, value]));
}

/** Sends a request, and responds with what can be compared with what it expects. */
async function send(request: Sent, values: Readonly<Record<string, string>>) {
  const filled = (text: string) =>
    text.replace(/\{\{(\w+)\}\}/g, (whole, name) => values[name] ?? `${whole} has no value`);
  const headers = Object.entries(request.headers).map(([name, value]) => [name, filled(value)]);
  const given = { method: request.method, headers: Object.fromEntries(headers) };
  const options = request.body === undefined ? given : { ...given, body: request.body };
  // What never comes is not waited for; everything else comes, however late.
  const wait = request.name === "fault.hang" ? { signal: AbortSignal.timeout(500) } : {};
  const response = await fetch(filled(request.url), { ...options, ...wait }).catch(() => undefined);
  const status = response?.status;
  if (request.status === undefined) {
    const text = await response?.text().catch(() => undefined);
    return { status: text === undefined ? undefined : status, code: null };
  }
  if (request.code === null) {
    await response?.body?.cancel();
    return { status, code: null };
  }
  return { status, code: ((await response?.json()) as { error: { code: string } }).error.code };
}

async function generated(argv: readonly string[], env = {}) {
  const cwd = temporaryFolder();
  const all = ["collection", ...argv, "-o", "out", "--environment", "values"];
  return { cwd, ...(await runCli(all, { cwd, env })) };
}

test.each(
  Object.keys(readers),
)("%s: each request gets what it expects, and together they meet every path", async (format) => {
  const server = await served({ scenario: "key-states" });
  const env = { SVC_BASE_URL: server.url, SVC_CONTROL_URL: String(server.controlUrl) };
  const { cwd, code, stdout, stderr } = await generated(["key-states", "--format", format], env);
  const wrote = "Wrote out. Start its sandbox: svc-sandbox key-states\nWrote values. It contains keys.\n";
  const left = stderr.slice(wrote.length).match(/^\S+(?= is left out: .*, write scopes: )/gm) ?? [];
  expect([code, stdout, stderr.startsWith(wrote), left]).toEqual([0, "", true, withoutScope]);
  const values = environmentOf(format, join(cwd, "values"));
  const requests = readers[format]?.(cwd) ?? [];
  const paths = reachable(outcomesOf(endpointsIn({ version: 1 })))
    .map(({ path }) => path)
    .filter((path) => !withoutScope.includes(path));
  expect(
    requests
      .map(({ name }) => name)
      .filter((name) => /^\d|^fault/.test(name))
      .sort(),
  ).toEqual(paths.toSorted());
  // Another scenario is served before: the collection starts with its own.
  await fetch(`${server.controlUrl}/scenario`, {
    method: "PUT",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ name: "active" }),
  });
  const late: Promise<void>[] = [];
  for (const request of requests) {
    const { name, status, code } = request;
    const sending = send(request, values).then((got) =>
      expect({ name, ...got }).toEqual({ name, status, code }),
    );
    // The last ones take seconds, and change nothing.
    if (name.startsWith("fault")) late.push(sending);
    else await sending;
  }
  await Promise.all(late);
  const rows = server.sandbox
    .report()
    .paths.filter(({ pathId }) => reachable([outcomeOf(pathId)]).length > 0);
  expect(rows.flatMap(({ met, pathId }) => (met ? [] : [pathId]))).toEqual(withoutScope);
  const health = await fetch(`${server.controlUrl}/health`);
  expect(await health.json()).toMatchObject({ scenario: "key-states" });
});

test.each(Object.keys(readers))("%s: has variables and no keys", async (format) => {
  const { cwd } = await generated(["--format", format, "--seed", "7"]);
  const values = environmentOf(format, join(cwd, "values"));
  expect(values.SVC_CONTROL_URL).toBe("http://127.0.0.1:4747/__sandbox");
  const keys = Object.entries(values).flatMap(([name, key]) => (name.startsWith("SVC_KEY_") ? [key] : []));
  expect(keys.length).toBeGreaterThan(20);
  const text = readFileSync(join(cwd, "out"), "utf8");
  expect(keys.filter((key) => text.includes(key))).toEqual([]);
  expect(statSync(join(cwd, "values")).mode & 0o077).toBe(0);
});

test("Postman's requests without a response are sent only if a variable is set, so that Newman ends", async () => {
  const { cwd } = await generated(["key-states", "--format", "postman"]);
  const { item: groups, variable } = JSON.parse(readFileSync(join(cwd, "out"), "utf8"));
  const name = "SVC_SEND_WITHOUT_RESPONSE";
  expect(variable).toContainEqual({ key: name, value: "" });
  const skips = ({ event = [] }: PostmanItem, value: string) => {
    let skipped = false;
    const pm = {
      variables: { get: (asked: string) => (asked === name ? value : undefined) },
      execution: {
        skipRequest() {
          skipped = true;
        },
      },
    };
    for (const { script } of event) new Function("pm", script.exec.join("\n"))(pm);
    return skipped;
  };
  for (const group of groups) {
    const hasNoResponse = group.item.some(({ event }: PostmanItem) => event === undefined);
    expect([group.name, skips(group, ""), skips(group, "1")]).toEqual([group.name, hasNoResponse, false]);
  }
  expect(groups.filter((group: PostmanItem) => skips(group, ""))).toHaveLength(1);
});

test("the collection of a file has its requests, and names what it leaves out", async () => {
  const cwd = temporaryFolder({
    "mine.yaml":
      "version: 1\norganizations: { bank: { type: bank, keys: { main: { environment: test }, old: { environment: test, state: revoked } } } }\n",
  });
  const { code, stdout, stderr } = await runCli(["collection", "mine.yaml"], { cwd });
  // Without --environment, the keys are nowhere.
  expect([code, stdout]).toEqual([0, expect.not.stringMatching(/SVC_test_sbx/)]);
  const names = readHttp(stdout).map(({ name }) => name);
  const ofMe = names.filter((name) => !ofOthers.includes(name as never));
  expect(ofMe.filter((name) => others.length === 0 || name !== "403.insufficient_scope")).toEqual([
    ...["Start the scenario again", "200.test", "401.missing", "401.malformed", "401.unknown", "401.revoked"],
    ...["404.unknown_path", "405.method"],
  ]);
  expect(stderr).toMatch(
    /^Left out, because mine\.yaml does not cover them: 200\.live, (?!.*400).*\. The collection of key-states has all\.\nLeft out, because they depend on the input of an endpoint of your document: 400\.bad_request,/,
  );
});

test("existing files stay unchanged without --force", async () => {
  const cwd = temporaryFolder({ ".env": "DATABASE_URL=postgres://here\n" });
  const argv = ["collection", "-o", "out.http", "--environment", ".env"];
  const { code, stderr } = await runCli(argv, { cwd });
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^"\.env" already exists and is unchanged/)]);
  expect([readFileSync(join(cwd, ".env"), "utf8"), existsSync(join(cwd, "out.http"))]).toEqual([
    "DATABASE_URL=postgres://here\n",
    false,
  ]);
  expect(await runCli([...argv, "--force"], { cwd })).toMatchObject({ code: 0 });
});
