import type { ApiName } from './types.ts';

export interface Segments {
  count: number;
  encoding: string;
  characters: number;
  remaining: number;
}

export interface DeliveryError {
  code: string;
  message: string;
  permanent: boolean;
}

export interface TimelineEntry {
  at: string;
  event: string;
  detail: string;
}

export interface Message {
  id: string;
  api: ApiName;
  to: string;
  from: string;
  message: string | null;
  channel: string;
  status: string;
  segments: Segments;
  reference: string | null;
  error: DeliveryError | null;
  created_at: string;
  updated_at: string;
  sent_at: string | null;
  delivered_at: string | null;
  expires_at: string;
}

export interface MessageDetail extends Message {
  correlation_id: string | null;
  attempts: number;
  possible_duplicates: number;
  timeline: TimelineEntry[];
}

export interface Verification {
  id: string;
  to: string;
  channel: string;
  status: string;
  reason: string | null;
  code_length: number;
  attempts: number;
  attempts_remaining: number;
  sends: number;
  resend_available_at: string | null;
  created_at: string;
  updated_at: string;
  expires_at: string;
  approved_at: string | null;
  delivery: { status: string; message_id: string; error: DeliveryError | null } | null;
  reference: string | null;
}

export interface VerificationDetail extends Verification {
  correlation_id: string | null;
  timeline: TimelineEntry[];
}

export interface InboxText {
  to: string;
  from: string;
  text: string;
  message_id: string;
  verification_id: string | null;
  segments: Segments;
  received_at: string;
}

export interface RequestSummary {
  correlation_id: string;
  api: ApiName;
  at: string;
  method: string;
  path: string | null;
  status: number;
  code: string | null;
  duration_ms: number | null;
  record_id: string | null;
}

export interface RequestTrace {
  correlation_id: string;
  application_id: string;
  application_name: string;
  api: ApiName;
  at: string;
  method: string;
  /** Null when it is not known any more. */
  path: string | null;
  status: number;
  code: string | null;
  message: string | null;
  details: { field: string; message: string }[];
  duration_ms: number | null;
  limits: {
    admitted: boolean;
    limit: number | null;
    remaining: number | null;
    retry_after_seconds: number | null;
    refused_by: 'minute' | 'burst' | null;
  };
  /** A batch makes several. */
  records: { type: 'message' | 'verification'; id: string; status: string }[];
  timeline: TimelineEntry[];
}

export interface UsageCounts {
  admitted: number;
  refused: number;
  messages: number;
  segments: number;
  verifications: number;
  approved: number;
}

export interface ApiUsage {
  api: ApiName;
  plan: string;
  per_minute: number;
  burst: number;
  remaining: number;
  reset_seconds: number;
  totals: UsageCounts;
  states: Record<string, number>;
  steps: (UsageCounts & { at: string })[];
}

export interface Usage {
  from: string;
  to: string;
  step: 'minute' | 'hour' | 'day';
  data: ApiUsage[];
}
