/** A heliograph that sends sunlight from its mirror to a phone. */
export function Illustration() {
  return (
    <svg viewBox="0 0 560 230" width="100%" fill="none" aria-hidden="true">
      <g stroke="var(--line-strong)" strokeWidth="1.5" strokeLinecap="round">
        <path d="M0 206c70-34 118-44 190-22s106 26 168 4 128-30 202 2" />
        <path d="M0 222c96-20 190-18 280-6s190 10 280-8" opacity=".6" />
      </g>
      <g stroke="var(--flash)" strokeLinecap="round" strokeWidth="4">
        <circle cx="84" cy="58" r="26" fill="var(--flash)" stroke="none" />
        <path d="M84 12v-8M84 112v-8M38 58h-8M138 58h-8M51 25l-6-6M123 97l-6-6M51 91l-6 6M117 25l6-6" />
        <path d="M118 76l74 42" strokeDasharray="2 11" />
      </g>
      <g stroke="var(--brand)" strokeWidth="5" strokeLinecap="round">
        <ellipse cx="222" cy="136" rx="26" ry="36" transform="rotate(24 222 136)" fill="var(--surface)" />
        <path d="M222 172v34M204 208h36" />
      </g>
      <path d="M244 126 452 82l-4 52z" fill="var(--flash)" opacity=".22" />
      <path
        d="M246 128 448 106"
        stroke="var(--flash)"
        strokeWidth="4"
        strokeLinecap="round"
        strokeDasharray="26 9 3 9"
      />
      <g stroke="var(--brand)" strokeWidth="5">
        <rect x="454" y="44" width="72" height="136" rx="14" fill="var(--surface)" />
        <path d="M482 168h16" strokeWidth="4" strokeLinecap="round" />
      </g>
      <rect x="464" y="78" width="46" height="24" rx="9" fill="var(--calm-soft)" />
      <path d="M472 87h30M472 94h18" stroke="var(--calm)" strokeWidth="3" strokeLinecap="round" />
      <rect x="464" y="110" width="38" height="18" rx="9" fill="var(--wait-soft)" />
      <path d="M472 119h22" stroke="var(--wait)" strokeWidth="3" strokeLinecap="round" />
    </svg>
  );
}
