/** How a setting is asked for. `name` is its place in the settings, like `tls.ca`. */
export interface SettingField {
  name: string;
  label: string;
  type: 'text' | 'number' | 'secret' | 'choice' | 'check' | 'lines' | 'list';
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
        choices: [
          { value: '', label: 'as the installation says' },
          { value: 'resend', label: 'send once more' },
          { value: 'hold', label: 'hold, end as unknown' },
        ],
      },
    ],
  },
];

export const groupsOf: Record<string, SettingGroup[]> = { smpp: smppGroups };
