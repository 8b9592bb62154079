/** The start of the first day and the end of the last, in the reader's time zone. Invalid days are left out. */
export function timesOf({ since, until }: { since: string; until: string }): { since: string; until: string } {
  return { since: midnightOf(since, 0), until: midnightOf(until, 1) };
}

function midnightOf(day: string, daysLater: number): string {
  const date = new Date(`${day}T00:00`);
  date.setDate(date.getDate() + daysLater);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}
