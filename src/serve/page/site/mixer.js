// Faders of sounds that play together: the parts of a band, the stems of a song.
import {isCancelled} from './api.js';
import {element} from './dom.js';
import {ready} from './jobs.js';
import {player} from './player.js';
import {showProblem} from './problems.js';

// sounds: [{id, label, url}]. more: makes what ends a sound's row. Returns {root, play}; play() plays what is not muted.
export function mixer(title, sounds, more = () => null) {
  const parts = sounds.map((sound) => ({sound, level: 1, isMuted: false, isSolo: false}));
  const mix = async () => {
    for (const part of parts) await ready(part.sound);
    const hasSolo = parts.some((part) => part.isSolo);
    player.mix(Object.fromEntries(parts.map((part) => {
      const isHeard = hasSolo ? part.isSolo : !part.isMuted;
      return [part.sound.id, isHeard ? part.level : 0];
    })));
  };
  // Faders change what is heard; buttons also play it.
  const apply = async ({isPlayed}) => {
    try {
      await mix();
      if (isPlayed && !player.isPlaying) player.play();
    } catch (fault) {
      if (!isCancelled(fault)) showProblem(fault, {title: `${title} cannot be heard`});
    }
  };
  const play = () => apply({isPlayed: true});
  const rows = parts.map((part) => partRow(part, apply, more(part.sound)));
  return {root: element('fieldset', {class: 'mixer'}, element('legend', {text: title}), ...rows), play};
}

function partRow(part, apply, more) {
  const {label, id} = part.sound;
  const toggle = (text, name, field) => {
    const button = element('button', {
      type: 'button', class: 'chip', text, 'aria-label': `${name} ${label}`, 'aria-pressed': 'false',
      onclick: () => {
        part[field] = !part[field];
        button.setAttribute('aria-pressed', String(part[field]));
        apply({isPlayed: true});
      },
    });
    return button;
  };
  const fader = element('input', {
    type: 'range', id: `fader-${id.replaceAll('/', '-')}`, min: 0, max: 1.5, step: 0.05, value: 1,
    oninput: (event) => {
      part.level = Number(event.target.value);
      apply({isPlayed: false});
    },
  });
  return element('div', {class: 'part'}, element('label', {for: fader.id, text: label}), fader,
                 toggle('M', 'Mute', 'isMuted'), toggle('S', 'Solo', 'isSolo'), more);
}
