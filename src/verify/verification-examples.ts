import { exampleId, exampleTimes } from '../http/openapi/field-examples.ts';

const { created_at, sent_at } = exampleTimes;
const approved_at = '2026-01-31T12:00:41.000Z';
const proof = 'eyJhbGciOiJFUzI1NiIsInR5cCI6InBob25lLXByb29mK2p3dCJ9.e30.c2lnbmF0dXJl';

/** A verification as the answer to its start shows it, for the reference. */
export const startedVerification = {
  id: exampleId('ver'),
  to: '+447700900123',
  channel: 'sms',
  status: 'pending',
  reason: null,
  code_length: 6,
  attempts: 0,
  attempts_remaining: 5,
  sends: 1,
  sent: true,
  resend_available_at: '2026-01-31T12:00:30.000Z',
  created_at,
  updated_at: created_at,
  expires_at: '2026-01-31T12:10:00.000Z',
  approved_at: null,
  delivery: { status: 'queued', message_id: exampleId('msg'), error: null },
  deliveries: [{ channel: 'sms', status: 'queued', message_id: exampleId('msg'), error: null }],
  reference: 'sign-up-1234',
};

const { sent: _, ...pendingVerification } = startedVerification;

/** The started verification after the right code. */
export const approvedVerification = {
  ...pendingVerification,
  status: 'approved',
  resend_available_at: null,
  updated_at: approved_at,
  approved_at,
  delivery: { status: 'delivered', message_id: exampleId('msg'), error: null },
  deliveries: [{ channel: 'sms', status: 'delivered', message_id: exampleId('msg'), error: null }],
};
export const readVerification = { ...approvedVerification, proof };
export const checkedVerification = { ...approvedVerification, valid: true, proof };

/** The started verification, canceled before its text left. */
export const canceledVerification = {
  ...pendingVerification,
  status: 'canceled',
  reason: 'canceled_by_client',
  attempts_remaining: 0,
  resend_available_at: null,
  updated_at: sent_at,
  delivery: { status: 'canceled', message_id: exampleId('msg'), error: null },
  deliveries: [{ channel: 'sms', status: 'canceled', message_id: exampleId('msg'), error: null }],
};
