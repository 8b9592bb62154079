/** What only operators read, as the service answers it. */
import type { NodeLogEntry } from '../../../src/delivery/carrier-log-service.ts';
import type { CarrierRecord, toTest } from '../../../src/portal/carrier-record.ts';

export type Carrier = CarrierRecord;
export type CarrierBind = Carrier['binds'][number];
export type CarrierTest = ReturnType<typeof toTest>;
export type CarrierLogEntry = NodeLogEntry;
