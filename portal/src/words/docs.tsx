import { Link } from 'wouter';

/** The frame of the reference. Its texts come from Markdown and from the OpenAPI document. */
export const words = {
  copied: 'Copied',
  copyBlocked: 'The browser blocked copying. Select the text and copy it yourself.',
  guide: {
    onThisPage: 'On this page',
    notFound: 'Guide not found',
    notFoundWhy: 'There is no guide at this address',
    notFoundNext: (
      <>
        See <Link href="/docs">the list of guides</Link>.
      </>
    ),
  },
  errors: {
    title: 'Errors',
    lead: 'What each error means, why it happens, and what to do.',
    tooMany: '429 Too many requests',
    noCode: 'no code',
    notFound: 'Error not found',
    notFoundWhy: 'There is no error with this code',
    notFoundNext: (
      <>
        See <Link href="/docs/errors">all errors</Link>.
      </>
    ),
    more: 'What to do',
    moreAbout: (name: string) => `What to do about ${name}`,
  },
  navigation: {
    search: 'Search',
    all: 'All pages',
    label: 'Reference',
    start: 'Start',
    operations: 'All operations',
    errors: 'Errors',
    guides: 'Guides',
    loading: 'Loading…',
  },
  neighbours: {
    label: 'Other pages',
    previous: 'Previous',
    next: 'Next',
  },
  response: {
    title: 'Responses',
    status: 'Status',
    noBody: 'The response has no body.',
    copy: (status: string) => `the response ${status}`,
    other: 'other',
  },
  credential: {
    hasYours: (what: string) => `The samples contain your ${what}`,
    putYours: (what: string) => `Put your ${what} into the samples`,
    kept: 'Kept in this tab until you close it or sign out. Sent only to this service.',
    apiKey: 'API key',
    apiKeyExample: 'hg_…',
    showApiKey: 'Show API key',
    clientId: 'Client id',
    clientIdExample: 'cli_…',
    clientSecret: 'Client secret',
    clientSecretExample: 'hgs_…',
    showClientSecret: 'Show client secret',
    none: 'This call needs no credential.',
    key: 'key',
    client: 'client id and secret',
    send: 'Send',
    or: ', or',
    tokenLasts: 'A token lasts an hour. The samples get one first.',
    apiKeyHeader: (
      <>
        an API key in the header <code>apikey</code>
      </>
    ),
    token: (
      <>
        a <Link href="/docs/reference/getToken">token</Link> in the header <code>Authorization</code>
      </>
    ),
    scope: (scope: string) => (
      <>
        {' '}
        with the scope <code>{scope}</code>
      </>
    ),
    clientForm: 'the client id and the client secret, in the form or by HTTP Basic',
    sid: 'the account sid and the auth token, by HTTP Basic',
    session: 'a session of the portal',
    metrics: 'the metrics token, or call from the server itself',
  },
  field: {
    required: 'required',
    notAlways: 'not always present',
    fieldsOf: (name: string) => (
      <>
        Fields of <code>{name}</code>
      </>
    ),
    default: (value: string) => (
      <>
        default <code>{value}</code>
      </>
    ),
    always: 'always',
    oneOf: 'one of',
    pattern: (pattern: string) => (
      <>
        pattern <code>{pattern}</code>
      </>
    ),
  },
  operation: {
    isStream: 'This response is a stream that stays open. Use the samples to try it.',
    close: 'Close',
    tryIt: 'Try it',
    copyPath: 'the path',
    notFound: 'Operation not found',
    notFoundWhy: (id: string) => `This service has no operation ${id}`,
    press: 'Press',
    toSearch: (
      <>
        to search, or see <Link href="/docs/reference">all operations</Link>.
      </>
    ),
  },
  section: {
    credential: 'Credential',
    path: 'In the path',
    query: 'In the query',
    form: 'In the form',
    body: 'In the body',
    headers: 'Headers',
    response: (status: string) => `Response ${status}`,
    errors: 'Errors',
    responseHeaders: 'Response headers',
    example: (value: string) => (
      <>
        , for example <code>{value}</code>
      </>
    ),
  },
  sample: {
    title: 'Sample',
    language: 'Language',
    notJson: 'The body is not JSON yet.',
    copy: (language: string) => `the sample in ${language}`,
  },
  operations: {
    lead: 'All operations by API.',
  },
  search: {
    field: 'Field',
    error: 'Error',
    guide: 'Guide',
    title: 'Search the reference',
    label: 'Search',
    placeholder: 'Search operations, fields, errors and guides',
    escape: 'Esc',
    results: (count: number) => `${count} ${count === 1 ? 'result' : 'results'}`,
    list: 'Results',
    hint: 'Try “send”, “code_length” or “CURSOR_EXPIRED”.',
    none: 'No results. Try fewer words.',
  },
  start: {
    documentTitle: 'Reference',
    lead: 'Verify phone numbers and send texts with a service that you host yourself.',
    title: 'Build with Heliograph',
    guides: 'Guides',
    apis: 'APIs',
    programs: 'For programs',
    openApi: (
      <>
        This reference as OpenAPI 3.1: <a href="/openapi/apis.json">the APIs</a>, or{' '}
        <a href="/openapi.json">everything</a>.
      </>
    ),
    calls: (url: string) => (
      <>
        Every call goes to <code>{url}</code> and uses JSON. Two response headers are useful:{' '}
        <code>X-Correlation-ID</code>, to quote when you report a problem, and <code>RateLimit-Remaining</code>, the
        number of requests that you have left.
      </>
    ),
    firstCalls: (
      <>
        Send your <Link href="/docs/reference/sendSms">first text</Link>, or{' '}
        <Link href="/docs/reference/startVerification">verify a number</Link>. Each page has a sample in your language
        and a form that sends the request.
      </>
    ),
    errors: (
      <>
        An error has a <code>code</code> for programs, a <code>message</code> for people, and lists each invalid field
        in <code>details</code>.
      </>
    ),
  },
  trace: {
    notYet: 'The trace is not stored yet, or another account sent this request. Try again in a few seconds.',
    open: 'Trace request',
  },
  try: {
    form: 'Form, as JSON',
    body: 'Body',
    notJson: 'Enter JSON.',
    send: 'Send request',
    credentialFirst: 'Enter your credential first.',
    session: 'This call uses the session of this browser. Sign in to the portal first.',
    readSandbox: 'Reads from this sandbox.',
    sandbox: 'Sandbox: texts stay on this machine.',
    read: 'Reads from this service.',
    production: 'Production: this call is real and may cost money.',
  },
};
