import { unavailable } from '../../platform/errors.ts';
import type { ProcessCalls } from '../../platform/processes/calls.ts';

/** Streams of events and of the inbox have places of their own. */
export type StreamKind = 'events' | 'inbox';

/** Per application, kind and node, however many processes it has. */
export const mostStreams = 5;

export interface StreamPlaces {
  /** Takes a place. Undefined if all are taken; else the result gives it back. */
  take(kind: StreamKind, applicationId: string): Promise<(() => void) | undefined>;
}

/** What a web process says to the parent. */
export interface PlaceRequest {
  /** Chosen by the process, so it can give a place back before it knows that it has it. */
  id: number;
  kind: StreamKind;
  applicationId: string;
}

/** The places of a node, in its only process or in the parent of several. */
export function createStreamPlaces(): StreamPlaces & {
  takeNow(kind: StreamKind, applicationId: string): (() => void) | undefined;
} {
  const taken = new Map<string, number>();

  function takeNow(kind: StreamKind, applicationId: string): (() => void) | undefined {
    const key = `${kind} ${applicationId}`;
    const count = taken.get(key) ?? 0;
    if (count >= mostStreams) return undefined;
    taken.set(key, count + 1);
    let isGiven = false;
    return () => {
      if (isGiven) return;
      isGiven = true;
      const left = (taken.get(key) ?? 1) - 1;
      if (left === 0) taken.delete(key);
      else taken.set(key, left);
    };
  }
  return { takeNow, take: async (kind, applicationId) => takeNow(kind, applicationId) };
}

/** The parent's side for one web process. `end`: the process has ended for any reason, and no longer holds a place. */
export function keepPlaces(places: ReturnType<typeof createStreamPlaces>) {
  const held = new Map<number, () => void>();
  const leave = (id: number): void => {
    held.get(id)?.();
    held.delete(id);
  };
  return {
    take({ id, kind, applicationId }: PlaceRequest): boolean {
      const given = places.takeNow(kind, applicationId);
      if (given !== undefined) held.set(id, given);
      return given !== undefined;
    },
    leave,
    end(): void {
      for (const id of [...held.keys()]) leave(id);
    },
  };
}

const answersWithinMs = 2000;

/** A web process's side: asks the parent. Messages keep their order, so what is given back late was taken before. */
export function createParentPlaces(parent: Pick<ProcessCalls, 'call' | 'notify'>): StreamPlaces {
  let last = 0;
  return {
    async take(kind, applicationId) {
      const id = ++last;
      const leave = () => parent.notify('leavePlace', id);
      const asked: PlaceRequest = { id, kind, applicationId };
      try {
        return (await parent.call<boolean>('takePlace', asked, answersWithinMs)) ? leave : undefined;
      } catch {
        leave();
        throw unavailable('It cannot be decided at the moment whether a stream may be opened.');
      }
    },
  };
}
