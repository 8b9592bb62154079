/** The drawer that shows one record beside its list. */
export const words = {
  close: 'Close',
  idOf: (kind: string) => `the id of this ${kind.toLowerCase()}`,
  notFound: { title: 'Record not found', next: 'Check the id. Records are deleted after the retention time.' },
};
