/**
 * The host that twilio-node calls for a base URL with this host: it reads the labels before the last two as product,
 * edge and region, and drops further ones.
 */
export function hostOfTwilioNode(host: string): string {
  const domain = host.split('.').slice(-2).join('.');
  const [product, edge, region] = (host.split(`.${domain}`)[0] ?? '').split('.');
  return edge === undefined ? host : [product, edge, region, domain].filter(Boolean).join('.');
}
