import type { ReactNode } from 'react';

/** Holds of the guard, for operators. */
export const words = {
  now: 'Active',
  over: 'Ended',
  lead: 'Prefixes, countries and clients where many numbers get a code and very few enter it. The guard holds them back for 6 hours, and longer while it continues. Numbers approved in the last 28 days still pass, and so does one number in fifty.',
  title: 'SMS pumping',
  which: 'Holds',
  none: 'No active holds',
  noneEnded: 'No ended holds',
  noneDetail: 'The guard compares each application with its own last 28 days.',
  more: 'Show more',
  country: (country: string | null) => `All of ${country}`,
  ended: (name: string) => `Hold of ${name} ended`,
  of: (name: string, application: string) => `${name} of ${application}`,
  held: 'held back',
  reported: 'only reported',
  end: 'End hold',
  endQuestion: (name: string) => `End the hold of ${name}?`,
  endDetail: 'All verifications pass immediately, on every node. The guard can hold back later ones again.',
  application: 'Application',
  countryName: 'Country',
  entered: 'Codes entered',
  share: (approved: number, numbers: number, percent: number) =>
    `${approved} of ${numbers} numbers (suspicious below ${percent} %)`,
  blocked: 'Verifications held back',
  since: 'Since',
  ends: 'Ends',
  endedAt: 'Ended',
  byOperator: (time: ReactNode) => <>{time}, by an operator</>,
  byMember: (time: ReactNode) => <>{time}, by a member of the account</>,
};
