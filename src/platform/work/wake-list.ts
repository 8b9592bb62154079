/** Whom to wake: those of these names, or everyone. */
export type Woken = readonly string[] | undefined;

/** Collects whom to wake until a wake-up is sent. */
export interface WakeList {
  add(names: Woken): void;
  /** What was added since the last call. */
  take(): Woken;
}

export function createWakeList(): WakeList {
  const names = new Set<string>();
  let isEveryone = false;
  return {
    add(added) {
      if (added === undefined) isEveryone = true;
      else for (const name of added) names.add(name);
    },
    take() {
      const taken = isEveryone ? undefined : [...names];
      names.clear();
      isEveryone = false;
      return taken;
    },
  };
}

/** One wake-up, with all names, serves everything that asks for one in a turn of the event loop. */
export function oncePerTurn(tell: (names: Woken) => void): (names: Woken) => void {
  const list = createWakeList();
  let isDue = false;
  return (names) => {
    list.add(names);
    if (isDue) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      tell(list.take());
    });
  };
}
