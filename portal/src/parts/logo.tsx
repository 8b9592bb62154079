/** A heliograph: a mirror that reflects a flash of sunlight. */
export function Logo({ size = 30 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" fill="none" aria-hidden="true">
      <path d="M15.2 9.4A10 10 0 1 0 22.6 16.8" stroke="var(--brand)" strokeWidth="2.8" strokeLinecap="round" />
      <path d="M12.5 13.6a5.6 5.6 0 0 0-5.1 5.2" stroke="var(--brand)" strokeWidth="2" strokeLinecap="round" />
      <path
        d="M22.5 0c.7 6.3 2.7 8.3 9.5 9.5-6.8 1.2-8.8 3.2-9.5 9.5-.7-6.3-2.7-8.3-9.5-9.5C19.8 8.3 21.8 6.3 22.5 0"
        fill="var(--flash)"
      />
    </svg>
  );
}
