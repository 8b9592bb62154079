import type { Duplex } from 'node:stream';
import type { LimitDecision } from '../http/admission.ts';
import type { NodeWindows } from './node-windows.ts';
import { createFrameReader, readQuestions, type WindowQuestion, writeDecisions } from './window-frames.ts';
import type { LocalWindows } from './windows.ts';

export interface WindowKeeperOptions {
  windows: Record<keyof NodeWindows, LocalWindows>;
  /** How far the machine's steady clock is ahead of this process's clock. */
  machineAheadMs: number;
  /** The channel carried something that no web process of ours sends. */
  onBroken: (error: Error) => void;
}

/** The parent's side: decides what its web processes ask, each frame at once, so that decisions keep the order of questions. */
export function keepWindows(channel: Duplex, { windows, machineAheadMs, onBroken }: WindowKeeperOptions): void {
  function answer({ kind, key, limits, informedAtMs, givesBackMs }: WindowQuestion): LimitDecision {
    const asked = windows[kind];
    if (givesBackMs !== undefined) return asked.giveBack(key, { ...asked.peek(key, limits), chargedAtMs: givesBackMs });
    if (informedAtMs === undefined) return asked.peek(key, limits);
    return asked.decide(key, limits, informedAtMs - machineAheadMs);
  }

  const read = createFrameReader((payload) => {
    channel.write(writeDecisions(readQuestions(payload).map(answer)));
  });
  channel.on('data', (bytes: Buffer) => {
    // Answers to frames that arrived together leave together.
    channel.cork();
    try {
      read(bytes);
    } catch (error) {
      onBroken(error as Error);
    }
    channel.uncork();
  });
  // The web process has ended: its parent notices that by its exit.
  channel.on('error', () => {});
}
