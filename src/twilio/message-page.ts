import { invalidParameter } from './errors.ts';
import { messagesUri } from './message-record.ts';
import { idOf, sidOf } from './sid.ts';

/** A page of the list, as the caller asked for it. */
export interface PageQuery {
  To?: string | undefined;
  PageSize: number;
  Page: number;
  PageToken?: string | undefined;
}

/** Twilio allows 1,000. Libraries go on with the next page until they have enough. */
const mostShown = 100;
const tokenStart = 'PA';

export function readPage({ PageSize, PageToken }: PageQuery): { limit: number; after: string | undefined } {
  const limit = Math.min(PageSize, mostShown);
  if (PageToken === undefined) return { limit, after: undefined };
  const after = PageToken.startsWith(tokenStart) ? idOf('SM', PageToken.slice(tokenStart.length)) : undefined;
  if (after === undefined) throw invalidParameter('PageToken', 'must be one of a next_page_uri');
  return { limit, after };
}

/** The links of a page that ends with this id. */
export function pageLinks(accountSid: string, query: PageQuery, lastId: string | undefined) {
  const { To, PageSize, Page } = query;
  const link = (page: number, token: string | undefined) => {
    const parameters = new URLSearchParams({ ...(To !== undefined && { To }), PageSize: String(PageSize) });
    parameters.set('Page', String(page));
    if (token !== undefined) parameters.set('PageToken', token);
    return `${messagesUri(accountSid)}.json?${parameters}`;
  };
  return {
    uri: link(Page, query.PageToken),
    first_page_uri: link(0, undefined),
    next_page_uri: lastId === undefined ? null : link(Page + 1, tokenStart + sidOf('SM', lastId)),
    previous_page_uri: null,
  };
}
