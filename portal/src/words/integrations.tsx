import { Link } from 'wouter';

/** Hooks of identity servers, and the credentials for Twilio's library. */
export const words = {
  back: 'All integrations',
  close: 'Close',
  /** `about`: what the server calls its hook. `where`: where the settings belong. `inside`: its name in a sentence. */
  inside: 'your server',
  kinds: {
    supabase: {
      title: 'Supabase Auth',
      about: 'Send SMS hook',
      where:
        'Set these variables of the auth server and restart it. On supabase.com: Authentication, Hooks, Send SMS hook, with this address and secret.',
    },
    keycloak: {
      title: 'Keycloak',
      about: 'keycloak-mfa-plugins',
      where: 'Enter them in the configuration of the SMS authenticator, in your authentication flow.',
    },
    auth0: {
      title: 'Auth0',
      about: 'Custom phone provider',
      where:
        'In the dashboard open Branding, Phone Provider, and choose Custom. Paste the Action, and add its two secrets.',
    },
    logto: {
      title: 'Logto',
      about: 'HTTP SMS connector',
      where: 'In the console open Connectors, add the connector HTTP SMS, and enter these settings.',
    },
    zitadel: {
      title: 'ZITADEL',
      about: 'HTTP SMS provider',
      where: 'Set it as the endpoint of the HTTP SMS provider, then activate the provider.',
    },
    authentik: {
      title: 'authentik',
      about: 'SMS stage, generic provider',
      where: 'In the SMS Authenticator Setup stage choose the provider Generic, and enter these settings.',
    },
    kratos: {
      title: 'Ory Kratos',
      about: 'HTTP channel of the courier',
      where: 'Add the channel to the configuration of Kratos, and restart it.',
    },
    generic: {
      title: 'Your own server',
      about: 'Any server that posts JSON',
      where: 'Your server posts JSON to the address, with this header.',
    },
  },
  list: {
    title: 'Identity servers',
    lead: 'Your identity server makes the codes. It posts them to a hook, and they are sent like all others: with the guard, routes, records and events.',
    choose: 'Which server makes your codes?',
    other: 'Another server',
    twilioHint: 'FusionAuth, or a program with Twilio’s library? See below.',
    add: 'Add a server',
    none: 'No hooks yet',
    noneForViewer: 'Your role is viewer. Ask an owner or developer of this account to create a hook.',
    allUsed: 'The application has 10 hooks, the maximum. Delete one first.',
    created: 'Created',
  },
  /** The fields of a payload that a pointer finds. */
  pointers: {
    to: 'Number field',
    code: 'Code field',
    text: 'Text field, without a code',
    locale: 'Language field',
    ip: 'IP address field',
  },
  form: {
    title: (server: string) => `Hook for ${server}`,
    again: 'Choose another',
    create: 'Create hook',
    secret: 'Signing key',
    secretRule:
      'ZITADEL makes it: add an HTTP SMS provider there, with any endpoint for now, and copy its signing key.',
    secretPlaceholder: 'The key of the provider',
    from: 'Sender',
    fromRule: 'For texts that come without a code. Leave empty if your server sends only codes.',
    fromNeeded: 'Keycloak sends whole texts, so it needs a sender.',
    fromPlaceholder: 'ACME',
    locale: 'Language',
    localeRule: 'For codes whose call names none, such as de or pt-BR. English if empty.',
    localePlaceholder: 'de',
    more: 'Other fields of the payload',
    pointers: 'Where the payload has what',
    pointersRule: 'JSON pointers: /data/phone means the field phone in data.',
    pointersKnown: (server: string) => `Leave empty what you did not change at ${server}.`,
    payload: 'Such a payload is read',
    samples: { to: '/phone', code: '/code', text: '/message', locale: '/locale', ip: '/ip' },
  },
  secret: {
    title: (server: string) => `Secret for ${server}`,
    once: 'Copy the secret now. It will not be shown again.',
    why: 'The server proves its calls with it. If you lose it, create a new one.',
    copy: 'the secret',
    done: 'I have copied it',
  },
  settings: {
    title: (server: string) => `Settings at ${server}`,
    copy: (name: string) => `the setting ${name}`,
    /** The placeholder that the service writes for a secret that it cannot show again. */
    written: '(the secret that was shown once)',
    hidden: 'The secret that was shown once. Lost it? Create a new one.',
    samples: {
      kratos: 'The channel, for kratos.yml',
      auth0: 'The Action',
      generic: 'A call, to try it',
    },
    copySample: 'the sample',
    putSecret: 'Put the secret that was shown once in the place of YOUR_SECRET.',
    yourSecret: 'YOUR_SECRET',
  },
  page: {
    missing: 'Hook not found',
    created: 'Created',
    address: 'Address',
    copyAddress: 'the address',
    from: 'Sender',
    locale: 'Language',
    english: 'English',
    none: 'None',
    secrets: 'Secrets',
    inForce: (all: number, older: number) =>
      `${all} in force, ${older === 1 ? 'the older one' : 'the older ones'} until`,
    notRegistered: { verify: 'Register for Verification first', sms: 'Register for SMS Messaging first' },
    registerNext: (overview: string, api: 'verify' | 'sms') => (
      <>
        {api === 'verify' ? 'Codes of a hook count' : 'Texts of this hook count'} on that registration, so calls are
        refused without it. Register on the <Link href={overview}>overview</Link>.
      </>
    ),
    noSender: 'This hook needs a sender',
    noSenderNext: 'Keycloak sends whole texts. Edit the hook and enter the sender of its texts.',
  },
  actions: {
    edit: 'Edit',
    editTitle: 'Edit hook',
    save: 'Save',
    saved: 'Hook saved',
    secret: 'secret',
    olderSecrets: 'Older secrets',
    newKey: 'New signing key',
    newKeyRule: 'Regenerate the key at ZITADEL, then paste it here.',
    keySaved: 'Signing key saved',
    delete: 'Delete',
    deleteQuestion: 'Delete this hook?',
    deleteDetail: (server: string) =>
      `Calls of ${server} get a 404 at once, and no codes are sent. Its list of calls is deleted. You cannot undo this.`,
    deleted: 'Hook deleted',
  },
  test: {
    title: 'Test',
    lead: {
      sandbox: 'Sends a test code as if the server had called the hook. The text arrives on the handset.',
      production: 'Sends a test code as if the server had called the hook. It counts towards your plan.',
    },
    to: { sandbox: 'Any number works.', production: 'The text goes to a real phone.' },
    submit: 'Test',
    arrived: 'See the handset.',
    sent: (to: string) => `To ${to}.`,
  },
  calls: {
    title: 'Last calls',
    lead: 'The newest 50, tests included.',
    empty: 'No calls yet',
    emptyNext: 'Press Test, or sign in at your server with a phone number.',
    verification: 'Verification',
    message: 'Text',
    request: 'Request',
    showAll: (count: number) => `Show all ${count}`,
  },
  /** The outcomes of a call, and what to do. */
  outcomes: {
    sent: { title: 'sent', next: '' },
    repeated: { title: 'repeated', next: 'This code was sent less than a minute ago: nothing was sent again.' },
    blocked: { title: 'blocked', next: '' },
    limited: { title: 'over the limit', next: 'Choose a larger plan, or send less.' },
    refused: { title: 'refused', next: '' },
    bad_payload: { title: 'bad payload', next: 'Compare the payload of your server with the pointers of this hook.' },
    wrong_proof: {
      title: 'wrong proof',
      next: 'Compare the secret at your server. Its clock must be right to within 5 minutes.',
    },
    unavailable: { title: 'unavailable', next: 'Nothing was sent. The server may try again.' },
  } as Record<string, { title: string; next: string }>,
  twilio: {
    title: 'Twilio’s library',
    about: 'For programs that call Twilio Verify or Twilio’s messages, and for FusionAuth.',
    lead: 'Your program keeps Twilio’s library and its code. You change the address, the sids and the token.',
    open: 'Use Twilio’s library',
    page: 'Use Twilio’s library',
    guide: (href: string) => (
      <>
        The guide <Link href={href}>Moving from Twilio</Link> says what works, what differs, and how to move the traffic
        step by step.
      </>
    ),
    none: 'No credentials yet',
    noneNext: 'Verifications count on the registration for Verification, messages on that for SMS Messaging.',
    noneForViewer: 'Your role is viewer. Ask an owner or developer of this account to create them.',
    create: 'Create credentials',
    accountSid: 'Account SID',
    serviceSid: 'Verify service SID',
    messagingSid: 'Messaging service SID',
    messagingSidRule: 'Stands for the first sender of the application.',
    baseUrl: 'Base URL',
    token: 'Auth token',
    copy: (name: string) => `the ${name}`,
    created: 'Token created',
    tokens: 'Tokens',
    once: 'Copy the token now. It will not be shown again.',
    why: 'It is stored nowhere. If you lose it, create a new one.',
    shown: 'Your auth token',
    done: 'I have copied it',
    lines: 'The lines to change',
    linesLead: 'The rest of your program stays as it is.',
    language: 'Language',
    needsClient: (language: string) =>
      `The library for ${language} has a fixed address. This HTTP client sends its calls here.`,
    notRun: 'These lines were not run by us.',
    copyLines: (language: string) => `the lines for ${language}`,
    yourToken: 'YOUR_AUTH_TOKEN',
    languages: { node: 'Node', python: 'Python', php: 'PHP', java: 'Java', go: 'Go' },
    what: 'token',
    older: 'Older tokens',
    delete: 'Delete',
    deleteQuestion: 'Delete these credentials?',
    deleteDetail:
      'Every call with Twilio’s library gets a 401 at once, and callbacks end. New credentials have the same sids and another token.',
    deleted: 'Credentials deleted',
    host: {
      title: 'Do not use twilio-node with this host name',
      text: (host: string, other: string) => (
        <>
          Twilio’s library for Node reads labels of a host name as a region. It would send calls, and with them your
          token, to <code>{other}</code> instead of <code>{host}</code>. Give the service a host name of one, three,
          four or five labels (<code>HELIOGRAPH_PUBLIC_URL</code>). Twilio’s libraries for other languages have no such
          rule.
        </>
      ),
    },
  },
};
