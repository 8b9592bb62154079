import type { ProcessCount } from './http/operations-api.ts';
import type { PlaceRequest } from './http/streams/stream-places.ts';
import type { DatabaseOptions } from './platform/database/database.ts';
import type { Woken } from './platform/work/wake-list.ts';
import type { Config } from './settings/settings.ts';

/** What a parent sends to a new web process. It uses their channel, so that no secret is in the environment. */
export interface WebProcessData {
  /** The number of the process, from 1. A process that replaces another has its number. */
  number: number;
  config: Config;
  connection: DatabaseOptions['connection'];
  secret: string;
  readable: boolean;
}

/** The descriptor of a web process over which it asks the parent for decisions. */
export const windowChannel = 4;

/** Calls to a web process, answered when they are done: `begin` when it listens. */
export interface CallsToProcess {
  begin(data: WebProcessData): Promise<{ carriers: string[] }>;
  processes(count: ProcessCount): void;
  metrics(): Promise<string>;
  flush(): Promise<void>;
  stop(order: { drainMs: number }): Promise<void>;
}

/** Calls to the parent. */
export interface CallsToParent {
  /** The process can be called from now on: Node drops what comes before it listens. */
  loaded(): void;
  /** Something is due for delivery with these carriers, or with any. */
  wake(carriers: Woken): void;
  /** Takes a place for a stream; false if all are taken. */
  takePlace(request: PlaceRequest): boolean;
  leavePlace(id: number): void;
  /** The texts of all processes. */
  metrics(): Promise<string[]>;
  /** Flushes the metering of all processes. */
  flush(): Promise<void>;
}
