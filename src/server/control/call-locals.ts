import type { Response } from "express";

/** What the handlers of one call tell each other, in the `locals` of its response. */
interface CallLocals {
  /** Whether the caller has the token, or needs none. */
  isAdmitted?: boolean;
  /** The code of the error that the call got. */
  errorCode?: string | undefined;
}

export function localsOf(response: Response): CallLocals {
  return response.locals;
}
