import type { Node, Pair, YAMLMap, YAMLSeq } from "yaml";
import { isAlias, isMap, isScalar, isSeq } from "yaml";
import { composeYaml } from "./compose-yaml.js";
import type { Finding } from "./finding.js";
import { forbiddenNames, nameFinding } from "./forbidden-names.js";
import type { Located, LocatedMapping, Path } from "./located.js";
import { quote } from "./quote.js";
import { lineOf, type ScenarioSource } from "./scenario-source.js";
import { whyUnreadable } from "./scenario-text.js";

/** How many values a scenario may have once its aliases are written out. */
const maximumValues = 100_000;

/**
 * Reads a YAML text whose top level is a mapping, or answers `undefined` when it cannot be understood at all.
 *
 * What is wrong is added to `findings`; parts that are wrong are left out of the answer. Never throws.
 */
export function readYaml(source: ScenarioSource, findings: Finding[]): LocatedMapping | undefined {
  const unreadable = whyUnreadable(source);
  if (unreadable !== undefined) {
    findings.push(unreadable);
    return undefined;
  }
  const document = composeYaml(source, findings);
  if (document === undefined) return undefined;
  const root = createReader(source, findings)(document.contents as Node | null, [])?.located;
  if (root?.kind === "mapping") return root;
  if (root !== undefined) findings.push(notAMapping(root, source));
  return undefined;
}

function notAMapping(root: Located, source: ScenarioSource): Finding {
  const place = root.place ?? { source, offset: 0 };
  if (root.kind === "scalar" && root.value === null) {
    return {
      code: "empty",
      path: [],
      place,
      message: "the scenario is empty",
      hint: 'begin with "version: 1" and "organizations:"',
    };
  }
  const found = root.kind === "list" ? "a list" : quote((root as { value: unknown }).value);
  return {
    code: "not_a_mapping",
    path: [],
    place,
    message: `a scenario is a mapping of fields, found ${found}`,
    hint: 'begin with "version: 1"',
  };
}

/** A value and how many values it is made of, aliases written out. */
interface Read {
  readonly located: Located;
  readonly size: number;
}
type Reader = (node: Node | null, path: Path) => Read | undefined;

