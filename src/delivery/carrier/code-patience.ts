// A person waits for a code, so a code leaves a slow carrier sooner than other texts do.

/** A code without an answer for this long goes to another carrier. */
export const codeAnswerMs = 5000;
/** A carrier that throttles for longer than this gets no codes: they go to another carrier. */
export const codeWaitMs = 3000;
