// The piano roll: each note is a button that can be moved, stretched, deleted and played with pointer or keyboard.
import {element, find} from './dom.js';
import {noteName} from './melody.js';
import {colours, kKeys_px, kWave_px, RollPicture} from './roll_picture.js';

const kStep_s = 0.02, kDragStarts_px = 4;
const kUnsure = 0.5, kAdded_s = 0.4;
const kLeastRows = 17, kMargin = 3;

const noteText = (note) => {
  const unsure = note.confidence && note.confidence < kUnsure ? ', unsure' : '';
  return `${noteName(note.pitch)}, ${note.start.toFixed(2)} to ${note.end.toFixed(2)} seconds${unsure}`;
};

export class Roll {
  #melody = null;
  #drag = null;
  #frame = 0;
  #range = null;
  #data = {peaks: null, peaksPerSecond: 100, beat_s: 0, firstBeat_s: 0};
  #preview = null;
  #position_s = null;
  #seconds = 1;
  selected = -1;
  zoom = 0;

  // root: the element #roll of the page. Calls: onChange(index) after a change, onPlay(note), onSelect(index),
  // onSeek(seconds), onUndo(), onRedo().
  constructor(root, calls) {
    this.calls = calls;
    this.scroller = root;
    this.field = find('.roll-field', root);
    this.list = find('.roll-notes', root);
    this.picture = new RollPicture(find('.roll-under canvas', root), find('.roll-over canvas', root));
    this.list.addEventListener('keydown', (event) => this.#onKey(event));
    this.list.addEventListener('focusin', (event) => this.#onFocus(event));
    this.list.addEventListener('click', (event) => this.#onClick(event));
    this.field.addEventListener('pointerdown', (event) => this.#onDown(event));
    this.field.addEventListener('pointermove', (event) => this.#onMove(event));
    this.field.addEventListener('pointerup', (event) => this.#onUp(event));
    this.field.addEventListener('pointercancel', () => this.#endDrag());
    this.field.addEventListener('dblclick', (event) => this.#onDouble(event));
    this.scroller.addEventListener('scroll', () => this.redraw());
    new ResizeObserver(() => this.layOut()).observe(this.scroller);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.redraw());
  }

  // peaks: the waveform, peaksPerSecond values a second. A new melody shows from its start.
  show(melody, {seconds, ...data}) {
    this.#melody = melody;
    this.#data = {...this.#data, ...data};
    this.#seconds = seconds;
    this.#range = null;
    this.#preview = null;
    this.selected = -1;
    this.zoom = 0;
    this.scroller.scrollLeft = 0;
    this.layOut();
  }

  setPreview(notes) {
    this.#preview = notes;
    this.layOut();
  }

  // null: nothing plays.
  setPosition(position_s) {
    this.#position_s = position_s;
    if (position_s !== null && !this.#drag) {
      const x = kKeys_px + position_s * this.zoom - this.scroller.scrollLeft;
      const width = this.scroller.clientWidth;
      if (x < kKeys_px || x > width * 0.92) this.scroller.scrollLeft += x - width * 0.2;
    }
    this.redraw();
  }

  zoomBy(factor) {
    const middle_s = (this.scroller.scrollLeft + this.scroller.clientWidth / 2 - kKeys_px) / this.zoom;
    this.zoom = Math.max(8, Math.min(600, this.zoom * factor));
    this.layOut();
    this.scroller.scrollLeft = middle_s * this.zoom + kKeys_px - this.scroller.clientWidth / 2;
  }

  select(index, {focus = false, isShown = true} = {}) {
    this.selected = index;
    this.#placeNotes();
    const button = this.list.children[index];
    if (button && focus) button.focus({preventScroll: true});
    if (button && isShown) this.#scrollTo(this.#melody.notes[index]);
    this.calls.onSelect(index);
  }

  // After the notes changed: places everything again.
  layOut() {
    const width = this.scroller.clientWidth;
    if (!this.#melody || width === 0) return;
    const seconds = Math.max(this.#seconds, this.#melody.end_s) + 1;
    if (this.zoom === 0) this.zoom = Math.max(64, Math.min(200, (width - kKeys_px) / seconds));
    this.#widenRange();
    const rows = this.#range.highest - this.#range.lowest + 1;
    this.rowHeight = Math.max(11, Math.min(18, Math.floor(320 / rows)));
    this.height = rows * this.rowHeight + kWave_px;
    this.field.style.width = `${kKeys_px + seconds * this.zoom}px`;
    this.field.style.height = `${this.height}px`;
    this.#placeNotes();
    this.redraw();
  }

  #widenRange() {
    const pitches = [...this.#melody.notes, ...(this.#preview ?? [])].map((note) => note.pitch);
    if (pitches.length === 0) pitches.push(60);
    let lowest = Math.min(...pitches) - kMargin;
    let highest = Math.max(...pitches) + kMargin;
    while (highest - lowest + 1 < kLeastRows) {
      --lowest;
      ++highest;
    }
    const {lowest: low, highest: high} = this.#range ?? {lowest, highest};
    this.#range = {lowest: Math.max(0, Math.min(low, lowest)), highest: Math.min(127, Math.max(high, highest))};
  }

  #placeNotes() {
    if (!this.#range) return;
    const notes = this.#melody.notes;
    while (this.list.children.length > notes.length) this.list.lastElementChild.remove();
    while (this.list.children.length < notes.length) this.list.append(element('button', {type: 'button', class: 'note'}));
    notes.forEach((note, index) => this.#placeNote(this.list.children[index], note, index));
  }

  #placeNote(button, note, index) {
    const isSelected = index === this.selected;
    button.style.left = `${kKeys_px + note.start * this.zoom}px`;
    button.style.top = `${(this.#range.highest - note.pitch) * this.rowHeight}px`;
    button.style.width = `${Math.max(6, (note.end - note.start) * this.zoom - 1)}px`;
    button.style.height = `${this.rowHeight - 1}px`;
    button.classList.toggle('selected', isSelected);
    button.classList.toggle('unsure', Boolean(note.confidence) && note.confidence < kUnsure);
    button.setAttribute('aria-label', noteText(note));
    button.setAttribute('aria-pressed', String(isSelected));
    button.tabIndex = isSelected || (this.selected < 0 && index === 0) ? 0 : -1;
  }

  redraw() {
    if (!this.#frame) this.#frame = requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    this.#frame = 0;
    if (!this.#melody || !this.#range) return;
    const view = {
      ...this.#range, width: this.scroller.clientWidth, height: this.height, rowHeight: this.rowHeight, zoom: this.zoom,
      scroll: this.scroller.scrollLeft,
    };
    const paint = colours(this.scroller);
    this.picture.drawUnder(view, this.#data, paint);
    this.picture.drawOver(view, {notes: this.#shownNotes(), preview: this.#preview, position_s: this.#position_s}, paint);
  }

  #shownNotes() {
    if (!this.#drag?.note) return this.#melody.notes;
    return this.#melody.notes.map((note, index) => index === this.#drag.index ? this.#drag.note : note);
  }

  #scrollTo(note) {
    const from = kKeys_px + note.start * this.zoom - this.scroller.scrollLeft;
    if (from < kKeys_px || from > this.scroller.clientWidth - 24) this.scroller.scrollLeft += from - kKeys_px - 40;
  }

  #indexOf(target) {
    const button = target.closest?.('.note');
    return button ? [...this.list.children].indexOf(button) : -1;
  }

  // Applies a change to the selected note and keeps the focus on it.
  change(difference) {
    if (this.selected < 0) return;
    const index = this.#melody.change(this.selected, difference);
    if (index >= 0) this.#afterChange(index);
  }

  addAfterSelected(position_s) {
    const before = this.#melody.notes[this.selected];
    const gap = this.#melody.gapAfter(before ? before.end : position_s);
    this.#afterChange(this.#melody.add(gap.start, Math.min(kAdded_s, gap.length), before?.pitch ?? this.#middlePitch()));
  }

  removeSelected() {
    if (this.selected < 0) return;
    const next = this.#melody.remove(this.selected);
    this.layOut();
    this.select(next, {focus: this.list.contains(document.activeElement)});
    this.calls.onChange(-1);
  }

  #middlePitch() {
    const pitches = this.#melody.notes.map((note) => note.pitch).sort((one, other) => one - other);
    return pitches[Math.floor(pitches.length / 2)] ?? 60;
  }

  #afterChange(index) {
    const hadFocus = this.list.contains(document.activeElement);
    this.layOut();
    this.select(index, {focus: hadFocus});
    this.calls.onChange(index);
  }

  #onFocus(event) {
    const index = this.#indexOf(event.target);
    if (index >= 0 && index !== this.selected && !this.#drag) this.select(index);
  }

  #onClick(event) {
    const index = this.#indexOf(event.target);
    if (index < 0 || this.wasDragged) return;
    this.select(index, {isShown: false});
    this.calls.onPlay(this.#melody.notes[index]);
  }

  #onKey(event) {
    const {key, shiftKey} = event;
    const isCommand = event.ctrlKey || event.metaKey;
    if (event.altKey) return;
    const sign = {ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1}[key];
    let action = null;
    if (isCommand && key.toLowerCase() === 'z') action = shiftKey ? this.calls.onRedo : this.calls.onUndo;
    else if (isCommand && key.toLowerCase() === 'y') action = this.calls.onRedo;
    else if (key === 'ArrowUp' || key === 'ArrowDown') action = () => this.change({semitones: sign * (shiftKey ? 12 : 1)});
    else if (sign && isCommand) action = () => this.change({end_s: sign * kStep_s});
    else if (sign && shiftKey) action = () => this.change({start_s: sign * kStep_s, end_s: sign * kStep_s});
    else if (sign) action = () => this.#step(sign);
    else if (key === 'Delete' || key === 'Backspace') action = () => this.removeSelected();
    else if (key === 'Insert' || key === '+') action = () => this.addAfterSelected(0);
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }

  #step(by) {
    const index = Math.max(0, Math.min(this.#melody.notes.length - 1, this.selected + by));
    if (index !== this.selected) this.select(index, {focus: true});
  }

  #timeAt(event) {
    return (event.clientX - this.field.getBoundingClientRect().left - kKeys_px) / this.zoom;
  }

  #pitchAt(event) {
    const row = Math.floor((event.clientY - this.field.getBoundingClientRect().top) / this.rowHeight);
    return Math.max(this.#range.lowest, this.#range.highest - row);
  }

  // What a press at this place of a note does: "start" and "end" stretch it, "all" moves it.
  #gripAt(button, event) {
    const box = button.getBoundingClientRect();
    const grip = Math.min(event.pointerType === 'touch' ? 14 : 7, box.width / 3);
    if (event.clientX > box.right - grip) return 'end';
    return event.clientX < box.left + grip ? 'start' : 'all';
  }

  #onDown(event) {
    this.wasDragged = false;
    const index = this.#indexOf(event.target);
    if (event.button !== 0 || index < 0) return;
    const button = event.target.closest('.note');
    this.#drag = {index, button, grip: this.#gripAt(button, event), x: event.clientX, y: event.clientY, note: null};
    button.setPointerCapture(event.pointerId);
  }

  #onMove(event) {
    const button = event.target.closest?.('.note');
    if (!this.#drag) {
      if (button) button.classList.toggle('edge', this.#gripAt(button, event) !== 'all');
      return;
    }
    const by = {x: event.clientX - this.#drag.x, y: event.clientY - this.#drag.y};
    if (!this.#drag.note && Math.hypot(by.x, by.y) < kDragStarts_px) return;
    const before = this.#drag.note?.pitch ?? this.#melody.notes[this.#drag.index].pitch;
    this.#drag.difference = this.#difference(by);
    this.#drag.note = this.#melody.changed(this.#drag.index, this.#drag.difference);
    this.#placeNote(this.#drag.button, this.#drag.note, this.#drag.index);
    this.#drag.button.classList.add('dragged');
    if (this.#drag.note.pitch !== before) this.calls.onPlay({...this.#drag.note, end: this.#drag.note.start + 0.2});
    this.redraw();
  }

  #difference({x, y}) {
    const time_s = x / this.zoom;
    if (this.#drag.grip === 'start') return {start_s: time_s};
    if (this.#drag.grip === 'end') return {end_s: time_s};
    return {start_s: time_s, end_s: time_s, semitones: -Math.round(y / this.rowHeight)};
  }

  #onUp(event) {
    const drag = this.#drag;
    if (!drag) {
      if (event.button === 0 && event.target === this.field) this.calls.onSeek(Math.max(0, this.#timeAt(event)));
      return;
    }
    this.#endDrag();
    if (!drag.note) return;
    this.wasDragged = true;
    const index = this.#melody.change(drag.index, drag.difference);
    if (index >= 0) this.#afterChange(index);
    else this.select(drag.index, {isShown: false});
  }

  #endDrag() {
    this.#drag?.button.classList.remove('dragged');
    this.#drag = null;
    if (this.#melody) this.layOut();
  }

  #onDouble(event) {
    if (this.#indexOf(event.target) >= 0) return;
    this.#afterChange(this.#melody.add(this.#timeAt(event) - kAdded_s / 4, kAdded_s, this.#pitchAt(event)));
  }
}
