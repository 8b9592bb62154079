import { HeliographError } from '../../../sdk/src/index.ts';
import type { AccountRecord } from '../../../src/accounts/account-record.ts';
import type { RequestStoryRecord } from '../../../src/portal/developer/request-api.ts';
import type { FindPage, Found } from '../../../src/portal/find/found.ts';
import type { OpenedRecord } from '../../../src/portal/find/record-opening.ts';
import { failure } from '../process/exit.ts';
import type { Session } from './session.ts';

/** Finds records in the own account, or in all for an operator. */
export interface Finder {
  isOperator: boolean;
  find(text: string, limit: number): Promise<FindPage>;
  /** The timeline of a request. If an operator reads it, the audit log gets an entry. */
  readStory(correlationId: string): Promise<RequestStoryRecord | undefined>;
  /** The correlation id of the request that created a text or verification. */
  findRequest(found: Found): Promise<string | undefined>;
}

const tabs: Record<string, string> = { message: 'messages', verification: 'verifications' };

export async function createFinder(session: Session, asOperator: boolean): Promise<Finder> {
  const { operator, second_factor: factor } = await session.call<AccountRecord>('GET', '/portal/v1/me');
  if (asOperator && !operator) throw failure('Only operators can search in all accounts. You are not an operator.');
  // An operator who lacks a second factor that the service requires searches in the own account.
  const isOperator = asOperator || (operator && (factor.enabled || !factor.required));

  async function open(id: string): Promise<OpenedRecord | undefined> {
    const path = `/portal/v1/operator/records/${encodeURIComponent(id)}/open`;
    return unlessMissing(() => session.call<OpenedRecord>('POST', path));
  }

  return {
    isOperator,
    find: (q, limit) =>
      session.call<FindPage>('GET', isOperator ? '/portal/v1/operator/find' : '/portal/v1/find', {
        query: { q, limit },
      }),
    async readStory(id) {
      if (isOperator) return (await open(id))?.request ?? undefined;
      const path = `/portal/v1/requests/${encodeURIComponent(id)}`;
      return unlessMissing(() => session.call<RequestStoryRecord>('GET', path));
    },
    async findRequest({ type, id, application_id: application }) {
      if (type === 'request') return id;
      if (isOperator) {
        const opened = await open(id);
        return (opened?.message ?? opened?.verification)?.correlation_id;
      }
      const path = `/portal/v1/applications/${application}/${tabs[type]}/${encodeURIComponent(id)}`;
      return (await unlessMissing(() => session.call<{ correlation_id: string }>('GET', path)))?.correlation_id;
    },
  };
}

async function unlessMissing<Value>(ask: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof HeliographError && error.status === 404) return undefined;
    throw error;
  }
}
