import { exampleId, exampleTimes } from '../http/openapi/field-examples.ts';

const { created_at, sent_at, delivered_at, expires_at } = exampleTimes;

/** Example for the API reference: the answer to a send. */
export const queuedMessage = {
  id: exampleId('msg'),
  to: '+447700900123',
  from: 'ACME',
  message: 'Your order has left our house.',
  channel: 'sms',
  status: 'queued',
  segments: { count: 1, encoding: 'GSM-7', characters: 30, remaining: 130 },
  reference: 'order-1234',
  error: null,
  created_at,
  updated_at: created_at,
  sent_at: null,
  delivered_at: null,
  expires_at,
  possible_duplicates: 0,
};

/** The text above two seconds later. */
export const deliveredMessage = {
  ...queuedMessage,
  status: 'delivered',
  updated_at: delivered_at,
  sent_at,
  delivered_at,
};

/** The text above, canceled before it left. */
export const canceledMessage = { ...queuedMessage, status: 'canceled', updated_at: sent_at };
