// The players of a report's examples. The keyboard works on the current clip: the last one that was used.
'use strict';

class Clip {
  static all = [];
  static current = null;

  constructor(root) {
    this.root = root;
    this.looper = new Looper();
    this.choices = [...root.querySelectorAll('.choice input')];
    this.picture = root.querySelector('.picture');
    new Transport(root, this.looper, () => this.toggle());
    for (const choice of this.choices) choice.addEventListener('change', () => this.choose(choice));
    for (const event of ['pointerdown', 'focusin']) root.addEventListener(event, () => this.makeCurrent());
    this.choose(this.choices.find((choice) => choice.checked));
  }

  makeCurrent() {
    if (Clip.current === this) return;
    for (const clip of Clip.all) {
      clip.looper.pause();
      clip.root.classList.toggle('is-current', clip === this);
    }
    Clip.current = this;
  }

  choose(choice) {
    choice.checked = true;
    this.looper.select(choice.id);
    this.picture.src = choice.dataset.picture;
    this.picture.alt = `Spectrogram and notes of ${choice.labels[0].lastChild.textContent}`;
  }

  async toggle() {
    openOutput();  // before the wait, while the browser still counts the click
    const fault = this.root.querySelector('.fault');
    fault.textContent = '';
    try {
      await (this.loaded ??= this.load());
      this.looper.toggle();
    } catch (problem) {
      this.loaded = null;
      fault.textContent = problem.message;
    }
  }

  load() {
    return this.looper.load(this.choices.map(({id, dataset}) => ({
      id, path: dataset.sound, gain_db: Number(dataset.gain),
    })));
  }
}

Clip.all = [...document.querySelectorAll('.clip')].map((root) => new Clip(root));
Clip.all[0].makeCurrent();

document.addEventListener('keydown', (event) => {
  const choice = Clip.current.choices[digitOf(event) - 1];
  if (choice) {
    Clip.current.choose(choice);
  } else if (isSpace(event)) {
    Clip.current.toggle();
  } else {
    return;
  }
  event.preventDefault();
});
