export function createSbom(root: string): string;
