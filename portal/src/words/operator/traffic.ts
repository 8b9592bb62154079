export const words = {
  title: 'Traffic',
  lead: 'Requests and messages of all applications. Updated every 5 seconds.',
  range: 'Time range',
  ranges: { hour: 'Last hour', hours: 'Last 6 hours', month: 'Last 30 days' },
  steps: { hour: 'minute', hours: '5 minutes', month: 'day' },
  requests: {
    title: 'Requests',
    lead: 'Calls of the APIs by all applications.',
    series: { admitted: 'Allowed', refused: 'Rate-limited' },
  },
  submits: {
    title: 'Submits to carriers',
    lead: 'What carriers answered. One message can need several submits.',
    series: { sent: 'Accepted', throttled: 'Postponed', in_doubt: 'No answer', rejected: 'Rejected' },
  },
  messages: {
    title: 'Messages',
    lead: 'Messages by the day (UTC) on which a carrier accepted or rejected them.',
    series: { delivered: 'Delivered', unreported: 'Not reported yet', undelivered: 'Undelivered', failed: 'Failed' },
  },
  chart: (title: string, step: string) => `${title} per ${step}`,
  share: (count: string, share: string) => `${count} (${share})`,
  numbers: 'Show the numbers',
  step: 'Time',
  nothing: 'No traffic in this time range.',
};
