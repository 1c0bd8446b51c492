// An OpenAPI document as Markdown: each call, then the schemas. It goes through the same renderer as the pages.

// biome-ignore lint/suspicious/noExplicitAny: our own document, which tests check against the schema of OpenAPI
type Part = Readonly<Record<string, any>>;

/** The Markdown of a document under a title and a paragraph. */
export function openApiMarkdown({ info, paths, components }: Part, title: string, before: string): string {
  const all = Object.entries<Part>(paths).flatMap(([path, operations]) =>
    Object.entries<Part>(operations).map(([method, call]) => ({
      name: `${method.toUpperCase()} ${path}`,
      call,
    })),
  );
  // Responses that all calls share are listed once.
  const first = all[0]?.call.responses ?? {};
  const common = Object.keys(first).filter((status) =>
    all.every(({ call }) => call.responses[status]?.description === first[status]?.description),
  );
  const calls = all.map(({ name, call }) => `## \`${name}\`\n\n${callText(call, common)}`);
  const schemas = Object.entries<Part>(components.schemas).map(
    ([name, one]) => `### ${name}\n\n${fieldsText(one)}`,
  );
  const everywhere = responsesText(Object.fromEntries(common.map((status) => [status, first[status]])));
  const head = [`# ${title}`, before, info.description, "Every call can also return:", everywhere];
  return [...head, ...calls, "## Schemas", ...schemas].join("\n\n");
}

function callText(call: Part, common: readonly string[]): string {
  const { summary, description = "", parameters = [], requestBody, responses } = call;
  const bodies = Object.entries<Part>(requestBody?.content ?? {}).map(
    ([type, { schema = {} }]) => `**Body**, \`${type}\`:\n\n${fieldsText(schema)}`,
  );
  const rows = parameters.map((one: Part) => [
    `\`${one.name}\``,
    one.in,
    typeText(one.schema),
    one.description ?? "",
  ]);
  const own = Object.entries<Part>(responses).filter(([status]) => !common.includes(status));
  const contents = Object.values<Part>(responses).flatMap(({ content = {} }) => Object.values<Part>(content));
  const example = contents.find((one) => one.example !== undefined)?.example;
  const parts = [
    `${summary}. ${description}`,
    call["x-preview"] === true && "Only with `preview: true`; a guess of this project.",
    rows.length > 0 && table(["parameter", "in", "type", "meaning"], rows),
    ...bodies,
    responsesText(Object.fromEntries(own), summary),
    example !== undefined && `\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``,
  ];
  return parts.filter((part) => part !== false).join("\n\n");
}

function responsesText(responses: Part, summary = ""): string {
  const rows = Object.entries<Part>(responses).map(([status, { description, content = {} }]) => {
    const types = Object.entries<Part>(content).map(([type, { schema }]) =>
      type.endsWith("json") && schema !== undefined ? typeText(schema) : `\`${type}\``,
    );
    return [status, types.join(" or "), description === summary ? "" : description];
  });
  const [[status, content, when] = []] = rows;
  return rows.length === 1 && when === ""
    ? `**Response**: ${status} ${content}`
    : table(["response", "content", "when"], rows);
}

function fieldsText(schema: Part): string {
  const rows = fieldsOf(schema, "");
  return rows.length === 0 ? typeText(schema) : table(["field", "type", "meaning"], rows);
}

/** The members of a schema with those inside them: `limits.per_day`, `story[].say`. */
function fieldsOf(schema: Part, before: string): string[][] {
  if (schema.items !== undefined) return fieldsOf(schema.items, `${before}[]`);
  const own = Object.entries<Part>(schema.properties ?? {}).flatMap(([name, member]) => {
    const path = `${before}${before === "" ? "" : "."}${name}`;
    const need = schema.required?.includes(name) === true ? "" : "; optional";
    return [[`\`${path}\``, typeText(member) + need, member.description ?? ""], ...fieldsOf(member, path)];
  });
  const parts = [schema.allOf, schema.anyOf, schema.oneOf].flatMap((one) => one ?? []);
  return [...own, ...parts.flatMap((one) => fieldsOf(one, before))];
}

function typeText(schema: Part): string {
  const { $ref, enum: values, items, anyOf, oneOf, allOf, format = "", properties } = schema;
  if ($ref !== undefined)
    return $ref.replace(/^.*\/(\w+)$/, (_whole: string, name: string) => `[${name}](#${name.toLowerCase()})`);
  const options = anyOf ?? oneOf ?? allOf?.slice(0, 1);
  if (options !== undefined) return [...new Set(options.map(typeText))].join(" or ");
  const fixed = values ?? (schema.const === undefined ? undefined : [schema.const]);
  if (fixed !== undefined) return fixed.map((value: unknown) => `\`${value}\``).join(", ");
  if (items !== undefined) return `list of ${typeText(items)}`;
  const data = properties?.data;
  if ((data?.$ref ?? data?.items?.$ref) !== undefined) return `\`data\`: ${typeText(data as Part)}`;
  return `${[schema.type ?? "anything"].flat().join(" or ")} ${format}`.trim();
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [header, header.map(() => "---"), ...rows]
    .map(
      (cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`,
    )
    .join("\n");
}
