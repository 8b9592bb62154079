// Tests: test/smpp-server/peers.test.ts
import type { Socket } from 'node:net';
import type { Clock } from '../platform/clock.ts';
import { encodeSubmitAnswers, type SubmitAnswer } from '../smpp/encode.ts';

/** With this much unread by the peer, nothing more is read from it. */
const fullOctets = 256 * 1024;

/** What a peer has not read yet. One write for each turn of the event loop. */
export interface Outgoing {
  readonly isFull: boolean;
  /** Since when the oldest write waits for the peer. */
  readonly stalledSinceMs: number | undefined;
  send(frame: Buffer): void;
  answerSubmit(sequence: number, status: number, messageId: string): void;
  /** Writes what is there now. */
  flush(): void;
  close(): void;
}

export function createOutgoing(socket: Socket, clock: Clock, onDrain: () => void): Outgoing {
  let frames: Buffer[] = [];
  /** Answers to submits, which are joined into one frame. */
  let answers: SubmitAnswer[] = [];
  let turn: NodeJS.Immediate | undefined;
  let closed = false;
  /** The start times of writes that the operating system has not taken yet. */
  const writesMs: number[] = [];

  function flush(): void {
    clearImmediate(turn);
    turn = undefined;
    addAnswers();
    const [first] = frames;
    if (closed || first === undefined || !socket.writable) return;
    const all = frames.length === 1 ? first : Buffer.concat(frames);
    frames = [];
    writesMs.push(clock.steadyMs());
    socket.write(all, written);
  }

  function addAnswers(): void {
    if (answers.length === 0) return;
    frames.push(encodeSubmitAnswers(answers));
    answers = [];
  }

  function written(): void {
    writesMs.shift();
    if (!closed) onDrain();
  }

  return {
    get isFull() {
      return socket.writableLength > fullOctets;
    },
    get stalledSinceMs() {
      return writesMs[0];
    },
    send(frame) {
      if (closed) return;
      // Nothing overtakes an answer.
      addAnswers();
      frames.push(frame);
      turn ??= setImmediate(flush);
    },
    answerSubmit(sequence, status, messageId) {
      if (closed) return;
      answers.push({ sequence, status, messageId });
      turn ??= setImmediate(flush);
    },
    flush,
    close() {
      closed = true;
      clearImmediate(turn);
      frames = [];
      answers = [];
    },
  };
}
