// Small helpers for the document: finding and making elements, icons, messages for screen readers, times as text.

export const find = (selector, root = document) => root.querySelector(selector);
export const findAll = (selector, root = document) => [...root.querySelectorAll(selector)];

// Attributes: `text` is the content, `onclick` and so on are listeners, the others are as in HTML. A value of false, null
// or undefined leaves the attribute out.
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name === 'text') made.textContent = value;
    else if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

const kSvg = 'http://www.w3.org/2000/svg';

// A picture of icons.svg. It is decoration: the button around it carries the name.
export function icon(name) {
  const svg = document.createElementNS(kSvg, 'svg');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  svg.append(document.createElementNS(kSvg, 'use'));
  setIcon(svg, name);
  return svg;
}

export function setIcon(svg, name) {
  const target = `/page/icons.svg#${name}`;
  if (svg.firstElementChild.getAttribute('href') !== target) svg.firstElementChild.setAttribute('href', target);
}

// Sets the text only when it differs, so that a screen reader does not repeat it.
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

// Tells screen readers what happened, without moving the focus.
export function announce(text) {
  setText(find('#announcer'), text);
}

// "0:07", "12:30".
export function clockText(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

// "3 s", "2 min", for times that are left.
export function durationText(seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return `${Math.round(seconds / 60)} min`;
}

// "Flute", then "Flute 2". labels: of the others.
export function numbered(name, labels) {
  const same = labels.filter((label) => label.replace(/ \d+$/, '') === name).length;
  return same === 0 ? name : `${name} ${same + 1}`;
}

// "Vocals on flute" -> "hum-vocals-on-flute", the start of the names of saved files.
export const fileName = (label) => `hum-${label.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`;

// "nylon-guitar" -> "Nylon guitar".
export function titleOf(name) {
  const words = name.replaceAll('-', ' ').replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// Calls `action` once, `wait_ms` after the last of several calls.
export function debounced(action, wait_ms) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(action, wait_ms, ...values);
  };
}
