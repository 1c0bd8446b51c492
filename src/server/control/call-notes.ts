import type { Response } from "express";

/** What the handlers of one call tell each other. */
interface CallNotes {
  /** Whether the caller has the token, or needs none. */
  isAdmitted?: boolean;
  /** The code of the error that the call got. */
  errorCode?: string | undefined;
}

export function callNotesOn(response: Response): CallNotes {
  return response.locals;
}
