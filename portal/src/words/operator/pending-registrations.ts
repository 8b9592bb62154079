export const words = {
  title: 'Pending approvals',
  lead: 'In production, an application can call an API only after you approve it.',
  nothing: {
    title: 'No pending approvals',
    sandbox: 'The sandbox approves every registration at once, so none waits here.',
    production: 'New registrations and plan changes appear here.',
  },
  about: (application: string, api: string) => `${application} for ${api}`,
  change: (from: string, to: string) => `${from} → ${to}`,
  facts: { api: 'API', plan: 'Plan', account: 'Account', requested: 'Requested' },
  approve: 'Approve',
  approveOf: (about: string) => `Approve ${about}`,
  approved: (application: string) => `${application} approved`,
  reject: 'Reject',
  rejectQuestion: (application: string) => `Reject ${application}?`,
  rejectReason: 'The developer reads this reason.',
  rejected: (application: string) => `${application} rejected`,
};
