import type { Socket } from 'node:net';
import type { Clock } from '../platform/clock.ts';
import type { SubmitPdu } from './pdu.ts';
import type { PendingSubmit } from './submit-window.ts';

/** Maximum that the socket gets at once: while a peer reads slowly, all that the socket has can be in doubt. */
const octetsAtOnce = 64 * 1024;

export interface OutboxOptions {
  /** Undefined until the connection is open. */
  socket: () => Socket | undefined;
  clock: Clock;
  /** Called when the socket gets a submit: from now on it can be in doubt. */
  onGiven: (pdu: SubmitPdu, messageId: string | null) => void;
  /** The peer reads again. */
  onDrain: () => void;
}

/** The queue of PDUs to write: answers and probes first, then submits. One write for each turn of the event loop. */
export function createOutbox({ socket, clock, onGiven, onDrain }: OutboxOptions) {
  let firsts: Buffer[] = [];
  let submits: PendingSubmit[] = [];
  /** The start times of writes that the operating system has not taken yet. */
  const writesMs: number[] = [];
  let turn: NodeJS.Immediate | undefined;
  let closed = false;

  function schedule(): void {
    turn ??= setImmediate(flush);
  }

  /** Takes frames for one write from both lists. */
  function take(): Buffer[] {
    const frames: Buffer[] = [];
    const nowMs = clock.steadyMs();
    let octets = 0;
    let [firstsTaken, submitsTaken] = [0, 0];
    for (; firstsTaken < firsts.length && octets < octetsAtOnce; firstsTaken++) {
      const frame = firsts[firstsTaken] as Buffer;
      octets += frame.length;
      frames.push(frame);
    }
    for (; submitsTaken < submits.length && octets < octetsAtOnce; submitsTaken++) {
      const entry = submits[submitsTaken] as PendingSubmit;
      const { unsent, messageId } = entry;
      // The submit was settled as not sent meanwhile, or the window's next check does that.
      if (unsent === undefined || entry.writeBeforeMs <= nowMs) continue;
      octets += unsent.frame.length;
      frames.push(unsent.frame);
      entry.unsent = undefined;
      entry.sentMs = nowMs;
      entry.onWritten?.();
      onGiven(unsent.pdu, messageId);
    }
    firsts = firsts.slice(firstsTaken);
    submits = submits.slice(submitsTaken);
    return frames;
  }

  function flush(): void {
    clearImmediate(turn);
    turn = undefined;
    const to = socket();
    while (to !== undefined && !closed && firsts.length + submits.length > 0 && !to.writableNeedDrain) {
      const frames = take();
      const octets = frames.length === 1 ? frames[0] : Buffer.concat(frames);
      if (octets === undefined || octets.length === 0) return;
      writesMs.push(clock.steadyMs());
      to.write(octets, written);
    }
  }

  function written(error?: Error | null): void {
    writesMs.shift();
    if (error || closed || writesMs.length > 0 || firsts.length + submits.length === 0) return;
    flush();
    onDrain();
  }

  return {
    /** Frames that the socket has not got because the peer reads too slowly. */
    get waiting(): number {
      return firsts.length + submits.length;
    },
    /** Since when the oldest write has been waiting for the peer. */
    get stalledSinceMs(): number | undefined {
      return writesMs[0];
    },
    /** Goes before all submits. */
    first(frame: Buffer): void {
      if (closed) return;
      firsts.push(frame);
      schedule();
    },
    submit(entry: PendingSubmit): void {
      submits.push(entry);
      schedule();
    },
    flush,
    close(): void {
      closed = true;
      clearImmediate(turn);
      firsts = [];
      submits = [];
    },
  };
}
