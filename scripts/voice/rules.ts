/** A pattern of word-by-word English, and the words to use instead. */
export interface VoiceRule {
  readonly pattern: RegExp;
  readonly instead: string;
}

const any = (words: string) => words.split(" ").join("|");

/** A rule; a space in the pattern also matches the end of a line. */
const rule = (pattern: string, instead: string): VoiceRule => ({
  pattern: new RegExp(pattern.replaceAll(" ", String.raw`\s+`), "g"),
  instead,
});

/** The vocabulary: old words of this project, and what they are called elsewhere. */
const words = [
  rule(
    String.raw`\b[Aa]nswer(?:s|ed|ing)?\b(?! (?:a|the|this|these|your) questions?)`,
    "response, respond, return",
  ),
  rule(String.raw`\b(?<!real |the outside )[Ww]orlds?\b(?!-?wide)`, "sandbox, or its state"),
  rule(String.raw`\b[Dd]oors?\b`, "integration"),
  rule(String.raw`\b(?:met|missed)\b|\b(?:to|not|must|never) meets?\b`, "covered, reached"),
  rule(String.raw`\bst(?:ands?|ood|anding)\b(?! out| up| by|-?alone)`, "is, appears, is listed"),
  rule(String.raw`\b(?:says?|said|saying)\b`, "shows, reports, sets, means"),
  rule(
    String.raw`\b(?:told|tells|asks|wonders|forgets?|forgotten|learns)\b`,
    "shows, reports, requires, discards",
  ),
  rule(
    String.raw`\b(?:holds?|held) (?:for|in every|with|between|no|what|the|from)\b|\bholds?[.,;]`,
    "applies, contains, passes",
  ),
  rule(
    String.raw`\b(?:${any("anew thereof meanwhile whoever whichever wherever beside deeds mends mended soonest")})\b`,
    "again, in between, anyone, next to, fixed, earliest",
  ),
  rule(
    String.raw`\bfor ever\b|\bby and by\b|\bin vain\b|\bby hand\b|\bof no use\b|\bhangs? on\b`,
    "forever, gradually, manually, depends on",
  ),
  rule(String.raw`\b(?:begins?|began|begun|beginning)\b`, "start"),
  rule(String.raw`(?<![Ss]tand-|[Ss]tand |[Ll]et )\balone\b`, "only"),
  rule(String.raw`\bbut for\b|\bbut not for\b`, "except"),
  rule(String.raw`\b(?:goes|going|went|go|gone) on\b`, "continues"),
  rule(String.raw`\bof (?:its|their|your|our) own\b|\bof (?:yours|ours|theirs)\b`, "your X, its own X"),
  rule(String.raw`\bby (?:itself|themselves)\b`, "automatically, on its own"),
  rule(String.raw`\blets? (?!you\b|us\b|me\b|people\b|users\b)[a-z]+ `, "makes, allows X to"),
];

/** The grammar of translated sentences. */
const grammar = [
  rule(
    String.raw`\b(?:on|in|of|by|at|from|for|with|to|under|behind|against) (?:which|whom)\b`,
    "where, how, when, or two sentences",
  ),
  rule(
    String.raw`\bwhat (?:is|was|were|are|has been) (?:not |then |only )?(?:[a-z]+ed|done|sent|kept|left|made|shown|there|written|seen|given|known|on|it)\b`,
    "name the noun: the request, the change",
  ),
  rule(String.raw`\ball (?:that|of that|of this)\b`, "everything"),
  rule(
    String.raw`\b(?:that|those|ones?|what|which|more|they) there (?:is|are|was|were)\b|\bis not there\b`,
    "that exists",
  ),
  rule(String.raw`\b(?:that|those) of\b(?! (?:you|us)\b)`, "repeat the noun, or use 's"),
  rule(
    String.raw`(?<!there )\b(?:is|are|was|were) no (?!longer|more|need|way|reason|such|difference|limit|other|one|known|match)[a-z]+`,
    "is not a",
  ),
  rule(
    String.raw`\bas (?:it|they) (?:is|are|was|were|comes?|stands?|should be)(?=[,.;:)]| (?:at|when|before|in|then|now|and|for|on|as|to)\b)`,
    "unchanged, current",
  ),
  rule(String.raw`\bnot as (?:the|it|they|in|described|expected|a)\b|\b(?:is|are) so\b`, "differs from"),
  rule(String.raw`\b(?:is|are|was|were) (?:only )?to be\b`, "must, should, will"),
  rule(
    String.raw`(?:^|[.!?:] )Of (?!course)(?:a|an|the|many|several|each|its|all|two|which|what)\b`,
    "start with the subject",
  ),
  rule(
    String.raw`(?:^|[.!?;:] )[Ww]here (?:the|a|an|no|nothing|nobody|it|your|that|there|this|none|they|one)\b`,
    "if, when",
  ),
  rule(String.raw`[,;(] ?else\b(?! if)`, "or X if …"),
  rule(
    String.raw`\bwithout (?:one|it|them|that|any)[,:;.]|[;:] without (?:it|one|them)\b`,
    "repeat the noun",
  ),
  rule(
    String.raw`\bin (?:their|its|this) order\b|\bone after (?:the|an)other\b|\bat one time\b`,
    "in order, in parallel",
  ),
  rule(
    String.raw`\bbehind (?!(?:a|an|the|your|one) (?:\w+ )?(?:proxy|load|reverse|firewall|balancer|server)|proxies)[a-z]+`,
    "after, next to",
  ),
  rule(
    String.raw`\b\d+ \w+ at (?:most|least)\b|\bat the (?:latest|earliest)\b|\bso many\b|\bthe (?:least|most) (?:of|that)\b`,
    "at most N, at least N",
  ),
  rule(
    String.raw`\b(?:ways?|one) in which\b|\bin words\b|\bin sight\b|\bthe way out\b`,
    "how; in plain text; visible; the fix",
  ),
  rule(
    String.raw`\b(?:comes?|came|coming) (?:out|to nothing|from outside|apart|of it)\b|\bwhat comes\b`,
    "results in, happens",
  ),
];

export const voiceRules: readonly VoiceRule[] = [...words, ...grammar];
