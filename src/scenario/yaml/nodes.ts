import { type Document, type Node, visit } from "yaml";
import { nearest } from "../../schema/words.js";
import { scenarioLimits } from "../format/scenario-limits.js";
import type { FieldProblem } from "../problems.js";
import type { SourceText } from "../source-text.js";
import { nameProblems } from "./names.js";
import { hasPartOfSecret } from "./secret-lines.js";
import { problemAtOffset, repeatLessHint, type TextProblem } from "./text-problem.js";
import type { MapPair } from "./tree.js";

interface CheckedNodes {
  /** The node that each alias refers to. */
  readonly targets: ReadonlyMap<Node, Node>;
  readonly problems: readonly FieldProblem[];
}

/** Checks the names and the aliases of a document. */
export function checkNodes(document: Document.Parsed, source: SourceText): CheckedNodes {
  const anchors = new Map<string, Node>();
  const targets = new Map<Node, Node>();
  const problems: FieldProblem[] = [];
  const keepAnchor = (node: Node & { readonly anchor?: string | undefined }) => {
    if (node.anchor !== undefined) anchors.set(node.anchor, node);
  };

  visit(document, {
    Alias(_, alias) {
      const [offset] = alias.range ?? [0];
      const target = anchors.get(alias.source);
      if (target === undefined) {
        const problem = unknownAlias(alias.source, anchors.keys(), hasPartOfSecret(source, offset));
        problems.push(problemAtOffset(source, offset, problem));
        return undefined;
      }

      targets.set(alias as Node, target);
      if (targets.size <= scenarioLimits.aliases) return undefined;
      const message = `the text has more than ${scenarioLimits.aliases} aliases`;
      problems.push(problemAtOffset(source, offset, { code: "too_large", message, hint: repeatLessHint }));
      return visit.BREAK;
    },
    Map(_, node) {
      keepAnchor(node as Node);
      for (const problem of nameProblems(node.items as MapPair[], source)) problems.push(problem);
    },
    // Texts, numbers and lists.
    Value: (_, node) => keepAnchor(node as Node),
  });
  return { targets, problems };
}

/** A text that starts with `*` is an alias only without quotes. If it is a secret, its name is not shown. */
function unknownAlias(name: string, anchors: Iterable<string>, isSecret: boolean): TextProblem {
  if (isSecret) {
    const message = "an alias refers to nothing";
    return { code: "bad_alias", message, hint: "put quotes around a text that starts with *" };
  }
  const meant = nearest(name, anchors);
  const hint = meant === undefined ? `put quotes around a text: "*${name}"` : `did you mean *${meant}?`;
  return { code: "bad_alias", message: `the alias *${name} refers to nothing`, hint };
}
