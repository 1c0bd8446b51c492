/** The statuses of a service that fails, each with its error body. */
export const failures = {
  500: { reason: "Internal Server Error", code: "internal_error", message: "The service failed to respond." },
  501: { reason: "Not Implemented", code: "not_implemented", message: "The service cannot do this." },
  502: {
    reason: "Bad Gateway",
    code: "bad_gateway",
    message: "The gateway got no valid response from the service.",
  },
  503: {
    reason: "Service Unavailable",
    code: "service_unavailable",
    message: "The service is not available at the moment.",
  },
  504: {
    reason: "Gateway Timeout",
    code: "gateway_timeout",
    message: "The gateway got no response from the service in time.",
  },
} as const;

export type FailureStatus = keyof typeof failures;
