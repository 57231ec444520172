"""What goes wrong says what to do, and loses nothing."""

import pathlib
import struct
import tempfile

from browser import DESKTOP, HUM, PHONE, pause
from page_case import PageCase


def wav(samples):
    data = struct.pack(f"<{len(samples)}h", *samples)
    return struct.pack("<4sI8sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVEfmt ", 16, 1, 1, 22050, 44100, 2, 16, b"data",
                       len(data)) + data


class Faults(PageCase):
    def file(self, name, content):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / name
        path.write_bytes(content)
        return path

    def test_a_denied_microphone_says_how_to_allow_it(self):
        browser = self.browse(PHONE, microphone=False)
        browser.find("#record").click()
        self.assertIn("Allow it in the address bar", browser.problem())
        self.expect_clean(browser, "11-no-microphone")

    def test_a_silent_recording_says_so(self):
        browser = self.browse()
        browser.choose_file(self.file("silence.wav", wav([0] * 22050 * 2)))
        self.assertRegex(browser.problem(), "silent|silence|no melody|No notes")
        self.expect_clean(browser, "12-silent", answers_expected=True)

    def test_a_file_without_sound_says_so(self):
        browser = self.browse()
        browser.choose_file(self.file("letter.txt", b"Dear reader, this is no sound.\n" * 100))
        self.assertNotEqual(browser.problem().strip(), "")
        self.assertEqual(browser.console_errors(answers_expected=True), [])

    def test_an_empty_file_says_so(self):
        browser = self.browse()
        browser.choose_file(self.file("empty.wav", b""))
        self.assertIn("empty", browser.problem())

    def test_a_stopped_count_in_records_nothing(self):
        browser = self.browse()
        browser.click("#record")
        browser.wait("the count", lambda: browser.text("#count") != "")
        browser.click("#record")
        pause(2)
        self.assertEqual(browser.text("#record-text"), "Record")
        self.assertFalse(browser.find("#dock").is_displayed())

    def test_a_recording_outlives_its_page(self):
        browser = self.browse(PHONE)
        browser.click("#record")
        browser.wait("the recording", lambda: "is-recording" in browser.find("body").get_attribute("class"))
        pause(5)
        browser.driver.get("about:blank")
        browser.driver.get(self.service.url + "/")
        self.assertIn("A take is waiting", browser.problem())
        browser.find("#problems .quiet-button").click()
        browser.wait_for_notes()
        seconds = browser.run("import('/page/state.js').then((state) => state.get('take').seconds)")
        self.assertGreater(seconds, 3)
        browser.driver.get(self.service.url + "/")
        pause(1)
        self.assertEqual(browser.find_all(".problem"), [])  # it is uploaded now

    def test_every_recording_of_a_crash_is_kept(self):
        browser = self.browse()
        kept = browser.run("""
            (async () => {
              const kept = await import('/page/database.js');
              for (const [take, number] of [['one', 0], ['two', 0], ['two', 1]]) {
                await kept.keepChunk(take, number, 8000, new Float32Array(4000));
              }
              const offered = await (await import('/page/flow.js')).recoverChunks();
              const takes = await kept.listTakes();
              return {offered: offered.id, left: (await kept.listChunks()).length,
                      seconds: Object.fromEntries(takes.map((take) => [take.id, take.seconds]))};
            })()""")
        self.assertEqual(kept, {"offered": "two", "left": 0, "seconds": {"one": 0.5, "two": 1}})

    def test_a_deleted_take_leaves_nothing_on_the_service(self):
        browser = self.browse()
        ids = browser.run("""
            (async () => {
              const {upload} = await import('/page/api.js');
              const {forget} = await import('/page/jobs.js');
              const {encodeWav} = await import('/page/wav.js');
              const tone = Float32Array.from({length: 40000}, (_, i) => Math.sin(i / 10) / 3);
              const send = async (part) => await upload(encodeWav([tone], 16000), 'a.wav', {part});
              const take = {jobs: [], upload: await send('audio'), sounds: []};
              for (const part of ['timbre', 'backing']) take.sounds.push((await send(part)).id);
              await forget(take);
              await forget(take);  // what is gone already is no error
              return [take.upload.id, ...take.sounds];
            })()""")
        self.assertEqual(len(set(ids)), 3)
        for id_ in ids:
            self.assertEqual(self.service.call("GET", f"/v1/uploads/{id_}")[0], 404)

    def test_a_cancelled_job_is_gone(self):
        browser = self.browse()
        browser.choose_file(HUM)
        browser.wait_for_notes()
        browser.find("#sound summary").click()
        browser.click("#option-lm")
        browser.find("#option-takes option[value='4']").click()
        browser.click("#make")
        browser.wait("the job", lambda: (browser.job() or {}).get("status") in ("queued", "running"))
        job = browser.job()["id"]
        pause(0.6)  # a double click does not cancel
        self.assertIsNotNone(browser.job(), "the job ended before it could be cancelled")
        browser.keep_screenshot("13-working")
        browser.click("#cancel")
        browser.wait("the end", lambda: browser.job() is None)
        self.assertEqual(browser.find_all("#takes .take"), [])
        browser.wait("the service to forget it", lambda: self.service.call("GET", f"/v1/jobs/{job}")[0] == 404, 30)
        self.assertTrue(browser.find("#make").is_enabled())
        self.assertEqual(browser.console_errors(answers_expected=True), [])


class Crashes(PageCase):
    def test_a_take_outlives_the_service(self):
        browser = self.browse(DESKTOP)
        self.service.kill()
        browser.click("#record")
        browser.wait("the recording", lambda: "is-recording" in browser.find("body").get_attribute("class"))
        pause(2)
        browser.click("#record")
        self.assertIn("does not answer", browser.problem())
        self.assertIn("hum serve", browser.problem())
        kept = browser.run("import('/page/database.js').then((kept) => kept.listTakes()).then(([take]) => "
                           "({seconds: take.seconds, bytes: take.wav.size, sent: take.upload}))")
        self.assertGreater(kept["seconds"], 1)
        self.assertGreater(kept["bytes"], 20_000)
        self.assertIsNone(kept["sent"])
        self.assertEqual(browser.console_errors(answers_expected=True), [])
