import type { ReactNode } from 'react';

/** What the guard holds back of an application, for its members. */
export const words = {
  title: 'Verifications held back',
  lead: 'These starts look like SMS pumping: many numbers got a code, and almost none was entered. Numbers that you approved in the last 28 days pass, and so does one number in fifty.',
  tell: 'Pass client (address, user agent, device) with each start: the guard then holds back the abuser alone.',
  groups: {
    prefix: (prefix: string) => `Numbers that begin with ${prefix}`,
    country: (country: string) => `All numbers of ${country}`,
    address: 'Starts from one address',
    program: 'Starts from one program at one address',
    device: 'Starts from one device',
  },
  held: 'held back',
  reported: 'only reported',
  entered: (approved: number, numbers: number, percent: number) =>
    `${approved} of ${numbers} numbers entered their code. At least ${percent} % is usual.`,
  blocked: 'Held back so far',
  since: 'Since',
  ends: 'Ends',
  end: 'End hold',
  endQuestion: 'End this hold?',
  endDetail:
    'All its verifications pass at once. You can end one hold a day; the guard can hold back later starts again.',
  ended: 'Hold ended',
  later: (at: ReactNode) => <>You can end the next hold {at}.</>,
};
