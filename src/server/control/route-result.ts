/** What a route responds with. Its errors are thrown, and `sendControlError` responds to them. */
export type RouteResult =
  | { readonly kind: "json"; readonly status: 200 | 201; readonly json: object }
  /** `type`: the media type. */
  | { readonly kind: "text"; readonly type: string; readonly text: string }
  /** For browsers. A 404 is the page in place of one that does not exist. */
  | {
      readonly kind: "page";
      readonly status: 200 | 404;
      readonly type: "html" | "css";
      readonly text: string;
    }
  | { readonly kind: "picture"; readonly file: string; readonly content: Buffer }
  | { readonly kind: "redirect"; readonly to: string }
  /** A 204. */
  | { readonly kind: "nothing" };
