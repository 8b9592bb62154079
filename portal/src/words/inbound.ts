/** Inbound texts of an application. */
export const words = {
  help: {
    saved: 'Help text saved',
    title: 'Help text',
    lead: 'The reply to people who text HELP to one of your numbers. Say who you are and how to reach you.',
    example: 'ACME: questions? help@acme.example or +44 20 7946 0000. Text STOP to end.',
    save: 'Save',
  },
  received: 'Received',
  from: 'From',
  to: 'To',
  text: 'Text',
  title: 'Inbound texts',
  lead: 'Texts that people sent to your numbers, newest first.',
  empty: {
    title: 'No inbound texts yet',
    sandbox: 'Under Try it, reply to a text on the virtual handset.',
    production: 'Ask an operator for a number for your application. Texts to it appear here.',
  },
  removed: 'Text removed',
  incomplete: 'parts are missing',
  maybeOptOut: 'may be an opt-out',
  more: 'Show more',
};
