/** Counts under one key, as a store writes them. */
export interface CountedRow<Key> {
  key: Key;
  counts: Float64Array;
  /** Rises with each write of the row. */
  revision: number;
}

export interface CountBookOptions<Key> {
  columns: number;
  /** Makes a name for the rows of a page: no other node and no other page writes them. */
  newName: () => string;
  write: (name: string, rows: CountedRow<Key>[]) => Promise<void>;
  /** Maximum number of rows in memory; then a page with another name begins. */
  mostRows?: number;
}

interface Row<Key> extends CountedRow<Key> {
  /** Counted since the last write. */
  changed: boolean;
}

interface Page<Key> {
  name: string;
  rows: Map<string, Row<Key>>;
}

/** Maximum number of full pages that wait to be written: bounds memory in a long outage. */
const mostPages = 5;
const writtenTogether = 1000;

/** Counts in memory, with a bound, and writes absolute values in batches. */
export function createCountBook<Key>({ columns, newName, write, mostRows = 20_000 }: CountBookOptions<Key>) {
  let page: Page<Key> = { name: newName(), rows: new Map() };
  let full: Page<Key>[] = [];

  function turnPage(): void {
    if (full.length < mostPages) full.push(page);
    page = { name: newName(), rows: new Map() };
  }

  async function writePage({ name, rows }: Page<Key>): Promise<void> {
    const changed = [...rows.values()].filter((row) => row.changed);
    for (let from = 0; from < changed.length; from += writtenTogether) {
      const portion = changed.slice(from, from + writtenTogether);
      for (const row of portion) {
        row.changed = false;
        row.revision++;
      }
      try {
        await write(
          name,
          portion.map(({ key, counts, revision }) => ({ key, counts: counts.slice(), revision })),
        );
      } catch (error) {
        for (const row of portion) row.changed = true;
        throw error;
      }
    }
  }

  return {
    /** The counts of a key; the caller adds to them at once. `id` names the key, and `open` makes a key that is new. */
    counts(id: string, open: () => Key): Float64Array {
      let row = page.rows.get(id);
      if (row === undefined) {
        if (page.rows.size >= mostRows) turnPage();
        row = { key: open(), counts: new Float64Array(columns), revision: 0, changed: false };
        page.rows.set(id, row);
      }
      row.changed = true;
      return row.counts;
    },
    /** Writes the rows that changed. Rows are absolute, so a write whose answer was lost can simply run again. */
    async flush(): Promise<void> {
      for (const each of [...full]) {
        await writePage(each);
        full = full.filter((other) => other !== each);
      }
      await writePage(page);
    },
    /** Forgets rows that are no longer counted. */
    forget(isOver: (key: Key) => boolean): void {
      for (const [id, row] of page.rows) if (isOver(row.key)) page.rows.delete(id);
    },
  };
}
