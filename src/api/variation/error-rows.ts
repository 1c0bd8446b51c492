import { type Draft, refused, type Variant, type VariationRow, withMembers } from "./row.js";

const error = ({ error }: Draft["body"]) => error;

/** The rows of what a refusal says. The top level has `error` alone (R27). */
export const errorRows: readonly VariationRow[] = [
  {
    id: "error_members",
    gap: "Whether error has further members is not stated.",
    statuses: refused,
    variants: [
      { id: "none", why: "Only those that are named." },
      withMembers(error, "type", { type: "about:blank" }, "The error doubles as problem details (RFC 9457)."),
      withMembers(
        error,
        "status",
        { status: null, retryable: false },
        "A shared serializer adds what others fill in.",
      ),
      withMembers(
        error,
        "nested",
        { links: [{ rel: "help", href: "/help/errors" }] },
        "The error points to its help page.",
      ),
    ],
  },
  {
    id: "details_without_reason",
    gap: "The content of error.details is not shown; a 401 never says why (R14).",
    statuses: [401, 404, 405],
    fixedBy: "error_details",
    variants: [
      { id: "absent", why: "There is nothing more to say." },
      withMembers(error, "empty", { details: {} }, "A serializer writes what it has, and it has nothing."),
      withMembers(
        error,
        "help",
        { details: { help: "/help/errors", fields: [] } },
        "Every error points to the manual.",
      ),
    ],
  },
  {
    id: "message",
    gap: "The text of error.message is not shown.",
    statuses: refused,
    variants: [
      { id: "a_sentence", why: "For people who write clients." },
      {
        id: "reason_phrase",
        why: "The gateway answers in place of the application.",
        change({ status, body }) {
          if (body.error !== undefined) body.error.message = reasonPhrases[status] ?? "Error";
        },
      },
      saying("other_words", "Your request cannot be processed.", "Somebody improves the wording."),
      saying("empty", "", "The code says it all."),
      saying(
        "other_language",
        "Die Anfrage wurde zurückgewiesen – 요청이 거부되었습니다 🚫",
        "Messages are translated.",
      ),
      saying("lines", "Request refused.\n\n\t- See the manual.\r\n", "A template with line breaks."),
      saying("markup", "<p>Request &quot;refused&quot;</p>", "The text was written for a page."),
      saying(
        "long",
        "This request was refused; please read the manual before you try again. ".repeat(40),
        "A text of the legal department.",
      ),
    ],
  },
];

const reasonPhrases: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  422: "Unprocessable Content",
  429: "Too Many Requests",
};

function saying(id: string, message: string, why: string): Variant {
  return {
    id,
    why,
    change({ body }) {
      if (body.error !== undefined) body.error.message = message;
    },
  };
}
