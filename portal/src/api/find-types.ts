/** Find, as the service answers. */
export type { FindPage, Found } from '../../../src/portal/find/found.ts';
export type { OpenedRecord } from '../../../src/portal/find/record-opening.ts';
