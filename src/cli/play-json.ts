import { snakeCase } from "../api/snake-case.js";
import { redactKeys } from "../domain/redact.js";
import type { TellingStep } from "./tell-step.js";

/** A told step as one line for machines, with a line end; no key in full. */
export function stepJsonLine({ step: _, performed, ...told }: TellingStep): string {
  const { secret: __, ...shown } = performed ?? { secret: null };
  const line = {
    ...told,
    performed: performed && shown,
    meanwhile: told.meanwhile.map(({ index, action: ___, ...came }) => ({
      timelineStep: index + 1,
      ...came,
    })),
  };
  return `${redactKeys(JSON.stringify(snakeCase(line)))}\n`;
}
