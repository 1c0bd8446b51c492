import { stringify } from "yaml";

/** Plain data as YAML. Repeats what occurs twice: records stand alone. */
export function yamlText(value: unknown): string {
  return stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 });
}
