/** Delivery over time, for operators. */
export const words = {
  title: 'Analytics',
  lead: 'What became of texts and verifications of all applications, over time.',
};
