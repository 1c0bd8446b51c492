import { expect, test } from "vitest";
import { ScenarioError, type ScenarioProblem } from "../problems.js";
import { parseScenario } from "../scenario-source.js";

function problemsOf(text: string): readonly ScenarioProblem[] {
  try {
    parseScenario(text);
    return [];
  } catch (error) {
    if (error instanceof ScenarioError) return error.problems;
    throw error;
  }
}

const start = "version: 1\norganizations:\n  bank:\n    type: bank\n    keys:\n";
const key = "      main: { environment: test }\n";

/** The mistakes of people who type YAML: the line that the problem shows, its hint, and the text once that is applied to it. */
const mistakes: readonly (readonly [
  what: string,
  wrong: string,
  line: number,
  hint: string,
  mended: string,
])[] = [
  [
    "a tab",
    "version: 1\norganizations:\n\tbank: { type: bank }\n",
    3,
    "indent with spaces",
    "version: 1\norganizations:\n  bank: { type: bank }\n",
  ],
  [
    "no space after a colon, first",
    `version:1\n${start.slice(11)}${key}`,
    1,
    "write it as name: value",
    start + key,
  ],
  [
    "no space after a colon, in lines",
    (start + key).replace("type: bank", "type:bank"),
    4,
    "write it as name: value",
    start + key,
  ],
  [
    "no space after a colon, in braces",
    `${start}      main: { environment:test }\n`,
    6,
    "colon and a space after it",
    start + key,
  ],
  [
    "no space before a brace",
    `${start}      main:{ environment: test }\n`,
    6,
    "colon and a space after it",
    start + key,
  ],
  ["no colon", (start + key).replace("type: bank", "type bank"), 4, "write it as name: value", start + key],
  [
    "no colon before a brace",
    `${start}      main { environment: test }\n`,
    6,
    "colon and a space after it",
    start + key,
  ],
  ["a line of words", `${start}${key}oops\n`, 7, "or remove it", start + key],
  [
    "a colon in a text",
    `name: Banks: two\n${start}${key}`,
    1,
    "put double quotes around a text with a colon",
    `name: "Banks: two"\n${start}${key}`,
  ],
  [
    "a colon in a text in braces",
    `${start}      main: { environment: test, name: Core: banking }\n`,
    6,
    "put double quotes around a text with a colon",
    `${start}      main: { environment: test, name: "Core: banking" }\n`,
  ],
  [
    "an open brace",
    `${start}      main: { environment: test\n      other: { environment: test }\n`,
    7,
    "close each { and [",
    `${start}      main: { environment: test }\n      other: { environment: test }\n`,
  ],
  [
    "an open bracket",
    `${start}      main: { environment: test, scopes: [consents:read }\n`,
    6,
    "close each { and [",
    `${start}      main: { environment: test, scopes: [consents:read] }\n`,
  ],
  ["a brace too many", `${start}      main: { environment: test } }\n`, 6, "close each { and [", start + key],
  [
    "an open quote",
    `name: "Banks of the north\n${start}${key}`,
    7,
    "close it on the line where it starts, here or above",
    `name: "Banks of the north"\n${start}${key}`,
  ],
  [
    "an open quote before another",
    `name: "Banks\ndescription: "two"\n${start}${key}`,
    1,
    "close it on the line where it starts, here or above",
    `name: "Banks"\ndescription: "two"\n${start}${key}`,
  ],
  [
    "an apostrophe",
    `name: 'Ben's bank'\n${start}${key}`,
    1,
    "put double quotes around a text with quotes",
    `name: "Ben's bank"\n${start}${key}`,
  ],
  [
    "an @ in front",
    `name: @bank\n${start}${key}`,
    1,
    "put double quotes around it",
    `name: "@bank"\n${start}${key}`,
  ],
  [
    "a backtick in front",
    `name: \`bank\`\n${start}${key}`,
    1,
    "put double quotes around it",
    `name: "\`bank\`"\n${start}${key}`,
  ],
  [
    "a dash in front",
    `name: - bank\n${start}${key}`,
    1,
    "put double quotes around it",
    `name: "- bank"\n${start}${key}`,
  ],
  ["too few spaces", (start + key).replace("    keys", "   keys"), 5, "same number of spaces", start + key],
  [
    "too many spaces",
    (start + key).replace("    keys", "      keys"),
    4,
    "indent the next line like this one",
    start + key,
  ],
  [
    "no comma",
    `${start}      main: { environment: test, state: active name: Main }\n`,
    6,
    "a comma between two fields",
    `${start}      main: { environment: test, state: active, name: Main }\n`,
  ],
  [
    "braces of a path in braces",
    `${start}${key}endpoints: { a: { path: /a/{id} } }\n`,
    7,
    "put double quotes around it",
    `${start}${key}endpoints: { a: { path: "/a/{id}" } }\n`,
  ],
  [
    "a placeholder of a template",
    `name: {{ name }}\n${start}${key}`,
    1,
    "double quotes around {{ }}",
    `name: "{{ name }}"\n${start}${key}`,
  ],
  ["a name twice", `${start}${key}seed: 1\nseed: 2\n`, 8, "remove one of the two", `${start}${key}seed: 1\n`],
];

test.each(mistakes)("%s has a hint that mends it", (_what, wrong, line, hint, mended) => {
  const [problem] = problemsOf(wrong);
  expect(problem).toMatchObject({
    line,
    hint: expect.stringContaining(hint),
    caret: expect.stringMatching(/\^$/),
  });
  expect(problemsOf(mended)).toEqual([]);
});
