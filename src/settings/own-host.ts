import { BlockList, isIP } from 'node:net';

const own = new BlockList();
for (const [network, prefix] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
  ['100.64.0.0', 10],
] as const)
  own.addSubnet(network, prefix, 'ipv4');
own.addAddress('::1', 'ipv6');
own.addSubnet('fc00::', 7, 'ipv6');
own.addSubnet('fe80::', 10, 'ipv6');

/** Names that no public resolver knows: of one label, as in a compose file, or below these. */
const ownName = /^(?:[^.]+|.+\.(?:localhost|local|internal|svc\.cluster\.local))$/i;

/** Whether the host of a URL, as `URL` spells it, can only be on this machine or in a private network. */
export function isOwnHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  const family = isIP(host);
  if (family === 0) return ownName.test(host);
  return own.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
