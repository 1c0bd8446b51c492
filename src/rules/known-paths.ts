/** The path of the one endpoint that is released (R1); a story's request goes there by default. */
export const mePath = "/v1/relying-party/me";

/** The path of the sandbox's own tools, under any base URL; API clients do not call them. */
export const controlPath = "/__sandbox";
