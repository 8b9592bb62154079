/** The page of the virtual SMSC: plain HTML and a script that asks for the state every second. */
export const pageHtml = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Virtual SMSC</title>
<link rel="stylesheet" href="/page.css">
<header>
  <h1>Virtual SMSC</h1>
  <p id="summary" role="status">Loading…</p>
</header>
<main>
  <section aria-labelledby="texts-title">
    <div class="bar">
      <h2 id="texts-title">Texts</h2>
      <button id="clear" type="button">Clear the list</button>
    </div>
    <p id="no-texts" class="quiet" hidden>No text has arrived yet.</p>
    <ol id="texts"></ol>
  </section>
  <aside>
    <section aria-labelledby="binds-title">
      <h2 id="binds-title">Binds</h2>
      <p id="no-binds" class="quiet" hidden>No carrier is bound.</p>
      <ul id="binds"></ul>
    </section>
    <section aria-labelledby="faults-title">
      <div class="bar">
        <h2 id="faults-title">Behaviour and faults</h2>
        <button id="reset" type="button">Reset</button>
      </div>
      <form id="faults"></form>
      <p id="problem" role="alert"></p>
    </section>
  </aside>
</main>
<script src="/page.js"></script>
</html>
`;

export const pageCss = `
:root { color-scheme: light dark; --line: #8886; --soft: #8882; --ok: #1a7f37; --bad: #c0392b; }
@media (prefers-color-scheme: dark) { :root { --ok: #4ac26b; --bad: #ff7b72; } }
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.45 system-ui, sans-serif; }
header { padding: 1rem 1.5rem; border-bottom: 1px solid var(--line); }
h1 { font-size: 1.25rem; margin: 0; }
h2 { font-size: 1rem; margin: 0; }
header p, .quiet { margin: .25rem 0 0; opacity: .75; }
main { display: grid; grid-template-columns: minmax(0, 1fr) 23rem; gap: 2rem; padding: 1.25rem 1.5rem; }
@media (max-width: 60rem) { main { grid-template-columns: minmax(0, 1fr); } }
aside { display: grid; gap: 1.5rem; align-content: start; }
.bar { display: flex; justify-content: space-between; align-items: center; gap: 1rem; margin-bottom: .5rem; }
ol, ul { list-style: none; margin: 0; padding: 0; }
#texts li { border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .8rem; margin-bottom: .6rem; }
#texts .head { display: flex; flex-wrap: wrap; gap: .25rem 1rem; justify-content: space-between; font-size: .85rem; }
#texts .body { white-space: pre-wrap; overflow-wrap: anywhere; margin: .35rem 0; }
#texts .parts { display: flex; flex-wrap: wrap; gap: .3rem; font: .78rem ui-monospace, monospace; }
.part { background: var(--soft); border-radius: .3rem; padding: .1rem .4rem; overflow-wrap: anywhere; }
.ok { color: var(--ok); } .bad { color: var(--bad); }
#binds li { padding: .3rem 0; border-bottom: 1px solid var(--line); font-size: .9rem; }
label { display: grid; grid-template-columns: minmax(0, 1fr) 7.5rem; gap: .2rem .75rem; align-items: center; padding: .35rem 0; }
label small { grid-column: 1 / -1; opacity: .75; }
label.changed b { color: var(--bad); }
input, select { width: 100%; font: inherit; padding: .2rem .35rem; }
input[type=checkbox] { width: auto; justify-self: end; }
#problem { color: var(--bad); min-height: 1.4em; margin: .25rem 0 0; }
`;

export const pageScript = `
'use strict';
const at = (id) => document.getElementById(id);
const make = (tag, className, text) => {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
};
const hex = (status) => '0x' + status.toString(16).padStart(2, '0');
const plural = (count, noun) => count.toLocaleString('en') + ' ' + noun + (count === 1 ? '' : 's');

function showPart(part) {
  const wasAnswered = part.status !== null;
  const isOk = part.status === 0;
  const place = part.total > 1 ? part.part + '/' + part.total + ' ' : '';
  const answer = !wasAnswered ? 'no answer' : isOk ? 'id ' + (part.id || '(empty)') : 'refused ' + hex(part.status);
  const receipt = isOk ? ', receipt ' + part.receipt : '';
  return make('span', 'part ' + (isOk ? (part.receipt === 'acknowledged' ? 'ok' : '') : 'bad'), place + answer + receipt);
}

function showText(text) {
  const item = make('li');
  const head = make('div', 'head');
  head.append(make('strong', '', text.from + ' → ' + text.to), make('span', '', text.system_id + ' · ' + text.received_at));
  const body = make('p', 'body', text.text);
  const parts = make('div', 'parts');
  if (!text.complete && text.parts[0].total > 1) parts.append(make('span', 'part bad', 'not whole'));
  parts.append(...text.parts.map(showPart));
  item.append(head, body, parts);
  return item;
}

function showState({ counts, binds }) {
  at('summary').textContent = [
    plural(counts.submits, 'submit'), counts.accepted.toLocaleString('en') + ' accepted',
    counts.refused.toLocaleString('en') + ' refused', counts.unanswered.toLocaleString('en') + ' without answer',
    plural(counts.receipts_acknowledged, 'receipt') + ' acknowledged', counts.receipts_waiting.toLocaleString('en') + ' waiting',
  ].join(' · ');
  at('no-binds').hidden = binds.length > 0;
  at('binds').replaceChildren(...binds.map((bind) =>
    make('li', '', bind.system_id + ', ' + bind.mode + ', ' + plural(bind.submits, 'submit') + ', since ' + bind.since.slice(11, 19))));
}

let switches;
function showFaults(answer) {
  if (switches === undefined) {
    switches = answer.switches;
    at('faults').append(...Object.entries(switches).map(makeSwitch));
  }
  for (const [name, value] of Object.entries(answer.behaviour)) {
    const input = at('faults').elements[name];
    input.closest('label').classList.toggle('changed', value !== switches[name].byDefault);
    if (document.activeElement === input) continue;
    if (input.type === 'checkbox') input.checked = value; else input.value = name.endsWith('_status') && value > 0 ? hex(value) : value;
  }
}

function makeSwitch([name, { help, byDefault, choices }]) {
  const label = make('label');
  const input = choices ? make('select') : make('input');
  if (choices) input.append(...choices.map((choice) => make('option', '', choice)));
  else input.type = typeof byDefault === 'boolean' ? 'checkbox' : 'text';
  input.name = name;
  input.addEventListener('change', () => change({ [name]: input.type === 'checkbox' ? input.checked : input.value }));
  label.append(make('b', '', name.replaceAll('_', ' ')), input, make('small', '', help));
  return label;
}

async function ask(path, body) {
  const options = body === undefined ? {} : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const answer = await fetch(path, options);
  return answer.json();
}

async function change(wanted) {
  const answer = await ask('/faults', wanted);
  at('problem').textContent = answer.problem || '';
  if (answer.behaviour) showFaults(answer);
}

let shown = '';
async function refresh() {
  try {
    const [state, texts, faults] = await Promise.all([ask('/state'), ask('/texts?limit=100'), ask('/faults')]);
    showState(state);
    showFaults(faults);
    at('no-texts').hidden = texts.texts.length > 0;
    const now = JSON.stringify(texts);
    if (now !== shown) at('texts').replaceChildren(...texts.texts.map(showText));
    shown = now;
  } catch {
    at('summary').textContent = 'The SMSC does not answer.';
  }
  setTimeout(refresh, 1000);
}

at('clear').addEventListener('click', () => ask('/texts/clear', {}));
at('reset').addEventListener('click', () => change(Object.fromEntries(Object.entries(switches).map(([name, { byDefault }]) => [name, byDefault]))));
refresh();
`;
