export function numberPage(message) {
  return page(
    'Sign up',
    message,
    `<form method="post" action="/number">
      <label>Your phone number <input name="number" type="tel" autocomplete="tel" placeholder="+44 7700 900123" required></label>
      <button>Send me a code</button>
    </form>`,
  );
}

/** `one-time-code` lets phones offer the code from the text; the script takes it by itself where there is WebOTP. */
export function codePage(number, message) {
  return page(
    'Enter the code',
    message,
    `<p>We have sent a code to ${escapeText(number)}.</p>
    <form method="post" action="/code">
      <label>Code <input name="code" inputmode="numeric" autocomplete="one-time-code" required autofocus></label>
      <button>Check</button>
    </form>
    <form method="post" action="/resend"><button>Send it again</button></form>
    <script>
      if ('OTPCredential' in window) navigator.credentials.get({ otp: { transport: ['sms'] } }).then(({ code }) => {
        document.querySelector('[name=code]').value = code;
        document.querySelector('form').submit();
      }).catch(() => {});
    </script>`,
  );
}

export function welcomePage(number) {
  return page('Welcome', undefined, `<p>You are signed up with ${escapeText(number)}.</p>`);
}

function page(title, message, body) {
  const said = message === undefined ? '' : `<p role="alert">${escapeText(message)}</p>`;
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
    <title>${title}</title><h1>${title}</h1>${said}${body}</html>`;
}

function escapeText(text) {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
