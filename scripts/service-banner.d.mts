export function bannerFor(place: string): string;
