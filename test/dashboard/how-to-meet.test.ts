import { expect, test } from "vitest";
import { howToMeet } from "../../src/dashboard/control/how-to-meet.js";
import { serveControl } from "../control/client.js";

interface Row {
  readonly path_id: string;
  readonly how_to_meet: string | null;
}

for (const scenario of ["key-states", "bad-day", "announced-endpoints"]) {
  test(`${scenario}: what is sent from the page ends where the report says that its line for a shell does`, async () => {
    const { ask } = await serveControl({ scenario });
    const met: string[] = [];
    const elsewhere: string[] = [];
    for (const { path_id: pathId, how_to_meet: how } of (await ask("/report")).body.data.paths as Row[]) {
      const { scenario: other, resets, code, request } = howToMeet(how ?? "");
      if (other !== undefined || resets) {
        elsewhere.push(`${pathId} ${other}`);
        continue;
      }
      expect(code).toMatch(/^curl /);
      const { body } = await ask("/send", { method: "POST", json: request });
      const { path_id: path, fault } = body.data.request;
      expect([path, fault], `${how}`).toContain(pathId);
      met.push(pathId);
    }
    expect(met.length).toBeGreaterThan(10);
    // Faults and the preview are in other scenarios.
    expect(elsewhere.length).toBeGreaterThan(0);
    for (const line of elsewhere) expect(line).toMatch(/ (key-states|bad-day|announced-endpoints)$/);
  });
}

test("a path that only a reset brings back says so, and is met after it", async () => {
  const { ask } = await serveControl({ scenario: "key-states" });
  await ask("/clock/advance", { method: "POST", json: { by: "1h" } });
  const { paths } = (await ask("/report")).body.data;
  const { resets, request } = howToMeet(paths.find((row: Row) => row.path_id === "200.retiring").how_to_meet);
  expect(resets).toBe(true);
  await ask("/reset", { method: "POST", json: {} });
  const { body } = await ask("/send", { method: "POST", json: request });
  expect(body.data.request.path_id).toBe("200.retiring");
});
