import type { RouteRule } from '../../api/operator-types.ts';

/** The largest weight that the service takes. */
const largestWeight = 1000;

/** Whether a rule sends texts to a carrier, first or by failover. */
export function namesCarrier({ carriers, failover }: RouteRule, name: string): boolean {
  return carriers.some(({ carrier }) => carrier === name) || failover.includes(name);
}

/** The rules after the chosen ones give the texts of carrier `from` to carrier `to`. All others stay as they are. */
export function movedRules(rules: readonly RouteRule[], from: string, to: string, chosen: ReadonlySet<string>) {
  return rules.map((rule) => (chosen.has(rule.name) && namesCarrier(rule, from) ? moved(rule, from, to) : rule));
}

/** A rule names each carrier once, so weights are added, and a failover carrier that now sends first leaves its place. */
function moved(rule: RouteRule, from: string, to: string): RouteRule {
  const carriers: RouteRule['carriers'] = [];
  for (const { carrier, weight } of rule.carriers) {
    const name = carrier === from ? to : carrier;
    const known = carriers.find((each) => each.carrier === name);
    if (known === undefined) carriers.push({ carrier: name, weight });
    else known.weight = Math.min(largestWeight, known.weight + weight);
  }
  const renamed = rule.failover.map((carrier) => (carrier === from ? to : carrier));
  const failover = [...new Set(renamed)].filter((name) => !carriers.some(({ carrier }) => carrier === name));
  return { ...rule, carriers, failover };
}