function createReader(source: ScenarioSource, findings: Finding[]): Reader {
  // What each anchor names so far; `undefined` while the anchored value itself is being read.
  const anchors = new Map<string, Read | undefined>();
  let expanded = 0;

  return read;

  function report(code: Finding["code"], path: Path, offset: number, message: string, hint?: string): void {
    findings.push({ code, path, message, hint, place: { source, offset } });
  }

  function read(node: Node | null, path: Path): Read | undefined {
    const offset = node?.range?.[0] ?? 0;
    if (node === null) return { located: { kind: "scalar", value: null }, size: 1 };
    if (isAlias(node)) return readAlias(node.source, path, offset);
    const anchor = (node as { anchor?: string }).anchor;
    if (anchor !== undefined) anchors.set(anchor, undefined);
    const result = hasPlainTag(node, path) ? readUntagged(node, path, offset) : undefined;
    if (anchor !== undefined) {
      if (result === undefined) anchors.delete(anchor);
      else anchors.set(anchor, result);
    }
    return result;
  }

  function readUntagged(node: Node, path: Path, offset: number): Read | undefined {
    const place = { source, offset };
    if (isMap(node)) return readMapping(node, path, offset);
    if (isSeq(node)) return readList(node, path, offset);
    const value: unknown = isScalar(node) ? node.value : undefined;
    if (value === null || ["string", "number", "boolean"].includes(typeof value)) {
      return { located: { kind: "scalar", value: value as string, place }, size: 1 };
    }
    report(
      "yaml_tag",
      path,
      offset,
      "not a plain value",
      "use text, numbers, true, false, lists and mappings",
    );
    return undefined;
  }

  function readMapping(node: YAMLMap, path: Path, offset: number): Read {
    const members = new Map<string, Located>();
    let size = 1;
    for (const pair of node.items as Pair<Node | null, Node | null>[]) {
      const name = readName(pair, path, members);
      if (name === undefined) continue;
      const member = read(pair.value, [...path, name]);
      if (member === undefined) continue;
      size += member.size;
      const keyPlace = { source, offset: pair.key?.range?.[0] ?? offset };
      // A value that was left empty has no place of its own worth pointing at.
      const empty = pair.value?.range?.[0] === pair.value?.range?.[1];
      members.set(name, { ...member.located, keyPlace, ...(empty ? { place: keyPlace } : {}) });
    }
    return { located: { kind: "mapping", members, place: { source, offset } }, size };
  }

  function readList(node: YAMLSeq, path: Path, offset: number): Read {
    const items: Located[] = [];
    let size = 1;
    for (const [index, item] of (node.items as (Node | null)[]).entries()) {
      const part = read(item, [...path, index]);
      if (part === undefined) continue;
      items.push(part.located);
      size += part.size;
    }
    return { located: { kind: "list", items, place: { source, offset } }, size };
  }

  function readName(
    pair: Pair<Node | null, Node | null>,
    path: Path,
    members: ReadonlyMap<string, Located>,
  ): string | undefined {
    const offset = pair.key?.range?.[0] ?? pair.value?.range?.[0] ?? 0;
    if (!isScalar(pair.key)) {
      const what = isAlias(pair.key) ? "an alias" : "a list or a mapping";
      report("bad_field_name", path, offset, `${what} cannot be the name of a field`, "write a plain name");
      return undefined;
    }
    // As written, so that `2024` or `null` is the name that everybody reads.
    const name = typeof pair.key.value === "string" ? pair.key.value : (pair.key.source ?? "");
    const inner = [...path, name];
    if (name === "<<" && pair.key.type === "PLAIN") {
      report("merge_key", inner, offset, "merge keys (<<) are not part of this format", mergeHint);
      return undefined;
    }
    if (forbiddenNames.has(name)) {
      findings.push({ ...nameFinding(inner, name), place: { source, offset } });
      return undefined;
    }
    const earlier = members.get(name)?.keyPlace;
    if (earlier !== undefined) {
      report(
        "duplicate_field",
        inner,
        offset,
        `${quote(name)} is given twice; first on line ${lineOf(earlier)}`,
        "remove one of the two",
      );
      return undefined;
    }
    return name;
  }

  function readAlias(anchor: string, path: Path, offset: number): Read | undefined {
    const target = anchors.get(anchor);
    if (target === undefined) {
      const message = anchors.has(anchor)
        ? `the alias *${anchor} stands inside what it refers to`
        : `the alias *${anchor} refers to nothing`;
      report("bad_alias", path, offset, message, `mark a value above with &${anchor}`);
      return undefined;
    }
    expanded += target.size;
    if (expanded > maximumValues) {
      // Said once; each further alias is left out as well.
      if (expanded - target.size <= maximumValues) {
        report("too_many_aliases", path, offset, "the aliases write out to too many values", aliasHint);
      }
      return undefined;
    }
    return { ...target, located: { ...target.located, place: { source, offset } } };
  }

  function hasPlainTag(node: Node, path: Path): boolean {
    const tag = (node as { tag?: string }).tag;
    if (tag === undefined || plainTags.has(tag)) return true;
    const shown = tag.replace("tag:yaml.org,2002:", "!!");
    report(
      "yaml_tag",
      path,
      node.range?.[0] ?? 0,
      `the tag ${quote(shown)} is not allowed`,
      "remove the tag",
    );
    return false;
  }
}

const mergeHint = "use an alias for a whole value, or extends to start from another scenario";
const aliasHint = "an alias of a value that holds aliases multiplies; write less with them";
const plainTags = new Set(
  ["str", "int", "float", "bool", "null", "map", "seq"].map((name) => `tag:yaml.org,2002:${name}`),
);
