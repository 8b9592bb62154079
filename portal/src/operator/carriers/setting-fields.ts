import { words } from '../../words/operator/carriers.ts';
/** The form field of a setting. `name` is its path in the settings, like `tls.ca`. */
export interface SettingField {
  name: string;
  label: string;
  type: 'text' | 'number' | 'secret' | 'choice' | 'check' | 'lines' | 'list' | 'json';
  description?: string;
  placeholder?: string;
  /** For an empty choice the service uses its default. */
  choices?: { value: string; label: string }[];
  /** Shown only while this checkbox is checked. */
  onlyWith?: string;
}

export interface SettingGroup {
  title: string;
  fields: SettingField[];
}

const choices = (...values: string[]) => values.map((value) => ({ value, label: value }));

const doubtChoices = [
  { value: '', label: words.fields.doubt.standard },
  { value: 'resend', label: words.fields.doubt.resend },
  { value: 'hold', label: words.fields.doubt.hold },
];

/** The settings that most SMPP accounts need. All other settings are edited as JSON. */
export const smppGroups: SettingGroup[] = [
  {
    title: words.fields.account,
    fields: [
      { name: 'host', label: words.fields.host, type: 'text', placeholder: words.fields.hostExample },
      { name: 'port', label: words.fields.port, type: 'number', placeholder: '2775' },
      { name: 'system_id', label: words.fields.systemId, type: 'text' },
      { name: 'password', label: words.fields.password, type: 'secret' },
      { name: 'system_type', label: words.fields.systemType, type: 'text', description: words.fields.systemTypeRule },
      { name: 'tls', label: words.fields.tls, type: 'check', description: words.fields.tlsRule },
      { name: 'tls.servername', label: words.fields.tlsName, type: 'text', onlyWith: 'tls' },
      { name: 'tls.ca', label: words.fields.tlsCa, type: 'lines', onlyWith: 'tls' },
      { name: 'tls.cert', label: words.fields.tlsCert, type: 'lines', onlyWith: 'tls' },
      { name: 'tls.key', label: words.fields.tlsKey, type: 'lines', onlyWith: 'tls' },
    ],
  },
  {
    title: words.fields.throughput,
    fields: [
      {
        name: 'binds',
        label: words.fields.binds,
        type: 'number',
        placeholder: '1',
        description: words.fields.bindsRule,
      },
      {
        name: 'window',
        label: words.fields.window,
        type: 'number',
        placeholder: '10',
        description: words.fields.windowRule,
      },
      {
        name: 'per_second',
        label: words.fields.partsPerSecond,
        type: 'number',
        placeholder: words.noLimit,
        description: words.fields.perSecondRule,
      },
      { name: 'bind', label: words.fields.mode, type: 'choice', choices: choices('transceiver', 'pair') },
    ],
  },
  {
    title: words.fields.texts,
    fields: [
      { name: 'charsets', label: words.fields.charsets, type: 'list', placeholder: words.fields.charsetsExample },
      {
        name: 'long_messages',
        label: words.fields.longTexts,
        type: 'choice',
        choices: choices('udh16', 'udh8', 'sar', 'payload'),
      },
      {
        name: 'receipts',
        label: words.fields.receipts,
        type: 'choice',
        choices: choices('all', 'first', 'last', 'one', 'none'),
      },
      {
        name: 'on_doubt',
        label: words.fields.submitDoubt,
        type: 'choice',
        choices: doubtChoices,
      },
    ],
  },
];

/** An HTTP API without a preset. */
export const describedGroup: SettingGroup = {
  title: words.fields.description,
  fields: [
    {
      name: 'describe',
      label: words.fields.describe,
      type: 'json',
      description: words.fields.describeRule,
    },
    {
      name: 'secrets',
      label: words.fields.secrets,
      type: 'json',
      description: words.fields.secretsRule,
    },
    { name: 'values', label: words.fields.values, type: 'json', description: words.fields.valuesRule },
    { name: 'base', label: words.fields.base, type: 'text', placeholder: words.fields.baseExample },
  ],
};

/** The settings of all HTTP carriers. */
export const httpGroup: SettingGroup = {
  title: words.fields.requests,
  fields: [
    {
      name: 'per_second',
      label: words.fields.textsPerSecond,
      type: 'number',
      placeholder: words.noLimit,
      description: words.fields.perSecondRule,
    },
    {
      name: 'concurrency',
      label: words.fields.concurrency,
      type: 'number',
      placeholder: '20',
      description: words.fields.concurrencyRule,
    },
    { name: 'timeout_ms', label: words.fields.timeout, type: 'number', placeholder: '10000' },
    { name: 'receipts', label: words.fields.receipts, type: 'choice', choices: choices('all', 'none') },
    { name: 'on_doubt', label: words.fields.requestDoubt, type: 'choice', choices: doubtChoices },
    {
      name: 'opt_out_replies',
      label: words.fields.confirmedBy,
      type: 'choice',
      choices: [
        { value: 'own', label: words.fields.byHeliograph },
        { value: 'carrier', label: words.fields.byCarrier },
      ],
    },
    {
      name: 'allow_private',
      label: words.fields.private,
      type: 'check',
      description: words.fields.privateRule,
    },
  ],
};
