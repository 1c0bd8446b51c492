import { anyStatus, type Variant, type VariationRow } from "./row.js";

/** How a request id can look. Each form keeps the digits that make ids differ, and no two forms have the same length. */
export const requestIdRow: VariationRow = {
  id: "request_id_form",
  gap: "The form of X-Request-Id is not stated, beyond it being a string that identifies the request.",
  statuses: anyStatus,
  variants: [
    { id: "prefixed", why: "A prefix says what it is." },
    formed("uuid", uuidOf, "UUIDs are what most libraries make."),
    formed("trace", (digits) => digits + digits.slice(0, 8), "It is the trace's id (W3C Trace Context)."),
    formed(
      "dated",
      (digits) => `1-${digits.slice(16)}-${digits}`,
      "A load balancer makes it, with a time in it.",
    ),
    formed("number", (digits) => String(Number.parseInt(digits.slice(16), 16)), "A counter."),
    formed("opaque", (digits) => `gw:7/${digits}+A==`, "Bytes in Base64, behind the name of a machine."),
    formed("long", (digits) => `${digits}.`.repeat(8), "Each layer adds its own."),
  ],
};

function formed(id: string, form: (digits: string) => string, why: string): Variant {
  return { id, why, requestId: (usual) => form(usual.slice("req_".length)) };
}

function uuidOf(digits: string): string {
  const all = digits + digits.slice(0, 6);
  return `${all.slice(0, 8)}-${all.slice(8, 12)}-4${all.slice(12, 15)}-a${all.slice(15, 18)}-${all.slice(18, 30)}`;
}
