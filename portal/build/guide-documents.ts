/** One guide: a Markdown document of the repository, shown at /docs/guides/{slug}. */
export interface GuideDocument {
  slug: string;
  /** Below the repository. */
  file: string;
  /** In menus and in the search; the page shows the document's own heading. */
  title: string;
  summary: string;
}

/** In the order of the menu, and of "previous" and "next". scripts/run.mjs rebuilds the portal when one changes. */
export const guideDocuments: GuideDocument[] = [
  {
    slug: 'first-text',
    file: 'docs/guides/first-text.md',
    title: 'First text in a minute',
    summary: 'Start the service, send a text with one command, and see it arrive.',
  },
  {
    slug: 'verify-a-number',
    file: 'docs/guides/verify-a-number.md',
    title: 'Verify a number in your sign-up',
    summary: 'Send a code, check it, let the phone fill it in, and handle errors.',
  },
  {
    slug: 'tokens',
    file: 'docs/guides/tokens.md',
    title: 'Tokens and keys',
    summary: 'Which credential an API needs, how to get a token, keep it, and change a secret.',
  },
  {
    slug: 'limits',
    file: 'docs/guides/limits.md',
    title: 'Limits and Retry-After',
    summary: 'The limits of a plan, the four headers of every response, and how to wait.',
  },
  {
    slug: 'test-numbers',
    file: 'docs/guides/test-numbers.md',
    title: 'Test numbers',
    summary: 'Numbers that are delivered, blocked, late or refused, for your own tests.',
  },
  {
    slug: 'idempotency',
    file: 'docs/guides/idempotency.md',
    title: 'Idempotency',
    summary: 'Send a request again without sending the text twice.',
  },
  {
    slug: 'events',
    file: 'docs/events.md',
    title: 'Events and webhooks',
    summary: 'Get the outcome of each text and verification by webhook or feed.',
  },
  {
    slug: 'smpp',
    file: 'docs/guides/smpp.md',
    title: 'Send by SMPP',
    summary: 'Programs that speak SMPP bind to the service: Kannel, Jasmin, Java and Python.',
  },
  {
    slug: 'identity-servers',
    file: 'docs/integrations/README.md',
    title: 'Identity servers',
    summary: 'Supabase, ZITADEL, Keycloak and others post their codes to a hook; what each does with our answers.',
  },
  {
    slug: 'supabase',
    file: 'docs/integrations/supabase.md',
    title: 'Supabase Auth',
    summary: 'Its Send SMS hook: settings, refusals and repeated calls.',
  },
  {
    slug: 'logto',
    file: 'docs/integrations/logto.md',
    title: 'Logto',
    summary: 'Its HTTP SMS connector.',
  },
  {
    slug: 'zitadel',
    file: 'docs/integrations/zitadel.md',
    title: 'ZITADEL',
    summary: 'Its HTTP SMS provider, with the signing key that it makes.',
  },
  {
    slug: 'authentik',
    file: 'docs/integrations/authentik.md',
    title: 'authentik',
    summary: 'Its SMS stage with the generic provider.',
  },
  {
    slug: 'kratos',
    file: 'docs/integrations/kratos.md',
    title: 'Ory Kratos',
    summary: 'A channel of its courier, with the jsonnet template.',
  },
  {
    slug: 'keycloak',
    file: 'docs/integrations/keycloak.md',
    title: 'Keycloak',
    summary: 'The SMS authenticator of keycloak-mfa-plugins.',
  },
  {
    slug: 'auth0',
    file: 'docs/integrations/auth0.md',
    title: 'Auth0',
    summary: 'A custom phone provider: the Action to paste.',
  },
  {
    slug: 'generic',
    file: 'docs/integrations/generic.md',
    title: 'Any other server',
    summary: 'A hook for any server that posts JSON, by JSON pointers.',
  },
  {
    slug: 'better-auth',
    file: 'docs/integrations/better-auth.md',
    title: 'better-auth',
    summary: 'Its phone number plug-in with our codes, from the sign-up to the session.',
  },
  {
    slug: 'auth-js',
    file: 'docs/integrations/auth-js.md',
    title: 'Auth.js',
    summary: 'A Credentials provider (NextAuth) that verifies our proof.',
  },
  {
    slug: 'route-handlers',
    file: 'docs/integrations/route-handlers.md',
    title: 'Express and Next.js',
    summary: 'Two routes that send and check a code, with the client.',
  },
  {
    slug: 'sign-up-with-express',
    file: 'docs/tutorials/sign-up-with-express/README.md',
    title: 'Tutorial: sign-up in Express',
    summary: 'A whole sign-up with a code: wrong and expired codes, sending again, limits, sessions.',
  },
  {
    slug: 'order-updates',
    file: 'docs/tutorials/order-updates/README.md',
    title: 'Tutorial: order updates',
    summary: 'One text per change of an order, with webhooks and the feed for what was missed.',
  },
  {
    slug: 'from-twilio-verify',
    file: 'docs/tutorials/from-twilio-verify/README.md',
    title: 'Moving from Twilio',
    summary: 'The lines to change with Twilio’s own library, what differs, and how to move the traffic.',
  },
  {
    slug: 'client',
    file: 'sdk/README.md',
    title: 'The client',
    summary: 'Our client for TypeScript and JavaScript: it handles tokens, retries, lists and webhooks.',
  },
  {
    slug: 'command-line',
    file: 'docs/command-line.md',
    title: 'The command line',
    summary: 'Every command of heliograph: texts, codes, events, webhooks on your laptop, traces.',
  },
  {
    slug: 'carriers',
    file: 'docs/carriers.md',
    title: 'Carriers and routes',
    summary: 'Connect your first carrier in ten minutes; every setting of one.',
  },
  {
    slug: 'running',
    file: 'docs/operations.md',
    title: 'Running the service',
    summary: 'Nodes, sizing, proxies, backup, secrets, metrics and alerts.',
  },
  {
    slug: 'gitops',
    file: 'docs/guides/gitops.md',
    title: 'Configuration in a file',
    summary: 'Carriers, routes, plans, applications and their webhooks in one file: plan, review, apply.',
  },
  {
    slug: 'settings',
    file: 'docs/settings.md',
    title: 'Settings',
    summary: 'Every setting of the service with its default.',
  },
  {
    slug: 'upgrading',
    file: 'docs/guides/upgrading.md',
    title: 'Upgrading',
    summary: 'Replace the service without a failed request, and go back.',
  },
];
