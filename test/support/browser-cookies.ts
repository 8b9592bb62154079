/** A browser as far as cookies go: keeps what is set, and sends it back. */
export function createCookies(send: typeof fetch = fetch, jar = new Map<string, string>()) {
  return async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const request = new Request(input, init);
    request.headers.set('cookie', [...jar].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await send(request);
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /max-age=0/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  };
}
