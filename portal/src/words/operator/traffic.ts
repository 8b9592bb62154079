export const words = {
  title: 'Traffic',
  lead: 'Requests of all applications, and what carriers answered. Analytics shows the outcomes of the texts. Updated every 5 seconds.',
  range: 'Time range',
  ranges: { hour: 'Last hour', hours: 'Last 6 hours' },
  steps: { hour: 'minute', hours: '5 minutes' },
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
};
