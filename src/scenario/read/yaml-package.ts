// A file of its own in the build for pages: one that reads no YAML leaves it out.
export {
  Composer,
  Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  type Pair,
  Parser,
  stringify,
  visit,
  type YAMLParseError,
} from "yaml";
