import type { ApplicationDetail } from '../api/types.ts';

/** What each tab of an application's page gets. */
export interface TabProps {
  application: ApplicationDetail;
  /** The id of the record in the URL, if any. */
  record: string | undefined;
  /** Called after a change to the application. */
  onChange: () => void;
}
