import { stringify } from "yaml";

/**
 * Plain data as YAML. Repeats what occurs twice: records stand alone. Quotes what readers of YAML 1.1, which are many,
 * would take for a date or a switch.
 */
export function yamlText(value: unknown): string {
  return stringify(value, { aliasDuplicateObjects: false, lineWidth: 0, compat: "yaml-1.1" });
}
