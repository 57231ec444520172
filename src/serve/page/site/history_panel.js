// The list of earlier takes, which the browser keeps: open one again, or delete it here and on the service.
import {listTakes, removeTake} from './database.js';
import {announce, clockText, element, find, icon} from './dom.js';
import {openTake, recoverChunks} from './flow.js';
import {forgetJobs} from './jobs.js';
import {hideProblem, showProblem} from './problems.js';
import {get} from './state.js';

const dateText = (time) => new Date(time).toLocaleString([], {dateStyle: 'medium', timeStyle: 'short'});

function open(take) {
  find('#history').close();
  openTake(take.id);
}

async function remove(take) {
  try {
    await forgetJobs(take);
    await removeTake(take.id);
    announce(`${take.name} is deleted.`);
  } catch (fault) {
    find('#history').close();
    showProblem(fault, {title: `${take.name} could not be deleted`, retry: () => remove(take)});
  }
  await showList();
}

function row(take) {
  const played = take.jobs.map((job) => job.label).join(', ');
  const isOpen = get('take')?.id === take.id;
  const text = [dateText(take.created), clockText(take.seconds), played || 'not played yet',
                take.upload ? '' : 'not uploaded yet'].filter(Boolean).join(', ');
  return element('li', {class: 'take'},
                 element('button', {type: 'button', class: 'row', onclick: () => open(take), 'aria-current': isOpen && 'true'},
                         element('strong', {text: take.name}), element('span', {class: 'quiet', text})),
                 element('button', {type: 'button', class: 'tool', 'aria-label': `Delete ${take.name}`, disabled: isOpen,
                                    onclick: () => remove(take)}, icon('delete')));
}

async function showList() {
  const takes = await listTakes();
  find('#history-list').replaceChildren(...takes.map(row));
  find('#history-empty').hidden = takes.length > 0;
}

// A take that never reached the service waits here, also after a crash.
async function offerUnsent() {
  const recovered = await recoverChunks();
  const unsent = recovered ?? (await listTakes()).find((take) => !take.upload && !take.isRefused);
  if (!unsent || get('take')) return;
  showProblem(new Error(`${unsent.name} (${clockText(unsent.seconds)}) was not uploaded. It is kept in this browser.`),
              {title: 'A take is waiting', action: {label: 'Open it', run: () => openTake(unsent.id)}});
}

export function startHistoryPanel() {
  const dialog = find('#history');
  find('#history-open').addEventListener('click', async () => {
    hideProblem();
    await showList();
    dialog.showModal();
  });
  find('#history-close').addEventListener('click', () => dialog.close());
  offerUnsent().catch(() => {});
}
