import type { ReactNode } from 'react';

/** Alerts, for operators. */
export const words = {
  what: 'Alert',
  from: 'From',
  until: 'Until',
  lead: 'Problems that need your attention now. Set HELIOGRAPH_ALERT_URL to send alerts to another system too.',
  title: 'Alerts',
  none: 'No alerts',
  noneDetail: 'New alerts appear here.',
  more: 'Show more',
  openHolds: 'Show what is held back',
  open: (carrier: string) => `Open ${carrier}`,
  openLimits: 'Open limits',
  cleared: 'Resolved',
  clearedLead: 'In the last 30 days.',
  clearedList: 'Resolved alerts',
  since: (advice: string, since: ReactNode) => (
    <>
      {advice} Since {since}.
    </>
  ),
};
