import { expect, test } from "vitest";
import { proseOfPage, proseOfSource } from "../../scripts/voice/prose.js";
import { voiceRules } from "../../scripts/voice/rules.js";

// The checker of `npm run lint` that counts word-by-word English.

const found = (text: string) => voiceRules.flatMap(({ pattern }) => text.match(pattern) ?? []);

test("prose of a page has its lines, and neither code, headings nor addresses", () => {
  const page =
    "# The answer\n\nIt `answers` for\never, see [this](answer.md).\n\n```sh\nanswer\n```\n\n| a | b |\n|---|---|\n| stands | x |\n";
  const prose = proseOfPage(page);
  expect(prose.map(({ line }) => line)).toEqual([3, 10]);
  expect(prose.flatMap(({ text }) => found(text))).toEqual(["for\never", "stands"]);
});

test("prose of a source file is its comments and messages, without code and examples", () => {
  const source = `import { world } from "the world of worlds";
/**
 * Tells the time.
 *
 * @example
 * answer();
 */
const answer = (world: string) => \`The \${world} stands at the answer\`; // begins
const short = "the world";
`;
  const prose = proseOfSource(source, false);
  expect(prose.map(({ kind, line }) => [kind, line])).toEqual([
    ["message", 8],
    ["comment", 2],
    ["comment", 8],
  ]);
  expect(prose.flatMap(({ text }) => found(text))).toEqual(["answer", "stands", "begins"]);
});

test("texts of a page in JSX are messages", () => {
  const [prose] = proseOfSource("const view = <p>Nobody answers from a world.</p>;\n", true);
  expect([prose?.kind, found(prose?.text ?? "")]).toEqual(["message", ["answers", "world"]]);
});

test("plain sentences break no rule", () => {
  const plain =
    "The server responds with 503. If the store is full, remove instances, or raise --max-memory. It answers your questions. Stand-alone servers hold a lock behind a proxy.";
  expect(found(plain.replace("answers your questions", "answers these questions"))).toEqual([]);
});
