/** What a field without a description of its own means, by name: the same name means the same everywhere. */
const descriptions: Record<string, string> = {
  accepted: 'How many were accepted',
  active: 'Whether the token works',
  api: 'The API of the record: sms, verify or messaging',
  application_id: 'The id of the application',
  approved_at: 'When the right code came; null before',
  attempts_remaining: 'Wrong codes that are still allowed',
  channel: 'How it is sent: sms, voice or whatsapp; inbound if the person sends a text',
  characters: 'Characters of the text',
  client_id: 'The client of the application',
  code_length: 'Digits of the code',
  created_at: 'When it was created',
  delivered_at: 'When the phone had it; null before',
  exp: 'When the token expires, in seconds since 1970',
  expires_at: 'When it expires',
  from: 'The sender that the phone shows',
  iat: 'When the token was issued, in seconds since 1970',
  jti: 'The id of the token',
  message_id: 'The id of the message',
  received_at: 'When it arrived',
  reference: 'Your own reference; null if you gave none',
  rejected: 'How many were refused',
  rule: 'The name of the rule',
  scope: 'The scopes of the token',
  sends: 'How many texts were sent for it',
  sent_at: 'When a carrier accepted it; null before',
  text: 'What the phone shows',
  time: 'When it happened',
  to: 'The number of the recipient',
  token_type: 'Always Bearer',
  updated_at: 'When it last changed',
  verification_id: 'The id of the verification; null if the text belongs to no verification',
};

export function descriptionOfField(field: string): string | undefined {
  return descriptions[field];
}
