/** Senders of an application. */
export const words = {
  request: {
    granted: (sender: string) => `Sender ${sender} approved`,
    sent: (sender: string) => `Sender ${sender} requested. An operator reviews it.`,
    title: 'Request a sender',
    close: 'Close',
    sender: 'Sender',
    senderRule: 'A name of up to 11 characters, or a number with a plus.',
    senderExample: 'ACME',
    countries: 'Countries',
    countriesRule: 'Codes of the countries you send to. Leave empty for all.',
    countriesExample: 'GB, FR',
    submit: 'Request sender',
  },
  sender: 'Sender',
  countries: 'Countries',
  status: 'Status',
  reason: 'Reason',
  title: 'Senders',
  leadSandbox: 'In the sandbox you can use any sender. In production, an operator approves each one.',
  lead: 'The names and numbers that your texts come from. An operator approves each one.',
  empty: {
    title: 'No senders',
    next: 'A sender is a name of up to 11 characters, or a number that you own. Request one to use it as the source of your texts.',
  },
  all: 'All',
  remove: {
    label: 'Remove',
    question: (sender: string) => `Remove ${sender}?`,
    detail: 'Texts from this sender are then rejected. To use it again, request it again.',
  },
  more: 'Show more',
};
