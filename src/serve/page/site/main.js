// Starts the page: one module for each panel, which share what state.js holds.
import {hasTask} from './api.js';
import {startDock} from './dock.js';
import {find} from './dom.js';
import {startGalleryPanel} from './gallery_panel.js';
import {startHistoryPanel} from './history_panel.js';
import {startHumPanel} from './hum_panel.js';
import {startNotesPanel} from './notes_panel.js';
import {fillOptions} from './options.js';
import {startResultsPanel} from './results_panel.js';
import {startSession} from './session.js';
import {startSongPanel} from './song_panel.js';

// A band only where the service can arrange.
async function offerBand() {
  try {
    find('#band').hidden = !(await hasTask('arrange'));
  } catch {
    // Without a description of the API there is no band.
  }
  find('#band-on').addEventListener('change', (event) => (find('#band-fields').hidden = !event.target.checked));
}

await startSession();
startNotesPanel();
startDock();
startHumPanel();
startResultsPanel();
startGalleryPanel();
startHistoryPanel();
startSongPanel();
fillOptions(find('#score-fields'), find('#sound-fields'), find('#band-fields'));
offerBand();
