import { spawn } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { root } from "../support/pages.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// Names each module that Node has read.
const hook = `import { register } from "node:module";
register("data:text/javascript," + encodeURIComponent(\`
import { writeSync } from "node:fs";
export async function load(url, context, next) {
  const loaded = await next(url, context);
  writeSync(1, "read " + url + "\\\\n");
  return loaded;
}\`));
`;

test("the control plane answers though the package is removed while the server runs", async () => {
  const folder = temporaryFolder();
  for (const part of ["bin", "dist/esm", "package.json"]) {
    cpSync(join(root, part), join(folder, part), { recursive: true });
  }
  const hookFile = join(folder, "hook.mjs");
  writeFileSync(hookFile, hook);
  const chunks = join(folder, "dist/esm");
  const textOf = (file: string) => readFileSync(join(chunks, file), "utf8");
  const files = readdirSync(chunks).filter((file) => file.endsWith(".js"));
  const wanted = [/x-powered-by/, /agrovoc/].flatMap((sign) =>
    files.filter((file) => sign.test(textOf(file))),
  );
  expect(wanted.length).toBeGreaterThan(1);
  for (const file of wanted) {
    const imports = [...textOf(file).matchAll(/(?:\bfrom|\bimport)\s*"\.\/([^"]+)"/g)];
    for (const [, next] of imports) if (!wanted.includes(next as string)) wanted.push(next as string);
  }
  const argv = ["--import", pathToFileURL(hookFile).href, join(folder, "bin/svc-sandbox.js"), "--port", "0"];
  const child = spawn(process.execPath, [...argv, "--json", "--log", "off"], { cwd: folder });
  onTestFinished(() => void child.kill("SIGKILL"));
  let written = "";
  await new Promise<void>((resolve, reject) => {
    child.once("exit", () => reject(new Error(written)));
    child.stdout.on("data", (text) => {
      written += text;
      if (wanted.every((file) => written.includes(`/${file}\n`)) && /"base_url"/.test(written)) resolve();
    });
  });
  rmSync(join(folder, "dist"), { recursive: true });
  const { base_url } = JSON.parse(/\{"event":"listening".*\}/.exec(written)?.[0] as string);
  const call = (path: string, method = "GET") => fetch(`${base_url}/__sandbox${path}`, { method });
  for (const path of ["/health", "/report?format=junit", "/farmers", "/openapi.json"]) {
    expect([path, (await call(path)).status]).toEqual([path, 200]);
  }
  const init = { method: "PUT", headers: { "content-type": "application/yaml" } };
  const yaml = "version: 1\norganizations:\n  one: { type: bank, keys: { only: { environment: test } } }\n";
  expect((await fetch(`${base_url}/__sandbox/scenario`, { ...init, body: yaml })).status).toBe(200);
  expect((await call("/reset", "POST")).status).toBe(200);
});
