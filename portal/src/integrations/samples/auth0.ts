/** The Action. Address and secret are its own secrets, so that they are not in its code. */
export const auth0Action = `exports.onExecuteCustomPhoneProvider = async (event) => {
  const { recipient, code, as_text, locale } = event.notification;
  const response = await fetch(event.secrets.url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Authorization: event.secrets.Authorization,
    },
    body: JSON.stringify({ recipient, code, as_text, locale }),
  });
  if (!response.ok) throw new Error(\`\${response.status} \${await response.text()}\`);
};`;
