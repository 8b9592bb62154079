/** Calls between a parent and one of its processes, in both directions, over the channel that Node opens between them. */
export interface ProcessCalls {
  /** Resolves with the answer; rejects when the other side's handler did, when it ended, or after `withinMs`. */
  call<Answer>(name: string, value?: unknown, withinMs?: number): Promise<Answer>;
  /** Asks for something and waits for no answer. */
  notify(name: string, value?: unknown): void;
  /** The handler for every message of the channel. */
  receive(message: unknown): void;
  /** Rejects all calls under way: the other side has ended. */
  end(): void;
}

export type CallHandlers = Record<string, (value: never) => unknown>;

type Message = { name: string; value?: unknown; call?: number } | { answer: number; value?: unknown; error?: string };

interface UnderWay {
  resolve: (value: never) => void;
  reject: (error: Error) => void;
  late: NodeJS.Timeout | undefined;
}

export function createProcessCalls(send: (message: Message) => void, handlers: CallHandlers): ProcessCalls {
  const underWay = new Map<number, UnderWay>();
  let last = 0;
  let ended = false;

  function take(id: number): UnderWay | undefined {
    const found = underWay.get(id);
    underWay.delete(id);
    clearTimeout(found?.late);
    return found;
  }

  async function answer(id: number, name: string, value: unknown): Promise<void> {
    try {
      send({ answer: id, value: await handlers[name]?.(value as never) });
    } catch (error) {
      send({ answer: id, error: error instanceof Error ? error.message : String(error) });
    }
  }

  return {
    call(name, value, withinMs) {
      if (ended) return Promise.reject(new Error('the other process has ended'));
      const id = ++last;
      return new Promise((resolve, reject) => {
        const giveUp = () => take(id)?.reject(new Error(`the other process did not answer: ${name}`));
        const late = withinMs === undefined ? undefined : setTimeout(giveUp, withinMs);
        underWay.set(id, { resolve, reject, late });
        send({ name, value, call: id });
      });
    },
    notify: (name, value) => send({ name, value }),
    receive(message) {
      const received = message as Message;
      if ('answer' in received) {
        const found = take(received.answer);
        if (received.error === undefined) found?.resolve(received.value as never);
        else found?.reject(new Error(received.error));
      } else if (received.call !== undefined) {
        void answer(received.call, received.name, received.value);
      } else {
        handlers[received.name]?.(received.value as never);
      }
    },
    end() {
      ended = true;
      for (const id of [...underWay.keys()]) take(id)?.reject(new Error('the other process has ended'));
    },
  };
}
