// Whose page this is. A service with keys asks for one: the page trades its token for a cookie that scripts cannot read,
// and sends the CSRF token of that session with each call that changes something.
import {find, setText} from './dom.js';

const kPath = '/v1/session';
const kCommon = {credentials: 'same-origin', cache: 'no-store'};

let csrf = null;
let question = null;  // the promise of the dialog that is open

// Of calls that change something.
export const csrfHeaders = () => (csrf ? {'X-CSRF-Token': csrf} : {});

// Returns whether the service knows the person.
function use(session) {
  csrf = session.csrf;
  find('#log-out').hidden = csrf === null;
  return session.name !== null;
}

// Reads what the cookie is worth. True if the service does not answer: other calls say so.
export async function renewSession() {
  try {
    return use(await (await fetch(kPath, kCommon)).json());
  } catch {
    return true;
  }
}

async function sendToken(token) {
  const headers = {'Content-Type': 'application/json'};
  const answer = await fetch(kPath, {...kCommon, method: 'POST', headers, body: JSON.stringify({token})});
  if (answer.status === 401) return 'The service does not know this key. Check that it is complete.';
  if (!answer.ok) return `The service answered ${answer.status}. Try again later.`;
  use(await answer.json());
  return '';
}

function ask() {
  const dialog = find('#login');
  const token = find('#login-token');
  return new Promise((done) => {
    let isKnown = false;
    find('#login-form').onsubmit = async (event) => {
      event.preventDefault();
      const fault = await sendToken(token.value.trim()).catch(() => 'The service does not answer. Try again.');
      setText(find('#login-fault'), fault);
      isKnown = fault === '';
      if (isKnown) dialog.close();
    };
    dialog.onclose = () => {
      token.value = '';
      done(isKnown);
    };
    dialog.showModal();
  });
}

// Asks for a key until the service knows it. False if the person closes the dialog. Calls at the same time share it.
export function logIn() {
  question ??= ask().finally(() => (question = null));
  return question;
}

export async function startSession() {
  find('#log-out').addEventListener('click', async () => {
    await fetch(kPath, {...kCommon, method: 'DELETE'}).catch(() => {});
    location.reload();
  });
  if (!(await renewSession())) await logIn();
}
