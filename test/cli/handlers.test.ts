import { expect, onTestFinished, test } from "vitest";
import { commandLine, runCommand } from "../support/running-command.js";
import { userFolder } from "../support/temporary-folder.js";

// The built command, because the handlers' own imports are Node's business, not those of a test runner.
const attestations = "/v1/relying-party/attestations";

const guarded = `
import { HttpResponse, http } from "msw";
import { guard } from "svc-sandbox";

export default [
  http.get("${attestations}", ({ request }) => {
    const { rejection, caller } = guard(request, { scope: "attestations:read" });
    return rejection ?? HttpResponse.json({ data: [], bank: caller.organization.name });
  }),
  http.get("/throws", ({ request }) => {
    throw new Error("no " + request.headers.get("x-api-key"));
  }),
];
`;
const inFunction = "export default async ({ sandbox }) => sandbox.name && ";

const start = (file: string, cwd: string, flags = "") =>
  runCommand(`${commandLine} --port 0 --handlers ${file} ${flags}`, { cwd });

async function served(file: string, code: string) {
  const running = start(file, userFolder({ [file]: code }), "--json");
  onTestFinished(async () => void (await running.stop()));
  const { base_url, keys } = JSON.parse(await running.until(/\n/));
  const get = (path: string, key?: string) =>
    fetch(base_url + path, key === undefined ? {} : { headers: { "x-api-key": keys[key] } });
  let said = "";
  running.child.stderr?.on("data", (text) => {
    said += text;
  });
  return { ...running, get, keys, base_url, said: () => said };
}

test.each([
  ["handlers.mjs", guarded],
  ["handlers.mjs", guarded.replace("export default", inFunction)],
  [
    "handlers.cjs",
    guarded
      .replace(/import (.*) from (".*");/g, "const $1 = require($2);")
      .replace("export default", "exports.handlers ="),
  ],
])("R19 R46 --handlers %s serves guarded handlers next to the API (%#)", async (file, code) => {
  const { get, keys, stop } = await served(file, code);
  const responses = await Promise.all([
    ...[get(attestations, "active"), get(attestations, "live-not-approved"), get(attestations)],
    ...[get("/v1/relying-party/me", "active"), get("/v1/relying-party/nothing"), get("/throws", "active")],
  ]);
  expect(responses.map(({ status }) => status)).toEqual([200, 403, 401, 200, 404, 500]);
  expect(await responses[0]?.json()).toEqual({ data: [], bank: "Harvest Cooperative Bank" });
  const { code: exit, stderr } = await stop();
  expect(exit).toBe(0);
  expect(stderr).toMatch(
    /A handler failed, and its request got 500: Error: no SVC_test_.*\n +at .*handlers\./,
  );
  expect(stderr).toMatch(/attestations +403 live_access_not_approved/);
  expect(stderr).not.toContain(keys.active);
  expect(stderr).not.toContain("defect");
});

test("any value that a handler throws gets 500, and its text starts no line of the log", async () => {
  const thrown = [
    "Object.create(null)",
    "{ toString() { throw 1; } }",
    "Object.defineProperty(new Error(), 'stack', { get() { throw 1; } })",
    "new Proxy({}, { get() { throw 1; }, getPrototypeOf() { throw 1; } })",
    "new Error('first\\n::error::second')",
  ];
  const code = `import { http } from "msw";
    export default [${thrown.map((one, index) => `http.get("/${index}", () => { throw ${one}; })`)}];`;
  const { get, stop } = await served("handlers.mjs", code);
  for (const index of thrown.keys()) expect((await get(`/${index}`)).status).toBe(500);
  const { stderr } = await stop();
  expect(stderr.match(/A handler failed, and its request got 500: /g)?.length).toBe(thrown.length);
  expect(stderr).toContain("first\\n::error::second");
  expect(stderr).not.toMatch(/^\s*::/m);
});

const careless = `
import { HttpResponse, http } from "msw";
const done = () => HttpResponse.json({});
export default [
  http.post("/reads", ({ request }) => { request.text().then((text) => console.error("read " + text.length)); return done(); }),
  http.get("/throws-later", () => { setTimeout(() => { throw new Error("too late to catch"); }, 1); return done(); }),
  http.get("/rejects", () => { Promise.reject(new Error("without await")); return done(); }),
];
`;

test("an error of handlers after their response ends no server, and is logged as theirs", async () => {
  const { base_url, get, stop, said } = await served("handlers.mjs", careless);
  const post = (body: string) => fetch(`${base_url}/reads`, { method: "POST", body });
  expect((await post("abc")).status).toBe(200);
  // More than comes with the head.
  expect((await post("a".repeat(1_000_000))).status).toBe(200);
  expect([(await get("/throws-later")).status, (await get("/rejects")).status]).toEqual([200, 200]);
  await expect.poll(said).toMatch(/too late to catch/);
  expect((await get("/v1/relying-party/me", "active")).status).toBe(200);
  const { code, stderr } = await stop();
  expect(code).toBe(0);
  expect(stderr).toMatch(/Code of handlers\.mjs failed outside a request.*too late to catch\n +at /);
  expect(stderr).toMatch(/Code of handlers\.mjs failed outside a request.*without await\n/);
  expect(stderr.match(/read \d+/g)?.[0]).toBe("read 3");
  expect(stderr).not.toContain("defect");
});

test("what handlers leave running does not keep a stopped command alive", async () => {
  const { stop } = await served("handlers.mjs", "setInterval(() => {}, 1000); export default [];");
  expect((await stop()).code).toBe(0);
});

test.each([
  ["export default [;", /: Unexpected token ';'\. Run `node \S+h\.mjs` to see the line/],
  ['\nthrow new Error("not configured");', /: not configured \(line 2\)\n$/],
])("%j ends with 2 and shows what is wrong", async (code, says) => {
  const ran = await start("h.mjs", userFolder({ "h.mjs": code })).ended;
  expect(ran).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(says) });
});
