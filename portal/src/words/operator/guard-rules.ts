/** The guard's rules and their counts of blocked verifications. */
export const words = {
  title: 'Rules',
  lead: 'Rules that block a verification before its text is sent. Change the limits with HELIOGRAPH_GUARD.',
  table: 'Rules of the guard',
  columns: {
    rule: 'Rule',
    limit: 'Limit',
    today: 'Blocked today',
    week: '7 days',
    month: '30 days',
  },
  off: 'Off',
  none: '–',
  counted: 'Counts are by day (UTC) and about 10 minutes behind.',
  rules: {
    spend_limit: { name: 'Spend limit', why: 'The application has used all its segments of the day.' },
    country_not_allowed: { name: 'Country', why: 'The country of the number is not in the list of allowed countries.' },
    block_list: { name: 'Block list', why: 'The number begins with an entry of the block list.' },
    number_type: { name: 'Number type', why: 'The number is not of a type that can receive texts.' },
    destination_limit: { name: 'Starts per number', why: 'Too many verifications for one number in 24 hours.' },
    prefix_velocity: { name: 'Starts per prefix', why: 'Too many verifications for similar numbers in one hour.' },
    too_many_failures: { name: 'Wrong codes', why: 'Too many wrong codes for one number in 24 hours.' },
    suspected_pumping: {
      name: 'Suspected pumping',
      why: 'Hardly anyone enters the codes sent to this prefix or country.',
    },
    risk: {
      name: 'Risk check',
      why: 'The risk check blocked the number, like one with a new SIM (HELIOGRAPH_RISK_URL).',
    },
  } as Record<string, { name: string; why: string }>,
  applications: {
    title: 'Most blocked applications',
    lead: 'In the last 7 days, by rule.',
    table: 'Most blocked applications',
    columns: { application: 'Application', rule: 'Rule', blocked: 'Blocked' },
    nothing: 'No verification was blocked in the last 7 days.',
    deleted: 'Deleted application',
  },
};
