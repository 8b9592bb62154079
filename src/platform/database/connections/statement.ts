import type { Writable } from 'node:stream';
import type { ClientBase } from 'pg';
import type { CopyOut } from '../copy-streams.ts';
import type { CommitWatch } from './commit-watch.ts';

/** Postgres parses a named statement once per connection. */
export interface Statement {
  name: string;
  text: string;
  /**
   * Postgres plans it once per connection, not at each execution: only for a statement with one possible plan,
   * whatever the tables hold. Has no effect in a transaction.
   */
  planOnce?: true;
}

export interface Rows<Row> {
  rows: Row[];
  /** Number of rows returned or changed. */
  count: number;
}

/** Runs SQL: the pool or a transaction. Stores take it first, so that a caller can put two acts in one commit. */
export interface Tx {
  query<Row = Record<string, unknown>>(statement: Statement | string, values?: unknown[]): Promise<Rows<Row>>;
}

export interface Session extends Tx {
  /** The rows that `copy … to stdout` writes. */
  copyOut(statement: string): CopyOut;
  /** Takes the rows for `copy … from stdin`. After an error the session is of no use: close it. */
  copyIn(statement: string): Writable;
  onNotification(listener: (channel: string, payload: string) => void): void;
  close(): Promise<void>;
}

export async function run<Row>(
  client: ClientBase,
  statement: Statement | string,
  values: unknown[] = [],
  commits?: CommitWatch,
): Promise<Rows<Row>> {
  const query =
    typeof statement === 'string'
      ? { text: statement, values }
      : { name: statement.name, text: statement.text, values };
  const result = await client.query(query);
  commits?.require(client);
  return { rows: result.rows as Row[], count: result.rowCount ?? 0 };
}
