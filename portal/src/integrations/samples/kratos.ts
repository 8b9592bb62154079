const codes = ['verification_code', 'recovery_code', 'login_code', 'registration_code'];

/** The body that Kratos is to post: the number, the text, and only the codes of its data. */
const template = `function(ctx) {
  recipient: ctx.recipient,
  body: ctx.body,
  template_data: {
    [name]: ctx.template_data[name]
    for name in [${codes.map((name) => `'${name}'`).join(', ')}]
    if std.objectHas(ctx.template_data, name)
  },
}
`;

/** A channel for kratos.yml. The template is in it, so that there is one thing to paste. */
export function kratosSample(url: string, secret: string): string {
  return [
    'courier:',
    '  channels:',
    '    - id: sms',
    '      type: http',
    '      request_config:',
    `        url: ${url}`,
    '        method: POST',
    `        body: base64://${btoa(template)}`,
    '        headers:',
    '          Content-Type: application/json',
    '        auth:',
    '          type: api_key',
    '          config:',
    '            in: header',
    '            name: Authorization',
    `            value: Bearer ${secret}`,
  ].join('\n');
}
