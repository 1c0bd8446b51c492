import { SaxesParser } from "saxes";

/** An element of an XML document. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** The text directly in it. */
  readonly text: string;
}

/** The elements of an XML document, in the order in which they begin; throws when it is not well-formed. */
export function elementsOf(xml: string): XmlElement[] {
  const elements: { name: string; attributes: Record<string, string>; text: string }[] = [];
  const open: typeof elements = [];
  const parser = new SaxesParser();
  parser.on("opentag", ({ name, attributes }) => {
    const element = { name, attributes: attributes as Record<string, string>, text: "" };
    elements.push(element);
    open.push(element);
  });
  parser.on("text", (text) => {
    const inside = open.at(-1);
    if (inside !== undefined) inside.text += text;
  });
  parser.on("closetag", () => void open.pop());
  parser.on("error", (error) => {
    throw error;
  });
  parser.write(xml).close();
  return elements;
}
