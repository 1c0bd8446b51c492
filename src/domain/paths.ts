/** The path of the one endpoint that is released (R1); a story's request goes there when it does not say where. */
export const mePath = "/v1/relying-party/me";
