/** How a setting is asked for. `name` is its place in the settings, like `tls.ca`. */
export interface SettingField {
  name: string;
  label: string;
  type: 'text' | 'number' | 'secret' | 'choice' | 'check' | 'lines' | 'list' | 'json';
  description?: string;
  placeholder?: string;
  /** The value of the empty choice is left to the service. */
  choices?: { value: string; label: string }[];
  /** Asked only while this box is ticked. */
  onlyWith?: string;
}

export interface SettingGroup {
  title: string;
  fields: SettingField[];
}

const choices = (...values: string[]) => values.map((value) => ({ value, label: value }));

const doubtChoices = [
  { value: '', label: 'as the installation says' },
  { value: 'resend', label: 'send once more' },
  { value: 'hold', label: 'hold, end as unknown' },
];

/** What most operators of an SMPP account have to know. All other settings are written as JSON. */
export const smppGroups: SettingGroup[] = [
  {
    title: 'Account',
    fields: [
      { name: 'host', label: 'Host', type: 'text', placeholder: 'smpp.example.com' },
      { name: 'port', label: 'Port', type: 'number', placeholder: '2775' },
      { name: 'system_id', label: 'System id', type: 'text' },
      { name: 'password', label: 'Password', type: 'secret' },
      { name: 'system_type', label: 'System type', type: 'text', description: 'Most carriers want none.' },
      { name: 'tls', label: 'TLS', type: 'check', description: 'Encrypt the connection' },
      { name: 'tls.servername', label: 'Name in the certificate', type: 'text', onlyWith: 'tls' },
      { name: 'tls.ca', label: 'Own authority (PEM)', type: 'lines', onlyWith: 'tls' },
      { name: 'tls.cert', label: 'Our certificate (PEM)', type: 'lines', onlyWith: 'tls' },
      { name: 'tls.key', label: 'Its private key (PEM)', type: 'lines', onlyWith: 'tls' },
    ],
  },
  {
    title: 'Throughput',
    fields: [
      { name: 'binds', label: 'Connections', type: 'number', placeholder: '1', description: 'Over all nodes' },
      {
        name: 'window',
        label: 'Window',
        type: 'number',
        placeholder: '10',
        description: 'Unanswered submits on each connection',
      },
      {
        name: 'per_second',
        label: 'Parts a second',
        type: 'number',
        placeholder: 'No limit',
        description: 'Of the whole account',
      },
      { name: 'bind', label: 'Mode', type: 'choice', choices: choices('transceiver', 'pair') },
    ],
  },
  {
    title: 'Texts and receipts',
    fields: [
      { name: 'charsets', label: 'Charsets', type: 'list', placeholder: 'gsm7/0, ucs2/8' },
      {
        name: 'long_messages',
        label: 'Long texts',
        type: 'choice',
        choices: choices('udh16', 'udh8', 'sar', 'payload'),
      },
      { name: 'receipts', label: 'Receipts', type: 'choice', choices: choices('all', 'first', 'last', 'one', 'none') },
      {
        name: 'on_doubt',
        label: 'A submit without an answer',
        type: 'choice',
        choices: doubtChoices,
      },
    ],
  },
];

/** An HTTP API that no preset is for. */
export const describedGroup: SettingGroup = {
  title: 'Description',
  fields: [
    {
      name: 'describe',
      label: 'Description (JSON)',
      type: 'json',
      description: 'Requests, answers and callbacks, as docs/carriers.md says.',
    },
    {
      name: 'secrets',
      label: 'Secrets (JSON)',
      type: 'json',
      description: 'Like {"key": "…"}. Sealed, and never shown again.',
    },
    { name: 'values', label: 'Values (JSON)', type: 'json', description: 'Like {"account": "…"}. Shown.' },
    { name: 'base', label: 'Address of the API', type: 'text', placeholder: 'https://api.example.com' },
  ],
};

/** What all HTTP carriers have. */
export const httpGroup: SettingGroup = {
  title: 'Requests',
  fields: [
    {
      name: 'per_second',
      label: 'Texts a second',
      type: 'number',
      placeholder: 'No limit',
      description: 'Of the whole account',
    },
    { name: 'concurrency', label: 'Requests at once', type: 'number', placeholder: '20', description: 'On each node' },
    { name: 'timeout_ms', label: 'Milliseconds to answer', type: 'number', placeholder: '10000' },
    { name: 'receipts', label: 'Receipts', type: 'choice', choices: choices('all', 'none') },
    { name: 'on_doubt', label: 'A request without an answer', type: 'choice', choices: doubtChoices },
    {
      name: 'opt_out_replies',
      label: 'Stop words are confirmed by',
      type: 'choice',
      choices: [
        { value: 'own', label: 'Heliograph' },
        { value: 'carrier', label: 'the carrier' },
      ],
    },
    {
      name: 'allow_private',
      label: 'Addresses inside your network',
      type: 'check',
      description: 'Also http instead of https',
    },
  ],
};
