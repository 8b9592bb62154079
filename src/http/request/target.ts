/** The path of a request target, absolute form included (RFC 9112, section 3.2.2). */
export function pathOf(target: string): string {
  const path = target.startsWith('/') ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
  const query = path.indexOf('?');
  const fragment = path.indexOf('#');
  if (query === -1 && fragment === -1) return path;
  return path.slice(0, Math.min(query === -1 ? path.length : query, fragment === -1 ? path.length : fragment));
}
