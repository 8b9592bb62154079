/** Who made a change, where the store names the person: versions of routes, plans and guard rules, and the audit log. */
export const appliedBy = 'apply';
