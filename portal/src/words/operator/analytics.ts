/** Delivery over time, for operators. */
export const words = {
  title: 'Analytics',
  lead: 'Outcomes of texts and verifications of all applications, over time.',
};
