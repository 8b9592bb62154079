import type { ApplicationDetail } from '../api/types.ts';

/** The props of each tab of an application's page. */
export interface TabProps {
  application: ApplicationDetail;
  /** The id of the record in the URL, if any. */
  record: string | undefined;
  /** The id after the record's in the URL, if any: on the page of a webhook, the event of a delivery. */
  part?: string | undefined;
  /** Called after a change to the application. */
  onChange: () => void;
}
