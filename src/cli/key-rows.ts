import { evaluateKey } from "../api/evaluate.js";
import { expectedCode } from "../api/reply.js";
import { keyStateAt } from "../domain/api-key.js";
import { outcomeOf } from "../domain/outcomes.js";
import { alignColumns } from "../report/plain-text.js";
import { scenarioSecrets } from "../sandbox/secrets.js";
import type { World } from "../sandbox/world.js";
import { answerText, type Palette, paintStatus } from "./terminal.js";

/** A key of the scenario and how a request with it would end now. */
export type KeyRow = ReturnType<typeof keyRows>[number];

/** The keys of the scenario in its order, or those of them whose secrets are given. */
export function keyRows(world: World, secrets = scenarioSecrets(world)) {
  const now = world.clock.now();
  return Object.entries(secrets).map(([ref, secret]) => {
    const { key } = world.registry.key(ref);
    const { pathId, faultPaths } = evaluateKey(world, ref);
    return {
      ref,
      organization: key.organization,
      environment: key.environment,
      state: keyStateAt(key, now),
      secret,
      status: outcomeOf(pathId).status,
      code: expectedCode(world, pathId),
      path_id: pathId,
      /** The paths of faults that it may end on instead. */
      fault_paths: faultPaths,
    };
  });
}

const titles = { ref: "KEY", organization: "ORGANIZATION", state: "STATE", secret: "SECRET" } as const;

/** The rows as an aligned table under a line of titles; ends with what a request with the key gets. */
export function keyTable(
  rows: readonly KeyRow[],
  columns: readonly (keyof typeof titles)[],
  palette: Palette,
): string[] {
  const head = [...columns.map((column) => titles[column]), "A REQUEST GETS", "PATH"];
  const body = rows.map((row) => [
    ...columns.map((column) => row[column]),
    paintStatus(palette, row.status)(answerText(row)),
    [row.path_id, ...row.fault_paths].join(" or "),
  ]);
  return alignColumns([head.map((title) => palette.dim(title)), ...body]);
}
