export const words = {
  title: 'Applications',
  lead: 'All applications, with their traffic since midnight UTC.',
  search: 'Name, id, account or email',
  searchExample: 'acme',
  table: 'Applications',
  columns: {
    application: 'Application',
    account: 'Account',
    apis: 'APIs',
    admitted: 'Allowed',
    refused: 'Rate-limited',
    sent: 'Sent',
    failed: 'Failed',
  },
  registration: (api: string, plan: string) => `${api}: ${plan}`,
  nothing: { title: 'No applications found', text: 'Try a part of the name.' },
};
