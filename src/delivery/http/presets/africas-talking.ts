import { codes } from './codes.ts';
import type { Preset } from './preset.ts';

/** Africa's Talking SMS. Its dashboard has the addresses of callbacks, which are not signed and have no id of ours. */
export const africasTalking: Preset = {
  title: "Africa's Talking",
  base: 'https://api.africastalking.com',
  account: ['username'],
  fields: { username: { help: 'Username of the application' }, api_key: { secret: true, help: 'API key' } },
  describe() {
    const code = 'SMSMessageData.Recipients.0.statusCode';
    const verify = { kind: 'token' } as const;
    return {
      url: '{{base}}/version1/messaging',
      auth: { kind: 'header', name: 'apiKey', value: '{{secret:api_key}}' },
      form: { username: '{{value:username}}', to: '{{to}}', message: '{{text}}', from: '{{from}}' },
      accepted: [{ status: [200, 201], path: code, in: [100, 101, 102] }],
      id: 'SMSMessageData.Recipients.0.messageId',
      errors: [
        { path: 'SMSMessageData.Message', in: ['InvalidSenderId'], class: 'elsewhere', code: 'sender_rejected' },
        { path: code, in: [405], class: 'account' },
        { path: code, in: [401, 407, 500, 501, 502], class: 'elsewhere', code: 'carrier_unavailable' },
        { path: code, in: [402], class: 'elsewhere', code: 'sender_rejected' },
        { path: code, in: [403, 404], class: 'never', code: 'invalid_destination' },
        { path: code, in: [406, 409], class: 'never', code: 'blocked_by_recipient' },
      ],
      receipt: {
        id: 'id',
        to: 'phoneNumber',
        state: {
          path: 'status',
          map: {
            Success: 'delivered',
            Failed: 'undelivered',
            Rejected: 'failed',
            AbsentSubscriber: 'undelivered',
            Expired: 'expired',
            Sent: 'pending',
            Submitted: 'pending',
            Buffered: 'pending',
          },
        },
        error: {
          path: 'failureReason',
          map: codes({
            unreachable: ['UserIsInactive', 'AbsentSubscriber'],
            invalid_destination: ['UserDoesNotExist', 'NotNetworkSubcriber', 'NotNetworkSubscriber'],
            blocked_by_recipient: ['UserInBlackList', 'UserInBlacklist', 'DoNotDisturbRejection'],
            blocked_by_carrier: [
              'UserAccountSuspended',
              'UserNotSubscribedToProduct',
              'InsufficientCredit',
              'InvalidLinkId',
            ],
            unknown: ['DeliveryFailure'],
          }),
        },
        verify,
      },
      inbound: { id: 'id', from: 'from', to: 'to', text: 'text', verify },
    };
  },
};
