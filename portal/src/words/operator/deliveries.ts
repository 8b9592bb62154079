/** Search for a delivery, for operators. */
export const words = {
  stuck: 'Stuck',
  noneStuck: 'No text has waited for more than a minute.',
  inDoubt: 'In doubt',
  noneInDoubt: 'Carriers have confirmed every text.',
  why: 'Reason and next step',
  carrier: 'Carrier',
  number: 'Number',
  since: 'Since',
  next: 'Next attempt',
  text: 'Text',
  lead: 'Texts that have waited for more than a minute, or that a carrier may have sent without confirming.',
  title: 'Deliveries',
  state: 'State',
  any: 'Any',
  none: 'Nothing to do',
  more: 'Show more',
  groups: {
    title: 'By reason',
    texts: 'Texts',
    truncated: 'Counts the oldest texts only: there are more.',
  },
};
