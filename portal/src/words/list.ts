/** Shared by all lists. */
export const words = {
  find: 'Find',
  showMore: 'Show more',
};
