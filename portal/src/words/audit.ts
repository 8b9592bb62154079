/** The audit log: of operators, and of an account for its owners. */
export const words = {
  title: 'Audit log',
  lead: 'What operators, members of accounts and commands on the server changed. Entries cannot be edited.',
  ownLead: 'What members of this account and operators changed. Entries cannot be edited.',
  fields: {
    actor: { label: 'Email', example: 'you@example.com' },
    act: { label: 'Action', example: 'key.created' },
    target: { label: 'Target', example: 'app_…' },
    since: { label: 'From day', type: 'date' as const },
    until: { label: 'To day', type: 'date' as const },
  },
  columns: { time: 'Time', act: 'Action', target: 'Target', by: 'By', details: 'Details' },
  actors: { member: 'member', operator: 'operator', machine: 'command' } as Record<string, string>,
  actorNames: { member: 'A former member', operator: 'An operator', machine: 'A command on the server' } as Record<
    string,
    string
  >,
  from: (actor: string, address: string) => `${actor} from ${address}`,
  changed: (from: string, to: string) => `${from} → ${to}`,
  nothing: { title: 'No entries', text: 'Try another email, action, target or day.' },
  panel: {
    title: 'Audit log',
    lead: 'Who changed what in this account, when, and from where.',
    open: 'Open audit log',
  },
  back: 'Back to your account',
};
