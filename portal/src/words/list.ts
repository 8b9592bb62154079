/** What lists share. */
export const listWords = {
  find: 'Find',
  showMore: 'Show more',
};
