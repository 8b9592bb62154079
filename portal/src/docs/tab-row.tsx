import { type KeyboardEvent, type ReactNode, useId, useRef } from 'react';
import styles from './tab-row.module.css';

interface TabRowProps<Name extends string> {
  label: string;
  tabs: { name: Name; title: ReactNode }[];
  chosen: Name;
  choose: (name: Name) => void;
  children: ReactNode;
}

/** Tabs over one panel. Arrow keys move between them, as the pattern for tabs says. */
export function TabRow<Name extends string>({ label, tabs, chosen, choose, children }: TabRowProps<Name>) {
  const id = useId();
  const row = useRef<HTMLDivElement>(null);

  function move(event: KeyboardEvent): void {
    const at = tabs.findIndex(({ name }) => name === chosen);
    const steps: Record<string, number> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 };
    const to = steps[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const index = (to + tabs.length) % tabs.length;
    const next = tabs[index];
    if (next === undefined) return;
    choose(next.name);
    row.current?.querySelectorAll<HTMLElement>('[role=tab]')[index]?.focus();
  }

  return (
    <>
      <div className={styles.row} role="tablist" aria-label={label} ref={row} onKeyDown={move}>
        {tabs.map(({ name, title }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            className={styles.tab}
            aria-selected={name === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={name === chosen ? 0 : -1}
            onClick={() => choose(name)}
          >
            {title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`}>
        {children}
      </div>
    </>
  );
}
