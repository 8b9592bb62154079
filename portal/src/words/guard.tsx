import type { ReactNode } from 'react';

/** An application's active holds, for its members. */
export const words = {
  title: 'Verifications held back',
  lead: 'These starts look like SMS pumping: many numbers got a code, and almost no code was entered. Numbers that you approved in the last 28 days still pass, and so does one number in fifty.',
  sendClient:
    'Send client (address, user agent, device) with each start, so that the guard can hold back only the abuser.',
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
    `${approved} of ${numbers} numbers entered their code. Usually at least ${percent} % do.`,
  blocked: 'Held back so far',
  since: 'Since',
  ends: 'Ends',
  end: 'End hold',
  endQuestion: 'End this hold?',
  endDetail:
    'Its verifications pass immediately. You can end one hold per day. The guard can hold back later starts again.',
  ended: 'Hold ended',
  later: (at: ReactNode) => <>You can end the next hold {at}.</>,
};
