"""The modules of the page that need no person: reading and writing WAV, event streams, the melody, loads and uploads."""

import struct

from page_case import PageCase


class Modules(PageCase):
    def run_module(self, name, script, *values):
        browser = self.browse()
        return browser.run(f"import('/page/{name}').then(async (module) => {{{script}}})", *values)

    def test_a_wav_comes_back_as_it_was_written(self):
        head, bytes_, samples = self.run_module("wav.js", """
            const wav = module.encodeWav([Float32Array.of(0, 0.5, -1, 2), Float32Array.of(1, -0.25, 0, 0)], 48000);
            const bytes = new Uint8Array(await wav.arrayBuffer());
            const head = module.readHead(bytes);
            return [head, [...bytes], module.decodeFrames(bytes.slice(head.dataAt), head).map((channel) => [...channel])];""")
        self.assertEqual(head, {"channels": 2, "rate_hz": 48000, "bits": 16, "isFloat": False, "dataAt": 44})
        written = struct.unpack("<8h", bytes(bytes_[44:]))
        self.assertEqual(written, (0, 32767, 16384, -8192, -32767, 0, 32767, 0))
        for got, wanted in zip(samples[0], [0, 0.5, -1, 1]):
            self.assertAlmostEqual(got, wanted, 4)

    def test_an_incomplete_head_waits(self):
        self.assertEqual(self.run_module("wav.js", """
            const bytes = new Uint8Array(await module.encodeWav([new Float32Array(4)], 44100).arrayBuffer());
            return [0, 11, 20, 43, 44].map((count) => module.readHead(bytes.slice(0, count)) !== null);"""),
                         [False, False, False, False, True])

    def test_events_are_split_wherever_the_network_splits_them(self):
        stream = "retry: 500\\n\\n: ping\\n\\nid: 7\\r\\nevent: job\\r\\ndata: {\\\"a\\\":\\ndata: 1}\\n\\ndata: end\\r\\n\\r\\n"
        events = self.run_module("follow.js", f"""
            const text = "{stream}";
            return Array.from({{length: text.length}}, (_, cut) => {{
              const parser = new module.EventParser();
              return JSON.stringify([...parser.feed(text.slice(0, cut)), ...parser.feed(text.slice(cut))]);
            }});""")
        self.assertEqual(len(set(events)), 1)
        self.assertIn('"id":"7"', events[0])
        self.assertIn('"type":"job"', events[0])
        self.assertIn('"data":"{\\"a\\":\\n1}"', events[0])
        self.assertIn('"retry_ms":500', events[0])

    def test_one_voice_sings_one_note_at_a_time(self):
        notes = self.run_module("melody.js", """
            const melody = new module.Melody([{start: 0, end: 1, pitch: 60}, {start: 1, end: 2, pitch: 62}]);
            melody.change(0, {end_s: 0.5});
            const after = melody.notes;
            melody.undo();
            return [after, melody.notes, melody.isEdited];""")
        after, undone, is_edited = notes
        self.assertEqual([(note["start"], note["end"]) for note in after], [(0, 1.5), (1.5, 2)])
        self.assertEqual([(note["start"], note["end"]) for note in undone], [(0, 1), (1, 2)])
        self.assertFalse(is_edited)

    def test_the_sung_pitch_moves_with_the_note(self):
        hz = self.run_module("melody.js", """
            const melody = new module.Melody([{start: 0, end: 1, pitch: 57, hz: 220}]);
            melody.change(0, {semitones: 12});
            return melody.notes[0].hz;""")
        self.assertAlmostEqual(hz, 440, 6)

    # Answers the first request for a sound with 404, later ones with a second of silence.
    FAKE_SOUND = """
        const {encodeWav} = await import('/page/wav.js');
        const {player} = await import('/page/player.js');
        const {fetch} = window;
        let loads = 0;
        window.fetch = async (path, ...more) => {
          if (path !== '/a.wav') return fetch(path, ...more);
          if (++loads === 1) return new Response('', {status: 404});
          return new Response(encodeWav([new Float32Array(44100)], 44100));
        };
        const sound = {id: 'song/a/vocals', label: 'Vocals', url: '/a.wav'};
        const load = () => module.ready(sound).then(() => 'loaded', (fault) => fault.status ?? fault.name);
        """

    def test_a_sound_has_one_load_and_another_after_a_failure(self):
        answers, loads, seconds = self.run_module("jobs.js", self.FAKE_SOUND + """
            const answers = [await Promise.all([load(), load()]), await Promise.all([load(), load()]), await load()];
            player.mix({[sound.id]: 1});
            return [answers, loads, player.seconds];""")
        self.assertEqual(answers, [[404, 404], ["loaded", "loaded"], "loaded"])
        self.assertEqual(loads, 2)
        self.assertEqual(seconds, 1)

    def test_a_sound_that_is_dropped_while_it_loads_stays_out_of_the_player(self):
        answers, has = self.run_module("jobs.js", self.FAKE_SOUND + """
            loads = 1;
            const loading = load();
            module.dropSound(sound);
            return [[await loading, await load()], player.has(sound.id)];""")
        self.assertEqual(answers, ["AbortError", "AbortError"])
        self.assertFalse(has)

    def test_an_upload_can_be_cancelled(self):
        fault = self.run_module("api.js", """
            const work = new AbortController();
            const sent = module.upload(new Blob([new Uint8Array(1e6)]), 'song', {part: 'song', signal: work.signal});
            work.abort();
            return sent.then(() => 'sent', (fault) => fault.name);""")
        self.assertEqual(fault, "AbortError")

    def test_only_a_long_song_is_said_to_take_memory(self):
        texts = self.run_module("song.js", """
            return [240, 600].map((seconds) => module.memoryText({seconds, stems: Array(6)}));""")
        self.assertEqual(texts, [None, "Mixing 6 stems of 10 min takes up to 1.3 GB of memory."])
