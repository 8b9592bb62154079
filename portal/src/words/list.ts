const count = new Intl.NumberFormat();

/** Shared by all lists. */
export const words = {
  find: 'Find',
  showMore: 'Show more',
  /** A table often has the title of the section that it is in, and needs a name of its own. */
  table: (label: string) => `${label} (table)`,
  loading: 'Loading',
  noMatch: { title: 'No results', next: 'Change or clear the search.' },
  tryIt: 'Try it',
  pages: 'Pages',
  more: (counted: string) => `More than ${counted}`,
  page: (page: number, follows: boolean) => `${follows ? ' · ' : ''}page ${page}`,
  newest: 'Newest',
  newer: 'Newer',
  older: 'Older',
  searchOlder: 'Search older records',
  counted: (total: number, one: string, many: string) => `${count.format(total)} ${total === 1 ? one : many}`,
};
