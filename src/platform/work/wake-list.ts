/** Workers to wake: those with these names, or all. */
export type Woken = readonly string[] | undefined;

/** Collects names to wake until a wake-up is sent. */
export function createWakeList() {
  const names = new Set<string>();
  let isEveryone = false;
  return {
    add(added: Woken): void {
      if (added === undefined) isEveryone = true;
      else for (const name of added) names.add(name);
    },
    /** Returns and forgets the names that were added since the last call. */
    take(): Woken {
      const taken = isEveryone ? undefined : [...names];
      names.clear();
      isEveryone = false;
      return taken;
    },
  };
}

/** One wake-up with all names serves all requests of an event-loop turn. */
export function oncePerTurn(send: (names: Woken) => void): (names: Woken) => void {
  const list = createWakeList();
  let isDue = false;
  return (names) => {
    list.add(names);
    if (isDue) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      send(list.take());
    });
  };
}
