// Shows what went wrong and what to do, with a button that does it.
import {Problem} from './api.js';
import {element, find, icon} from './dom.js';

// Whether the same request may succeed later.
export const mayPass = (fault) =>
    !(fault instanceof Problem) || fault.status === 0 || fault.status === 429 || fault.status >= 500;

// title: what the person wanted and did not get. retry: does it again, if that may help. action: {label, run}. A new
// problem replaces the last one.
export function showProblem(fault, {title, retry, action = retry && mayPass(fault) && {label: 'Try again', run: retry}} = {}) {
  const heading = title ?? fault.title ?? 'That did not work';
  const detail = fault.message === heading ? '' : fault.message;
  const act = action && element('button', {
    type: 'button', class: 'quiet-button', text: action.label,
    onclick: () => {
      hideProblem();
      action.run();
    },
  });
  const close = element('button', {type: 'button', class: 'tool', 'aria-label': 'Close this message', onclick: hideProblem},
                        icon('close'));
  find('#problems').replaceChildren(
      element('div', {class: 'problem'}, icon('warning'),
              element('div', {class: 'problem-text'}, element('strong', {text: heading}),
                      detail && element('p', {text: detail}), act),
              close));
}

export function hideProblem() {
  find('#problems').replaceChildren();
}
