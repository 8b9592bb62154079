import { guides } from '../docs/guides/guide-list.ts';
import { loadPart } from '../docs/model/load.ts';
import { guideEntries, operationEntries, type SearchEntry, search } from '../docs/search/search-index.ts';

const most = 5;

/** Loads the calls that applications make, and the guides. */
export async function loadReferenceSearch(): Promise<(query: string) => SearchEntry[]> {
  const apis = await loadPart('apis');
  const entries = [...operationEntries(apis), ...guideEntries(guides)];
  const whole = entries.filter(({ kind }) => kind === 'operation' || kind === 'guide' || kind === 'error');
  return (query) => search(whole, query, most);
}
