/** Parts of the reference that have an OpenAPI document of their own. */
export const parts = {
  apis: 'What applications call',
  portal: 'What the pages of the developer portal call',
  operators: "What operators call, and what carriers, identity servers and Twilio's libraries call",
  operations: 'The running service itself',
} as const;

export type Part = keyof typeof parts;

interface Tag {
  part: Part;
  description: string;
}

/** Every section of the reference. */
export const tags: Record<string, Tag> = {
  'Verification API': { part: 'apis', description: 'Verify that a person has a phone number, by a code in a text.' },
  'SMS Messaging API': { part: 'apis', description: 'Send texts with an API key, and read what people answer.' },
  'Messaging API': { part: 'apis', description: 'Send texts with a token, one by one or a hundred at once.' },
  Events: { part: 'apis', description: 'Read the events of messages and verifications, in order.' },
  "Twilio's shape": {
    part: 'operators',
    description: "The operations that Twilio's own libraries call, over the same services.",
  },
  'Hooks of identity servers': {
    part: 'operators',
    description: 'Where identity servers post the codes that they made, in their own form.',
  },
  Identity: { part: 'apis', description: 'Get, revoke and inspect access tokens (OAuth 2.0, client credentials).' },
  Sandbox: { part: 'apis', description: 'The virtual handsets of the sandbox. None of it exists in production.' },
  'Developer portal: members': { part: 'portal', description: 'Who belongs to an account, and in which role.' },
  'Developer portal: account': { part: 'portal', description: 'Sign up, sign in, and who is signed in.' },
  'Developer portal: applications': { part: 'portal', description: 'Applications, their senders and their spend.' },
  'Developer portal: registrations': {
    part: 'portal',
    description: 'Which API an application may call, on which plan.',
  },
  'Developer portal: credentials': { part: 'portal', description: 'API keys and client secrets.' },
  'Developer portal: events': { part: 'portal', description: 'The events of an application.' },
  'Developer portal: webhooks': { part: 'portal', description: 'Where events of an application are sent.' },
  'Developer portal: hooks': { part: 'portal', description: 'Which identity servers post codes of an application.' },
  "Developer portal: Twilio's shape": {
    part: 'portal',
    description: "The account sid and the auth token for Twilio's libraries.",
  },
  'Developer portal: SMPP': { part: 'portal', description: 'The accounts of programs that send by SMPP.' },
  'Developer portal: usage': {
    part: 'portal',
    description: 'What an application has sent, and what is left of its plan.',
  },
  'Developer portal: requests': { part: 'portal', description: 'What happened to a request, by its correlation id.' },
  'Developer portal: records': { part: 'portal', description: 'The texts and verifications of an application.' },
  'Developer portal: operators': { part: 'operators', description: 'What applications may do, decided by operators.' },
  'Developer portal: carriers': { part: 'operators', description: 'Carriers, routes, totals and alerts.' },
  'Carriers: callbacks': { part: 'operators', description: 'Where providers report receipts and texts from phones.' },
  Operations: { part: 'operations', description: 'Health, metrics, this reference and the pages of the portal.' },
};
