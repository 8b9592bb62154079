import { Link } from 'wouter';

/** API keys, client secrets, and the dialogs that create, show and revoke them. */
export const words = {
  keys: {
    title: 'API keys',
    lead: 'Send the key in the apikey header of the SMS Messaging API.',
    none: 'No API key',
    register: (overview: string) => (
      <>
        Register for SMS Messaging on the <Link href={overview}>overview</Link> to get a key.
      </>
    ),
    allRevoked: 'All API keys are revoked. Create a new key to send again.',
    revoke: 'Revoke',
    revokeAbout: (name: string | null, lastFour: string) => `the key ${name ?? `that ends in ${lastFour}`}`,
    revokeQuestion: (name: string | null) => (name === null ? 'Revoke this key?' : `Revoke ${name}?`),
    revokeEffect: (lastFour: string) => `The service will refuse every request with the key that ends in ${lastFour}.`,
    revoked: 'API key revoked',
    enabled: 'API key enabled',
  },
  client: {
    title: 'Client and secrets',
    lead: 'Get tokens for the Verification and Messaging APIs with the client id and one of its secrets.',
    none: 'No client',
    register: (overview: string) => (
      <>
        Register for Verification or Messaging on the <Link href={overview}>overview</Link> to get a client.
      </>
    ),
    id: 'Client id',
    copyId: 'the client id',
    noSecret: 'No client secret',
    allRevoked: 'All client secrets are revoked. Create a new one to get tokens again.',
    revoke: 'Revoke',
    revokeAbout: (lastFour: string) => `the secret that ends in ${lastFour}`,
    revokeQuestion: 'Revoke this client secret?',
    revokeEffect: (lastFour: string) =>
      `The secret that ends in ${lastFour} and all current tokens stop working at once. Get a new token with another secret.`,
    revoked: 'Client secret revoked',
    enabled: 'Client secret enabled',
  },
  publicKeys: {
    title: 'Public keys',
    lead: 'Get tokens without a secret: your server signs each request for a token with a private key that never leaves it.',
    none: 'No public key',
    howTo: (
      <>
        <Link href="/docs/guides/tokens">Tokens and keys</Link> shows how to make a pair and sign with it.
      </>
    ),
    shown: (alg: string, kid: string) => `${alg} ${kid}`,
    add: 'Add public key',
    close: 'Close',
    name: 'Name',
    nameHint: 'Optional, like “Production server”',
    nameError: 'Enter a name (1–64 characters), or leave it empty.',
    key: 'Public key',
    keyHint: 'PEM that begins with -----BEGIN PUBLIC KEY-----, or a JWK. Never the private key.',
    alg: 'Algorithm',
    algHint: 'Only an RSA key leaves a choice.',
    algs: [
      { value: '', label: 'The usual one of the key' },
      { value: 'RS256', label: 'RS256' },
      { value: 'PS256', label: 'PS256' },
      { value: 'ES256', label: 'ES256' },
      { value: 'EdDSA', label: 'EdDSA' },
    ],
    submit: 'Add',
    added: 'Public key added',
    enabled: 'Public key enabled',
    delete: 'Delete',
    about: (name: string) => `the public key ${name}`,
    question: 'Delete this public key?',
    effect: 'The key and all current tokens stop working at once. Get a new token with another key or a secret.',
    deleted: 'Public key deleted',
  },
  suspended: {
    title: 'Suspended since the service was restored from a backup',
    text: 'A backup does not know what you revoked after it was made. Enable what you still use, and revoke the rest.',
    enable: 'Enable',
    enableAbout: (about: string) => `Enable ${about}`,
  },
  secret: {
    created: 'Created',
    lastUsed: 'Last used',
    expires: 'Expires',
    never: 'Never',
  },
  make: {
    key: 'API key',
    secret: 'client secret',
    close: 'Close',
    create: (what: string) => `Create ${what}`,
    rotate: (what: string) => `Rotate ${what}s`,
    createEffect: (what: string) => `Your other ${what}s keep working.`,
    rotateEffect: (what: string) => `Creates a new ${what}. Your other ${what}s expire when you choose.`,
    name: 'Name',
    nameHint: 'Optional, like “Production server”',
    nameError: 'Enter a name (1–64 characters), or leave it empty.',
    expire: (what: string) => `Other ${what}s expire`,
    expireHint: 'Allow enough time to install the new one.',
    overlaps: [
      { value: '0', label: 'Now' },
      { value: '3600', label: 'In an hour' },
      { value: '86400', label: 'In a day' },
      { value: '604800', label: 'In a week' },
      { value: '2592000', label: 'In 30 days' },
    ],
    submit: { create: 'Create', rotate: 'Rotate' },
  },
  fresh: {
    key: 'API key',
    secret: 'client secret',
    title: (what: string, api: string) => `Your ${what} for ${api}`,
    copyNow: (what: string) => `Copy the ${what} now. It will not be shown again.`,
    hashed: 'The service stores only a hash of it. If you lose it, create a new one.',
    copyKey: 'the API key',
    clientId: 'Client id',
    copyClientId: 'the client id',
    clientSecret: 'Client secret',
    copyClientSecret: 'the client secret',
    pending: 'It works once an operator approves the registration. Until then, requests get a 401.',
    step: (number: number, title: string) => `${number}. ${title}`,
    way: 'How to call it',
    client: 'Client',
    curl: 'curl',
    program: 'Your first call',
    copyProgram: 'the program',
    install: () => (
      <>
        Install <Link href="/docs/guides/client">the client</Link> first. It gets tokens and retries for you.
      </>
    ),
    copyStep: (title: string) => `the curl command: ${title.toLowerCase()}`,
    tryIt: 'Try it in the portal',
    done: 'I have copied it',
  },
  curl: {
    message: 'Hello from Heliograph',
    sendText: 'Send a text',
    getToken: 'Get a token',
    startVerification: 'Start a verification',
    checkCode: 'Check the code',
  },
};
