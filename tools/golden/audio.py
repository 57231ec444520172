"""Golden values for src/audio, written to tests/data/audio/.

Made with librosa 0.11.0, soxr 1.1.0, pyloudnorm 0.2.0, pretty_midi 0.2.11, mido 1.3.3, numpy 2.4.6; seed 7.
  pip install librosa pyloudnorm pretty_midi mido && python tools/golden/audio.py
"""
import json
import pathlib

import librosa
import mido
import numpy as np
import pretty_midi
import pyloudnorm

from made_by import made_by

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "audio"


def test_signal(samples, rate_hz):
    """A sweep in noise; src/audio/test_signal.h makes the same one."""
    t = np.arange(samples) / rate_hz
    state, noise = 1, np.empty(samples)
    for i in range(samples):
        state = (state * 1664525 + 1013904223) % 2**32
        noise[i] = (state >> 8) / 2**24 - 0.5
    return (0.4 * np.sin(2 * np.pi * (110 * t + 900 * t * t)) + 0.05 * noise).astype(np.float32)


def rounded(values):
    return [float(f"{v:.8g}") for v in np.asarray(values, dtype=np.float64).ravel()]


def dsp():
    rate = 22050
    y = test_signal(3001, rate)
    result = {"stft": [], "mel": [], "mfcc": {}, "resample": []}
    for pad in ("constant", "reflect"):
        s = librosa.stft(y, n_fft=256, hop_length=60, pad_mode=pad)
        for frame in (0, 1, 25, s.shape[1] - 1):
            result["stft"].append({"padding": pad, "frames": s.shape[1], "frame": frame,
                                   "real": rounded(s[:, frame].real), "imag": rounded(s[:, frame].imag)})
    for htk, norm, power, mels, n_fft in ((False, "slaney", 2.0, 40, 512), (True, None, 1.0, 24, 256)):
        m = librosa.feature.melspectrogram(y=y, sr=rate, n_fft=n_fft, hop_length=128, n_mels=mels, htk=htk,
                                           norm=norm, power=power, fmin=30, fmax=8000)
        result["mel"].append({"htk": htk, "normalised": norm is not None, "power": power, "bands": mels,
                              "window": n_fft, "frames": m.shape[1], "frame": 11, "values": rounded(m[:, 11])})
    c = librosa.feature.mfcc(y=y, sr=rate, n_mfcc=13)
    result["mfcc"] = {"frames": c.shape[1], "values": rounded(c.T)}
    for source, target, samples in ((44100, 22050, 1001), (48000, 22050, 700), (16000, 22050, 333),
                                    (22050, 44100, 300), (22050, 48000, 301), (192000, 22050, 4001)):
        x = test_signal(samples, source)
        result["resample"].append({"from": source, "to": target, "samples": samples,
                                   "values": rounded(librosa.resample(x, orig_sr=source, target_sr=target))})
    return result


def loudness():
    result = []
    for rate, seconds, gain in ((44100, 3.0, 1.0), (22050, 2.0, 0.1), (48000, 0.5, 0.5)):
        y = gain * test_signal(int(rate * seconds), rate)
        result.append({"rate": rate, "seconds": seconds, "gain": gain,
                       "lufs": pyloudnorm.Meter(rate, "DeMan").integrated_loudness(y)})
    return result


def bent_notes(rng):
    """Notes as basic-pitch makes them: some overlap, most are bent."""
    notes, time = [], 0.1
    for i in range(14):
        start, end = time, time + rng.uniform(0.15, 0.6)
        frames = round((end - start) * 22050 / 256)
        bends = [int(b) for b in np.round(3 * np.sin(np.arange(frames) * 0.4 + i) + rng.normal(0, 1, frames))]
        if i == 3:
            bends = [9 * b for b in bends]  # clipped at 2 semitones
        if i in (4, 9):
            bends[-1] = 0  # the next note has no bends: hum would send the wheel home, basic-pitch would not
        notes.append({"start": start, "end": end, "pitch": int(rng.integers(50, 80)),
                      "amplitude": float(rng.uniform(0.2, 1)), "bends": bends})
        time = end - 0.05 if i in (5, 6, 10) else end + rng.uniform(0.02, 0.3)
    return notes


def basic_pitch_midi(notes, multiple, tempo):
    """What basic-pitch's note_events_to_midi does, by pretty_midi."""
    notes = [dict(n) for n in notes]
    if not multiple:
        for i, a in enumerate(notes):
            for b in notes[i + 1:]:
                if b["start"] < a["end"]:
                    a["bends"] = b["bends"] = []
    song, parts = pretty_midi.PrettyMIDI(initial_tempo=tempo), {}
    for n in notes:
        key = n["pitch"] if multiple else 0
        part = parts.setdefault(key, pretty_midi.Instrument(program=4))
        part.notes.append(pretty_midi.Note(int(np.round(127 * n["amplitude"])), n["pitch"], n["start"], n["end"]))
        ticks = np.clip(np.round(np.array(n["bends"]) * 4096 / 3).astype(int), -8192, 8191)
        for time, value in zip(np.linspace(n["start"], n["end"], len(ticks)), ticks):
            part.pitch_bends.append(pretty_midi.PitchBend(int(value), float(time)))
    song.instruments.extend(parts.values())
    return song


def foreign_midi(path):
    """A type 0 file with two tempos, two channels, drums, note-offs with velocity; and its notes by pretty_midi."""
    mid = mido.MidiFile(type=0, ticks_per_beat=96)
    track = mido.MidiTrack()
    mid.tracks.append(track)
    message, meta = mido.Message, mido.MetaMessage
    track.extend([
        meta("track_name", name="two hands"), meta("set_tempo", tempo=600000),
        message("program_change", channel=1, program=40), message("note_on", channel=0, note=60, velocity=80),
        message("note_on", channel=1, note=72, velocity=100, time=48), message("sysex", data=(1, 2, 3)),
        message("note_off", channel=0, note=60, velocity=64, time=48),
        meta("set_tempo", tempo=400000), message("note_on", channel=9, note=38, velocity=90),
        message("note_on", channel=0, note=64, velocity=70), message("note_off", channel=9, note=38, time=10),
        message("note_off", channel=1, note=72, time=86), message("note_on", channel=0, note=64, velocity=0, time=300)])
    mid.save(path)
    song = pretty_midi.PrettyMIDI(str(path))
    return [{"start": float(n.start), "end": float(n.end), "pitch": n.pitch, "velocity": n.velocity, "program": int(i.program)}
            for i in song.instruments if not i.is_drum for n in i.notes]


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(7)
    notes = bent_notes(rng)
    basic_pitch_midi(notes, False, 120).write(str(OUT / "notes_120bpm.mid"))
    basic_pitch_midi(notes, True, 96).write(str(OUT / "notes_96bpm_multiple.mid"))
    midi = {"notes": notes, "foreign": foreign_midi(OUT / "foreign.mid")}
    maker = made_by("audio.py", 7, "librosa", "soxr", "pyloudnorm", "pretty_midi", "mido", "numpy")
    for name, value in (("dsp", dsp()), ("loudness", {"rows": loudness()}), ("midi", midi)):
        (OUT / f"{name}.json").write_text(json.dumps({"made_by": maker} | value) + "\n")


if __name__ == "__main__":
    main()
