import { apiTitle } from '../../api/apis.ts';
import type { RouteRule } from '../../api/operator-types.ts';
import { words } from '../../words/operator/routes.ts';
import { hoursText } from './route-diff.ts';

/** Which texts a rule is for, as a sentence. */
export function matchText({ match }: RouteRule): string {
  const { countries = [], prefixes = [], apis = [], applications = [], senders = [] } = match;
  const where = [
    ...(countries.length > 0 ? [words.text.countries(countries.join(', '))] : []),
    ...(prefixes.length > 0 ? [words.text.prefixes(prefixes.join(' or '))] : []),
  ];
  const parts = [
    where.length === 0 ? words.text.everyNumber : words.text.numbers(where.join(' and ')),
    ...(apis.length > 0 ? [`by ${apis.map(apiTitle).join(' or ')}`] : []),
    ...(senders.length > 0 ? [words.text.from(senders.join(' or '))] : []),
    ...(applications.length > 0 ? [`of ${applications.join(' or ')}`] : []),
  ];
  return `${parts.join(', ')}.`;
}

/** The other effects of a rule. */
export function extrasOf({ failover, failover_bulk, from, hours }: RouteRule): string[] {
  const bulk = failover_bulk === false ? words.text.onlyCodes : words.text.bulk(failover_bulk.per_minute);
  return [
    ...(failover.length > 0 ? [words.text.failover(failover.join(', then '), bulk)] : []),
    ...(from === null ? [] : [words.text.sentAs(from)]),
    ...(hours === null ? [] : [words.text.hours(hoursText(hours))]),
  ];
}

/** Each carrier with its share of the texts. */
export function sharesOf({ carriers }: RouteRule): string[] {
  const total = carriers.reduce((sum, { weight }) => sum + weight, 0);
  return carriers.map(({ carrier, weight }) =>
    carriers.length === 1 || total === 0 ? carrier : `${carrier} ${Math.round((100 * weight) / total)} %`,
  );
}
