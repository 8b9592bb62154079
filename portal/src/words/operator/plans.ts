export const words = {
  title: 'Plans',
  lead: 'The limits of each plan. A change applies on every node as soon as it is saved.',
  fields: {
    per_minute: 'Requests per minute',
    burst: 'Requests per second',
    segments_per_day: 'Segments per day',
  },
  /** For screen readers: every plan has the same fields. */
  fieldOf: (plan: string, field: string) => `${plan}: ${field.toLowerCase()}`,
  fromSettings: 'From the settings (HELIOGRAPH_PLANS).',
  version: (version: number) => `Version ${version}.`,
  save: 'Save',
  saveOf: (plan: string) => `Save ${plan}`,
  saved: (plan: string) => `${plan} plan saved`,
  versions: (plan: string) => `Versions of ${plan}`,
  columns: { version: 'Version', saved: 'Saved', by: 'By' },
  noLimit: 'No limit',
  it: 'It',
};
