import { createServer } from "node:https";
import type { SecureContext, TlsOptions } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { startInterceptor } from "../../src/server/sockets/intercept.js";

test("the contexts of the 100 names that were used last are kept, no matter how many a client sends", async () => {
  let sni: TlsOptions["SNICallback"];
  const proxy = await startInterceptor(["*.bank.example"], false, (certificate) => {
    sni = certificate?.SNICallback;
    return { server: createServer(), open: new Set() };
  });
  onTestFinished(() => proxy.close(0));
  const contextOf = (name: string | number) =>
    new Promise<SecureContext | undefined>((resolve) =>
      sni?.(`${name}.bank.example`, (_error, context) => resolve(context)),
    );
  const [first, second] = [await contextOf("first"), await contextOf("second")];
  for (let name = 0; name < 98; name += 1) await contextOf(name);
  expect(await contextOf("first")).toBe(first);
  await contextOf("one more");
  expect(await contextOf("first")).toBe(first);
  expect(await contextOf("second")).not.toBe(second);
});
