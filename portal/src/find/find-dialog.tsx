import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { Icon } from '../parts/icon.tsx';
import { useSession } from '../session/session.tsx';
import { words } from '../words/find.tsx';
import styles from './find-dialog.module.css';
import { addRecent, readRecent } from './recent.ts';
import type { ResultEntry } from './result-entries.ts';
import lines from './result-line.module.css';
import { ResultLine } from './result-line.tsx';
import { useResults } from './use-results.ts';

const longest = 128;

/** Find over every page: arrow keys choose, Enter opens, Escape closes. */
export default function FindDialog({ close }: { close: () => void }) {
  const [, navigate] = useLocation();
  const { account } = useSession();
  const [query, setQuery] = useState('');
  const [chosen, setChosen] = useState(0);
  const dialog = useRef<HTMLDialogElement>(null);
  const { groups, isSearching, problem } = useResults(query);
  const text = query.trim();
  const all = groups.flatMap(({ entries }) => entries);
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    document.getElementById(`found-${chosen}`)?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);

  function open(entry: Pick<ResultEntry, 'href'> | undefined): void {
    const href = entry?.href ?? (text === '' ? undefined : `/find?${new URLSearchParams({ q: text })}`);
    if (href === undefined) return;
    addRecent(text);
    close();
    navigate(href);
  }

  function press(event: KeyboardEvent): void {
    const last = all.length - 1;
    if (event.key === 'ArrowDown') setChosen(chosen >= last ? 0 : chosen + 1);
    else if (event.key === 'ArrowUp') setChosen(chosen <= 0 ? Math.max(last, 0) : chosen - 1);
    // While the service still searches, Enter opens the page of results: the first entry so far may be the wrong one.
    else if (event.key === 'Enter') open(isSearching ? undefined : all[chosen]);
    else return;
    event.preventDefault();
  }

  function search(next: string): void {
    setQuery(next);
    setChosen(0);
  }

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the Escape key closes a dialog by itself.
    <dialog
      ref={dialog}
      className={styles.dialog}
      aria-label={words.title}
      onClose={close}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <div>
        <div className={styles.field}>
          <Icon name="search" />
          <input
            className={styles.input}
            role="combobox"
            aria-label={words.label}
            aria-expanded={all.length > 0}
            aria-controls="found"
            aria-autocomplete="list"
            aria-activedescendant={all.length > 0 ? `found-${chosen}` : undefined}
            placeholder={words.placeholder}
            autoComplete="off"
            spellCheck={false}
            autoFocus
            maxLength={longest}
            value={query}
            onChange={(event) => search(event.currentTarget.value)}
            onKeyDown={press}
          />
          <button type="button" className={styles.escape} onClick={close}>
            <span className={styles.hidden}>{words.close}</span>
            <span className={styles.escapeKey} aria-hidden="true">
              {words.escape}
            </span>
            <Icon name="cross" />
          </button>
        </div>
        <div role="status" className={styles.hidden}>
          {text === '' || isSearching ? '' : words.results(all.length)}
        </div>
        <div className={styles.results} role="listbox" id="found" aria-label={words.list} tabIndex={-1}>
          {groups.map(({ title, entries }) => (
            // biome-ignore lint/a11y/useSemanticElements: a group of options has no element of its own.
            <div key={title} role="group" aria-label={title}>
              <div className={styles.group} aria-hidden="true">
                {title}
              </div>
              {entries.map((entry) => {
                const index = all.indexOf(entry);
                return (
                  // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the focus and takes the keys.
                  // biome-ignore lint/a11y/useFocusableInteractive: the field names the active option.
                  <div
                    key={entry.key}
                    id={`found-${index}`}
                    role="option"
                    className={lines.result}
                    aria-selected={index === chosen}
                    onClick={() => open(entry)}
                    onMouseMove={() => setChosen(index)}
                  >
                    <ResultLine entry={entry} />
                  </div>
                );
              })}
            </div>
          ))}
        </div>
        {text === '' && <Start isOperator={account?.operator === true} search={search} />}
        {text !== '' && (
          <p className={styles.foot}>
            {problem === undefined ? footOf(isSearching, all.length) : words.failed}
            {!isSearching && all.length > 0 && (
              <button
                type="button"
                className={styles.all}
                onClick={() => open({ href: `/find?${new URLSearchParams({ q: text })}` })}
              >
                {words.all}
              </button>
            )}
          </p>
        )}
      </div>
    </dialog>
  );
}

function footOf(isSearching: boolean, count: number): string {
  if (isSearching) return words.searching;
  return count === 0 ? words.none : words.results(count);
}

/** Before anything is typed: what can be found, and what was searched for before. */
function Start({ isOperator, search }: { isOperator: boolean; search: (query: string) => void }) {
  const recent = readRecent();
  return (
    <div className={styles.start}>
      <p>{isOperator ? words.hint.operator : words.hint.developer}</p>
      {recent.length > 0 && (
        <>
          <div className={styles.group}>{words.recent}</div>
          <div className={styles.recent}>
            {recent.map((each) => (
              <button key={each} type="button" onClick={() => search(each)}>
                {each}
              </button>
            ))}
          </div>
        </>
      )}
    </div>
  );
}
