import { type ComponentType, lazy } from 'react';
import { words } from '../../words/operator/pages.ts';

export interface OperatorPage {
  title: string;
  /** The rest of the address after the page's path. */
  rest?: string;
  Content: ComponentType;
}

export interface PageGroup {
  title: string;
  /** The pages by path. */
  pages: Record<string, OperatorPage>;
}

const { groups, pages: titles } = words;

/** The pages of operators by group, in the order of the navigation. */
export const pageGroups: PageGroup[] = [
  {
    title: groups.watch,
    pages: {
      now: { title: titles.now, Content: lazy(() => import('../now/now.tsx')) },
      alerts: { title: titles.alerts, Content: lazy(() => import('../alerts/alerts.tsx')) },
      queue: { title: titles.queue, Content: lazy(() => import('../queue/queue.tsx')) },
      deliveries: { title: titles.deliveries, Content: lazy(() => import('../deliveries/deliveries.tsx')) },
    },
  },
  {
    title: groups.reports,
    pages: {
      analytics: { title: titles.analytics, Content: lazy(() => import('../analytics/analytics.tsx')) },
      totals: { title: titles.totals, Content: lazy(() => import('../totals/totals.tsx')) },
      traffic: { title: titles.traffic, Content: lazy(() => import('../traffic/traffic.tsx')) },
    },
  },
  {
    title: groups.sending,
    pages: {
      carriers: { title: titles.carriers, rest: '/:name?', Content: lazy(() => import('../carriers/carriers.tsx')) },
      routes: { title: titles.routes, Content: lazy(() => import('../routes/routes.tsx')) },
      senders: { title: titles.senders, Content: lazy(() => import('../senders/senders.tsx')) },
      numbers: { title: titles.numbers, Content: lazy(() => import('../numbers/numbers.tsx')) },
      'smpp-binds': { title: titles.smppBinds, Content: lazy(() => import('../smpp-binds/smpp-binds.tsx')) },
      'opt-outs': { title: titles.optOuts, Content: lazy(() => import('../opt-outs/opt-outs.tsx')) },
    },
  },
  {
    title: groups.customers,
    pages: {
      accounts: { title: titles.accounts, rest: '/:id?', Content: lazy(() => import('../accounts/accounts.tsx')) },
      applications: {
        title: titles.applications,
        rest: '/:account?',
        Content: lazy(() => import('../applications/applications.tsx')),
      },
      registrations: { title: titles.registrations, Content: lazy(() => import('../pending-registrations.tsx')) },
      plans: { title: titles.plans, Content: lazy(() => import('../plans/plans.tsx')) },
      limits: { title: titles.limits, rest: '/:id?', Content: lazy(() => import('../limits/limits.tsx')) },
    },
  },
  {
    title: groups.security,
    pages: {
      guard: { title: titles.guard, Content: lazy(() => import('../guard/guard.tsx')) },
      audit: { title: titles.audit, Content: lazy(() => import('../audit/audit.tsx')) },
      'sign-ins': { title: titles.signIns, Content: lazy(() => import('../sign-ins/sign-ins.tsx')) },
    },
  },
  {
    title: groups.system,
    pages: {
      nodes: { title: titles.nodes, Content: lazy(() => import('../nodes/nodes.tsx')) },
      health: { title: titles.health, Content: lazy(() => import('../system-health.tsx')) },
    },
  },
];
