/** Something that holds an answer back until the end of the turn. */
export interface HeldAnswer {
  flush(): void;
}

/**
 * Writes all answers of one turn of the event loop together at its end: each write wakes its reader, and waking a
 * process that is already awake costs much less. Both lanes use it.
 */
export function createEndOfTurn(onWritten: () => void): (answer: HeldAnswer) => void {
  let held: HeldAnswer[] = [];
  const flush = () => {
    const answers = held;
    held = [];
    for (const answer of answers) answer.flush();
    onWritten();
  };
  return (answer) => {
    if (held.push(answer) === 1) setImmediate(flush);
  };
}
