import type { Found } from '../api/find-types.ts';
import { words } from '../words/find.tsx';

/** A line among the results, and where it leads. */
export interface ResultEntry {
  key: string;
  kind: string;
  title: string;
  isCode: boolean;
  about: string;
  status: string | undefined;
  at: string | undefined;
  href: string;
}

const tabs: Record<string, string> = {
  message: 'messages',
  verification: 'verifications',
  request: 'requests',
  webhook: 'webhooks',
};

/** The page of a result. What belongs to another account is opened among the pages of operators. */
export function hrefOf({ type, id, application_id, account_id }: Found, ownAccountId: string): string {
  const isOwn = account_id === ownAccountId && application_id !== null;
  if (type === 'account') return `/operator/accounts/${id}`;
  if (type === 'application') return isOwn ? `/applications/${id}` : `/operator/limits/${id}`;
  const tab = tabs[type];
  if (isOwn && tab !== undefined) return `/applications/${application_id}/${tab}/${id}`;
  if (isOwn) return `/applications/${application_id}/${type === 'sender' ? 'senders' : 'credentials'}`;
  if (type === 'message' || type === 'verification' || type === 'request') return `/operator/records/${id}`;
  return account_id === null ? `/operator/limits/${application_id}` : `/operator/accounts/${account_id}`;
}

export function entryOf(found: Found, ownAccountId: string): ResultEntry {
  const { type, id, name, to, status, at, application_name } = found;
  const isPlace = type === 'application' || type === 'account';
  const owner = isPlace ? id : (application_name ?? words.deleted);
  return {
    key: `${type} ${id}`,
    kind: words.types[type] ?? type,
    title: name ?? to ?? id,
    isCode: name === null && to === null,
    about: to === null ? owner : `${owner} · ${id}`,
    status: status ?? undefined,
    at: isPlace ? undefined : at,
    href: hrefOf(found, ownAccountId),
  };
}

export const isRecord = ({ type }: Found) => type === 'message' || type === 'verification' || type === 'request';
