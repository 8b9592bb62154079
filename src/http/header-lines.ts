/** Headers as wire text: one line each, with line end. */
export function linesOf(headers: Record<string, string>): string {
  let lines = '';
  for (const name in headers) lines += `${name}: ${headers[name]}\r\n`;
  return lines;
}

/** Appends headers and removes earlier lines of the same name. */
export function withHeaders(lines: string, headers: Record<string, string>): string {
  let all = lines;
  for (const name in headers) all = `${without(all, name)}${name}: ${headers[name]}\r\n`;
  return all;
}

function without(lines: string, name: string): string {
  const start = lines.startsWith(`${name}: `) ? 0 : lines.indexOf(`\n${name}: `) + 1;
  if (start === 0 && !lines.startsWith(`${name}: `)) return lines;
  return lines.slice(0, start) + lines.slice(lines.indexOf('\n', start) + 1);
}
