/** Parts that every page uses. */
export const words = {
  colours: (scheme: string) => `Switch to ${scheme} colours`,
  close: 'Close',
  cancel: 'Cancel',
  copy: (what: string) => `Copy ${what}`,
  copied: 'Copied',
  copyBlocked: 'The browser blocked copying. Select the text and copy it yourself.',
  broken: {
    title: 'This page could not be shown',
    next: 'The service was updated or cannot be reached. Reload the page.',
    reload: 'Reload',
  },
  documentTitle: (page: string) => `${page} · Heliograph`,
  quoteId: (id: string) => (
    <>
      Quote the correlation id <code>{id}</code> when you report this.
    </>
  ),
  tryAgain: 'Try again',
  reason: 'Reason',
};
