import type { ErrorText } from 'virtual:errors';
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { Icon } from '../../parts/icon.tsx';
import { words } from '../../words/docs.tsx';
import { guides } from '../guides/guide-list.ts';
import { Method } from '../method.tsx';
import { loadAll, loadPart } from '../model/load.ts';
import type { Api } from '../model/operations.ts';
import styles from './search-dialog.module.css';
import {
  errorEntries,
  type GuideSections,
  guideEntries,
  operationEntries,
  type SearchEntry,
  search,
} from './search-index.ts';

const kinds = { field: words.search.field, error: words.search.error, guide: words.search.guide };

/** Search over operations, fields, errors and guides: arrow keys choose, Enter opens, Escape closes. */
export function SearchDialog({ close }: { close: () => void }) {
  const [, navigate] = useLocation();
  const [query, setQuery] = useState('');
  const [chosen, setChosen] = useState(0);
  const dialog = useRef<HTMLDialogElement>(null);
  const entries = useEntries();
  const results = useMemo(() => search(entries, query), [entries, query]);
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    document.getElementById(`result-${chosen}`)?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);

  function open(entry: SearchEntry | undefined): void {
    if (entry === undefined) return;
    close();
    navigate(entry.href);
  }

  function press(event: KeyboardEvent): void {
    const last = results.length - 1;
    if (event.key === 'ArrowDown') setChosen(chosen >= last ? 0 : chosen + 1);
    else if (event.key === 'ArrowUp') setChosen(chosen <= 0 ? Math.max(last, 0) : chosen - 1);
    else if (event.key === 'Enter') open(results[chosen]);
    else return;
    event.preventDefault();
  }

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the Escape key closes a dialog by itself.
    <dialog
      ref={dialog}
      className={styles.dialog}
      aria-label={words.search.title}
      onClose={close}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <div className={styles.box}>
        <div className={styles.field}>
          <Icon name="search" />
          <input
            className={styles.input}
            role="combobox"
            aria-label={words.search.label}
            aria-expanded={results.length > 0}
            aria-controls="search-results"
            aria-autocomplete="list"
            aria-activedescendant={results.length > 0 ? `result-${chosen}` : undefined}
            placeholder={words.search.placeholder}
            autoFocus
            maxLength={200}
            value={query}
            onChange={(event) => {
              setQuery(event.currentTarget.value);
              setChosen(0);
            }}
            onKeyDown={press}
          />
          <kbd>{words.search.escape}</kbd>
        </div>
        <div role="status" className={styles.hidden}>
          {query.trim() === '' ? '' : words.search.results(results.length)}
        </div>
        <div className={styles.results} role="listbox" id="search-results" aria-label={words.search.list} tabIndex={-1}>
          {results.map((entry, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the focus and takes the keys.
            // biome-ignore lint/a11y/useFocusableInteractive: the field names the active option.
            <div
              key={entry.href}
              id={`result-${index}`}
              role="option"
              className={styles.result}
              aria-selected={index === chosen}
              onClick={() => open(entry)}
              // A browser also emits this when the list changes under a pointer that rests.
              onMouseMove={({ movementX, movementY }) => (movementX !== 0 || movementY !== 0) && setChosen(index)}
            >
              <span className={styles.kind}>
                {entry.kind === 'operation' ? <Method method={entry.method ?? ''} small /> : kinds[entry.kind]}
              </span>
              <span className={styles.text}>
                <span
                  className={styles.title}
                  data-code={entry.kind === 'field' || entry.kind === 'error' || undefined}
                >
                  {entry.title}
                </span>
                <span className={styles.about}>{entry.about}</span>
              </span>
            </div>
          ))}
        </div>
        {results.length === 0 && (
          <p className={styles.empty}>{query.trim() === '' ? words.search.hint : words.search.none}</p>
        )}
      </div>
    </dialog>
  );
}

/** The APIs immediately; the other parts, the errors and the text of the guides once they are loaded. */
function useEntries(): SearchEntry[] {
  const [apis, setApis] = useState<Api[]>([]);
  const [sections, setSections] = useState<GuideSections>({});
  const [errors, setErrors] = useState<ErrorText[]>([]);
  useEffect(() => {
    let gone = false;
    const show = (loaded: Api[]) => gone || setApis(loaded);
    // A part that cannot be loaded is not searched; its own page shows the error.
    loadPart('apis')
      .then(show)
      .then(loadAll)
      .then(show)
      .catch(() => {});
    import('virtual:guide-search').then(({ default: texts }) => gone || setSections(texts)).catch(() => {});
    import('virtual:errors').then(({ default: texts }) => gone || setErrors(texts)).catch(() => {});
    return () => {
      gone = true;
    };
  }, []);
  return useMemo(
    () => [...operationEntries(apis), ...guideEntries(guides, sections), ...errorEntries(errors)],
    [apis, sections, errors],
  );
}
