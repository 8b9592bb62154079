/** What lists share. */
export const words = {
  find: 'Find',
  showMore: 'Show more',
};
